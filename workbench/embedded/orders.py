"""Heads that want the first of an order: the oldest, the three with the most."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.embedded.dates import sortable
from workbench.embedded.formula import Pieces
from workbench.embedded.head import Head, group_of
from workbench.embedded.lexicon import OLD, Cue, small_number
from workbench.embedded.reading import Features, Reading, span


@dataclass(slots=True)
class Extreme:
    """Something to order by."""

    order: Pieces
    descending: bool
    limit: int
    mask: int
    hints: int
    features: Features
    total: bool = False
    column: int = -1
    needs: tuple[int, ...] = ()


def extremes_of(reading: Reading) -> list[Extreme]:
    """What the superlatives of the question and the hint may order by."""
    found: list[Extreme] = []
    for definition in reading.definitions:
        for formula in definition.formulas:
            if formula.kind == "best":
                tables = [
                    reading.said.get(reading.made.fields[i].table, 0.0) for i in formula.fields
                ]
                features = {
                    "best": 1.0,
                    "best.fit": definition.fit,
                    "best.said": max(tables, default=0.0),
                }
                features["best.total"] = float(formula.of_total)
                limit = _limit(reading, definition.mask)
                column = formula.inner[0] if len(formula.inner) == 1 else -1
                found.append(
                    Extreme(
                        formula.inner,
                        formula.top,
                        limit,
                        definition.mask,
                        1 << definition.number,
                        features,
                        formula.of_total,
                        column if isinstance(column, int) else -1,
                    )
                )
            elif formula.kind == "total" and any(
                k in reading.cues for k in ("most", "fewest", "max", "min")
            ):
                up = not any(k in reading.cues for k in ("most", "max"))
                cue = next(
                    reading.cues[k][0]
                    for k in ("most", "fewest", "max", "min")
                    if k in reading.cues
                )
                mask = definition.mask | span(cue.first, cue.end)
                features = {"best": 1.0, "best.fit": definition.fit, "best.by_total": 1.0}
                found.append(
                    Extreme(
                        formula.pieces,
                        not up,
                        _limit(reading, mask),
                        mask,
                        1 << definition.number,
                        features,
                        True,
                    )
                )
    for kind in ("max", "min"):
        for cue in reading.cues.get(kind, ()):
            found += _near(reading, cue, kind)
    for kind in ("most", "fewest"):
        for cue in reading.cues.get(kind, ()):
            found += _counted(reading, cue, kind)
    for extreme in found:
        extreme.features = {
            f"ord.{n}" if not n.startswith("best") else n: v for n, v in extreme.features.items()
        }
    return sorted(found, key=lambda e: (-reading.score(e.features), str(e.order)))[:7]


def _near(reading: Reading, cue: Cue, kind: str) -> Iterator[Extreme]:
    for column, mentions in reading.linked.fields.items():
        field_ = reading.made.fields[column]
        mention = min(mentions, key=lambda m: abs(m.first - cue.end))
        gap = mention.first - cue.end
        if mention.measured and mention.first == cue.first:
            gap = 0
        if field_.key or not -3 <= gap <= 5:
            continue
        old = cue.word in OLD and not field_.dates and "ag" in field_.words
        features = {
            "near": 1.0,
            "strength": mention.strength,
            "gap": abs(gap) / 5,
            "after": gap >= 0,
            "measured": mention.measured,
            "hinted": reading.hinted.get(column, 0.0),
            "table": reading.said.get(field_.table, 0.0),
            field_.kind: 1.0,
        }
        mask = mention.mask | span(cue.first, cue.end)
        yield Extreme(
            sortable(column, field_.dates), (kind == "max") != old, _limit(reading, mask), mask, 0, features, False, column
        )  # fmt: skip


def _counted(reading: Reading, cue: Cue, kind: str) -> Iterator[Extreme]:
    """The most of something: a count of a table's rows, or a total of a column."""
    base = span(cue.first, cue.end)
    yield Extreme(
        ("COUNT(*)",), kind == "most", _limit(reading, base), base, 0, {"count": 1.0}, total=True
    )
    for table, mentions in reading.linked.tables.items():
        mention = min(mentions, key=lambda m: abs(m.first - cue.end))
        if mention.strength > 0.4:
            gap = mention.first - cue.end
            features = {
                "count": 1.0,
                "count.strength": mention.strength,
                "gap": 1.2 if gap < 0 else min(6, gap) / 5,
            }
            mask = base | mention.mask
            yield Extreme(
                ("COUNT(*)",),
                kind == "most",
                _limit(reading, mask),
                mask,
                0,
                features,
                True,
                -1,
                (table,),
            )
    for column, mentions in reading.linked.fields.items():
        mention = min(mentions, key=lambda m: abs(m.first - cue.end))
        if (
            reading.made.fields[column].kind == "number"
            and 0 <= mention.first - cue.end <= 3
            and not reading.made.fields[column].key
        ):
            features = {
                "sum": 1.0,
                "sum.strength": mention.strength,
                "gap": (mention.first - cue.end) / 5,
            }
            mask = base | mention.mask
            yield Extreme(
                ("SUM(", column, ")"),
                kind == "most",
                _limit(reading, mask),
                mask,
                0,
                features,
                True,
                column,
            )


def _limit(reading: Reading, mask: int) -> int:
    """How many of the first are asked for: "top 5", "the three oldest"."""
    first, end = (mask & -mask).bit_length() - 1, mask.bit_length()
    for i in (*range(max(0, first - 2), first), *range(first, min(end + 1, len(reading.text)))):
        if (
            mask
            and (number := small_number(reading.text[i]))
            and number <= 50
            and reading.text[i].low != "one"
        ):
            return number
    return 1


def ordered(reading: Reading, lists: Sequence[Head], extremes: Sequence[Extreme]) -> Iterator[Head]:
    for extreme in extremes:
        for head in lists:
            ordered = {i for i in extreme.order if isinstance(i, int)}
            if len(head.select) == 1 and ordered & head.fields and not extreme.total:
                continue
            features = {**head.features, **extreme.features}
            features["ord.overlap"] = float((head.mask & extreme.mask).bit_count() > 0)
            limit, counted = extreme.limit, 0
            before = (head.mask & -head.mask).bit_length() - 2
            if (
                limit == 1
                and before >= 0
                and (small_number(reading.text[before]) or 1) in range(2, 21)
            ):
                limit, counted = small_number(reading.text[before]) or 1, 1 << before
            made = replace(
                head,
                shape="ordered",
                mask=head.mask | extreme.mask | counted,
                hints=head.hints | extreme.hints,
                features=features,
                operations=frozenset({"most" if extreme.total else "extreme"}),
                order=extreme.order,
                descending=extreme.descending,
                limit=limit,
                needs=(*head.needs, *extreme.needs),
            )
            if extreme.total:
                made.group = group_of(reading, head)
                yield made
                asked = (
                    reading.cues.get("count", ())
                    or reading.cues.get("sum", ())
                    or len(reading.heads) > 1
                )
                if asked:
                    yield replace(
                        made, select=(*head.select, extreme.order), features={**features, "ord.shown": 1.0},
                        operations=frozenset({"most", "count"}),
                    )  # fmt: skip
            else:
                yield made
                if limit == 1 and extreme.column >= 0:
                    yield replace(made, nested=True, features={**features, "nested": 1.0})
