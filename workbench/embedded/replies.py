"""The reply to a prompt, in the form of answer that it asks for; the form tells the kind of call, never a prompt's name.

A query is drawn first and then explained: the reasoning never changes it, nor does the way to think that a prompt asks
for. Examples do: they favour the forms of SQL that they have.
"""

import json
import math
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from sqlglot import exp

from workbench.embedded.combine import Hypothesis, draw, hypotheses, noisy, shares, spoken
from workbench.embedded.prompt import Asked, one_column, read
from workbench.embedded.words import STOPWORDS
from workbench.sql.reading import parse, quote
from workbench.sql.texts import literal
from workbench.types import Context, Message

_Key = TypeVar("_Key")
_json = partial(json.dumps, ensure_ascii=False)
_CHANGE = re.compile(
    r"(?i)\W*(?:(?:please|now|can you|could you) )*(?:(?:delete|remove|drop|insert|update|truncate|alter|rename|erase)\b"
    r"|(?:add|create|set|change|replace|increase|decrease|raise|lower)\s+(?:an?|the|all|every|each|new|this)\b)"
)
_CLOSE = 2.0  # the bonus for doing all that the failed query does: most of it may be right
_RELEVANT = 0.5  # how surely a column alone is spoken of, from which it is relevant
_NEEDED = 0.04  # the share of probability from which a column or table is needed
_LINKED = 0.15  # the share that the column counts as that is most surely spoken of
_SEEN = 0.005  # the share from which a hypothesis is looked at
_UNSEEN = 0.02  # how likely the right query does something that no hypothesis does
# Results as prompts show them: the beginning of an error or of no rows, and rows of nothing but NULL.
_FAILED = re.compile(r"(?i)error|refused|stopped|too large|no rows|no such|empty|\[\]")
_ALL_NULL = re.compile(r"[\d,]+ rows?\b.*:\n.*(?:\nNULL(?: \| NULL)*)+")
_FORMS = Path(__file__).with_name("examples.txt").read_text(encoding="utf-8").splitlines()
_QUOTED = re.compile(r"'([^']{1,80})'|\"([^\"]{1,80})\"|`([^`]{1,80})`|“([^”]{1,80})”")
_NAMED = re.compile(
    r"(?<!^)\b[A-Z][\w.&'-]*(?:\s+(?:(?:of|the|de|la|von|van|and|&)\s+)?[A-Z0-9][\w.&'-]*)*"
)


def answer(messages: Sequence[Message], *, temperature: float = 1.0, seed: str = "") -> str:
    """The reply to these messages: the same for the same temperature and seed."""
    asked = read(messages)
    write = next(write for asks, write in _WRITERS if re.search(asks, asked.answer))
    return write(asked, temperature, seed)


def _query(asked: Asked, temperature: float, seed: str) -> str:
    """A query drawn from the hypotheses by their scores, or a sentence that says why there is none."""
    if _CHANGE.match(asked.context.question.text):
        return "The question asks for a change of data. Only questions that read data are answered."
    if asked.attempt[0]:
        return _mended(asked, temperature, seed)
    found = hypotheses(asked.context)
    if not found:
        if not asked.context.schema.tables:
            return "There is no schema in this prompt that a query could be written for."
        return "No word of the question names a table or a column of the schema."
    chosen = found[draw([h.score for h in found], temperature, seed)]
    explained = f"The query {', '.join(sorted(elements(chosen.sql)) or ['is the likeliest'])}."
    return _formed(asked, chosen.sql, explained, chosen.missed)


def _mended(asked: Asked, temperature: float, seed: str) -> str:
    """The likeliest query that the attempt does not rule out; an attempt that gave rows stays as it is.

    A query that reads the tables of one that found nothing, and keeps no more of their rows, would find nothing either.
    """
    tried, result = asked.attempt
    if result and not _FAILED.match(result) and not _ALL_NULL.fullmatch(result):
        return _formed(asked, tried, "The query ran and gave rows; it stays as it is.")
    does = elements(tried)
    rows = {element for element in does if element.startswith(("reads", "keeps"))}
    empty = rows if result.lower().startswith("no rows") else {None}
    fit = [
        (hypothesis, hypothesis.score + _CLOSE * len(does & other) / (len(does | other) or 1))
        for hypothesis in hypotheses(asked.context)
        if (other := elements(hypothesis.sql)) != does and not empty <= other
    ]
    if not fit:
        return _formed(asked, tried, "Nothing better fits the question and the schema.")
    chosen, _ = fit[draw([worth for _, worth in fit], temperature, seed)]
    return _formed(asked, chosen.sql, f"The database said: {result.splitlines()[0]}", chosen.missed)


