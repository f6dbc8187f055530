"""A head: all of a query but its tests and its joins, and the words of the question that ask for it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from workbench.embedded.linking.formula import Pieces
from workbench.embedded.linking.reading import Features, Reading

# For each operation of a query the cues that ask for it; without any of them it is `unasked`.
_CUES = {
    "count": ("count",),
    "sum": ("sum",),
    "avg": ("avg",),
    "extreme": ("max", "min"),
    "most": ("most", "fewest"),
    "group": ("each",),
    "distinct": ("distinct",),
}
# A cue that no operation answers is `missed`: the name, the cues, and the operations that answer them.
_ANSWERS = (
    ("count.missed", ("count",), {"count", "most"}),
    ("sum.missed", ("sum",), {"sum"}),
    ("avg.missed", ("avg",), {"avg"}),
    ("extreme.missed", ("max", "min", "most", "fewest"), {"extreme", "most"}),
    ("group.missed", ("each",), {"group"}),
    ("distinct.missed", ("distinct",), {"distinct", "list", "group"}),
    ("percent.missed", ("percent",), {"percent"}),
    ("differ.missed", ("differ",), {"differ"}),
)


@dataclass
class Head:
    """What a query selects, with what orders, groups and cuts it."""

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
    inner: int = 0  # clauses of the hint that describe tests inside a total
    inner_tests: tuple[Pieces, ...] = ()
    score: float = 0.0
    tables: frozenset[int] = frozenset()

    @cached_property
    def fields(self) -> frozenset[int]:
        pieces = (*self.select, self.order, self.having, self.group)
        return frozenset(p for piece in pieces for p in piece if isinstance(p, int))

    @cached_property
    def selected(self) -> frozenset[int]:
        return frozenset(p for piece in self.select for p in piece if isinstance(p, int))

    def judge(self, reading: Reading) -> None:
        """Complete the head: add the operations that no word asks for, its score and its tables."""
        if self.shape != "formula":  # a formula of the hint needs no other word
            for name in sorted(self.operations & _CUES.keys()):
                if reading.cues.keys().isdisjoint(_CUES[name]):
                    self.features[f"{name}.unasked"] = 1.0
        self.score = reading.score(self.features)
        self.tables = frozenset(reading.made.fields[i].table for i in self.fields).union(self.needs)


def asked(reading: Reading) -> list[tuple[str, set[str], int]]:
    """What the cues ask for: the feature of missing it, the operations that answer it, and the tokens."""
    return [
        (name, answers, cue.mask)
        for name, kinds, answers in _ANSWERS
        for cue in reading.all_cues(*kinds)
    ]


def union(masks: Iterable[int]) -> int:
    """All the bits of some masks."""
    result = 0
    for mask in masks:
        result |= mask
    return result


def group_of(reading: Reading, head: Head) -> tuple[int, ...]:
    """What one row of a list stands for: the key of the table whose rows it names, or its own columns.

    Two persons may have one name, so that grouping by the name would add up their rows.
    """
    fields = [p for piece in head.select for p in piece if isinstance(p, int)]
    sheet = reading.made.sheets[reading.made.fields[fields[0]].table] if fields else None
    if sheet and sheet.key and head.selected.intersection(sheet.label + sheet.key):
        return sheet.key
    return tuple(fields)
