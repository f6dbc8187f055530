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
    mentions,
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
    queries = hypotheses(prompt.context)
    queries = [query for query in queries if elements(query.sql) != elements(attempt)]
    if attempt and not queries:
        return _formed(
            prompt, attempt, "Nothing else fits the question and the schema."
        )
    if not queries:
        return "No word of the question names a table or a column of the schema."
    scores = [query.score + _CLOSE * _alike(query.sql, attempt) for query in queries]
    drawn = draw(scores, prompt.temperature, prompt.seed)
    query = queries[drawn]
    reason = f"The query has {'; '.join(sorted(elements(query.sql)))}."
    if query.missed:
        missed = ", ".join(dict.fromkeys(query.missed))
        reason = f"not understood: {missed}\n{reason}"
    return _formed(prompt, query.sql, reason)


def _formed(prompt: Prompt, sql: str, reason: str) -> str:
    """Return a query and the words before it, in the form that the prompt asks for."""
    form = prompt.form
    key = re.search('"((?:revised_)?SQL)"', form)
    if key:
        return _json({"chain_of_thought_reasoning": reason, key[1]: sql})
    if "Final Answer" in form:
        return f"{reason}\n\nFinal Answer: {' '.join(sql.split())}"
    titles = re.findall(r"(?m)^\*\*[^*\n]+:?\*\*(?=:?$)", form)
    if len(titles) > 1:  # the parts of a plan, the query the last
        return "\n\n".join([*titles[:-1], reason, titles[-1], sql])
    if "Sub question" in form:
        titles = [f"Sub question 1: {prompt.question.text}", "SQL"]
    if "not understood" in reason or "Give only" not in form:
        titles.insert(0, f"{reason}\n")
    return "\n".join([*titles, f"```sql\n{sql}\n```"])


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
    return "".join(query.sql for query in hypotheses(context)[:1])


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
    random.Random(prompt.seed).shuffle(differing)  # noqa: S311  no secret
    tests = []
    for element in differing[: _count(prompt)]:
        should = "should" if element in expected else "should not"
        tests.append(f"The query {should} have `{element}`.")
    return _ANSWER.format(_json(tests))


def _verdicts(prompt: Prompt) -> str:
    """Return the verdicts of one test on all candidates, or of all tests on one candidate."""
    label = "Candidate Response" if "Response #1:" in prompt.form else "Unit Test"
    lines: list[str] = []
    for test in prompt.titled("Unit Test"):
        for sql, _ in prompt.candidates:
            verdict = "Passed" if _passes(test, sql) else "Failed"
            lines.append(f"{label} #{len(lines) + 1}: {verdict}")
    return _ANSWER.format("\n".join(lines))


def _passes(test: str, sql: str) -> bool:
    """Return whether a query has what a test quotes, or lacks it where it should not have it."""
    text = " ".join(sql.lower().replace("`", "").split())
    has_all = all(quoted.lower() in text for quoted in re.findall("`(.+?)`", test))
    return has_all != bool(re.search(r"(?i)\b(?:should|must|does|may) not\b", test))


def _count(prompt: Prompt) -> int:
    """Return the number of items that the form asks for."""
    number = re.search(r"\b\d+\b", prompt.form)
    if number:
        return int(number[0])
    return 10


def _filter_column(prompt: Prompt) -> str:
    """Say whether question or hint speak of a column; of several, a line for each."""
    sections = prompt.sections
    lines = []
    for column in re.split(r"\n\s*\n", sections.get("Columns") or sections["Column"]):
        is_relevant = _relevant(prompt.question, column)
        verdict = {
            "chain_of_thought_reasoning": "Spoken of." if is_relevant else "Not said.",
            "is_column_information_relevant": "Yes" if is_relevant else "No",
        }
        if "Columns" in sections:
            verdict["column"] = column.partition("\n")[0].removeprefix("Column: ")
        lines.append(_json(verdict))
    return "\n".join(lines)


def _relevant(question: Question, section: str) -> bool:
    """Return whether question or hint name a column, or the question says a value of it."""
    lines = dict(line.partition(": ")[::2] for line in section.splitlines())
    name = lines["Column"].rpartition(".")[2].strip("`")
    if name.lower() in _words(question.evidence):
        return True
    heading = lines.get("Description", "").partition(";")[0]
    values = re.findall(r"'(.*?)'", lines.get("Examples", ""))
    for words in (name_words(name), words_of(heading), *map(words_of, values)):
        said = mentions(words, question.text)
        if said and said[0].share >= _RELEVANT:
            return True
    return False


@lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


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
    """Return MAC-SQL's decision on each table: keep_all, drop_all, or six columns of a large one.

    Three tables stay.
    """
    needed = _needed(prompt)
    tables = [*prompt.context.schema.tables]
    tables.sort(key=lambda table: table.name not in needed)
    reply: dict[str, str | list[str]] = {}
    for place, table in enumerate(tables):
        columns = [column.name for column in table.columns]
        names = dict.fromkeys(needed.get(table.name, []) + columns)
        reply[table.name] = [*names][:6]
        if len(table.columns) <= 10:
            reply[table.name] = "keep_all"
        if place >= max(3, len(needed)):
            reply[table.name] = "drop_all"
    return f"```json\n{_json(reply)}\n```"


def _keywords(prompt: Prompt) -> str:
    """Return words of question and hint that may be in a database, and phrases of them."""
    keywords = []
    for text in (prompt.question.text, prompt.question.evidence):
        phrase: list[str] = []
        for token in tokens(f"{text} ."):
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
    lines: dict[str, None] = {}
    columns = [
        (t, column) for t in prompt.context.schema.tables for column in t.columns
    ]
    random.Random(prompt.seed).shuffle(columns)  # noqa: S311  no secret
    for form, (table, column) in product(_FORMS, columns):
        name = quote(column.name)
        examples = (*column.examples, 1)
        value = literal(examples[0])
        test = f"{name} = {value}"
        example = form.format(table=quote(table.name), column=name, test=test)
        question, _, sql = example.partition(" | ")
        line = _json({"input": question, "output": sql})
        lines[line] = None
    return "\n".join([*lines][: _count(prompt)])


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