def _formed(asked: Asked, sql: str, reasoning: str, missed: Sequence[str] = ()) -> str:
    """The query and the words before it, in the form that the prompt asks for."""
    form = asked.answer
    if missed:
        reasoning = f"not understood: {', '.join(dict.fromkeys(missed))}\n{reasoning}"
    for key in ("revised_SQL", "SQL"):
        if f'"{key}"' in form:
            return _json({"chain_of_thought_reasoning": reasoning, key: sql})
    if "Final Optimized SQL" in form:  # the parts have the titles that the prompt asks for
        *titles, last = re.findall(r"(?m)^\*\*[^*\n]+:?\*\*(?=:?$)", form) or ["**Final SQL**"]
        first, *others = titles or [""]
        nothing = "".join(f"{title}\nNothing is left to do.\n\n" for title in others)
        return f"{first}\n{reasoning}\n\n{nothing}{last}\n{sql}".lstrip()
    if "Final Answer" in form:
        return f"{reasoning}\n\nFinal Answer: {' '.join(sql.split())}"
    title = "**Final SQL**\n" * ("Final SQL" in form)
    if "Sub question" in form:
        title = f"Sub question 1: {asked.context.question.text}\nSQL\n"
    fence = f"{title}```sql\n{sql}\n```"
    return f"{reasoning}\n\n{fence}" if missed or "Give only" not in form else fence


@lru_cache(maxsize=4096)
def elements(sql: str) -> frozenset[str]:
    """Short sentences about what a query does, by which queries are compared; none for one that cannot be read.

    "keeps only rows where `st = 'k'`" is one. Aliases are left out, since each query chooses its own.
    """
    tree = parse(sql)
    if not tree:
        return frozenset()
    tree = tree.copy()
    found = {f"reads the table `{table.name}`" for table in tree.find_all(exp.Table)}
    for name in tree.find_all(exp.Column, exp.Identifier):
        name.set("table" if isinstance(name, exp.Column) else "quoted", None)
    for select in tree.find_all(exp.Select):
        where = select.args["where"].this if select.args.get("where") else None
        tests = where.flatten() if isinstance(where, exp.And) else filter(None, [where])
        found |= {f"keeps only rows where `{test.sql('sqlite')}`" for test in tests}
        found |= {f"returns `{output.sql('sqlite')}`" for output in select.expressions}
        others = map(select.args.get, ("distinct", "group", "having", "order", "limit"))
        found |= {f"has `{clause.sql('sqlite').strip()}`" for clause in others if clause}
    return frozenset(sentence.lower() for sentence in found)


def _likely(context: Context, of: Callable[[Hypothesis], Iterable[_Key]]) -> dict[_Key, float]:
    """The probability that the right query has a part, for each part that `of` finds in a hypothesis."""
    found = hypotheses(context)
    likely: dict[_Key, float] = defaultdict(float)
    for hypothesis, share in zip(found, shares(h.score for h in found), strict=True):
        for key in of(hypothesis) if share >= _SEEN else ():
            likely[key] += share
    return likely


@lru_cache(maxsize=64)
def _expected(context: Context) -> Mapping[str, float]:
    return _likely(context, lambda hypothesis: elements(hypothesis.sql))


def _plausible(asked: Asked) -> list[float]:
    """The log-likelihood of each query and its result as the answer, up to a constant.

    A query is likely if it does what the hypotheses do and leaves nothing out. An error, no rows or nothing but NULL
    speak against it.
    """
    likely = _expected(asked.context)
    scores = []
    for sql, result in asked.candidates:
        does = elements(sql)
        share = {e: min(max(likely.get(e, 0), _UNSEEN), 1 - _UNSEEN) for e in does | likely.keys()}
        # The sum is the same in any order of the set, which differs between processes.
        score = math.fsum(math.log(s if e in does else 1 - s) for e, s in share.items())
        score = round(score, 6)
        failed = (3.0 if result.startswith("No rows") else 8.0) * bool(_FAILED.match(result))
        scores.append(score - failed - 2.0 * bool(_ALL_NULL.fullmatch(result)))
    return scores


