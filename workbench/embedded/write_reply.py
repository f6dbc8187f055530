"""Write the reply to a prompt, in the form of answer that it asks for.

The form tells the kind of call, never a prompt's name. A query is drawn first and then explained:
the reasoning never changes it, nor does the way to think that a prompt asks for.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from heapq import nlargest
from pathlib import Path
from typing import TypeVar

from workbench.embedded.build_queries import (
    Query,
    draw,
    hypotheses,
    reading_of,
    shares,
)
from workbench.embedded.find_words import STOPWORDS, mentions, name_words, words_of
from workbench.embedded.read_prompt import Prompt
from workbench.sql.reading import quote
from workbench.sql.texts import literal
from workbench.types import Context, Message, Question

T = TypeVar("T")
_json = json.JSONEncoder(ensure_ascii=False).encode
_CHANGE = re.compile(
    r"(?i)\W*(?:(?:please|now|can you|could you) )*"
    r"(?:(?:delete|remove|drop|insert|update|truncate|alter|rename|erase)\b"
    r"|(?:add|create|set|change|replace|increase|decrease|raise|lower)\s+"
    r"(?:an?|the|all|every|each|new|this)\b)"
)
_CLOSE = 2.0  # the bonus for doing all that the failed query does: most may be right
_RELEVANT = 0.6  # the share of a name that is said, from which a column is relevant
_NEEDED = 0.04  # the share of probability from which a column or table is needed
_SPOKEN = 0.15  # the share that a column counts as whose whole name is said
# Results as prompts show them: an error or no rows, and rows of nothing but NULL.
_FAILED = re.compile(
    r"(?i)(?:error|refused|stopped|too large|no rows|no such|empty|\[\])"
    r"|[\d,]+ rows?\b.*:\n.*(?:\nNULL(?: \| NULL)*)+$"
)
_FORMS = Path(__file__).with_name("examples.txt").read_text(encoding="utf-8")
_QUOTED = re.compile(r"(?<=['\"`“])[^'\"`“”]{1,80}(?=['\"`”])")
_NAMED = re.compile(
    r"(?<!^)\b[A-Z][\w.&'-]*(?:\s+(?:(?:of|the|de|la|von|van|and|&)\s+)?[A-Z0-9][\w.&'-]*)*"
)
_WORD = re.compile(r"[^\W_][\w.&'/-]*|[^\s\w]")
_CLAUSE = re.compile(
    r"\b(select|from|inner join|join|on|where|and|group by|having|order by|limit)\b"
)


def answer(
    messages: Sequence[Message], *, temperature: float = 1.0, seed: str = ""
) -> str:
    """Return the reply to a prompt; the seed decides what is drawn at a temperature above 0."""
    prompt = Prompt(messages)
    return _writer(prompt.form)(prompt, temperature, seed)


@lru_cache(maxsize=256)
def _writer(form: str) -> "Writer":
    """Return who writes the reply: the first whose words the form of the answer has."""
    fitting = (write for words, write in _WRITERS if re.search(words, form))
    return next(fitting, _query)


def _query(prompt: Prompt, temperature: float, seed: str) -> str:
    """Draw a query by the scores, or say why there is none."""
    if _CHANGE.match(prompt.question.text):
        return "The question asks for a change of data. Only questions that read data are answered."
    if not prompt.context.schema.tables:
        return "There is no schema in this prompt that a query could be written for."
    if prompt.attempt:
        return _mended(prompt, temperature, seed)
    queries = hypotheses(prompt.context)
    if not queries:
        return "No word of the question names a table or a column of the schema."
    query = queries[draw([query.score for query in queries], temperature, seed)]
    reason = f"The query has {'; '.join(sorted(elements(query.sql)))}."
    return _formed(prompt, query.sql, reason, query.missed)


def _mended(prompt: Prompt, temperature: float, seed: str) -> str:
    """Draw a query that differs from the attempt; an attempt that gave rows stays as it is."""
    attempt, result = prompt.attempt, prompt.result
    if result and not _FAILED.match(result):
        reason = "The query ran and gave rows; it stays as it is."
        return _formed(prompt, attempt, reason)
    tried = elements(attempt)
    queries = [q for q in hypotheses(prompt.context) if elements(q.sql) != tried]
    if not queries:
        reason = "Nothing better fits the question and the schema."
        return _formed(prompt, attempt, reason)
    scores = [query.score + _CLOSE * _alike(query.sql, attempt) for query in queries]
    query = queries[draw(scores, temperature, seed)]
    reason = f"The database said: {result.partition(chr(10))[0]}"
    return _formed(prompt, query.sql, reason, query.missed)


def _formed(prompt: Prompt, sql: str, reason: str, missed: Iterable[str] = ()) -> str:
    """Return a query and the words before it, in the form that the prompt asks for."""
    form = prompt.form
    if missed:
        reason = f"not understood: {', '.join(dict.fromkeys(missed))}\n{reason}"
    for key in ("revised_SQL", "SQL"):
        if f'"{key}"' in form:
            return _json({"chain_of_thought_reasoning": reason, key: sql})
    if "Final Answer" in form:
        return f"{reason}\n\nFinal Answer: {' '.join(sql.split())}"
    titles = re.findall(r"(?m)^\*\*[^*\n]+:?\*\*(?=:?$)", form)
    if len(titles) > 1:  # the parts of a plan, the query the last
        return "\n\n".join([*titles[:-1], reason, titles[-1], sql])
    if "Sub question" in form:
        titles = [f"Sub question 1: {prompt.question.text}", "SQL"]
    lines = [*titles, f"```sql\n{sql}\n```"]
    if missed or "Give only" not in form:
        lines.insert(0, f"{reason}\n")
    return "\n".join(lines)


@lru_cache(maxsize=4096)
def elements(sql: str) -> frozenset[str]:
    """Return the clauses of a query, by which queries are compared: "where st = 'k'" is one.

    They are cut at keywords, which is good enough to compare.
    """
    _, *parts = _CLAUSE.split(sql.lower().replace("`", ""))
    clauses = set()
    clause = ""
    for keyword, text in zip(parts[::2], parts[1::2], strict=True):
        if keyword != "and":  # which goes on with the clause before it
            clause = keyword
        clauses.add(f"{clause} {' '.join(text.split())}")
    return frozenset(clauses)


def _alike(sql: str, other: str) -> float:
    """Return the share of the clauses of two queries that both have."""
    ones, others = elements(sql), elements(other)
    return len(ones & others) / max(1, len(ones | others))


@lru_cache(maxsize=64)
def _likely(
    context: Context, parts_of: Callable[[Query], Iterable[T]]
) -> dict[T, float]:
    """Return the probability that the right query has a part, for each part of the hypotheses."""
    likely: dict[T, float] = defaultdict(float)
    queries = hypotheses(context)
    scores = [query.score for query in queries]
    for query, share in zip(queries, shares(scores), strict=True):
        for part in parts_of(query):
            likely[part] += share
    return likely


def _clauses(query: Query) -> frozenset[str]:
    return elements(query.sql)


def _plausible(prompt: Prompt) -> list[float]:
    """Return how like the hypotheses each candidate is, which counts for less than its failure."""
    likely = _likely(prompt.context, _whole)
    scores = []
    for sql, result in prompt.candidates:
        score = sum(share * _alike(sql, other) for other, share in likely.items())
        scores.append(round(score - bool(_FAILED.match(result)), 6))
    return scores


def _whole(query: Query) -> list[str]:
    return [query.sql]


def _letter(prompt: Prompt, temperature: float, seed: str) -> str:
    """Return the letter of one of two candidates; a tie is drawn at any temperature."""
    scores = _plausible(prompt)
    if len(set(scores)) == 1:
        temperature = temperature or 1.0
    letter = "AB"[draw(scores, temperature, seed)]
    return f"Answer: {letter}" if "Answer: " in prompt.form else letter


def _ranking(prompt: Prompt, _temperature: float, _seed: str) -> str:
    """Return the candidates' numbers, best first."""
    scores = dict(enumerate(_plausible(prompt), 1))
    return _json(sorted(scores, key=lambda number: -scores[number]))


