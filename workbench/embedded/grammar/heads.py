"""The heads of queries, in every shape that the grammar knows; the weights say which shape fits."""

from collections.abc import Iterator

from workbench.embedded.grammar.groups import groups, havings
from workbench.embedded.grammar.head import Head
from workbench.embedded.grammar.orders import extremes, ordered
from workbench.embedded.grammar.outputs import lists
from workbench.embedded.linking.index import Pieces
from workbench.embedded.linking.reading import Features, Reading, closest

_KEPT = 72
_FUNCTIONS = {"avg": "AVG", "sum": "SUM", "max": "MAX", "min": "MIN"}
_ROWS: Pieces = ("COUNT(*)",)


def heads(reading: Reading) -> list[Head]:
    """The heads worth trying, the best first."""
    listed = lists(reading)
    found = listed[:24]
    found += ordered(reading, listed[:10], extremes(reading))
    found += _counts(reading)
    found += sorted(_totals(reading), key=lambda h: -reading.score(h.features))[:12]
    found += _hinted(reading)
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
        mention = closest(mentions, start)
        features = _counting(abs(mention.first - start)) | {"count.table": mention.strength}
        yield Head("count", (_ROWS,), base | mention.mask, 0, features, rows, (table,))
    distinct = reading.cue_after(start, ("distinct",), 1)
    base |= distinct.mask if distinct else 0
    for column, mentions in reading.linked.fields.items():
        mention = closest(mentions, start)
        gap = abs(mention.first - start)
        if gap <= 4 and not mention.measured:
            field = reading.made.fields[column]
            features = _counting(gap) | {
                "count.key": field.key == "primary",
                "count.number": field.measure,
            }
            select = ("COUNT(DISTINCT ", column, ")")
            yield Head("count", (select,), base | mention.mask, 0, features, values)


def _counting(gap: int) -> Features:
    return {"count": 1.0, "count.gap": min(8, gap) / 8, "count.next": gap <= 1}


def _totals(reading: Reading) -> Iterator[Head]:
    """SUM, AVG, MAX and MIN of a column."""
    for column, mentions in reading.linked.fields.items():
        field = reading.made.fields[column]
        if field.key:
            continue
        common: Features = {"total": 1.0, f"total.of_{field.kind}": 1.0}
        for cue in reading.all_cues(*_FUNCTIONS):
            mention, gap = reading.nearest(column, cue.first, cue.end)
            if mention is None:
                continue
            features = {
                **common,
                "total.strength": mention.strength,
                "total.gap": min(8, gap) / 8,
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


def _hinted(reading: Reading) -> Iterator[Head]:
    """The totals that the hint spells out."""
    for clause in reading.definitions:
        for formula in clause.formulas:
            pieces = formula.pieces
            if formula.kind == "row" and len(pieces) > 1:
                pieces = ("AVG(", *pieces, ")") if "avg" in reading.cues else pieces
            elif formula.kind != "total":
                continue
            features = {"formula": 1.0, "formula.fit": clause.fit}
            kind = _operations(pieces)
            hints, tests = 1 << clause.number, formula.tests
            yield Head("formula", (pieces,), clause.mask, hints, features, kind, inner_tests=tests)


def _operations(pieces: Pieces) -> frozenset[str]:
    """The operations that a formula performs."""
    text = "".join(p for p in pieces if isinstance(p, str))
    found = {name for name in ("count", "sum", "avg") if text.startswith(f"{name.upper()}(")}
    signs = (("percent", "* 100"), ("differ", " - "))
    return frozenset(found.union(name for name, sign in signs if sign in text))
