"""Write the reply to a prompt, in the form of answer that it asks for.

The form tells the kind of call, never a prompt's name. A query is drawn first and then explained:
the reasoning never changes it, nor does the way to think that a prompt asks for.
"""

import json
import random
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path

from workbench.embedded.build_queries import draw, hypotheses
from workbench.embedded.find_words import (
    best_mention,
    name_words,
    tokens,
    words_of,
)
from workbench.embedded.read_prompt import Prompt
from workbench.sql.reading import quote
from workbench.sql.texts import literal
from workbench.types import Context, Message, Question

_json = json.JSONEncoder(ensure_ascii=False).encode
_CHANGE = re.compile(
    r"(?i)\W*(?:(?:please|now|can you|could you) )*"
    r"(?:(?:delete|remove|drop|insert|update|truncate|alter|rename|erase)\b"
    r"|(?:add|create|set|change|replace|increase|decrease|raise|lower)\s+"
    r"(?:an?|the|all|every|each|new|this)\b)"
)
_CLOSE = 2.0  # the bonus for having all that the failed query has: most may be right
_EXPECTED = 5  # queries that are kept at each step where only the likeliest counts
_RELEVANT = 0.6  # the share of a name that is said, from which a column is relevant
# How far below the best score the tables and columns of a query are needed.
_LIKELY = 2.0
_ANSWER = "<Thinking>By what the queries have.</Thinking>\n<Answer>\n{}\n</Answer>"
_REASON = {"chain_of_thought_reasoning": "Likely queries use these."}
# Results as prompts show them: an error or no rows, and rows of nothing but NULL.
_FAILED = re.compile(
    r"(?i)(?:error|refused|stopped|too large|no rows|no such|empty|\[\])"
    r"|[\d,]+ rows?\b.*:\n.*(?:\nNULL(?: \| NULL)*)+$"
)
_FORMS = (
    Path(__file__).with_name("examples.txt").read_text(encoding="utf-8").splitlines()
)
_CLAUSE = re.compile(
    r"\b(?:select|from|inner join|join|on|where|and|group by|having|order by)\b"
)


def answer(
    messages: Sequence[Message], *, temperature: float = 1.0, seed: str = ""
) -> str:
    """Return the reply to a prompt; the seed decides what is drawn at a temperature above 0."""
    prompt = Prompt(messages, temperature, seed)
    return _writer(prompt.form)(prompt)


@lru_cache(maxsize=256)
def _writer(form: str) -> Callable[[Prompt], str]:
    """Return who writes the reply: the first whose words the form of the answer has."""
    fitting = (write for words, write in _WRITERS.items() if re.search(words, form))
    return next(fitting, _query)


def _query(prompt: Prompt) -> str:
    """Draw a query by the scores, or say why there is none.

    An attempt that gave rows stays as it is; after another, a query is drawn that differs.
    """
    attempt, result = prompt.attempt, prompt.result
    if _CHANGE.match(prompt.question.text):
        return "The question asks for a change of data. Only questions that read data are answered."
    if not prompt.context.schema.tables:
        return "There is no schema in this prompt that a query could be written for."
    if result and not _FAILED.match(result):
        return _formed(prompt, attempt, "The query ran and gave rows.")
    queries = []
    scores = []
    for query in hypotheses(prompt.context):
        if not attempt or elements(query.sql) != elements(attempt):
            queries.append(query)
            bonus = _CLOSE * _alike(query.sql, attempt) if attempt else 0.0
            scores.append(query.score + bonus)
    if queries:
        drawn = queries[draw(scores, prompt.temperature, prompt.seed)]
        reason = f"The query has {'; '.join(sorted(elements(drawn.sql)))}."
        return _formed(prompt, drawn.sql, reason, drawn.missed)
    if attempt:
        return _formed(
            prompt, attempt, "Nothing else fits the question and the schema."
        )
    return "No word of the question names a table or a column of the schema."


