"""Heads that want one number: a count, a total of a column, or what the hint spells out."""

from collections.abc import Iterator, Sequence

from workbench.embedded.formula import Pieces
from workbench.embedded.groups import both
from workbench.embedded.head import Head, union
from workbench.embedded.orders import Extreme
from workbench.embedded.reading import Reading, span


def counts(reading: Reading) -> Iterator[Head]:
    cues = reading.cues.get("count", ())
    base = union(span(c.first, c.end) for c in cues[:1])
    operations = frozenset({"count"})
    yield Head("count", (("COUNT(*)",),), base, 0, {"count": 1.0}, operations)
    start = cues[0].end if cues else 0
    distinct = reading.cue_after(start, ("distinct",), 1)
    for table, mentions in reading.linked.tables.items():
        mention = min(mentions, key=lambda m: abs(m.first - start))
        gap = abs(mention.first - start)
        features = {
            "count": 1.0,
            "count.table": mention.strength,
            "count.gap": min(8, gap) / 8,
            "count.next": gap <= 1,
        }
        mask = base | mention.mask
        yield Head("count", (("COUNT(*)",),), mask, 0, features, operations, (table,))
        for key in reading.made.sheets[table].key[:1]:
            if len(reading.made.sheets[table].key) == 1:
                told = {**features, "count.distinct_key": 1.0}
                more = mask | (span(distinct.first, distinct.end) if distinct else 0)
                yield Head(
                    "count",
                    (("COUNT(DISTINCT ", key, ")"),),
                    more,
                    0,
                    told,
                    operations | {"distinct"},
                    (table,),
                )
    for column, mentions in reading.linked.fields.items():
        mention = min(mentions, key=lambda m: abs(m.first - start))
        gap = abs(mention.first - start)
        if gap > 4 or mention.measured:
            continue
        field_ = reading.made.fields[column]
        features = {
            "count": 1.0,
            "count.column": mention.strength,
            "count.gap": gap / 8,
            "count.next": gap <= 1,
            "count.number": field_.kind == "number" and not field_.key,
            "count.key": field_.key == "primary",
        }
        mask = base | mention.mask | (span(distinct.first, distinct.end) if distinct else 0)
        yield Head(
            "count",
            (("COUNT(DISTINCT ", column, ")"),),
            mask,
            0,
            features,
            operations | {"distinct"},
        )