def _letter(asked: Asked, temperature: float, seed: str) -> str:
    """The letter of one of two candidates; a tie is drawn at any temperature."""
    scores = _plausible(asked)[:2] or [0.0]
    letter = "AB"[draw(scores, temperature or float(len({*scores}) == 1), seed)]
    return f"Answer: {letter}" if "Answer: " in asked.answer else letter


def _ranking(asked: Asked, temperature: float, seed: str) -> str:
    """The candidates' numbers, best first."""
    found = noisy(_plausible(asked), temperature, seed)
    return _json(sorted(range(1, len(found) + 1), key=lambda n: -found[n - 1]))


def _unit_tests(asked: Asked, temperature: float, seed: str) -> str:
    """As many tests as are asked for; elements that split the candidates most evenly come first.

    A test names one element in which the candidates differ, and says by the hypotheses whether the right query does it.
    """
    likely = _expected(asked.context)
    queries = [elements(sql) for sql, _ in asked.candidates]
    chance, worth = random.Random(seed), {}  # noqa: S311  no secret
    for element in sorted(frozenset().union(*queries)):
        does = sum(element in query for query in queries)
        if does < len(queries):
            surprise = abs(likely.get(element, 0.0) - 0.5) + chance.random() * temperature
            worth[element] = min(does, len(queries) - does) + surprise
    chosen = sorted(worth, key=lambda e: (-worth[e], e))[: _count(asked)]
    should = ("should" if likely.get(e, 0.0) >= 0.5 else "should not" for e in chosen)
    tests = [f"The query {how} be one that {e}." for how, e in zip(should, chosen, strict=True)]
    return _thought("The candidates differ in these.", _json(tests))


def _verdicts(asked: Asked, _temperature: float, _seed: str) -> str:
    """The verdicts of one test on all candidates, or of all tests on one candidate."""
    label = "Candidate Response" if "Response #1:" in asked.answer else "Unit Test"
    pairs = [(test, sql) for test in asked.tests for sql, _ in asked.candidates]
    found = ("Passed" if _passes(test, sql) else "Failed" for test, sql in pairs)
    lines = "\n".join(f"{label} #{n}: {verdict}" for n, verdict in enumerate(found, 1))
    return _thought("Each query is compared with what the test names.", lines)


def _passes(test: str, sql: str) -> bool:
    """Whether a query does what a test says; of tests in other words, whether it has the names and texts they quote."""
    if re.match(r"The query should (?:not )?be one that ", test):
        holds = any(element in test for element in elements(sql))
    else:
        quoted = re.findall(r"`[^`]+`|'(?:[^']|'')+'", test)
        holds = all(word.strip("`'").lower() in sql.lower() for word in quoted)
    return holds != bool(re.search(r"(?i)\b(?:should|must|does|may) not\b", test))


def _thought(reason: str, text: str) -> str:
    return f"<Thinking>{reason}</Thinking>\n<Answer>\n{text}\n</Answer>"


def _count(asked: Asked) -> int:
    """The number of items that the form asks for."""
    return int(next(iter(re.findall(r"\b\d+\b", asked.answer)), "10"))


def _filter_column(asked: Asked, _temperature: float, _seed: str) -> str:
    """Whether question or hint speak of a column, by itself; of several, a line for each.

    The hint is searched for the column's name only: to parse its formulas against one column says no more.
    """
    hint = re.sub(r"'[^']*'", "''", asked.context.question.evidence)
    question, lines = replace(asked.context.question, evidence=""), []
    several = '"column"' in asked.answer
    for section in asked.columns:
        schema = one_column(section)
        ((_, name),) = schema.columns()
        alone = replace(asked.context, question=question, schema=schema)
        named = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", hint, re.IGNORECASE)
        said = named or max(spoken(alone).values(), default=0.0) >= _RELEVANT
        verdict = {"column": re.findall("^Column: (.*)", section)[0]} if several else {}
        verdict["chain_of_thought_reasoning"] = "It is spoken of." if said else "It is not."
        verdict["is_column_information_relevant"] = "Yes" if said else "No"
        lines.append(_json(verdict))
    return "\n".join(lines)


