"""Heads that want one number: a count, a total of a column, or what the hint spells out."""

from collections.abc import Iterator, Sequence

from workbench.embedded.formula import Pieces
from workbench.embedded.groups import both
from workbench.embedded.head import Head, union
from workbench.embedded.orders import Extreme
from workbench.embedded.reading import Features, Reading

_FUNCTIONS = {"avg": "AVG", "sum": "SUM", "max": "MAX", "min": "MIN"}


def counts(reading: Reading) -> Iterator[Head]:
    """Counts of rows, of different rows of a table, and of different values of a column."""
    cues = reading.cues.get("count", ())
    base = cues[0].mask if cues else 0
    start = cues[0].end if cues else 0
    distinct = reading.cue_after(start, ("distinct",), 1)
    once = base | (distinct.mask if distinct else 0)
    rows: Pieces = ("COUNT(*)",)
    simple, different = frozenset({"count"}), frozenset({"count", "distinct"})
    yield Head("count", (rows,), base, 0, {"count": 1.0}, simple)
    for table, mentions in reading.linked.tables.items():
        mention = min(mentions, key=lambda m: abs(m.first - start))
        features = _counting(abs(mention.first - start))
        features["count.table"] = mention.strength
        yield Head("count", (rows,), base | mention.mask, 0, features, simple, (table,))
        key = reading.made.sheets[table].key
        if len(key) == 1:
            features = {**features, "count.distinct_key": 1.0}
            select: Pieces = ("COUNT(DISTINCT ", key[0], ")")
            yield Head("count", (select,), once | mention.mask, 0, features, different, (table,))
    for column, mentions in reading.linked.fields.items():
        mention = min(mentions, key=lambda m: abs(m.first - start))
        gap = abs(mention.first - start)
        if gap <= 4 and not mention.measured:
            field = reading.made.fields[column]
            features = _counting(gap)
            features |= {
                "count.column": mention.strength,
                "count.number": field.measure,
                "count.key": field.key == "primary",
            }
            select = ("COUNT(DISTINCT ", column, ")")
            yield Head("count", (select,), once | mention.mask, 0, features, different)


def _counting(gap: int) -> Features:
    return {"count": 1.0, "count.gap": min(8, gap) / 8, "count.next": gap <= 1}


def totals(reading: Reading, extremes: Sequence[Extreme]) -> Iterator[Head]:
    """SUM, AVG, MAX and MIN of one column, two of them, or what the hint says is meant."""
    made = sorted(_of_columns(reading), key=lambda h: -reading.score(h.features))[:12]
    yield from made
    for extreme in extremes:
        if extreme.hints and not extreme.total:
            features = {**extreme.features, "total": 1.0, "total.best": 1.0}
            select: Pieces = ("MAX(" if extreme.descending else "MIN(", *extreme.order, ")")
            operations = frozenset({"extreme"})
            yield Head("total", (select,), extreme.mask, extreme.hints, features, operations)
    joint = "and" in {t.low for t in reading.text}
    for i, one in enumerate(made):
        for two in made[i + 1 :]:
            if one.fields == two.fields and one.select[0][0] != two.select[0][0]:
                first, second = sorted((one, two), key=lambda h: h.mask & -h.mask)
                selected = first.select + second.select
                features = {**one.features, "total.two": 1.0, "total.two_and": joint}
                operations = one.operations | two.operations
                mask = one.mask | two.mask
                yield Head("total", selected, mask, one.hints, features, operations)


def _of_columns(reading: Reading) -> Iterator[Head]:
    for column, mentions in reading.linked.fields.items():
        field = reading.made.fields[column]
        if field.key:
            continue
        common: Features = {
            "total": 1.0,
            "total.hinted": reading.hinted.get(column, 0.0),
            "total.table": reading.said.get(field.table, 0.0),
            f"total.of_{field.kind}": 1.0,
        }
        for cue in reading.all_cues(*_FUNCTIONS):
            mention = min(mentions, key=lambda m: max(0, m.first - cue.end, cue.first - m.end))
            gap = max(0, mention.first - cue.end, cue.first - mention.end)
            features = {
                **common,
                f"total.{cue.kind}": 1.0,
                "total.strength": mention.strength,
                "total.gap": min(8, gap) / 8,
                "total.after": mention.first >= cue.end,
                "total.measured": mention.measured,
            }
            select: Pieces = (f"{_FUNCTIONS[cue.kind]}(", column, ")")
            operations = frozenset({"extreme" if cue.kind in {"max", "min"} else cue.kind})
            mask = mention.mask | cue.mask
            yield Head("total", (select,), mask, mention.hints, features, operations)
        for cue in reading.cues.get("count", ()) if field.measure else ():
            near = [m for m in mentions if 0 <= m.first - cue.end <= 1 and not m.measured]
            if near:
                features = {**common, "total.how_many": 1.0, "total.strength": near[0].strength}
                operations = frozenset({"sum", "count"})
                mask = near[0].mask | cue.mask
                yield Head("total", (("SUM(", column, ")"),), mask, 0, features, operations)


def formulas(reading: Reading, lists: Sequence[Head]) -> Iterator[Head]:
    """The totals that the hint spells out, alone or for each of something."""
    apart = "each" in reading.cues or "most" in reading.cues or len(reading.heads) > 1
    for found in reading.definitions:
        for rank, formula in enumerate(found.formulas):
            pieces = formula.pieces
            if formula.kind == "row" and len(pieces) > 1:
                pieces = ("AVG(", *pieces, ")") if "avg" in reading.cues else pieces
            elif formula.kind != "total":
                continue
            features: Features = {
                "formula": 1.0,
                "formula.fit": found.fit,
                "formula.rank": min(3, rank),
                "formula.said": reading.spoken(formula.fields),
            }
            inner = [
                d
                for d in reading.definitions
                if any(_of_formula(f.pieces, formula.tests) for f in d.formulas)
            ]
            mask = union([found.mask, *(d.mask for d in inner)])
            head = Head("formula", (pieces,), mask, 1 << found.number, features, _does(pieces))
            head.inner, head.inner_tests = union(1 << d.number for d in inner), formula.tests
            yield head
            if apart:
                yield from (both(reading, listing, head) for listing in lists)


def _does(pieces: Pieces) -> frozenset[str]:
    """The operations that a formula answers."""
    text = "".join(p for p in pieces if isinstance(p, str))
    starts = (("count", "COUNT("), ("sum", "SUM("), ("avg", "AVG("))
    found = {"formula", *(name for name, start in starts if text.startswith(start))}
    found |= {name for name, sign in (("percent", "* 100"), ("differ", " - ")) if sign in text}
    return frozenset(found)


def _of_formula(pieces: Pieces, tests: tuple[Pieces, ...]) -> bool:
    """Is this one of the tests, written alike but for the tables?"""
    texts = [p for p in pieces if isinstance(p, str)]
    return any(
        texts == [p for p in test if isinstance(p, str)] and pieces[:1] == test[:1]
        for test in tests
    )
