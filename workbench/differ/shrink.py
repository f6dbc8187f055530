"""Shrink a database on which two queries differ: remove rows that the difference does not need.

As in delta debugging (Zeller and Hildebrandt 2002), a whole table is removed first, then half of one, a quarter and
so on, as long as the queries still differ and the rules still hold.
"""

from collections.abc import Callable, Iterator
from random import Random

from workbench.differ.keep import mended
from workbench.differ.rules import Rows, Rules

_MOST_CHECKS = 60


def shrunk(rows: Rows, rules: Rules, is_different: Callable[[Rows], bool]) -> Rows:
    """The rows without those that can be removed while `is_different` holds."""
    checks = 0
    part = max(map(len, rows.values()), default=0)
    while part:
        smaller = None
        for candidate in _without(rows, part, rules):
            checks += 1
            if checks > _MOST_CHECKS:
                return rows
            if is_different(candidate):
                smaller = candidate
                break
        if smaller is None:
            part //= 2
        else:
            rows = smaller
    return rows


def _without(rows: Rows, part: int, rules: Rules) -> Iterator[Rows]:
    """The rows without one part of a table, mended; results with no fewer rows are skipped."""
    size = _size(rows)
    for name in reversed(rules.tables):  # children first
        for start in range(0, len(rows[name]), part):
            left = rows[name][:start] + rows[name][start + part :]
            smaller = mended({**rows, name: left}, rules, Random(0))  # noqa: S311  no secret
            if smaller is not None and _size(smaller) < size:
                yield smaller


def _size(rows: Rows) -> int:
    return sum(map(len, rows.values()))