def totals(reading: Reading, extremes: Sequence[Extreme]) -> Iterator[Head]:
    """SUM, AVG, MAX and MIN of one column, two of them, or what the hint says is meant."""
    made: list[tuple[str, Head]] = []
    for name, kind in (("AVG", "avg"), ("SUM", "sum"), ("MAX", "max"), ("MIN", "min")):
        for cue in reading.cues.get(kind, ()):
            for column, mentions in reading.linked.fields.items():
                field_ = reading.made.fields[column]
                if field_.key or (
                    field_.kind == "text"
                    and kind in {"avg", "sum"}
                    and field_.examples
                    and not _numeric(field_.examples)
                ):
                    continue
                mention = min(mentions, key=lambda m: max(0, m.first - cue.end, cue.first - m.end))
                gap = max(0, mention.first - cue.end, cue.first - mention.end)
                features = {
                    "total": 1.0,
                    f"total.{kind}": 1.0,
                    "total.strength": mention.strength,
                    "total.gap": min(8, gap) / 8,
                    "total.after": mention.first >= cue.end,
                    "total.measured": mention.measured,
                    "total.hinted": reading.hinted.get(column, 0.0),
                    "total.table": reading.said.get(field_.table, 0.0),
                    f"total.of_{field_.kind}": 1.0,
                }
                operation = "extreme" if kind in {"max", "min"} else kind
                mask = mention.mask | span(cue.first, cue.end)
                hints = 1 << mention.hint if mention.hint >= 0 else 0
                head = Head(
                    "total",
                    ((f"{name}(", column, ")"),),
                    mask,
                    hints,
                    features,
                    frozenset({operation}),
                )
                head.score = reading.score(features)
                made.append((kind, head))
    for cue in reading.cues.get("count", ()):
        for column, mentions in reading.linked.fields.items():
            field_ = reading.made.fields[column]
            near = [m for m in mentions if 0 <= m.first - cue.end <= 1 and not m.measured]
            if field_.kind == "number" and not field_.key and near:
                features = {"total": 1.0, "total.how_many": 1.0, "total.strength": near[0].strength}
                mask = near[0].mask | span(cue.first, cue.end)
                head = Head(
                    "total",
                    (("SUM(", column, ")"),),
                    mask,
                    0,
                    features,
                    frozenset({"sum", "count"}),
                )
                made.append(("sum", head))
    for extreme in extremes:
        if extreme.hints and not extreme.total:
            features = {**extreme.features, "total": 1.0, "total.best": 1.0}
            select = (("MAX(" if extreme.descending else "MIN(", *extreme.order, ")"),)
            yield Head(
                "total", select, extreme.mask, extreme.hints, features, frozenset({"extreme"})
            )
    made.sort(key=lambda item: -item[1].score)
    yield from (head for _, head in made[:12])
    for i, (kind, one) in enumerate(made[:10]):
        for other, two in made[i + 1 : 10]:
            if kind != other and one.fields == two.fields:
                first, second = sorted((one, two), key=lambda h: h.mask & -h.mask)
                joint = "and" in {t.low for t in reading.text}
                features = {**one.features, "total.two": 1.0, "total.two_and": joint}
                yield Head(
                    "total", first.select + second.select, one.mask | two.mask, one.hints, features,
                    one.operations | two.operations,
                )  # fmt: skip


def _numeric(examples: Sequence[str]) -> bool:
    return all(v.replace(".", "", 1).lstrip("-").isdigit() for v in examples)


def formulas(reading: Reading, lists: Sequence[Head]) -> Iterator[Head]:
    """The totals that the hint spells out, alone or for each of something."""
    for found in reading.definitions:
        for rank, formula in enumerate(found.formulas):
            pieces = formula.pieces
            if formula.kind == "row" and len(pieces) > 1:
                pieces = ("AVG(", *pieces, ")") if "avg" in reading.cues else pieces
            elif formula.kind != "total":
                continue
            text = "".join(str(p) for p in pieces if isinstance(p, str))
            operations = {"formula"} | {
                n
                for n, s in (("count", "COUNT("), ("sum", "SUM("), ("avg", "AVG("))
                if text.startswith(s)
            }
            operations |= {"percent"} if "* 100" in text else set()
            operations |= {"differ"} if " - " in text else set()
            features = {
                "formula": 1.0,
                "formula.fit": found.fit,
                "formula.rank": min(3, rank),
                "formula.said": max(
                    (reading.said.get(reading.made.fields[i].table, 0.0) for i in formula.fields),
                    default=0.0,
                ),
            }
            inner = [
                d
                for d in reading.definitions
                if any(_of_formula(f.pieces, formula.tests) for f in d.formulas)
            ]
            head = Head(
                "formula", (pieces,), union([found.mask, *(d.mask for d in inner)]),
                1 << found.number, features, frozenset(operations),
                inner=union(1 << d.number for d in inner), inner_tests=formula.tests,
            )  # fmt: skip
            yield head
            if "each" in reading.cues or "most" in reading.cues or len(reading.heads) > 1:
                for listing in lists:
                    yield both(reading, listing, head)


def _of_formula(pieces: Pieces, tests: tuple[Pieces, ...]) -> bool:
    """Is this one of the tests, written alike but for the tables?"""
    return any(
        [p for p in pieces if isinstance(p, str)] == [p for p in t if isinstance(p, str)]
        and pieces[:1] == t[:1]
        for t in tests
    )
