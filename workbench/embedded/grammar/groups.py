"""Heads that want something for each of something, or only groups of which something holds."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.embedded.grammar.head import Head, group_of, union
from workbench.embedded.linking.formula import Pieces
from workbench.embedded.linking.reading import Features, Reading

_SIGNS = {"more": ">", "less": "<", "atleast": ">=", "atmost": "<="}


def groups(reading: Reading, listed: Sequence[Head], others: Sequence[Head]) -> Iterator[Head]:
    """A count or a total for each row of a list."""
    if not (reading.all_cues("each", "count") or len(reading.openings) > 1):
        return
    totals = [h for h in others if h.shape in {"count", "total"}]
    totals.sort(key=lambda h: -reading.score(h.features))
    keys = sorted(listed, key=lambda h: -h.score - 2.5 * bool(_each(reading, h)))[:8]
    for total in totals[:6]:
        for listing in keys:
            if not total.fields & listing.fields:
                yield both(reading, listing, total)
                yield both(reading, listing, total, reverse=True)


def _each(reading: Reading, head: Head) -> int:
    """The tokens of an "each" right before a list."""
    first = (head.mask & -head.mask).bit_length() - 1
    return union(c.mask for c in reading.all_cues("each") if 0 <= first - c.end <= 2)


def both(reading: Reading, listing: Head, total: Head, *, reverse: bool = False) -> Head:
    """A list and a total as one head; `reverse` puts the total first."""
    each = _each(reading, listing)
    counting = union(cue.mask for cue in reading.all_cues("count"))
    features = {**listing.features, **total.features}
    features |= {
        "group": 1.0,
        "group.each": bool(each),
        "group.overlap": bool(total.mask & listing.mask & ~counting),
        "group.total_first": reverse,
    }
    return replace(
        total,
        shape="group",
        select=total.select + listing.select if reverse else listing.select + total.select,
        mask=listing.mask | total.mask | each,
        hints=listing.hints | total.hints,
        features=features,
        operations=total.operations | {"group"},
        needs=(*listing.needs, *total.needs),
        group=group_of(reading, listing),
    )


def havings(reading: Reading, listed: Sequence[Head]) -> Iterator[Head]:
    """Lists of groups of at least so many rows, or with a total that the hint describes."""
    found = sorted(_conditions(reading), key=lambda h: -reading.score(h.features))[:8]
    for condition in found:
        for head in listed:
            overlap = bool(head.mask & condition.mask)
            yield replace(
                condition,
                select=head.select,
                mask=head.mask | condition.mask,
                hints=head.hints | condition.hints,
                features=head.features | condition.features | {"having.overlap": overlap},
                group=group_of(reading, head),
                needs=(*head.needs, *condition.needs),
            )


def _conditions(reading: Reading) -> Iterator[Head]:
    """Heads with a condition on groups, as yet without a list."""

    def head(
        having: Pieces, mask: int, features: Features, table: int = -1, hints: int = 0
    ) -> Head:
        told = {"having": 1.0, **features}
        needs = (table,) if table >= 0 else ()
        return Head("having", (), mask, hints, told, frozenset({"having"}), needs, having=having)

    for clause in reading.definitions:
        for formula in clause.formulas:
            if formula.kind == "group_test":
                told = {"having.hint": 1.0}
                yield head(formula.pieces, clause.mask, told, hints=1 << clause.number)
    for cue in reading.all_cues(*_SIGNS):
        near = range(max(0, cue.first - 2), min(len(reading.text), cue.end + 2))
        place = next((i for i in near if reading.text[i].number is not None), -1)
        if place < 0:
            continue
        mask = cue.mask | 1 << place
        test = f"{_SIGNS[cue.kind]} {reading.text[place].number:g}"
        yield head((f"COUNT(*) {test}",), mask, {"having.count": 1.0})
        for table, mentions in reading.linked.tables.items():
            mention = min(mentions, key=lambda m: abs(m.first - place))
            gap = mention.first - max(place, cue.end - 1)
            features: Features = {"having.count": 1.0, "having.table": mention.strength}
            features["having.gap"] = 1.0 if gap < 0 else min(6, gap) / 6
            yield head((f"COUNT(*) {test}",), mask | mention.mask, features, table)
