"""Heads that want the first of an order: the oldest, the three with the most."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.embedded.dates import sortable
from workbench.embedded.formula import Pieces
from workbench.embedded.head import Head, group_of
from workbench.embedded.lexicon import OLD, Cue, small_number
from workbench.embedded.reading import Features, Reading

_MOST = ("most", "max")
_LEAST = ("fewest", "min")


@dataclass(slots=True)
class Extreme:
    """Something to order by; a `total` is taken for each group."""

    order: Pieces
    descending: bool
    mask: int
    features: Features
    hints: int = 0
    total: bool = False
    needs: tuple[int, ...] = ()


def extremes_of(reading: Reading) -> list[Extreme]:
    """What the superlatives of the question and the hint may order by, the best first."""
    found = list(_defined(reading))
    for cue in reading.all_cues("max", "min"):
        found += _near(reading, cue)
    for cue in reading.all_cues("most", "fewest"):
        found += _counted(reading, cue)
    return sorted(found, key=lambda e: (-reading.score(e.features), str(e.order)))[:7]


def _defined(reading: Reading) -> Iterator[Extreme]:
    cues = reading.all_cues(*_MOST, *_LEAST)
    for definition in reading.definitions:
        features: Features = {"best": 1.0, "best.fit": definition.fit}
        hints = 1 << definition.number
        for formula in definition.formulas:
            if formula.kind == "best":
                told = {**features, "best.said": reading.spoken(formula.fields)}
                told["best.total"] = formula.of_total
                yield Extreme(
                    formula.inner, formula.top, definition.mask, told, hints, formula.of_total
                )
            elif formula.kind == "total" and cues:
                mask = definition.mask | cues[0].mask
                top = cues[0].kind in _MOST
                told = {**features, "best.by_total": 1.0}
                yield Extreme(formula.pieces, top, mask, told, hints, total=True)


def _near(reading: Reading, cue: Cue) -> Iterator[Extreme]:
    """Columns that a superlative may be about."""
    for column, mentions in reading.linked.fields.items():
        field = reading.made.fields[column]
        mention = min(mentions, key=lambda m: abs(m.first - cue.end))
        gap = 0 if mention.measured and mention.first == cue.first else mention.first - cue.end
        if field.key or not -3 <= gap <= 5:
            continue
        old = cue.word in OLD and not field.dates and "ag" in field.words
        features: Features = {
            "ord.near": 1.0,
            "ord.strength": mention.strength,
            "ord.gap": abs(gap) / 5,
            "ord.after": gap >= 0,
            "ord.measured": mention.measured,
            "ord.hinted": reading.hinted.get(column, 0.0),
            "ord.table": reading.said.get(field.table, 0.0),
            f"ord.{field.kind}": 1.0,
        }
        order = sortable(column, field.dates)
        yield Extreme(order, (cue.kind == "max") != old, mention.mask | cue.mask, features)


def _counted(reading: Reading, cue: Cue) -> Iterator[Extreme]:
    """The most of something: of a table's rows, or of what a column sums up to."""
    top = cue.kind == "most"
    count: Pieces = ("COUNT(*)",)
    yield Extreme(count, top, cue.mask, {"ord.count": 1.0}, total=True)
    for table, mentions in reading.linked.tables.items():
        mention = min(mentions, key=lambda m: abs(m.first - cue.end))
        gap = mention.first - cue.end
        if mention.strength > 0.4:
            features: Features = {"ord.count": 1.0, "ord.count.strength": mention.strength}
            features["ord.gap"] = 1.2 if gap < 0 else min(6, gap) / 5
            mask = cue.mask | mention.mask
            yield Extreme(count, top, mask, features, total=True, needs=(table,))
    for column, mentions in reading.linked.fields.items():
        mention = min(mentions, key=lambda m: abs(m.first - cue.end))
        gap = mention.first - cue.end
        if reading.made.fields[column].measure and 0 <= gap <= 3:
            features = {"ord.sum": 1.0, "ord.sum.strength": mention.strength, "ord.gap": gap / 5}
            mask = cue.mask | mention.mask
            yield Extreme(("SUM(", column, ")"), top, mask, features, total=True)


def _limit(reading: Reading, *masks: int) -> tuple[int, int]:
    """How many are asked for, "top 5", "the three oldest", "two streets", and the token that says so."""
    for mask in filter(None, masks):
        first, end = (mask & -mask).bit_length() - 1, mask.bit_length()
        for i in (*range(max(0, first - 2), first), *range(first, min(end + 1, len(reading.text)))):
            number = small_number(reading.text[i])
            if number and 1 < number <= 50:
                return number, 1 << i
        masks = masks[1:]
    return 1, 0


def ordered(reading: Reading, lists: Sequence[Head], extremes: Sequence[Extreme]) -> Iterator[Head]:
    """Lists cut to the first of an order; with a total, to the first of the groups."""
    shown = bool(reading.all_cues("count", "sum")) or len(reading.heads) > 1
    for extreme in extremes:
        columns = {i for i in extreme.order if isinstance(i, int)}
        for head in lists:
            if len(head.select) == 1 and columns & head.fields and not extreme.total:
                continue
            limit, said = _limit(reading, extreme.mask, head.mask & -head.mask)
            features = {**head.features, **extreme.features}
            features["ord.overlap"] = bool(head.mask & extreme.mask)
            made = replace(
                head,
                shape="ordered",
                mask=head.mask | extreme.mask | said,
                hints=head.hints | extreme.hints,
                features=features,
                operations=frozenset({"most" if extreme.total else "extreme"}),
                order=extreme.order,
                descending=extreme.descending,
                limit=limit,
                group=group_of(reading, head) if extreme.total else (),
                needs=(*head.needs, *extreme.needs),
            )
            yield made
            if extreme.total and shown:
                select = (*head.select, extreme.order)
                both = frozenset({"most", "count"})
                features = {**features, "ord.shown": 1.0}
                yield replace(made, select=select, features=features, operations=both)
            elif not extreme.total and limit == 1 and len(extreme.order) == 1:
                yield replace(made, nested=True, features={**features, "nested": 1.0})
