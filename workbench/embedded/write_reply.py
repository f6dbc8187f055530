"""Write the reply to a prompt, in the form of answer that it asks for.

The form tells the kind of call, never a prompt's name. A query is drawn first and then explained:
the reasoning never changes it, nor does the way to think that a prompt asks for.
"""

import json
import math
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from heapq import nlargest
from pathlib import Path
from typing import TypeVar

from workbench.embedded.build_queries import (
    Query,
    draw,
    hypotheses,
    noisy,
    reading_of,
    shares,
)
from workbench.embedded.find_words import STOPWORDS, mentions, name_words, words_of
from workbench.embedded.read_prompt import Asked, read
from workbench.sql.reading import quote
from workbench.sql.texts import literal
from workbench.types import Context, Message, Question

T = TypeVar("T")
_json = partial(json.dumps, ensure_ascii=False)
_CHANGE = re.compile(
    r"(?i)\W*(?:(?:please|now|can you|could you) )*"
    r"(?:(?:delete|remove|drop|insert|update|truncate|alter|rename|erase)\b"
    r"|(?:add|create|set|change|replace|increase|decrease|raise|lower)\s+"
    r"(?:an?|the|all|every|each|new|this)\b)"
)
_CLOSE = (
    2.0  # the bonus for doing all that the failed query does: most of it may be right
)
_RELEVANT = 0.6  # the part of a name that is said, from which a column is relevant
_NEEDED = 0.04  # the share of probability from which a column or table is needed
_SPOKEN = 0.15  # the share that a column counts as whose whole name is said
_UNSEEN = 0.02  # how likely the right query does something that no hypothesis does
# Results as prompts show them: an error or no rows, and rows of nothing but NULL.
_FAILED = re.compile(r"(?i)error|refused|stopped|too large|no rows|no such|empty|\[\]")
_ALL_NULL = re.compile(r"[\d,]+ rows?\b.*:\n.*(?:\nNULL(?: \| NULL)*)+")
_FORMS = (
    Path(__file__).with_name("examples.txt").read_text(encoding="utf-8").splitlines()
)
_QUOTED = re.compile(r"(?<=['\"`“])[^'\"`“”]{1,80}(?=['\"`”])")
_NAMED = re.compile(
    r"(?<!^)\b[A-Z][\w.&'-]*(?:\s+(?:(?:of|the|de|la|von|van|and|&)\s+)?[A-Z0-9][\w.&'-]*)*"
)
_WORD = re.compile(r"[^\W_][\w.&'/-]*|[^\s\w]")
_ALIAS = re.compile(r"\bt\d+\.|\bas t\d+\b|`")
_KEYWORD = re.compile(
    r"\b(select|from|inner join|join|on|where|and|group by|having|order by|limit)\b"
)


def answer(
    messages: Sequence[Message], *, temperature: float = 1.0, seed: str = ""
) -> str:
    """Return the reply to a prompt; the seed decides what is drawn at a temperature above 0."""
    asked = read(messages)
    for form, write in _WRITERS:
        if re.search(form, asked.answer):
            return write(asked, temperature, seed)
    return _query(asked, temperature, seed)


def _query(asked: Asked, temperature: float, seed: str) -> str:
    """Draw a query by the scores, or say why there is none."""
    if _CHANGE.match(asked.context.question.text):
        return "The question asks for a change of data. Only questions that read data are answered."
    if not asked.context.schema.tables:
        return "There is no schema in this prompt that a query could be written for."
    if asked.attempt:
        return _mended(asked, temperature, seed)
    queries = hypotheses(asked.context)
    if not queries:
        return "No word of the question names a table or a column of the schema."
    query = queries[draw([query.score for query in queries], temperature, seed)]
    reason = f"The query has {'; '.join(sorted(elements(query.sql)))}."
    return _formed(asked, query.sql, reason, query.missed)


def _mended(asked: Asked, temperature: float, seed: str) -> str:
    """Draw a query that differs from the attempt; an attempt that gave rows stays as it is."""
    if asked.result and not _failed(asked.result):
        return _formed(
            asked, asked.attempt, "The query ran and gave rows; it stays as it is."
        )
    tried = elements(asked.attempt)
    scores = {}
    for query in hypotheses(asked.context):
        does = elements(query.sql)
        if does != tried:
            scores[query] = query.score + _CLOSE * len(tried & does) / len(tried | does)
    if not scores:
        return _formed(
            asked, asked.attempt, "Nothing better fits the question and the schema."
        )
    query = [*scores][draw(scores.values(), temperature, seed)]
    first_line = asked.result.partition("\n")[0]
    return _formed(asked, query.sql, f"The database said: {first_line}", query.missed)


