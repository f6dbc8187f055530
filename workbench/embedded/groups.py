"""Heads that want something for each of something, or only groups of which something holds."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.embedded.formula import Pieces
from workbench.embedded.head import Head, group_of, union
from workbench.embedded.lexicon import Cue
from workbench.embedded.reading import Features, Reading

_SIGNS = {"more": ">", "less": "<", "atleast": ">=", "atmost": "<="}
_Condition = tuple[Pieces, int, int, Features, tuple[int, ...]]  # mask, hints, features, tables


def groups(reading: Reading, lists: Sequence[Head], others: Sequence[Head]) -> Iterator[Head]:
    """A total for each of something."""
    if not (reading.all_cues("each", "count") or len(reading.heads) > 1):
        return
    totals = [h for h in others if h.shape in {"count", "total"}]
    for total in sorted(totals, key=lambda h: -reading.score(h.features))[:6]:
        for listing in lists:
            if not total.fields & listing.fields:
                yield both(reading, listing, total)
                yield both(reading, listing, total, reverse=True)


def group_keys(reading: Reading, lists: Sequence[Head]) -> list[Head]:
    """The lists that groups may be made by: those after "each" first."""
    return sorted(lists, key=lambda h: -h.score - 2.5 * bool(_each(reading, h)))[:8]


def _each(reading: Reading, head: Head) -> list[Cue]:
    first = (head.mask & -head.mask).bit_length() - 1
    return [cue for cue in reading.cues.get("each", ()) if 0 <= first - cue.end <= 2]


def both(reading: Reading, listing: Head, total: Head, *, reverse: bool = False) -> Head:
    """A list and a total as one head; `reverse` puts the total first."""
    each = _each(reading, listing)
    in_order = (listing.mask & -listing.mask) < (total.mask & -total.mask)
    counting = union(cue.mask for cue in reading.cues.get("count", ()))
    features = {**listing.features, **total.features}
    features |= {
        "group": 1.0,
        "group.each": bool(each),
        "group.overlap": bool(total.mask & listing.mask & ~counting),
        "group.total_first": reverse,
        "group.as_said": in_order != reverse,
    }
    return replace(
        total,
        shape="group",
        select=total.select + listing.select if reverse else listing.select + total.select,
        mask=union([listing.mask, total.mask, *(cue.mask for cue in each)]),
        hints=listing.hints | total.hints,
        features=features,
        operations=total.operations | {"group"},
        needs=(*listing.needs, *total.needs),
        group=group_of(reading, listing),
    )


def havings(reading: Reading, lists: Sequence[Head]) -> Iterator[Head]:
    """Groups of at least so many, and those that the hint describes."""
    found = sorted(_conditions(reading), key=lambda c: -reading.score(c[3]))[:8]
    for pieces, mask, hints, told, needs in found:
        for head in lists:
            overlap = bool(head.mask & mask)
            yield replace(
                head,
                shape="having",
                mask=head.mask | mask,
                hints=head.hints | hints,
                having=pieces,
                features={**head.features, **told, "having": 1.0, "having.overlap": overlap},
                operations=frozenset({"having"}),
                group=group_of(reading, head),
                needs=(*head.needs, *needs),
            )


def _conditions(reading: Reading) -> Iterator[_Condition]:
    for found in reading.definitions:
        for formula in found.formulas:
            if formula.kind == "group_test":
                hints = 1 << found.number
                yield formula.pieces, found.mask, hints, {"having.hint": 1.0}, ()
    for cue in reading.all_cues(*_SIGNS):
        near = range(max(0, cue.first - 2), min(len(reading.text), cue.end + 2))
        place = next((i for i in near if reading.text[i].number is not None), -1)
        if place < 0:
            continue
        mask = cue.mask | 1 << place
        test = f"{_SIGNS[cue.kind]} {reading.text[place].number:g}"
        rows: Pieces = (f"COUNT(*) {test}",)
        yield rows, mask, 0, {"having.count": 1.0}, ()
        for table, mentions in reading.linked.tables.items():
            mention = min(mentions, key=lambda m: abs(m.first - place))
            gap = mention.first - max(place, cue.end - 1)
            told: Features = {"having.count": 1.0, "having.table": mention.strength}
            told["having.gap"] = 1.0 if gap < 0 else min(6, gap) / 6
            yield rows, mask | mention.mask, 0, told, (table,)
        for average in reading.cues.get("avg", ()):
            for column in reading.linked.fields:
                closest, gap = reading.nearest(column, cue.first, cue.end)
                if closest and gap <= 5 and reading.made.fields[column].measure:
                    told = {"having.avg": 1.0, "having.strength": closest.strength}
                    covered = mask | closest.mask | average.mask
                    yield ("AVG(", column, f") {test}"), covered, 0, told, ()


def shares_of(reading: Reading) -> Iterator[Head]:
    """A percentage or a difference whose parts are tests of the question; which ones is not said here."""
    for kind, shape in (("percent", "percent"), ("ratio", "percent"), ("differ", "differ")):
        for cue in reading.cues.get(kind, ())[:1]:
            yield Head(shape, (), cue.mask, 0, {f"share.{kind}": 1.0}, frozenset({shape}))