def _formed(prompt: Prompt, sql: str, reason: str, missed: Sequence[str] = ()) -> str:
    """Return a query and the words before it, in the form that the prompt asks for."""
    form = prompt.form
    if missed:
        reason = f"not understood: {', '.join(missed)}\n{reason}"
    key = re.search('"((?:revised_)?SQL)"', form)
    if key:
        return _json({"chain_of_thought_reasoning": reason, key[1]: sql})
    if "Final Answer" in form:
        return f"{reason}\n\nFinal Answer: {sql}"
    plan = re.findall(r"(?m)^\*\*[^*\n]+:?\*\*(?=:?$)", form)
    if len(plan) > 1:  # the query is its last part
        return "\n\n".join([*plan[:-1], reason, plan[-1], sql])
    text = f"```sql\n{sql}\n```"
    if plan:
        text = f"{plan[0]}\n{text}"
    if "Sub question" in form:
        text = f"Sub question 1: {prompt.question.text}\nSQL\n{text}"
    if missed or "Give only" not in form:
        text = f"{reason}\n\n{text}"
    return text


@lru_cache(maxsize=4096)
def elements(sql: str) -> frozenset[str]:
    """Return what stands between the keywords of a query, by which queries are compared."""
    texts = _CLAUSE.split(sql.lower().replace("`", ""))
    return frozenset(" ".join(text.split()) for text in texts) - {""}


def _alike(sql: str, other: str) -> float:
    """Return the share of the elements of two queries that both have."""
    both = elements(sql) & elements(other)
    either = elements(sql) | elements(other)
    return len(both) / max(1, len(either))


def _expected(context: Context) -> str:
    """Return the likeliest query; "" if there is none."""
    return "".join(query.sql for query in hypotheses(context, _EXPECTED)[:1])


def _plausible(prompt: Prompt) -> list[float]:
    """Return how like the likeliest query each candidate is; a failure counts for more."""
    expected = _expected(prompt.context)
    scores = []
    for sql, result in prompt.candidates:
        score = _alike(sql, expected) - bool(_FAILED.match(result))
        scores.append(round(_CLOSE * score, 6))
    return scores


def _letter(prompt: Prompt) -> str:
    """Return the letter of one of two candidates; a tie is drawn at any temperature."""
    scores = _plausible(prompt)
    is_tie = len(set(scores)) == 1
    temperature = prompt.temperature or float(is_tie)
    return "AB"[draw(scores, temperature, prompt.seed)]


def _ranking(prompt: Prompt) -> str:
    """Return the candidates' numbers, best first."""
    scores = dict(enumerate(_plausible(prompt), 1))
    return _json(sorted(scores, key=lambda number: -scores[number]))


def _unit_tests(prompt: Prompt) -> str:
    """Return as many tests as are asked for.

    A test names one element in which the candidates differ, and says whether the likeliest query
    has it.
    """
    expected = elements(_expected(prompt.context))
    queries = [elements(sql) for sql, _ in prompt.candidates]
    common = frozenset.intersection(*queries)
    differing = sorted(frozenset.union(*queries) - common)
    tests = []
    for element in differing[: _count(prompt)]:
        should = "should" if element in expected else "should not"
        tests.append(f"The query {should} have `{element}`.")
    return _ANSWER.format(_json(tests))


def _verdicts(prompt: Prompt) -> str:
    """Return the verdicts of one test on all candidates, or of all tests on one candidate."""
    label = "Candidate Response" if "Response #1:" in prompt.form else "Unit Test"
    tests = prompt.titled("Unit Test")
    lines: list[str] = []
    for test, (sql, _) in product(tests, prompt.candidates):
        verdict = "Passed" if _passes(test, sql) else "Failed"
        number = len(lines) + 1
        lines.append(f"{label} #{number}: {verdict}")
    return _ANSWER.format("\n".join(lines))


def _passes(test: str, sql: str) -> bool:
    """Return whether a query has what a test quotes, or lacks it where it should not have it."""
    text = " ".join(sql.lower().replace("`", "").split())
    quoted = re.findall("`(.+?)`", test.lower())
    has_all = all(part in text for part in quoted)
    is_ban = re.search(r"(?i)\b(?:should|must|does|may) not\b", test) is not None
    return has_all != is_ban


def _count(prompt: Prompt) -> int:
    """Return the number of items that the form asks for."""
    number = re.search(r"\b\d+\b", prompt.form)
    return int(number[0]) if number else 10


def _filter_column(prompt: Prompt) -> str:
    """Say whether question or hint speak of a column; of several, a line for each."""
    several = prompt.sections.get("Columns")
    if not several:
        return _json(_verdict(prompt.question, prompt.sections["Column"]))
    lines = []
    for column in re.split(r"\n\s*\n", several):
        verdict = _verdict(prompt.question, column)
        verdict["column"] = column.partition("\n")[0].removeprefix("Column: ")
        lines.append(_json(verdict))
    return "\n".join(lines)


