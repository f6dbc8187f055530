"""Heads that want the first of an order: the oldest, the three with the most."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.embedded.grammar.head import Head, group_of, listing
from workbench.embedded.linking.index import Pieces
from workbench.embedded.linking.reading import Features, Reading, closest
from workbench.english.lexicon import OLD, Cue, small_number

_KEPT = 7
_ROWS: Pieces = ("COUNT(*)",)
_TOTAL = frozenset({"most"})  # a total is taken for each group and compared


def extremes(reading: Reading) -> list[Head]:
    """Orders that the superlatives of the question and the hint may ask for, the best first, without a list."""
    found = list(_defined(reading))
    for cue in reading.all_cues("max", "min"):
        found += _near(reading, cue)
    for cue in reading.all_cues("most", "fewest"):
        found += _counted(reading, cue)
    return sorted(found, key=lambda e: (-reading.score(e.features), str(e.order)))[:_KEPT]


def _extreme(
    order: Pieces, features: Features, mask: int, *, hints: int = 0, top: bool, total: bool
) -> Head:
    operations = _TOTAL if total else frozenset({"extreme"})
    return Head("ordered", (), mask, hints, features, operations, order=order, descending=top)


def _defined(reading: Reading) -> Iterator[Head]:
    """Orders by what the hint calls the best, as in "longest refers to MAX(len_m)"."""
    cues = reading.all_cues("most", "max", "fewest", "min")
    for clause in reading.definitions:
        hints, mask = 1 << clause.number, clause.mask
        told: Features = {"best": 1.0, "best.fit": clause.fit}
        for formula in clause.formulas:
            if formula.kind == "best":
                order, top, total = formula.inner, formula.top, formula.of_total
                yield _extreme(order, told, mask, hints=hints, top=top, total=total)
            elif formula.kind == "total" and cues:
                top = cues[0].kind in {"most", "max"}
                total_told = {**told, "best.by_total": 1.0}
                both = mask | cues[0].mask
                yield _extreme(formula.pieces, total_told, both, hints=hints, top=top, total=True)


def _near(reading: Reading, cue: Cue) -> Iterator[Head]:
    """Columns near a superlative."""
    for column, mentions in reading.linked.fields.items():
        field = reading.made.fields[column]
        mention = closest(mentions, cue.end)
        gap = 0 if mention.measured and mention.first == cue.first else mention.first - cue.end
        if field.key or not -3 <= gap <= 5:
            continue
        features: Features = {
            "ord.near": 1.0,
            "ord.strength": mention.strength,
            "ord.gap": abs(gap) / 5,
            "ord.measured": mention.measured,
            f"ord.{field.kind}": 1.0,
        }
        # The oldest has the largest age, but the smallest date of birth.
        turned = cue.word in OLD and not field.dates and "ag" in field.words
        top = (cue.kind == "max") != turned
        yield _extreme((column,), features, mention.mask | cue.mask, top=top, total=False)


def _counted(reading: Reading, cue: Cue) -> Iterator[Head]:
    """The most rows, of any table or of one that is spoken of."""
    features: Features = {"ord.count": 1.0}
    top = cue.kind == "most"
    yield _extreme(_ROWS, features, cue.mask, top=top, total=True)
    for table, mentions in reading.linked.tables.items():
        mention = closest(mentions, cue.end)
        gap = mention.first - cue.end
        if mention.strength > 0.4:
            near = 1.2 if gap < 0 else min(6, gap) / 5
            told = {**features, "ord.count.strength": mention.strength, "ord.gap": near}
            extreme = _extreme(_ROWS, told, cue.mask | mention.mask, top=top, total=True)
            yield replace(extreme, needs=(table,))


def _limit(reading: Reading, *masks: int) -> tuple[int, int]:
    """How many are asked for, "top 5", "the three oldest", "two streets", and the token that says so."""
    for mask in filter(None, masks):
        first, end = (mask & -mask).bit_length() - 1, mask.bit_length()
        for i in (*range(max(0, first - 2), first), *range(first, min(end + 1, len(reading.text)))):
            number = small_number(reading.text[i])
            if number and 1 < number <= 50:
                return number, 1 << i
    return 1, 0


def ordered(reading: Reading, lists: Sequence[Head], extremes: Sequence[Head]) -> Iterator[Head]:
    """Lists cut to the first of an order; with a total, to the first of the groups."""
    for extreme in extremes:
        total = extreme.operations == _TOTAL
        for head in lists:
            if not total and len(head.select) == 1 and head.fields & extreme.fields:
                continue  # "the largest size" is MAX(size)
            limit, said = _limit(reading, extreme.mask, head.mask & -head.mask)
            group = group_of(reading, head) if total else ()
            mask = head.mask | extreme.mask | said
            first = listing(extreme, head, mask=mask, limit=limit, group=group)
            yield first
            if not total and limit == 1 and len(extreme.order) == 1:
                yield replace(first, nested=True, features={**first.features, "nested": 1.0})
