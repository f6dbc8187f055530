"""What speaks for each cause of a wrong answer: one rule a cause, each a few lines over two queries.

A rule sees the gold query and the predicted one clause by clause, what they claim of the database, and both
results. It says what it saw, in words, or nothing.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from workbench.db.sql.claims import Claims, Compared, claims
from workbench.db.sql.differences import CLAUSES, Clause, differences
from workbench.db.sql.functions import functions
from workbench.label.case import Case
from workbench.types import Execution, fold

_DAY_FIRST = re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{4}")
_COUNT = re.compile(r"COUNT\((?!DISTINCT)[^()]*\)")  # of a column or of rows: mostly the same
_AGGREGATES = ("count", "sum", "avg", "min", "max", "group")
_FAULTS = {  # what SQLite says of a query that does not run, and what that is a sign of
    "other column": ("no such column", "ambiguous column"),
    "missing table or join": ("no such table",),
    "function": ("no such function", "wrong number of arguments"),
    "aggregation": ("misuse of aggregate",),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """A case as the rules see it."""

    case: Case
    gold: Claims | None
    predicted: Claims | None
    clauses: tuple[Clause, ...]

    def only(self, *names: str, nested: bool = True) -> tuple[list[str], list[str]]:
        """What these clauses say in gold alone, and in the prediction alone."""
        chosen = [c for c in self.clauses if c.name in names and (nested or not c.nested)]
        return (
            [text for clause in chosen for text in clause.only_first],
            [text for clause in chosen for text in clause.only_second],
        )


def pair(case: Case) -> Pair:
    database = case.database
    return Pair(
        case,
        claims(case.gold, database),
        claims(case.predicted, database),
        differences(case.gold, case.predicted, database),
    )


def gold_likely_wrong(pair: Pair) -> Iterator[str]:
    case, gold = pair.case, pair.gold
    if case.gold_execution.status not in {"ok", "empty"}:
        yield f"gold does not run: {case.gold_execution.error or case.gold_execution.status}"
    elif case.execution.rows and _says_nothing(case) and not _says_nothing(case, predicted=True):
        yield "gold finds nothing, and the prediction does"
    yield from _sorted_as_text(pair)
    for one in pair.predicted.compared if gold and pair.predicted else ():
        given = rf"[=<>]\s*'?{re.escape(str(one.value))}'?(?!\w)"
        if re.search(given, case.question.evidence) and str(one.value) not in case.gold:
            yield f"the hint gives {one.value!r}, which the prediction uses and gold does not"


def _says_nothing(case: Case, *, predicted: bool = False) -> bool:
    rows = (case.execution if predicted else case.gold_execution).rows
    return all(value is None for row in rows for value in row)


def _sorted_as_text(pair: Pair) -> Iterator[str]:
    """Dates kept as text that begins with the day, put in order as if that were their order."""
    said = [(clause.name, item.text) for clause in pair.clauses for item in clause.first]
    ordered = {
        text.replace('"', "").removesuffix(" DESC").removesuffix(")")[len(start) :]
        for name, text in said
        for start in ("MIN(", "MAX(", "")
        if text.startswith(start) and (start or name == "ORDER BY")
    }
    for table in pair.case.database.tables:
        for column in table.columns:
            name, values = f"{table.name}.{column.name}", column.examples
            if name in ordered and values and all(_DAY_FIRST.fullmatch(str(v)) for v in values):
                yield f"gold orders by {name}, a text that begins with the day: {values[0]!s}"


def hint_ignored(pair: Pair) -> Iterator[str]:
    if pair.gold and pair.predicted:
        for one in pair.gold.compared:
            if one not in pair.predicted.compared and _in_hint(one.value, pair.case):
                yield f"the hint says {one.value!r}, which gold uses and the prediction does not"
        for table, column in sorted(pair.gold.columns - pair.predicted.columns):
            if _in_hint(column, pair.case):
                yield f"the hint names {column}, which gold takes from {table} and the prediction does not use"


def _in_hint(value: str | float, case: Case) -> bool:
    """Does the hint have this, as a word or between quotes?"""
    text = str(value)
    return bool(text) and bool(
        re.search(rf"(?<!\w){re.escape(fold(text))}(?!\w)", fold(case.question.evidence))
    )


def missing_table_or_join(pair: Pair) -> Iterator[str]:
    missing, added = pair.only("FROM")
    if pair.gold and pair.predicted and pair.gold.tables != pair.predicted.tables:
        missing = sorted(pair.gold.tables - pair.predicted.tables)
        added = sorted(pair.predicted.tables - pair.gold.tables)
    if missing:
        instead = f"; the prediction has {_list(added)} instead" if added else ""
        yield f"gold reads {_list(missing)}{instead}"
    elif added:
        yield f"the prediction reads {_list(added)} in addition"
    missing, added = pair.only("JOIN ON")
    if missing and added:
        yield f"gold joins by {_list(missing)}, the prediction by {_list(added)}"


def other_column(pair: Pair) -> Iterator[str]:
    missing, added = (
        [_COUNT.sub("COUNT(*)", text) for text in texts]
        for texts in pair.only("SELECT", nested=False)
    )
    if missing != added:
        yield f"gold returns {_list(missing)} where the prediction returns {_list(added)}"
    if pair.gold and pair.predicted:
        less = sorted(pair.gold.columns - pair.predicted.columns)
        more = sorted(pair.predicted.columns - pair.gold.columns)
        if less and more:
            theirs, ours = ([".".join(place) for place in places] for places in (less, more))
            yield f"gold uses {_list(theirs)} where the prediction uses {_list(ours)}"


def other_literal(pair: Pair) -> Iterator[str]:
    if pair.gold and pair.predicted:
        less = [one for one in pair.gold.compared if one not in pair.predicted.compared]
        more = [one for one in pair.predicted.compared if one not in pair.gold.compared]
        for one in less:
            for other in more:
                if one.column and one.column == other.column:
                    yield f"gold has {_comparison(one)}, the prediction {_comparison(other)}"
    required, instead = pair.only("WHERE", "HAVING")
    if required or instead:
        yield f"gold requires {_list(required)}, the prediction {_list(instead)}"


def _comparison(one: Compared) -> str:
    return f"{'.'.join(one.column or ())} {one.operator} {one.value!r}"


def aggregation(pair: Pair) -> Iterator[str]:
    if pair.gold and pair.predicted:
        for mark in _AGGREGATES:
            if (mark in pair.gold.marks) != (mark in pair.predicted.marks):
                who, other = "gold", "the prediction"
                if mark in pair.predicted.marks:
                    who, other = other, who
                yield f"{who} uses {'GROUP BY' if mark == 'group' else mark.upper()}, {other} does not"
    less, more = pair.only("GROUP BY")
    if less and more:
        yield f"gold groups by {_list(less)}, the prediction by {_list(more)}"


def function(pair: Pair) -> Iterator[str]:
    gold, predicted = functions(pair.case.gold), functions(pair.case.predicted)
    if gold - predicted:
        yield f"gold uses {_list(sorted(gold - predicted))}, the prediction does not"
    if predicted - gold:
        yield f"the prediction uses {_list(sorted(predicted - gold))}, gold does not"


def distinct_or_null_handling(pair: Pair) -> Iterator[str]:
    less, more = pair.only(*CLAUSES)
    for sign in (re.compile(r"\bDISTINCT\b"), re.compile(r"\bIS (?:NOT )?NULL\b")):
        gold, predicted = ([t for t in texts if sign.search(t)] for texts in (less, more))
        if len(gold) != len(predicted):
            yield f"gold has {_list(gold)}, the prediction {_list(predicted)}"


def order_and_limit(pair: Pair) -> Iterator[str]:
    for name in ("ORDER BY", "LIMIT"):
        less, more = pair.only(name)
        if less or more:
            yield f"in {name} gold has {_list(less)}, the prediction {_list(more)}"


def duplicates(pair: Pair) -> Iterator[str]:
    if not pair.gold or not pair.predicted or not {"count", "sum"} & pair.predicted.marks:
        return
    gold, predicted = _number(pair.case.gold_execution), _number(pair.case.execution)
    apart = "distinct count" in pair.gold.marks - pair.predicted.marks
    more = gold is not None and predicted is not None and predicted > gold
    if more and (apart or pair.only("FROM")[1]):
        yield f"the prediction finds {predicted:g}, gold {gold:g}: rows may be counted twice"


def _number(execution: Execution) -> float | None:
    """The only value of a result, where it is a number."""
    values = [value for row in execution.rows for value in row]
    return values[0] if len(values) == 1 and isinstance(values[0], int | float) else None


RULES: dict[str, Callable[[Pair], Iterator[str]]] = {
    "gold likely wrong": gold_likely_wrong,
    "hint ignored": hint_ignored,
    "missing table or join": missing_table_or_join,
    "other column": other_column,
    "other literal": other_literal,
    "aggregation": aggregation,
    "function": function,
    "DISTINCT or NULL handling": distinct_or_null_handling,
    "order and limit": order_and_limit,
    "duplicates": duplicates,
}


def fault(case: Case) -> tuple[str, str] | None:
    """The cause that an error of SQLite's stands for, and what it said."""
    error = case.execution.error
    return next(
        (
            (cause, f"the prediction does not run: {error}")
            for cause, signs in _FAULTS.items()
            if any(sign in error for sign in signs)
        ),
        None,
    )


def _list(texts: list[str]) -> str:
    return ", ".join(texts) or "nothing"