def _formed(asked: Asked, sql: str, reason: str, missed: Iterable[str] = ()) -> str:
    """Return a query and the words before it, in the form that the prompt asks for."""
    form = asked.answer
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
        titles = [f"Sub question 1: {asked.context.question.text}", "SQL"]
    lines = [*titles, f"```sql\n{sql}\n```"]
    if missed or "Give only" not in form:
        lines.insert(0, f"{reason}\n")
    return "\n".join(lines)


@lru_cache(maxsize=4096)
def elements(sql: str) -> frozenset[str]:
    """Return the clauses of a query, by which queries are compared: "where st = 'k'" is one.

    Aliases are left out, since each query chooses its own.
    """
    _, *parts = _KEYWORD.split(_ALIAS.sub("", sql.lower()))
    clauses = set()
    clause = ""
    for keyword, text in zip(parts[::2], parts[1::2], strict=True):
        if keyword != "and":  # which goes on with the clause before it
            clause = keyword
        clauses.add(f"{clause} {' '.join(text.split())}")
    return frozenset(clauses)


def _failed(result: str) -> bool:
    return bool(_FAILED.match(result) or _ALL_NULL.fullmatch(result))


def _likely(
    context: Context, parts_of: Callable[[Query], Iterable[T]]
) -> dict[T, float]:
    """Return the probability that the right query has a part, for each part of the hypotheses."""
    likely: dict[T, float] = defaultdict(float)
    queries = hypotheses(context)
    for query, share in zip(
        queries, shares(query.score for query in queries), strict=True
    ):
        for part in parts_of(query):
            likely[part] += share
    return likely


@lru_cache(maxsize=64)
def _expected(context: Context) -> dict[str, float]:
    return _likely(context, lambda query: elements(query.sql))


def _plausible(asked: Asked) -> list[float]:
    """Return the log-likelihood of each query with its result as the answer, up to a constant.

    A query is likely if it does what the hypotheses do and leaves nothing out.
    """
    likely = _expected(asked.context)
    scores = []
    for sql, result in asked.candidates:
        does = elements(sql)
        terms = []
        for element in sorted(does | likely.keys()):
            share = min(max(likely.get(element, 0.0), _UNSEEN), 1 - _UNSEEN)
            terms.append(math.log(share if element in does else 1 - share))
        score = math.fsum(terms)
        if _failed(result):
            score -= 3.0 if result.startswith("No rows") else 8.0
        scores.append(round(score, 6))
    return scores


def _letter(asked: Asked, temperature: float, seed: str) -> str:
    """Return the letter of one of two candidates; a tie is drawn at any temperature."""
    scores = _plausible(asked)
    if len(set(scores)) == 1:
        temperature = temperature or 1.0
    letter = "AB"[draw(scores, temperature, seed)]
    return f"Answer: {letter}" if "Answer: " in asked.answer else letter


def _ranking(asked: Asked, temperature: float, seed: str) -> str:
    """Return the candidates' numbers, best first."""
    scores = noisy(_plausible(asked), temperature, seed)
    return _json(sorted(range(1, len(scores) + 1), key=lambda n: -scores[n - 1]))


def _unit_tests(asked: Asked, _temperature: float, seed: str) -> str:
    """Return as many tests as are asked for.

    A test names one element in which the candidates differ, and says by the hypotheses whether the
    right query has it.
    """
    likely = _expected(asked.context)
    queries = [elements(sql) for sql, _ in asked.candidates]
    common = frozenset.intersection(*queries)
    differing = sorted(frozenset.union(*queries) - common)
    random.Random(seed).shuffle(differing)  # noqa: S311  no secret
    tests = []
    for element in differing[: _count(asked)]:
        should = "should" if likely.get(element, 0.0) >= 0.5 else "should not"
        tests.append(f"The query {should} have `{element}`.")
    return _thought("The candidates differ in these.", _json(tests))


def _verdicts(asked: Asked, _temperature: float, _seed: str) -> str:
    """Return the verdicts of one test on all candidates, or of all tests on one candidate."""
    label = "Candidate Response" if "Response #1:" in asked.answer else "Unit Test"
    lines: list[str] = []
    for test in asked.tests:
        for sql, _ in asked.candidates:
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


def _count(asked: Asked) -> int:
    """Return the number of items that the form asks for."""
    number = re.search(r"\b\d+\b", asked.answer)
    return int(number[0]) if number else 10


def _filter_column(asked: Asked, _temperature: float, _seed: str) -> str:
    """Say whether question or hint speak of a column; of several, a line for each."""
    lines = []
    for section in asked.columns:
        is_relevant = _relevant(asked.context.question, section)
        verdict = {"column": section.partition("\n")[0].removeprefix("Column: ")}
        if '"column"' not in asked.answer:
            verdict.clear()
        verdict["chain_of_thought_reasoning"] = (
            "It is spoken of." if is_relevant else "It is not."
        )
        verdict["is_column_information_relevant"] = "Yes" if is_relevant else "No"
        lines.append(_json(verdict))
    return "\n".join(lines)


