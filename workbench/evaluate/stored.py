"""Results that are stored as CSV files, compared as Spider2 compares them.

A result meets a stored one if every column that counts equals some column of the result: the
same number of values and, sorted by their texts where order does not count, equal values. An
empty cell is 0. Both sides are read as CSV, so that types are what a CSV reader makes of them:
the text 007 is the number 7.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from io import StringIO

import pandas as pd

from workbench.types import Execution, StoredResult

_Cell = float | str
_Columns = list[list[_Cell]]


def meets(predicted: Execution, stored: StoredResult) -> bool:
    """Whether a complete result meets the stored one."""
    if not predicted.is_complete:
        return False
    frame = pd.DataFrame(list(predicted.rows), columns=list(predicted.columns))
    ours = _columns(frame.to_csv(index=False))
    golds = _columns(stored.csv)

    def is_met(number: int) -> bool:
        return any(_equal(golds[number], column, stored) for column in ours)

    counted = stored.columns or range(len(golds))
    return all(map(is_met, counted))


@lru_cache(maxsize=1024)  # a gold result meets many predictions
def _columns(csv: str) -> _Columns:
    frame = pd.read_csv(StringIO(csv))
    columns = []
    for name in frame.columns:
        values = frame[name].tolist()
        columns.append([_cell(value) for value in values])
    return columns


def _cell(value: object) -> _Cell:
    if not isinstance(value, int | float):  # True is the number 1
        return str(value)
    return 0.0 if math.isnan(value) else float(value)


def _equal(gold: Sequence[_Cell], ours: Sequence[_Cell], stored: StoredResult) -> bool:
    if len(gold) != len(ours):
        return False
    if not stored.ordered:
        gold = sorted(gold, key=str)
        ours = sorted(ours, key=str)
    pairs = zip(gold, ours, strict=True)
    return all(_close(a, b, stored.tolerance) for a, b in pairs)


def _close(gold: _Cell, ours: _Cell, tolerance: float) -> bool:
    if isinstance(gold, float) and isinstance(ours, float):
        return math.isclose(gold, ours, abs_tol=tolerance)
    return gold == ours


def as_execution(stored: StoredResult) -> Execution:
    """Return the stored result in the form of a query's, with all its columns."""
    frame = pd.read_csv(StringIO(stored.csv))
    with_none = frame.astype(object).where(frame.notna(), None)
    rows = tuple(with_none.itertuples(index=False, name=None))
    return Execution(
        status="ok" if rows else "empty",
        columns=tuple(map(str, frame.columns)),
        rows=rows,
        row_count=len(rows),
    )
