"""How an answer differs from gold, in words, and the causes that this speaks for.

Rules compare both queries clause by clause and both results. What they guess is drawn apart from what people say.
"""

import re
from collections.abc import Iterator
from itertools import product

from workbench.benchmarks.bundled import Flaw
from workbench.label.cases import Case
from workbench.label.taxonomy import Cause, Taxonomy
from workbench.sql.aligned import CLAUSES, differences
from workbench.sql.facts import LiteralComparison, functions, query_facts
from workbench.types import Execution, lower_name

_DAY_FIRST = re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{4}")
_COUNT = re.compile(r"COUNT\((?!DISTINCT)[^()]*\)")  # COUNT(column) mostly equals COUNT(*)
_AGGREGATES = ("count", "sum", "avg", "min", "max", "group")
_ERRORS: dict[str, Cause] = {  # messages of SQLite, and the cause to which they point
    "no such column": "other column",
    "ambiguous column": "other column",
    "no such table": "missing table or join",
    "no such function": "function",
    "wrong number of arguments": "function",
    "misuse of aggregate": "aggregation",
}


def suggested(case: Case, taxonomy: Taxonomy, flaw: Flaw | None = None) -> tuple[str, str] | None:
    """The label of the known flaw of the question, or else of the likeliest cause that has one, and the reason."""
    causes = suggest(case)
    if flaw:
        known = "gold likely wrong" if flaw.kind == "wrong gold" else flaw.kind
        causes = {known: flaw.note} | causes | {known: flaw.note}
    found = ((taxonomy.suggested(cause), f"{cause}: {why}") for cause, why in causes.items())
    return next(((name, why) for name, why in found if name), None)


def suggest(case: Case) -> dict[str, str]:
    """The causes that something speaks for, each with the best reason, the likeliest cause first."""
    found: dict[str, str] = {}
    for sign, cause in _ERRORS.items():
        if sign in case.execution.error:
            found.setdefault(cause, f"the prediction does not run: {case.execution.error}")
    for cause, why in _reasons(case):
        found.setdefault(cause, why)
    return found


def _reasons(case: Case) -> Iterator[tuple[Cause, str]]:
    clauses = differences(case.gold, case.predicted, case.schema)
    facts, other = (query_facts(sql, case.schema) for sql in (case.gold, case.predicted))
    hint = lower_name(case.question.evidence)

    def only(*names: str, nested: bool = True) -> tuple[list[str], list[str]]:
        """What of these clauses only gold has, and what only the prediction has."""
        chosen = [c for c in clauses if c.name in names and (nested or not c.nested)]
        return (
            [text for clause in chosen for text in clause.only_first],
            [text for clause in chosen for text in clause.only_second],
        )

    def in_hint(value: object) -> bool:
        word = re.escape(lower_name(str(value)))
        return bool(word and re.search(rf"(?<!\w){word}(?!\w)", hint))

    if not case.gold_execution.is_complete:
        error = case.gold_execution.error or case.gold_execution.status
        yield "gold likely wrong", f"gold does not run: {error}"
    elif case.execution.rows and _nulls(case.gold_execution) and not _nulls(case.execution):
        yield "gold likely wrong", "gold finds nothing, and the prediction does"
    ordered = [text for c in clauses if c.name == "ORDER BY" for text in c.first]
    ordered += [text[4:-1] for c in clauses for text in c.first if text[:4] in {"MIN(", "MAX("}]
    for table, column in ((t, c) for t in case.schema.tables for c in t.columns):
        name, days = f"{table.name}.{column.name}", [str(one) for one in column.examples]
        is_ordered = name in {text.replace('"', "").removesuffix(" DESC") for text in ordered}
        if days and is_ordered and all(map(_DAY_FIRST.fullmatch, days)):
            why = f"gold orders by {name}, a text that begins with the day: {days[0]}"
            yield "gold likely wrong", why
    for one in other.comparisons if facts and other else ():
        given = rf"[=<>]\s*'?{re.escape(str(one.value))}'?(?!\w)"
        if re.search(given, case.question.evidence) and str(one.value) not in case.gold:
            why = f"the hint gives {one.value!r}, which the prediction uses and gold does not"
            yield "gold likely wrong", why
    values = (
        [x for x in facts.comparisons if x not in other.comparisons] if facts and other else [],
        [x for x in other.comparisons if x not in facts.comparisons] if facts and other else [],
    )
    for one in values[0]:
        if in_hint(one.value):
            why = f"the hint says {one.value!r}, which gold uses and the prediction does not"
            yield "hint ignored", why
    columns = (facts.columns, other.columns) if facts and other else (frozenset(), frozenset())
    for owner, name in sorted(columns[0] - columns[1]):
        if in_hint(name):
            why = f"the hint names {name}, which gold takes from {owner} and the prediction does not use"
            yield "hint ignored", why
    reads = (facts.tables, other.tables) if facts and other else (frozenset(), frozenset())
    missing, added = sorted(reads[0] - reads[1]), sorted(reads[1] - reads[0])
    if not missing and not added:
        missing, added = only("FROM")
    if missing:
        instead = f"; the prediction has {_list(added)} instead" if added else ""
        yield "missing table or join", f"gold reads {_list(missing)}{instead}"
    elif added:
        yield "missing table or join", f"the prediction reads {_list(added)} in addition"
    missing, added = only("JOIN ON")
    if missing and added:
        why = f"gold joins by {_list(missing)}, the prediction by {_list(added)}"
        yield "missing table or join", why
    ours, theirs = (
        [_COUNT.sub("COUNT(*)", x) for x in part] for part in only("SELECT", nested=False)
    )
    if ours != theirs:
        why = f"gold returns {_list(ours)} where the prediction returns {_list(theirs)}"
        yield "other column", why
    missing, added = (
        sorted(map(".".join, x)) for x in (columns[0] - columns[1], columns[1] - columns[0])
    )
    if missing and added:
        yield "other column", f"gold uses {_list(missing)} where the prediction uses {_list(added)}"
    for one, another in product(*values):
        if one.column and one.column == another.column:
            yield "other literal", f"gold has {_said(one)}, the prediction {_said(another)}"
    missing, added = only("WHERE", "HAVING")
    if missing or added:
        yield "other literal", f"gold requires {_list(missing)}, the prediction {_list(added)}"
    calls = (facts.operations, other.operations) if facts and other else (frozenset(), frozenset())
    for operation in _AGGREGATES:
        if (operation in calls[0]) != (operation in calls[1]):
            name = "GROUP BY" if operation == "group" else operation.upper()
            sides = (
                ("gold", "the prediction") if operation in calls[0] else ("the prediction", "gold")
            )
            yield "aggregation", f"{sides[0]} uses {name}, {sides[1]} does not"
    missing, added = only("GROUP BY")
    if missing and added:
        yield "aggregation", f"gold groups by {_list(missing)}, the prediction by {_list(added)}"
    of_gold, of_other = functions(case.gold), functions(case.predicted)
    if of_gold - of_other:
        yield "function", f"gold uses {_list(sorted(of_gold - of_other))}, the prediction does not"
    elif of_other - of_gold:
        yield "function", f"the prediction uses {_list(sorted(of_other - of_gold))}, gold does not"
    for sign in (r"\bDISTINCT\b", r"\bIS (?:NOT )?NULL\b"):
        missing, added = ([x for x in part if re.search(sign, x)] for part in only(*CLAUSES))
        if len(missing) != len(added):
            why = f"gold has {_list(missing)}, the prediction {_list(added)}"
            yield "DISTINCT or NULL handling", why
    for name in ("ORDER BY", "LIMIT"):
        missing, added = only(name)
        if missing or added:
            why = f"in {name} gold has {_list(missing)}, the prediction {_list(added)}"
            yield "order and limit", why
    found, expected = _number(case.execution), _number(case.gold_execution)
    counts = bool(calls[1] & {"count", "sum"})
    twice = counts and ("distinct count" in calls[0] - calls[1] or only("FROM")[1])
    if twice and found is not None and expected is not None and found > expected:
        why = f"the prediction finds {found:g}, gold {expected:g}: rows may be counted twice"
        yield "duplicates", why