def _verdict(question: Question, column: str) -> dict[str, str]:
    """Return what is said of one column."""
    is_relevant = _is_relevant(question, column)
    return {
        "chain_of_thought_reasoning": "Spoken of." if is_relevant else "Not said.",
        "is_column_information_relevant": "Yes" if is_relevant else "No",
    }


def _is_relevant(question: Question, column: str) -> bool:
    """Return whether question or hint name a column, or the question says a value of it."""
    fields = {}
    for line in column.splitlines():
        field, _, text = line.partition(": ")
        fields[field] = text
    name = name_words(fields["Column"].rpartition(".")[2].strip("`"))
    if best_mention(name, question.evidence).share == 1.0:
        return True
    description = fields.get("Description", "").partition(";")[0]
    examples = re.findall(r"'(.*?)'", fields.get("Examples", ""))
    for words in (name, words_of(description), *map(words_of, examples)):
        if best_mention(words, question.text).share >= _RELEVANT:
            return True
    return False


def _needed(prompt: Prompt) -> dict[str, list[str]]:
    """Return the columns by table that likely queries use, the likeliest first."""
    needed: dict[str, list[str]] = {}
    queries = hypotheses(prompt.context)
    for query in queries:
        if query.score < queries[0].score - _LIKELY:
            break
        for joined in query.tree:
            needed.setdefault(joined.sheet.name, [])
        for field in query.fields:
            if field.name not in needed[field.sheet.name]:
                needed[field.sheet.name].append(field.name)
    return needed


def _tables(prompt: Prompt) -> str:
    """Return the tables that are needed."""
    return _json(_REASON | {"table_names": [*_needed(prompt)]})


def _columns(prompt: Prompt) -> str:
    """Return the columns that are needed, by table."""
    return _json(_REASON | _needed(prompt))


def _decisions(prompt: Prompt) -> str:
    """Return MAC-SQL's decision on each table, keep_all or drop_all; three tables stay."""
    needed = _needed(prompt)
    names = [table.name for table in prompt.context.schema.tables]
    names.sort(key=lambda name: name not in needed)
    decisions = dict.fromkeys(names, "drop_all")
    for name in names[: max(3, len(needed))]:
        decisions[name] = "keep_all"
    return f"```json\n{_json(decisions)}\n```"


def _keywords(prompt: Prompt) -> str:
    """Return words of question and hint that may be in a database, and phrases of them."""
    keywords = []
    phrase: list[str] = []
    text = f"{prompt.question.text} ; {prompt.question.evidence} ;"
    for token in tokens(text):
        if token.content or token.number:
            phrase.append(token.text)
        elif phrase:
            keywords += [" ".join(phrase[:4]), *phrase]
            phrase = []
    return _json([*dict.fromkeys(keywords)])


def _synthetic(prompt: Prompt) -> str:
    """Return examples in the forms of examples.txt, a line each and all different.

    As many as are asked for, if the schema has room for them.
    """
    columns = []
    for owner in prompt.context.schema.tables:
        for column in owner.columns:
            example = column.examples[0] if column.examples else 1
            test = f"{quote(column.name)} = {literal(example)}"
            columns.append((quote(owner.name), quote(column.name), test))
    random.Random(prompt.seed).shuffle(columns)  # noqa: S311  no secret
    lines = []
    for form, (table, name, test) in product(_FORMS, columns):
        example = form.format(table=table, column=name, test=test)
        question, _, sql = example.partition(" | ")
        lines.append(_json({"input": question, "output": sql}))
    different = dict.fromkeys(lines)
    return "\n".join([*different][: _count(prompt)])


# Who writes the reply, by what the section "Answer" says; the first that fits counts.
_WRITERS: dict[str, Callable[[Prompt], str]] = {
    r"(?m)^(?:Candidate Response|Unit Test) #1:": _verdicts,
    r"The query should": _unit_tests,
    r"candidate numbers": _ranking,
    r"letter of the correct candidate": _letter,
    r"is_column_information_relevant": _filter_column,
    r'"table_names"': _tables,
    r"keep_all": _decisions,
    r'"table": \[': _columns,
    r'"output"': _synthetic,
    r"list of strings": _keywords,
}
