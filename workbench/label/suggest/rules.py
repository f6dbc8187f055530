"""The rules that suggest causes of a wrong answer, one rule for each cause.

A rule gets the gold query and the predicted query clause by clause, their query facts, and both results.
It yields its reasons as sentences, the best first, or nothing.
"""

import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from workbench.label.case import Case
from workbench.sql.facts import CLAUSES, LiteralComparison, differences, functions, query_facts
from workbench.types import Execution, lower_name

_DAY_FIRST = re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{4}")
_COUNT = re.compile(r"COUNT\((?!DISTINCT)[^()]*\)")  # COUNT(column) mostly equals COUNT(*)
_AGGREGATES = ("count", "sum", "avg", "min", "max", "group")
_ERRORS = {  # for each cause, the messages of SQLite that point to it
    "other column": ("no such column", "ambiguous column"),
    "missing table or join": ("no such table",),
    "function": ("no such function", "wrong number of arguments"),
    "aggregation": ("misuse of aggregate",),
}


class QueryPair:
    """A case with the facts and clauses of its two queries; facts are None for an unreadable query."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.gold = query_facts(case.gold, case.database)
        self.predicted = query_facts(case.predicted, case.database)
        self.clauses = differences(case.gold, case.predicted, case.database)

    def only(self, *names: str, nested: bool = True) -> tuple[list[str], list[str]]:
        """The items of these clauses that only gold has, and those that only the prediction has."""
        chosen = [c for c in self.clauses if c.name in names and (nested or not c.nested)]
        return (
            [text for clause in chosen for text in clause.only_first],
            [text for clause in chosen for text in clause.only_second],
        )

    def only_facts(self, kind: str) -> tuple[list[Any], list[Any]]:
        """The facts that only gold has, and those that only the prediction has; none if a query is unreadable."""
        if not self.gold or not self.predicted:
            return [], []
        gold, predicted = getattr(self.gold, kind), getattr(self.predicted, kind)
        return [one for one in gold if one not in predicted], [
            o for o in predicted if o not in gold
        ]


def gold_likely_wrong(pair: QueryPair) -> Iterator[str]:
    case, gold = pair.case, pair.gold
    if not case.gold_execution.is_complete:
        yield f"gold does not run: {case.gold_execution.error or case.gold_execution.status}"
    elif (
        case.execution.rows and _only_nulls(case.gold_execution) and not _only_nulls(case.execution)
    ):
        yield "gold finds nothing, and the prediction does"
    yield from _sorted_as_text(pair)
    for condition in pair.predicted.comparisons if gold and pair.predicted else ():
        given = rf"[=<>]\s*'?{re.escape(str(condition.value))}'?(?!\w)"
        if re.search(given, case.question.evidence) and str(condition.value) not in case.gold:
            yield f"the hint gives {condition.value!r}, which the prediction uses and gold does not"


def _only_nulls(execution: Execution) -> bool:
    return all(value is None for row in execution.rows for value in row)


def _sorted_as_text(pair: QueryPair) -> Iterator[str]:
    """Gold orders by dates stored as text that begins with the day, so the rows are not in the order of time."""
    texts = [(clause.name, text) for clause in pair.clauses for text in clause.first]
    ordered = {
        text.replace('"', "").removesuffix(" DESC").removesuffix(")")[len(start) :]
        for name, text in texts
        for start in ("MIN(", "MAX(", "")
        if text.startswith(start) and (start or name == "ORDER BY")
    }
    for table in pair.case.database.tables:
        for column in table.columns:
            name, values = f"{table.name}.{column.name}", column.examples
            if name in ordered and values and all(_DAY_FIRST.fullmatch(str(v)) for v in values):
                yield f"gold orders by {name}, a text that begins with the day: {values[0]!s}"


def hint_ignored(pair: QueryPair) -> Iterator[str]:
    for condition in pair.only_facts("comparisons")[0]:
        if _in_hint(condition.value, pair.case):
            yield f"the hint says {condition.value!r}, which gold uses and the prediction does not"
    for table, column in sorted(pair.only_facts("columns")[0]):
        if _in_hint(column, pair.case):
            yield f"the hint names {column}, which gold takes from {table} and the prediction does not use"


def _in_hint(value: str | float, case: Case) -> bool:
    """Whether the hint has this value as a word or between quotes."""
    word = re.escape(lower_name(str(value)))
    return bool(word and re.search(rf"(?<!\w){word}(?!\w)", lower_name(case.question.evidence)))


def missing_table_or_join(pair: QueryPair) -> Iterator[str]:
    tables = pair.only_facts("tables")
    missing, added = map(sorted, tables) if any(tables) else pair.only("FROM")
    if missing:
        instead = f"; the prediction has {_list(added)} instead" if added else ""
        yield f"gold reads {_list(missing)}{instead}"
    elif added:
        yield f"the prediction reads {_list(added)} in addition"
    missing, added = pair.only("JOIN ON")
    if missing and added:
        yield f"gold joins by {_list(missing)}, the prediction by {_list(added)}"


def other_column(pair: QueryPair) -> Iterator[str]:
    missing, added = (
        [_COUNT.sub("COUNT(*)", text) for text in texts]
        for texts in pair.only("SELECT", nested=False)
    )
    if missing != added:
        yield f"gold returns {_list(missing)} where the prediction returns {_list(added)}"
    missing, added = (sorted(map(".".join, columns)) for columns in pair.only_facts("columns"))
    if missing and added:
        yield f"gold uses {_list(missing)} where the prediction uses {_list(added)}"


def other_literal(pair: QueryPair) -> Iterator[str]:
    for condition, other in product(*pair.only_facts("comparisons")):
        if condition.column and condition.column == other.column:
            yield f"gold has {_comparison(condition)}, the prediction {_comparison(other)}"
    missing, added = pair.only("WHERE", "HAVING")
    if missing or added:
        yield f"gold requires {_list(missing)}, the prediction {_list(added)}"


def _comparison(condition: LiteralComparison) -> str:
    return f"{'.'.join(condition.column or ())} {condition.operator} {condition.value!r}"


def aggregation(pair: QueryPair) -> Iterator[str]:
    gold, predicted = pair.only_facts("operations")
    for operation in _AGGREGATES:
        name = "GROUP BY" if operation == "group" else operation.upper()
        if operation in gold:
            yield f"gold uses {name}, the prediction does not"
        if operation in predicted:
            yield f"the prediction uses {name}, gold does not"
    missing, added = pair.only("GROUP BY")
    if missing and added:
        yield f"gold groups by {_list(missing)}, the prediction by {_list(added)}"


def function(pair: QueryPair) -> Iterator[str]:
    gold, predicted = functions(pair.case.gold), functions(pair.case.predicted)
    if gold - predicted:
        yield f"gold uses {_list(sorted(gold - predicted))}, the prediction does not"
    if predicted - gold:
        yield f"the prediction uses {_list(sorted(predicted - gold))}, gold does not"


def distinct_or_null_handling(pair: QueryPair) -> Iterator[str]:
    missing, added = pair.only(*CLAUSES)
    for sign in (re.compile(r"\bDISTINCT\b"), re.compile(r"\bIS (?:NOT )?NULL\b")):
        gold, predicted = ([t for t in texts if sign.search(t)] for texts in (missing, added))
        if len(gold) != len(predicted):
            yield f"gold has {_list(gold)}, the prediction {_list(predicted)}"


def order_and_limit(pair: QueryPair) -> Iterator[str]:
    for name in ("ORDER BY", "LIMIT"):
        missing, added = pair.only(name)
        if missing or added:
            yield f"in {name} gold has {_list(missing)}, the prediction {_list(added)}"


def duplicates(pair: QueryPair) -> Iterator[str]:
    if not pair.gold or not pair.predicted or not {"count", "sum"} & pair.predicted.operations:
        return
    gold, predicted = _number(pair.case.gold_execution), _number(pair.case.execution)
    gold_counts_distinct = "distinct count" in pair.gold.operations - pair.predicted.operations
    predicts_more = gold is not None and predicted is not None and predicted > gold
    if predicts_more and (gold_counts_distinct or pair.only("FROM")[1]):
        yield f"the prediction finds {predicted:g}, gold {gold:g}: rows may be counted twice"


def _number(execution: Execution) -> float | None:
    """The number that is the whole result, or None."""
    values = [value for row in execution.rows for value in row]
    return values[0] if len(values) == 1 and isinstance(values[0], int | float) else None


RULES: dict[str, Callable[[QueryPair], Iterator[str]]] = {
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


def error_cause(case: Case) -> dict[str, str]:
    """The cause that SQLite's error points to, if any, with the error."""
    error = case.execution.error
    for cause, signs in _ERRORS.items():
        if any(sign in error for sign in signs):
            return {cause: f"the prediction does not run: {error}"}
    return {}


def _list(texts: list[str]) -> str:
    return ", ".join(texts) or "nothing"
