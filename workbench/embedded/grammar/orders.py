"""Heads that want the first of an order: the oldest, the three with the most."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.embedded.grammar.head import Head, group_of
from workbench.embedded.linking.dates import sortable
from workbench.embedded.linking.formula import Pieces
from workbench.embedded.linking.reading import Features, Reading
from workbench.english.lexicon import OLD, Cue, small_number

_KEPT = 7
_ROWS: Pieces = ("COUNT(*)",)


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


def extremes(reading: Reading) -> list[Extreme]:
    """What the superlatives of the question and the hint may order by, the best first."""
    found = list(_defined(reading))
    for cue in reading.all_cues("max", "min"):
        found += _near(reading, cue)
    for cue in reading.all_cues("most", "fewest"):
        found += _counted(reading, cue)
    return sorted(found, key=lambda e: (-reading.score(e.features), str(e.order)))[:_KEPT]


def _defined(reading: Reading) -> Iterator[Extreme]:
    """What the hint says is the best, as in "longest refers to MAX(len_m)"."""
    cues = reading.all_cues("most", "max", "fewest", "min")
    for clause in reading.definitions:
        hints = 1 << clause.number
        features: Features = {"best": 1.0, "best.fit": clause.fit}
        for formula in clause.formulas:
            if formula.kind == "best":
                told = {**features, "best.said": reading.spoken(formula.fields)}
                told["best.total"] = formula.of_total
                order, top, total = formula.inner, formula.top, formula.of_total
                yield Extreme(order, top, clause.mask, told, hints, total)
            elif formula.kind == "total" and cues:
                top = cues[0].kind in {"most", "max"}
                mask = clause.mask | cues[0].mask
                told = {**features, "best.by_total": 1.0}
                yield Extreme(formula.pieces, top, mask, told, hints, total=True)


def _near(reading: Reading, cue: Cue) -> Iterator[Extreme]:
    """Columns near a superlative."""
    for column, mentions in reading.linked.fields.items():
        field = reading.made.fields[column]
        mention = min(mentions, key=lambda m: abs(m.first - cue.end))
        gap = 0 if mention.measured and mention.first == cue.first else mention.first - cue.end
        if field.key or not -3 <= gap <= 5:
            continue
        features: Features = {
            "ord.near": 1.0,
            "ord.strength": mention.strength,
            "ord.gap": abs(gap) / 5,
            "ord.measured": mention.measured,
            "ord.hinted": reading.hinted.get(column, 0.0),
            "ord.table": reading.said.get(field.table, 0.0),
            f"ord.{field.kind}": 1.0,
        }
        # The oldest has the largest age, but the smallest date of birth.
        turned = cue.word in OLD and not field.dates and "ag" in field.words
        descending = (cue.kind == "max") != turned
        yield Extreme(sortable(column, field.dates), descending, mention.mask | cue.mask, features)


def _counted(reading: Reading, cue: Cue) -> Iterator[Extreme]:
    """The most of something: of a table's rows, or of what a column sums up to."""
    top = cue.kind == "most"
    yield Extreme(_ROWS, top, cue.mask, {"ord.count": 1.0}, total=True)
    for table, mentions in reading.linked.tables.items():
        mention = min(mentions, key=lambda m: abs(m.first - cue.end))
        gap = mention.first - cue.end
        if mention.strength > 0.4:
            features: Features = {"ord.count": 1.0, "ord.count.strength": mention.strength}
            features["ord.gap"] = 1.2 if gap < 0 else min(6, gap) / 5
            mask = cue.mask | mention.mask
            yield Extreme(_ROWS, top, mask, features, total=True, needs=(table,))
    for column, mentions in reading.linked.fields.items():
        mention = min(mentions, key=lambda m: abs(m.first - cue.end))
        gap = mention.first - cue.end
        if reading.made.fields[column].measure and 0 <= gap <= 3:
            features = {"ord.sum": 1.0, "ord.sum.strength": mention.strength, "ord.gap": gap / 5}
            order: Pieces = ("SUM(", column, ")")
            yield Extreme(order, top, cue.mask | mention.mask, features, total=True)


def _limit(reading: Reading, *masks: int) -> tuple[int, int]:
    """How many are asked for, "top 5", "the three oldest", "two streets", and the token that says so."""
    for mask in filter(None, masks):
        first, end = (mask & -mask).bit_length() - 1, mask.bit_length()
        for i in (*range(max(0, first - 2), first), *range(first, min(end + 1, len(reading.text)))):
            number = small_number(reading.text[i])
            if number and 1 < number <= 50:
                return number, 1 << i
    return 1, 0


def ordered(reading: Reading, lists: Sequence[Head], extremes: Sequence[Extreme]) -> Iterator[Head]:
    """Lists cut to the first of an order; with a total, to the first of the groups."""
    for extreme in extremes:
        for head in lists:
            if not extreme.total and len(head.select) == 1 and head.fields & {*extreme.order}:
                continue  # "the largest size" is MAX(size)
            limit, said = _limit(reading, extreme.mask, head.mask & -head.mask)
            features = {**head.features, **extreme.features}
            features["ord.overlap"] = bool(head.mask & extreme.mask)
            first = replace(
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
            yield first
            if not extreme.total and limit == 1 and len(extreme.order) == 1:
                yield replace(first, nested=True, features={**features, "nested": 1.0})
