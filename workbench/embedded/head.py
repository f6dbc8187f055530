"""A head: everything of a query but its tests and its joins, and what in the question asks for it."""

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.embedded.formula import Pieces
from workbench.embedded.outputs import together
from workbench.embedded.reading import Features, Part, Reading

OPERATIONS = {
    "count": ("count",),
    "sum": ("sum",),
    "avg": ("avg",),
    "extreme": ("max", "min"),
    "most": ("most", "fewest"),
    "group": ("each",),
    "having": (),
    "distinct": ("distinct",),
    "percent": ("percent",),
    "differ": ("differ",),
    "formula": ("percent", "ratio", "differ"),
}


_ASKED: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("count.missed", ("count",), ("count", "most")),
    ("sum.missed", ("sum",), ("sum",)),
    ("avg.missed", ("avg",), ("avg",)),
    ("extreme.missed", ("max", "min", "most", "fewest"), ("extreme", "most")),
    ("group.missed", ("each",), ("group",)),
    ("distinct.missed", ("distinct",), ("distinct", "list", "group")),
    ("percent.missed", ("percent",), ("percent", "formula")),
    ("differ.missed", ("differ",), ("differ", "formula")),
)


@dataclass(slots=True)
class Head:
    """`select` with what orders, groups and cuts it; `shape` names how it was made."""

    shape: str
    select: tuple[Pieces, ...]
    mask: int
    hints: int
    features: Features
    operations: frozenset[str] = frozenset()
    needs: tuple[int, ...] = ()
    group: tuple[int, ...] = ()
    having: Pieces = ()
    order: Pieces = ()
    descending: bool = False
    limit: int = 0
    nested: bool = False  # the first of an order is found by comparing with MAX or MIN
    score: float = 0.0
    inner: int = 0  # clauses of the hint that describe tests inside a total
    inner_tests: tuple[Pieces, ...] = ()

    @property
    def fields(self) -> set[int]:
        pieces = (*self.select, self.order, self.having, self.group)
        return {p for piece in pieces for p in piece if isinstance(p, int)}


def listing(reading: Reading, parts: tuple[Part, ...]) -> Head:
    _, features = together(reading, parts)
    for part in parts:
        for name, value in part.features.items():
            features[name] = features.get(name, 0.0) + value
    head = Head(
        "list",
        tuple(p.pieces for p in parts),
        union(p.mask for p in parts),
        union(p.hints for p in parts),
        features,
        needs=tuple(t for p in parts for t in p.needs),
    )
    head.score = reading.score(features)
    return head


def union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def group_of(reading: Reading, head: Head) -> tuple[int, ...]:
    """What one row of a list stands for: the key of the table whose rows it names, or its own columns."""
    fields = [p for piece in head.select for p in piece if isinstance(p, int)]
    sheet = reading.made.sheets[reading.made.fields[fields[0]].table] if fields else None
    if sheet and sheet.key and (set(sheet.label) & set(fields) or set(sheet.key) & set(fields)):
        return sheet.key
    return tuple(fields)


def unasked(reading: Reading, operations: frozenset[str]) -> Features:
    """The operations that no word asks for."""
    return {
        f"{name}.unasked": 1.0
        for name in sorted(operations)
        if not any(kind in reading.cues for kind in OPERATIONS[name])
    }


def asked(reading: Reading) -> list[tuple[str, frozenset[str], int]]:
    """What each cue asks for: a name for it, the operations that answer it, and its tokens."""
    return [
        (name, frozenset(answers), cue.mask)
        for name, kinds, answers in _ASKED
        for kind in kinds
        for cue in reading.cues.get(kind, ())
    ]