def _relevant(question: Question, section: str) -> bool:
    """Return whether question or hint name a column, or the question says a value of it."""
    lines = dict(re.findall(r"(?m)^([\w ]+): (.*)$", section))
    name = lines["Column"].rpartition(".")[2].strip("`")
    if name.lower() in re.findall(r"\w+", question.evidence.lower()):
        return True
    heading = lines.get("Description", "").partition(";")[0]
    values = re.findall(r"'(.*?)'", lines.get("Examples", ""))
    phrases = [name_words(name), words_of(heading), *map(words_of, values)]
    for words in filter(None, phrases):
        for mention in mentions(words, question.text):
            if mention.part >= _RELEVANT:
                return True
    return False


def _pruned(asked: Asked, _temperature: float, _seed: str) -> str:
    """Return the tables, or the columns by table, that likely hypotheses or the question need.

    MAC-SQL's form asks for a decision on each table: keep_all, drop_all, or six columns of a large
    one; three tables stay.
    """
    needs = _likely(asked.context, _needs)
    for field, spoken_of in reading_of(asked.context).columns.items():
        for mention in spoken_of[:1]:
            needs[field.sheet.name, field.name] += _SPOKEN * mention.part
    tables = sorted(
        asked.context.schema.tables, key=lambda table: -needs[table.name, ""]
    )
    needed = [t.name for t in tables if needs[t.name, ""] >= _NEEDED] or [
        tables[0].name
    ]
    reply: dict[str, str | list[str]] = {}
    if "keep_all" in asked.answer:
        for table in tables:
            worth = {
                column.name: needs[table.name, column.name] for column in table.columns
            }
            six = nlargest(6, worth, key=worth.__getitem__)
            reply[table.name] = "keep_all" if len(worth) <= 10 else six
        for table in tables[max(3, len(needed)) :]:
            reply[table.name] = "drop_all"
        return f"```json\n{_json(reply)}\n```"
    reply["chain_of_thought_reasoning"] = "Likely queries use these."
    if '"table_names"' in asked.answer:
        reply["table_names"] = needed
        return _json(reply)
    columns: dict[str, list[str]] = {}
    for name, column in asked.context.schema.columns():
        if needs[name, column] >= _NEEDED:
            columns.setdefault(name, []).append(column)
    return _json(reply | columns)


def _needs(query: Query) -> list[tuple[str, str]]:
    """Return the columns that a query uses, by table and name; a table itself has the name ""."""
    tables = [(sheet.name, "") for sheet in query.tree.sheets]
    return tables + [(field.sheet.name, field.name) for field in query.fields]


def _keywords(asked: Asked, _temperature: float, _seed: str) -> str:
    """Return words of question and hint that may be in a database: quotations, names, phrases."""
    keywords: dict[str, None] = {}
    for text in (asked.context.question.text, asked.context.question.evidence):
        keywords |= dict.fromkeys(_QUOTED.findall(text))
        keywords |= dict.fromkeys(_NAMED.findall(text))
        phrase: list[str] = []
        for match in _WORD.findall(f"{text} ."):
            word = match.strip(".'")
            if word[:1].isalnum() and word.lower() not in STOPWORDS:
                phrase.append(word)
            elif phrase:
                keywords |= dict.fromkeys([" ".join(phrase[:4]), *phrase])
                phrase = []
    return _json([word for word in keywords if word.lower() not in STOPWORDS])


def _synthetic(asked: Asked, _temperature: float, seed: str) -> str:
    """Return examples in the forms of examples.txt, a line each and all different.

    As many as are asked for, if the schema has room for them.
    """
    tables = asked.context.schema.tables
    count = _count(asked)
    chance = random.Random(seed)  # noqa: S311  no secret
    lines: dict[str, None] = {}
    for turn in range(4 * count if tables else 0):
        table = chance.choice(tables)
        column = chance.choice(table.columns)
        tested = chance.choice(table.columns)
        value = literal(chance.choice(tested.examples or (1,)))
        example = _FORMS[turn % len(_FORMS)].format(
            table=quote(table.name),
            column=quote(column.name),
            test=f"{quote(tested.name)} = {value}",
        )
        text, _, sql = example.partition(" | ")
        lines[_json({"input": text, "output": sql})] = None
    return "\n".join([*lines][:count])


# Who writes the reply, by what the section "Answer" says; the first that fits counts.
_WRITERS: tuple[tuple[str, Callable[[Asked, float, str], str]], ...] = (
    (r"(?m)^(?:Candidate Response|Unit Test) #1:", _verdicts),
    (r"The query should", _unit_tests),
    (r"candidate numbers", _ranking),
    (r"letter of the correct candidate", _letter),
    (r"is_column_information_relevant", _filter_column),
    (r'"table_names"|keep_all|"table": \[', _pruned),
    (r'"output"', _synthetic),
    (r"list of strings", _keywords),
)