def _unit_tests(prompt: Prompt, _temperature: float, seed: str) -> str:
    """Return as many tests as are asked for.

    A test names one clause in which the candidates differ, and says by the hypotheses whether the
    right query has it.
    """
    likely = _likely(prompt.context, _clauses)
    queries = [elements(sql) for sql, _ in prompt.candidates]
    differing = sorted(frozenset.union(*queries) - frozenset.intersection(*queries))
    random.Random(seed).shuffle(differing)  # noqa: S311  no secret
    tests = []
    for clause in differing[: _count(prompt)]:
        should = "should" if likely.get(clause, 0.0) >= 0.5 else "should not"
        tests.append(f"The query {should} have `{clause}`.")
    return _thought("The candidates differ in these.", _json(tests))


def _verdicts(prompt: Prompt, _temperature: float, _seed: str) -> str:
    """Return the verdicts of one test on all candidates, or of all tests on one candidate."""
    label = "Candidate Response" if "Response #1:" in prompt.form else "Unit Test"
    lines: list[str] = []
    for test in prompt.titled("Unit Test"):
        for sql, _ in prompt.candidates:
            verdict = "Passed" if _passes(test, sql) else "Failed"
            lines.append(f"{label} #{len(lines) + 1}: {verdict}")
    return _thought(
        "Each query is compared with what the test names.", "\n".join(lines)
    )