def difference(case: Case) -> str:
    """What differs, in a sentence: first the results, then the two likeliest reasons."""
    results = "; ".join(_of_results(case.gold_execution, case.execution))
    reasons = [
        why for why in suggest(case).values() if not why.startswith("the prediction does not run")
    ]
    text = ": ".join(filter(None, (results, "; ".join(dict.fromkeys(reasons[:2])))))
    return text[:1].upper() + text[1:] + "."


def _of_results(gold: Execution, predicted: Execution) -> Iterator[str]:
    if not predicted.is_complete:
        yield f"the prediction does not run, {predicted.error or predicted.status}"
    if not gold.is_complete or not predicted.is_complete:
        return
    more = len(predicted.columns) - len(gold.columns)
    lacking = {name.lower() for name in gold.columns} - {name.lower() for name in predicted.columns}
    if more < 0 and len(lacking) == -more:
        yield f"the prediction lacks {_list([one for one in gold.columns if one.lower() in lacking])}"
    elif more:
        yield f"{_count(len(predicted.columns), 'column')} in place of {len(gold.columns)}"
    rows, expected = predicted.row_count, gold.row_count
    if (rows, expected, len(gold.columns), more) == (1, 1, 1, 0):
        yield f"{_cell(predicted)} in place of {_cell(gold)}"
    elif rows != expected:
        yield f"{_count(rows, 'row')} in place of {expected:,}"
    elif not more:
        shared = len(set(gold.rows) & set(predicted.rows))
        yield f"{shared} of {len(set(gold.rows))} rows are shared" if shared else "no row is shared"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _cell(execution: Execution) -> str:
    cell = execution.rows[0][0]
    return "NULL" if cell is None else f"{cell:.10g}" if isinstance(cell, float) else str(cell)[:60]


def _nulls(execution: Execution) -> bool:
    return all(value is None for row in execution.rows for value in row)


def _number(execution: Execution) -> float | None:
    """The number that is the whole result, or None."""
    values = [value for row in execution.rows for value in row]
    return values[0] if len(values) == 1 and isinstance(values[0], int | float) else None


def _said(one: LiteralComparison) -> str:
    return f"{'.'.join(one.column or ())} {one.operator} {one.value!r}"


def _list(texts: list[str]) -> str:
    return ", ".join(texts) or "nothing"
