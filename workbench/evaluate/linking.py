"""Schema linking: how well the tables and columns put before a generator fit those that gold SQL uses.

CHESS's table 5. Precision is the share of what was selected that gold uses, recall the share of what
gold uses that was selected. A share of nothing is 1: who selects nothing selects nothing wrong, and
where gold uses nothing (no column, in SELECT COUNT(*) FROM t) nothing is missed.
"""

from collections.abc import Iterable
from dataclasses import astuple, dataclass
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


def linking(selected: Iterable[Item], used_by_gold: Iterable[Item]) -> Linking:
    """One question's. Names compare as SQLite compares them; a column brings its table along."""
    return _shares(_counts(selected, used_by_gold))


def mean_linking(
    questions: Iterable[tuple[Iterable[Item], Iterable[Item]]], *, micro: bool = False
) -> Linking:
    """The mean over questions, each given as what was selected and what its gold uses.

    Every question counts the same; with `micro` every table and column does.
    """
    counts = [_counts(selected, used) for selected, used in questions]
    if not counts:
        raise BadInputError("no questions: a mean needs at least one")
    if micro:
        return _shares([sum(column) for column in zip(*counts, strict=True)])
    shares = [astuple(_shares(count)) for count in counts]
    return Linking(*(fmean(column) for column in zip(*shares, strict=True)))


def _counts(selected: Iterable[Item], used: Iterable[Item]) -> list[int]:
    """How many tables are selected and used, selected, used; then the same of columns."""
    ours, theirs = _folded(selected), _folded(used)
    return [
        size for a, b in zip(ours, theirs, strict=True) for size in (len(a & b), len(a), len(b))
    ]


def _folded(items: Iterable[Item]) -> tuple[set[Item], set[Item]]:
    """The tables, and the columns with their tables."""
    pairs = {(fold(table), None if column is None else fold(column)) for table, column in items}
    return {(table, None) for table, _ in pairs}, {pair for pair in pairs if pair[1] is not None}


def _shares(counts: list[int]) -> Linking:
    tables, selected_tables, used_tables, columns, selected_columns, used_columns = counts
    return Linking(
        table_precision=_share(tables, selected_tables),
        table_recall=_share(tables, used_tables),
        column_precision=_share(columns, selected_columns),
        column_recall=_share(columns, used_columns),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
