"""Heads that want something for each of something, or only groups of which something holds."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.embedded.grammar.head import Head, group_of, listing, union
from workbench.embedded.linking.reading import Features, Reading, closest

_SIGNS = {"more": ">", "less": "<", "atleast": ">=", "atmost": "<="}


def groups(reading: Reading, listed: Sequence[Head], others: Sequence[Head]) -> Iterator[Head]:
    """A count or a total for each row of a list."""
    if not (reading.all_cues("each", "count") or len(reading.openings) > 1):
        return
    totals = [h for h in others if h.shape in {"count", "total"}]
    totals.sort(key=lambda h: -reading.score(h.features))
    keys = sorted(listed, key=lambda h: -h.score - 2.5 * bool(_each(reading, h)))[:8]
    for total in totals[:6]:
        for head in keys:
            if total.fields & head.fields:
                continue
            each = _each(reading, head)
            operations, group = total.operations | {"group"}, group_of(reading, head)
            found = listing(total, head, shape="group", operations=operations, group=group)
            found.mask |= each
            found.features |= {"group": 1.0, "group.each": bool(each)}
            yield found


def _each(reading: Reading, head: Head) -> int:
    """The tokens of an "each" right before a list."""
    first = (head.mask & -head.mask).bit_length() - 1
    return union(c.mask for c in reading.all_cues("each") if 0 <= first - c.end <= 2)


def havings(reading: Reading, listed: Sequence[Head]) -> Iterator[Head]:
    """Lists of groups of at least so many rows, or with a total that the hint describes."""
    found = sorted(_conditions(reading), key=lambda h: -reading.score(h.features))[:8]
    for condition in found:
        for head in listed:
            yield listing(condition, head, group=group_of(reading, head))


def _conditions(reading: Reading) -> Iterator[Head]:
    """Heads with a condition on groups, as yet without a list."""
    operations = frozenset({"having"})
    for clause in reading.definitions:
        for formula in (f for f in clause.formulas if f.kind == "group_test"):
            hints, features = 1 << clause.number, {"having": 1.0, "having.hint": 1.0}
            test = formula.pieces
            yield Head("having", (), clause.mask, hints, features, operations, having=test)
    for cue in reading.all_cues(*_SIGNS):
        near = range(max(0, cue.first - 2), min(len(reading.text), cue.end + 2))
        place = next((i for i in near if reading.text[i].number is not None), -1)
        if place < 0:
            continue
        test = (f"COUNT(*) {_SIGNS[cue.kind]} {reading.text[place].number:g}",)
        counted: Features = {"having": 1.0, "having.count": 1.0}
        mask = cue.mask | 1 << place
        plain = Head("having", (), mask, 0, counted, operations, having=test)
        yield plain
        for table, mentions in reading.linked.tables.items():
            mention = closest(mentions, place)
            both = mask | mention.mask
            features = counted | {"having.table": mention.strength}
            yield replace(plain, mask=both, features=features, needs=(table,))