def _passes(test: str, sql: str) -> bool:
    """Return whether a query has what a test quotes, or lacks it where it should not have it."""
    clauses = "\n".join(sorted(elements(sql)))
    has_all = all(quoted.lower() in clauses for quoted in re.findall("`(.+?)`", test))
    return has_all != bool(re.search(r"(?i)\b(?:should|must|does|may) not\b", test))


def _thought(reason: str, text: str) -> str:
    return f"<Thinking>{reason}</Thinking>\n<Answer>\n{text}\n</Answer>"


def _count(prompt: Prompt) -> int:
    """Return the number of items that the form asks for."""
    number = re.search(r"\b\d+\b", prompt.form)
    return int(number[0]) if number else 10


def _filter_column(prompt: Prompt, _temperature: float, _seed: str) -> str:
    """Say whether question or hint speak of a column."""
    return _json(_verdict(prompt.question, prompt.sections["Column"]))


def _filter_columns(prompt: Prompt, _temperature: float, _seed: str) -> str:
    """Say of each column whether question or hint speak of it, a line for each."""
    lines = []
    for section in re.split(r"\n\s*\n", prompt.sections["Columns"]):
        name = section.partition("\n")[0].removeprefix("Column: ")
        lines.append(_json({"column": name} | _verdict(prompt.question, section)))
    return "\n".join(lines)


def _verdict(question: Question, section: str) -> dict[str, str]:
    relevant = _relevant(question, section)
    return {
        "chain_of_thought_reasoning": "It is spoken of." if relevant else "It is not.",
        "is_column_information_relevant": "Yes" if relevant else "No",
    }


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


def _needs(context: Context) -> dict[tuple[str, str], float]:
    """Return how likely each column is needed, by table and name; a table has the name ""."""
    needs = defaultdict(float, _likely(context, _used))
    for field, said in reading_of(context).columns.items():
        for mention in said[:1]:
            needs[field.sheet.name, field.name] += _SPOKEN * mention.share
    return needs


def _used(query: Query) -> list[tuple[str, str]]:
    tables = [(sheet.name, "") for sheet in query.tree.sheets]
    return tables + [(field.sheet.name, field.name) for field in query.fields]


def _tables(prompt: Prompt, _temperature: float, _seed: str) -> str:
    """Return the tables that likely hypotheses need, the likeliest first."""
    reply = {"chain_of_thought_reasoning": "Likely queries use these."}
    return _json(reply | {"table_names": _needed(prompt.context)})


