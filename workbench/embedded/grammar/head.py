"""A head: all of a query but its tests and its joins, and the words of the question that ask for it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from workbench.embedded.linking.index import Pieces
from workbench.embedded.linking.reading import Features, Reading

# Operations of a query, the cues that ask for each, and the operations that answer such a cue. Without any
# of its cues an operation is `unasked`; a cue that no operation answers is `missed`.
_OPERATIONS = (
    ("count", ("count",), {"count", "most"}),
    ("sum", ("sum",), {"sum"}),
    ("avg", ("avg",), {"avg"}),
    ("extreme", ("max", "min", "most", "fewest"), {"extreme", "most"}),
    ("group", ("each",), {"group"}),
    ("distinct", ("distinct",), {"distinct", "list", "group"}),
    ("percent", ("percent",), {"percent"}),
    ("differ", ("differ",), {"differ"}),
)


@dataclass
class Head:
    """The columns and totals that a query selects, and its grouping, order and limit."""

    shape: str  # list, count, total, formula, group, having or ordered
    select: tuple[Pieces, ...]
    mask: int  # the tokens that ask for it
    hints: int  # the clauses of the hint that it uses
    features: Features
    operations: frozenset[str] = frozenset({"list"})
    needs: tuple[int, ...] = ()  # tables beyond those of its columns
    group: tuple[int, ...] = ()
    having: Pieces = ()
    order: Pieces = ()
    descending: bool = False
    limit: int = 0
    nested: bool = False  # the first of an order is found by comparing with MAX or MIN
    inner_tests: tuple[Pieces, ...] = ()  # conditions inside its totals
    score: float = 0.0
    tables: frozenset[int] = frozenset()

    @cached_property
    def fields(self) -> frozenset[int]:
        return self.selected.union(columns_of((self.order, self.having, self.group)))

    @cached_property
    def selected(self) -> frozenset[int]:
        return frozenset(columns_of(self.select))

    def judge(self, reading: Reading) -> None:
        """Complete the head: add the operations that no word asks for, its score and its tables."""
        if self.shape != "formula":  # a formula of the hint needs no other word
            for name, cues, _ in _OPERATIONS:
                if name in self.operations and reading.cues.keys().isdisjoint(cues):
                    self.features[f"{name}.unasked"] = 1.0
        self.score = reading.score(self.features)
        self.tables = frozenset(reading.made.fields[i].table for i in self.fields).union(self.needs)


def listing(head: Head, listed: Head, **changed: Any) -> Head:
    """A head that groups, orders or totals, put together with the list that it is about."""
    together: dict[str, Any] = {
        "select": listed.select + head.select,
        "mask": listed.mask | head.mask,
        "hints": listed.hints | head.hints,
        "features": listed.features | head.features,
    }
    return replace(head, **(together | changed))


def asked(reading: Reading) -> list[tuple[str, set[str], int]]:
    """For each cue: the feature of missing it, the operations that answer it, and its tokens."""
    return [
        (f"{name}.missed", answers, cue.mask)
        for name, kinds, answers in _OPERATIONS
        for cue in reading.all_cues(*kinds)
    ]


def union(masks: Iterable[int]) -> int:
    """All the bits of some masks."""
    result = 0
    for mask in masks:
        result |= mask
    return result


def columns_of(parts: Iterable[Pieces]) -> list[int]:
    """The columns in some pieces of SQL, in their order."""
    return [piece for pieces in parts for piece in pieces if isinstance(piece, int)]


def group_of(reading: Reading, head: Head) -> tuple[int, ...]:
    """The columns to group a list by: the key of the table whose rows it names, or its own columns.

    Two persons may have one name, so that grouping by the name would add up their rows.
    """
    fields = columns_of(head.select)
    sheet = reading.made.sheets[reading.made.fields[fields[0]].table] if fields else None
    if sheet and sheet.key and head.selected.intersection(sheet.label + sheet.key):
        return sheet.key
    return tuple(fields)
