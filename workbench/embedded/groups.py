"""Heads that want something for each of something, or only groups of which something holds."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.embedded.formula import Pieces
from workbench.embedded.head import Head, cue_mask, group_of
from workbench.embedded.reading import Features, Reading, span

_SIGNS = {"more": ">", "less": "<", "atleast": ">=", "atmost": "<="}


def groups(reading: Reading, lists: Sequence[Head], others: Sequence[Head]) -> Iterator[Head]:
    """Something for each of something."""
    asked = "each" in reading.cues or len(reading.heads) > 1 or "count" in reading.cues
    if not asked:
        return
    totals = sorted(
        (h for h in others if h.shape in {"count", "total"}),
        key=lambda h: -reading.score(h.features),
    )[:6]
    for total in totals:
        for listing in lists:
            if (
                total.mask & listing.mask & ~cue_mask(reading, "count")
                or total.fields & listing.fields
            ):
                continue
            yield both(reading, listing, total)
            yield both(reading, listing, total, reverse=True)


def group_keys(reading: Reading, lists: Sequence[Head]) -> list[Head]:
    """The lists that groups may be made by: those after "each" first."""

    def fit(head: Head) -> float:
        first = (head.mask & -head.mask).bit_length() - 1
        near = any(0 <= first - cue.end <= 2 for cue in reading.cues.get("each", ()))
        return head.score + (2.5 if near else 0.0)

    return sorted(lists, key=lambda h: -fit(h))[:8]


def both(reading: Reading, listing: Head, total: Head, *, reverse: bool = False) -> Head:
    each = [
        c
        for c in reading.cues.get("each", ())
        if 0 <= (listing.mask & -listing.mask).bit_length() - 1 - c.end <= 2
    ]
    in_order = (listing.mask & -listing.mask) < (total.mask & -total.mask)
    features = {**listing.features, **total.features}
    features |= {
        "group": 1.0,
        "group.each": bool(each),
        "group.overlap": bool(total.mask & listing.mask & ~cue_mask(reading, "count")),
        "group.total_first": reverse,
        "group.as_said": in_order != reverse,
    }
    select = total.select + listing.select if reverse else listing.select + total.select
    mask = listing.mask | total.mask | (span(each[0].first, each[0].end) if each else 0)
    return Head(
        "group", select, mask, listing.hints | total.hints, features, total.operations | {"group"},
        (*listing.needs, *total.needs), group_of(reading, listing), inner=total.inner, inner_tests=total.inner_tests,
    )  # fmt: skip


def havings(reading: Reading, lists: Sequence[Head]) -> Iterator[Head]:
    """Groups of at least so many, and those that the hint describes."""
    conditions: list[tuple[Pieces, int, int, Features, tuple[int, ...]]] = []
    for found in reading.definitions:
        tests = [f.pieces for f in found.formulas if f.kind == "group_test"]
        told: Features = {"having.hint": 1.0}
        conditions += [(pieces, found.mask, 1 << found.number, told, ()) for pieces in tests]
    for kind, sign in _SIGNS.items():
        for cue in reading.cues.get(kind, ()):
            numbers = range(max(0, cue.first - 2), min(len(reading.text), cue.end + 2))
            number = next((i for i in numbers if reading.text[i].number is not None), -1)
            if number < 0:
                continue
            mask = span(cue.first, cue.end) | 1 << number
            told_number = f"{reading.text[number].number:g}"
            pieces: Pieces = (f"COUNT(*) {sign} {told_number}",)
            conditions.append((pieces, mask, 0, {"having.count": 1.0}, ()))
            for table, mentions in reading.linked.tables.items():
                near = min(mentions, key=lambda m: abs(m.first - number))
                gap = near.first - max(number, cue.end - 1)
                told = {
                    "having.count": 1.0,
                    "having.table": near.strength,
                    "having.gap": 1.0 if gap < 0 else min(6, gap) / 6,
                }
                conditions.append((pieces, mask | near.mask, 0, told, (table,)))
            if "avg" in reading.cues:
                for column in reading.linked.fields:
                    mention, gap = reading.nearest(column, cue.first, cue.end)
                    if mention and gap <= 5 and reading.made.fields[column].kind == "number":
                        told = {"having.avg": 1.0, "having.strength": mention.strength}
                        average: Pieces = ("AVG(", column, f") {sign} {told_number}")
                        conditions.append(
                            (average, mask | mention.mask | cue_mask(reading, "avg"), 0, told, ())
                        )
    conditions.sort(key=lambda c: -reading.score(c[3]))
    for pieces, mask, hints, told, needs in conditions[:8]:
        for head in lists:
            yield replace(
                head, shape="having", mask=head.mask | mask, hints=head.hints | hints, having=pieces,
                features={**head.features, **told, "having": 1.0, "having.overlap": bool(head.mask & mask)},
                operations=frozenset({"having"}), group=group_of(reading, head), needs=(*head.needs, *needs),
            )  # fmt: skip


def shares_of(reading: Reading) -> Iterator[Head]:
    """A percentage or a difference whose parts are tests of the question; which ones is not said here."""
    for kind, shape in (("percent", "percent"), ("ratio", "percent"), ("differ", "differ")):
        for cue in reading.cues.get(kind, ())[:1]:
            mask = span(cue.first, cue.end)
            yield Head(shape, (), mask, 0, {f"share.{kind}": 1.0}, frozenset({shape}))