def _needed(context: Context) -> list[str]:
    needs = _needs(context)
    names = [table.name for table in context.schema.tables]
    names.sort(key=lambda name: -needs[name, ""])
    return [name for name in names if needs[name, ""] >= _NEEDED] or names[:1]


def _columns(prompt: Prompt, _temperature: float, _seed: str) -> str:
    """Return the columns, by table, that likely hypotheses or the question need."""
    needs = _needs(prompt.context)
    columns: dict[str, list[str]] = defaultdict(list)
    for table, column in prompt.context.schema.columns():
        if needs[table, column] >= _NEEDED:
            columns[table].append(column)
    reply = {"chain_of_thought_reasoning": "Likely queries use these."}
    return _json(reply | columns)


def _decisions(prompt: Prompt, _temperature: float, _seed: str) -> str:
    """Return MAC-SQL's decision on each table: keep_all, drop_all, or six columns of a large one.

    Three tables stay.
    """
    needs = _needs(prompt.context)
    tables = sorted(prompt.context.schema.tables, key=lambda t: -needs[t.name, ""])
    needed = _needed(prompt.context)
    reply: dict[str, str | list[str]] = {}
    for place, table in enumerate(tables):
        if place >= max(3, len(needed)):
            reply[table.name] = "drop_all"
        elif len(table.columns) <= 10:
            reply[table.name] = "keep_all"
        else:
            worth = {c.name: needs[table.name, c.name] for c in table.columns}
            reply[table.name] = nlargest(6, worth, key=worth.__getitem__)
    return f"```json\n{_json(reply)}\n```"


def _keywords(prompt: Prompt, _temperature: float, _seed: str) -> str:
    """Return words of question and hint that may be in a database: quotations, names, phrases."""
    keywords: dict[str, None] = {}
    for text in (prompt.question.text, prompt.question.evidence):
        keywords |= dict.fromkeys(_QUOTED.findall(text) + _NAMED.findall(text))
        phrase: list[str] = []
        for match in _WORD.findall(f"{text} ."):
            word = match.strip(".'")
            if word[:1].isalnum() and word.lower() not in STOPWORDS:
                phrase.append(word)
            elif phrase:
                keywords |= dict.fromkeys([" ".join(phrase[:4]), *phrase])
                phrase = []
    return _json([word for word in keywords if word.lower() not in STOPWORDS])


def _synthetic(prompt: Prompt, _temperature: float, seed: str) -> str:
    """Return examples in the forms of examples.txt, a line each and all different.

    As many as are asked for, if the schema has room for them.
    """
    tables = prompt.context.schema.tables
    forms = _FORMS.splitlines()
    count = _count(prompt)
    chance = random.Random(seed)  # noqa: S311  no secret
    lines: dict[str, None] = {}
    for turn in range(4 * count if tables else 0):
        table = chance.choice(tables)
        column = chance.choice(table.columns)
        tested = chance.choice(table.columns)
        value = literal(chance.choice(tested.examples or (1,)))
        example = forms[turn % len(forms)].format(
            table=quote(table.name),
            column=quote(column.name),
            test=f"{quote(tested.name)} = {value}",
        )
        text, _, sql = example.partition(" | ")
        lines[_json({"input": text, "output": sql})] = None
    return "\n".join([*lines][:count])


Writer = Callable[[Prompt, float, str], str]
_WRITERS: tuple[tuple[str, Writer], ...] = (
    (r"(?m)^(?:Candidate Response|Unit Test) #1:", _verdicts),
    (r"The query should", _unit_tests),
    (r"candidate numbers", _ranking),
    (r"letter of the correct candidate", _letter),
    (r'"column": .*is_column_information_relevant', _filter_columns),
    (r"is_column_information_relevant", _filter_column),
    (r'"table_names"', _tables),
    (r"keep_all", _decisions),
    (r'"table": \[', _columns),
    (r'"output"', _synthetic),
    (r"list of strings", _keywords),
)
