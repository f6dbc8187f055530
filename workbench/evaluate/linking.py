"""Schema linking: how well the tables and columns put before a generator fit those that gold SQL uses.

CHESS's table 5. Precision is the share of what was selected that gold uses, recall the share of what
gold uses that was selected. A share of nothing is 1: who selects nothing selects nothing wrong, and
where gold uses nothing (no column, in SELECT COUNT(*) FROM t) nothing is missed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from workbench.errors import BadInputError
from workbench.types import fold

Item = tuple[str, str | None]
"""A table and one of its columns, or a table and None where it is named without a column."""


@dataclass(frozen=True, slots=True)
class Linking:
    """All between 0 and 1."""

    table_precision: float
    table_recall: float
    column_precision: float
    column_recall: float


def mean_linking(questions: Iterable[tuple[Iterable[Item], Iterable[Item]]]) -> Linking:
    """The mean over questions, each given as what was selected and what its gold uses.

    Every question counts the same. Names compare as SQLite compares them; a column brings its table along.
    """
    shares = [_shares(selected, used) for selected, used in questions]
    if not shares:
        raise BadInputError("no questions: a mean needs at least one")
    return Linking(*(fmean(column) for column in zip(*shares, strict=True)))


def _shares(selected: Iterable[Item], used: Iterable[Item]) -> list[float]:
    """Precision and recall of the tables, then of the columns."""
    return [
        len(ours & theirs) / len(whole) if whole else 1.0
        for ours, theirs in zip(_folded(selected), _folded(used), strict=True)
        for whole in (ours, theirs)
    ]


def _folded(items: Iterable[Item]) -> tuple[set[Item], set[Item]]:
    """The tables, and the columns with their tables."""
    pairs = {(fold(table), None if column is None else fold(column)) for table, column in items}
    return {(table, None) for table, _ in pairs}, {pair for pair in pairs if pair[1] is not None}
