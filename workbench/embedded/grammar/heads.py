"""What a query may return, in every shape that the grammar knows; the weights say which shape fits."""

from collections.abc import Iterator, Sequence

from workbench.embedded.grammar.groups import both, groups, havings
from workbench.embedded.grammar.head import Head, union
from workbench.embedded.grammar.orders import Extreme, extremes, ordered
from workbench.embedded.grammar.outputs import lists
from workbench.embedded.linking.formula import Pieces
from workbench.embedded.linking.reading import Features, Reading

_KEPT = 72
_FUNCTIONS = {"avg": "AVG", "sum": "SUM", "max": "MAX", "min": "MIN"}
_ROWS: Pieces = ("COUNT(*)",)


def heads(reading: Reading) -> list[Head]:
    """The heads worth trying, the best first."""
    listed = lists(reading)
    best = extremes(reading)
    found = listed[:24]
    found += ordered(reading, listed[:10], best)
    found += _counts(reading)
    found += _totals(reading, best)
    found += _formulas(reading, listed[:4])
    found += list(groups(reading, listed, found))
    found += havings(reading, listed[:8])
    for head in found:
        head.judge(reading)
    return sorted(found, key=lambda h: (-h.score, h.shape, str(h.select)))[:_KEPT]


def _counts(reading: Reading) -> Iterator[Head]:
    """Counts of rows and of different values of a column."""
    cues = reading.all_cues("count")
    base, start = (cues[0].mask, cues[0].end) if cues else (0, 0)
    rows, values = frozenset({"count"}), frozenset({"count", "distinct"})
    yield Head("count", (_ROWS,), base, 0, {"count": 1.0}, rows)
    for table, mentions in reading.linked.tables.items():
        mention = min(mentions, key=lambda m: abs(m.first - start))
        features = _counting(abs(mention.first - start))
        features["count.table"] = mention.strength
        mask = base | mention.mask
        yield Head("count", (_ROWS,), mask, 0, features, rows, (table,))
        key = reading.made.sheets[table].key
        if len(key) == 1:  # joins may repeat its rows
            select: Pieces = ("COUNT(DISTINCT ", key[0], ")")
            features = {**features, "count.distinct_key": 1.0}
            yield Head("count", (select,), mask, 0, features, values, (table,))
    distinct = reading.cue_after(start, ("distinct",), 1)
    base |= distinct.mask if distinct else 0
    for column, mentions in reading.linked.fields.items():
        mention = min(mentions, key=lambda m: abs(m.first - start))
        gap = abs(mention.first - start)
        if gap <= 4 and not mention.measured:
            field = reading.made.fields[column]
            features = _counting(gap) | {
                "count.number": field.measure,
                "count.key": field.key == "primary",
            }
            select = ("COUNT(DISTINCT ", column, ")")
            yield Head("count", (select,), base | mention.mask, 0, features, values)


def _counting(gap: int) -> Features:
    return {"count": 1.0, "count.gap": min(8, gap) / 8, "count.next": gap <= 1}


def _totals(reading: Reading, best: Sequence[Extreme]) -> list[Head]:
    """SUM, AVG, MAX and MIN of a column, or as the hint says."""
    found = sorted(_of_columns(reading), key=lambda h: -reading.score(h.features))[:12]
    for extreme in best:
        if extreme.hints and not extreme.total:
            features = {**extreme.features, "total": 1.0, "total.best": 1.0}
            select: Pieces = ("MAX(" if extreme.descending else "MIN(", *extreme.order, ")")
            kind = frozenset({"extreme"})
            found.append(Head("total", (select,), extreme.mask, extreme.hints, features, kind))
    return found


def _of_columns(reading: Reading) -> Iterator[Head]:
    for column, mentions in reading.linked.fields.items():
        field = reading.made.fields[column]
        if field.key:
            continue
        common: Features = {
            "total": 1.0,
            "total.hinted": reading.hinted.get(column, 0.0),
            f"total.of_{field.kind}": 1.0,
        }
        for cue in reading.all_cues(*_FUNCTIONS):
            mention, gap = reading.nearest(column, cue.first, cue.end)
            if mention is None:
                continue
            features = {
                **common,
                f"total.{cue.kind}": 1.0,
                "total.strength": mention.strength,
                "total.gap": min(8, gap) / 8,
                "total.after": mention.first >= cue.end,
                "total.measured": mention.measured,
            }
            select: Pieces = (f"{_FUNCTIONS[cue.kind]}(", column, ")")
            kind = frozenset({"extreme" if cue.kind in {"max", "min"} else cue.kind})
            mask = mention.mask | cue.mask
            yield Head("total", (select,), mask, mention.hints, features, kind)
        near = [m for m in mentions if not m.measured] if field.measure else []
        for cue in reading.all_cues("count"):
            for mention in (m for m in near if 0 <= m.first - cue.end <= 1):  # "how many tonnes"
                features = {**common, "total.how_many": 1.0, "total.strength": mention.strength}
                mask = mention.mask | cue.mask
                kind = frozenset({"sum", "count"})
                yield Head("total", (("SUM(", column, ")"),), mask, 0, features, kind)


def _formulas(reading: Reading, listed: Sequence[Head]) -> Iterator[Head]:
    """The totals that the hint spells out, alone or for each of something."""
    grouped = "each" in reading.cues or "most" in reading.cues or len(reading.openings) > 1
    for clause in reading.definitions:
        for rank, formula in enumerate(clause.formulas):
            pieces = formula.pieces
            if formula.kind == "row" and len(pieces) > 1:
                pieces = ("AVG(", *pieces, ")") if "avg" in reading.cues else pieces
            elif formula.kind != "total":
                continue
            features = {"formula": 1.0, "formula.fit": clause.fit, "formula.rank": min(3, rank)}
            inner = [
                d
                for d in reading.definitions
                if any(_spells(f.pieces, test) for f in d.formulas for test in formula.tests)
            ]
            head = Head(
                "formula",
                (pieces,),
                union([clause.mask, *(d.mask for d in inner)]),
                1 << clause.number,
                features,
                _operations(pieces),
                inner=union(1 << d.number for d in inner),
                inner_tests=formula.tests,
            )
            yield head
            if grouped:
                yield from (both(reading, listing, head) for listing in listed)


def _operations(pieces: Pieces) -> frozenset[str]:
    """The operations that a formula performs."""
    text = "".join(p for p in pieces if isinstance(p, str))
    found = {name for name in ("count", "sum", "avg") if text.startswith(f"{name.upper()}(")}
    signs = (("percent", "* 100"), ("differ", " - "))
    return frozenset(found.union(name for name, sign in signs if sign in text))


def _spells(pieces: Pieces, test: Pieces) -> bool:
    """Is this the same test, but for the table that an ambiguous column is taken from?"""
    one, two = ([p for p in some if isinstance(p, str)] for some in (pieces, test))
    return one == two and pieces[:1] == test[:1]
