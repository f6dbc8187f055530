"""How the result of a prediction differs from that of gold, decided over all rows of both."""

from collections import defaultdict
from decimal import ROUND_HALF_UP, Context, Decimal
from itertools import islice, product
from typing import NamedTuple

from workbench.types import Execution, Row, Value
from workbench.widgets import differing, many, picked

FAILS = "the prediction does not run"
_MOST_PLACES = 100  # ways to match columns of equal values that are tried


class Results(NamedTuple):
    """A sentence about two results, what only one of them has, and whether they say the same."""

    sentence: str
    # Columns and first rows of gold alone, and of the prediction alone.
    only: list[dict[str, list[bool]]]
    excused: str  # what differs though both say the same; "" if more than that does


def compare_results(gold: Execution, ran: Execution) -> Results:
    return Results(_sentence(gold, ran), differing(gold, ran), excused(gold, ran))


def _sentence(gold: Execution, ran: Execution) -> str:
    if not ran.is_complete:
        return f"{FAILS}, {ran.error or ran.status}"
    width = len(ran.columns)
    gold_width = len(gold.columns)
    if width == gold_width == ran.row_count == gold.row_count == 1:
        cell = ran.rows[0][0]
        gold_cell = gold.rows[0][0]
        return f"{_cell(cell)} in place of {_cell(gold_cell)}"
    if not gold.is_complete:
        return ""
    sizes = []
    if width != gold_width:
        sizes.append(f"{many(width, 'column')} in place of {gold_width:,}")
    if ran.row_count != gold.row_count:
        sizes.append(f"{many(ran.row_count, 'row')} in place of {gold.row_count:,}")
    if sizes:
        return "; ".join(sizes)
    gold_rows = set(gold.rows)
    shared = gold_rows & set(ran.rows)
    return f"{len(shared)} of {len(gold_rows)} rows are shared"


def _cell(cell: Value) -> str:
    return "NULL" if cell is None else str(cell)[:60]


def excused(gold: Execution, ran: Execution) -> str:
    """Return in words what differs of two results that say the same; "" if they do not.

    That may be the order or the number of columns, duplicates, or rounding. Numbers are rounded
    to two decimals, those below one to two digits.
    """
    if not gold.rows or not ran.rows:
        return ""
    narrow, wide = sorted((gold, ran), key=lambda execution: len(execution.columns))
    places = _places(_rounded(narrow.rows), _rounded(wide.rows))
    if places is None:
        return ""
    differs = []
    if len(narrow.columns) != len(wide.columns):
        differs.append("the number of columns")
    if list(places) != sorted(places):
        differs.append("the order of columns")
    if narrow.row_count != wide.row_count:
        differs.append("duplicates")
    if set(narrow.rows) != {picked(row, places) for row in wide.rows}:
        differs.append("rounding")
    return " and ".join(differs)


def _places(narrow: list[Row], wide: list[Row]) -> tuple[int, ...] | None:
    """Return the columns of the wider rows that hold the narrower ones.

    Columns with the same set of values can be matched in several ways.
    """
    places_of: defaultdict[frozenset[Value], list[int]] = defaultdict(list)
    for at, values in enumerate(_columns(wide)):
        places_of[values].append(at)
    options = [places_of[values] for values in _columns(narrow)]
    rows = set(narrow)
    for places in islice(product(*options), _MOST_PLACES):
        are_distinct = len(set(places)) == len(places)
        if are_distinct and {picked(row, places) for row in wide} == rows:
            return places
    return None


def _columns(rows: list[Row]) -> list[frozenset[Value]]:
    return [frozenset(column) for column in zip(*rows, strict=True)]


_CENT = Decimal("0.01")
_TWO_DIGITS = Context(prec=2, rounding=ROUND_HALF_UP)


def _rounded(rows: tuple[Row, ...]) -> list[Row]:
    return [tuple(map(_round, row)) for row in rows]


def _round(cell: Value) -> Value:
    """Return the number as SQLite's ROUND has it, which rounds a half away from zero."""
    if not isinstance(cell, float) or abs(cell) >= 1e15:
        return cell
    number = Decimal(repr(cell))
    if abs(cell) < 1:
        return float(_TWO_DIGITS.plus(number))
    return float(number.quantize(_CENT, ROUND_HALF_UP))