def _pruned(asked: Asked, _temperature: float, _seed: str) -> str:
    """The tables that likely hypotheses read, or the columns that they use or the question speaks of, by table.

    MAC-SQL's form asks for a decision on each table: keep_all, drop_all, or six columns of a large one; three stay.
    """
    tables = _likely(asked.context, lambda h: h.tables)
    columns = _likely(asked.context, lambda h: h.columns)
    said = spoken(asked.context)
    for pair, sure in said.items():
        columns[pair] = max(columns[pair], _LINKED * sure / max(said.values()))
    order = sorted(asked.context.schema.tables, key=lambda table: -tables[table.name])
    needed = sum(tables[table.name] >= _NEEDED for table in order)
    found: dict[str, str | list[str]] = {}
    if "keep_all" in asked.answer:
        for place, table in enumerate(order):
            names = (column.name for column in table.columns)
            best = sorted(names, key=lambda name: -columns[table.name, name])
            kept = best[:6] if best[10:] else "keep_all"
            found[table.name] = kept if place < max(3, needed) else "drop_all"
        return f"```json\n{_json(found)}\n```"
    if '"table_names"' in asked.answer:
        found["table_names"] = [table.name for table in order[: needed or 1]]
    else:
        pairs = sorted(pair for pair, share in columns.items() if share >= _NEEDED)
        found = {t: [column for _, column in own] for t, own in groupby(pairs, lambda p: p[0])}
    return _json({"chain_of_thought_reasoning": "Likely queries use these.", **found})


def _keywords(asked: Asked, _temperature: float, _seed: str) -> str:
    """Words of question and hint that may stand in a database: quotations, names, phrases with their words."""
    found: dict[str, None] = {}
    for text in (asked.context.question.text, asked.context.question.evidence):
        found |= dict.fromkeys("".join(groups) for groups in _QUOTED.findall(text))
        found |= dict.fromkeys(_NAMED.findall(text))
        pieces = (piece.strip(".'") for piece in re.findall(r"[^\W_][\w.&'/-]*|[^\s\w]", text))
        for telling, run in groupby(
            pieces, lambda p: p[:1].isalnum() and p.lower() not in STOPWORDS
        ):
            phrase = [*run] if telling else []
            found |= dict.fromkeys([" ".join(phrase[:4]), *phrase] if phrase else ())
    return _json([text for text in found if text.lower() not in STOPWORDS])


def _synthetic(asked: Asked, _temperature: float, seed: str) -> str:
    """Examples of examples.txt, one a line: as many as are asked for and the schema has room for, all different."""
    tables, count = asked.context.schema.tables, _count(asked)
    chance = random.Random(seed)  # noqa: S311  no secret
    found: dict[str, None] = {}
    numeric = re.compile("int|real|num|float|double|dec", re.IGNORECASE)
    numbers = [[c for c in table.columns if numeric.search(c.type)] for table in tables]
    shown = [[(c, v) for c in t.columns for v in c.examples if v is not None] for t in tables]
    for turn in range(4 * count if tables else 0):
        at = chance.choice(range(len(tables)))
        table = tables[at]
        column, number = chance.choice(table.columns), chance.choice(numbers[at] or table.columns)
        tested, value = chance.choice(shown[at] or [(column, 1)])
        text, sql = _FORMS[turn % len(_FORMS)].format(
            table=_said(table.name), T=quote(table.name), column=_said(column.name), C=quote(column.name),
            number=_said(number.name), N=quote(number.name), least=chance.randint(1, 5),
            words=f"{_said(tested.name)} is {literal(value)}", test=f"{quote(tested.name)} = {literal(value)}",
        ).split(" | ", 1)  # fmt: skip
        found[_json({"input": text, "output": sql})] = None
    return "\n".join([*found][:count])


def _said(name: str) -> str:
    """A name as people say it."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_+", " ", name).strip().lower()


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
    (r"", _query),
)
