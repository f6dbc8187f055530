"""Tests that hold of what belongs to a row: some, none, or two things at once, by a query within the query."""

from collections.abc import Iterator

from workbench.db.quoting import quote
from workbench.embedded.formula import Pieces
from workbench.embedded.joins import Edge, Tree, graph
from workbench.embedded.reading import Features, Part, Reading
from workbench.embedded.render import select_where
from workbench.types import fold


def without_any(reading: Reading) -> Iterator[Part]:
    """Tests that no row of a table that is spoken of refers to this one: "pilots without a licence"."""
    made = reading.made
    for sheet in made.sheets[: len(made.schema.tables)]:
        for key in made.schema.tables[sheet.id].foreign_keys:
            target = made.by_name.get((fold(key.ref_table), fold(key.ref_columns[0])))
            if target is None or len(key.columns) != 1 or made.fields[target].table == sheet.id:
                continue
            for mention in reading.linked.tables.get(sheet.id, ())[:2]:
                cue = reading.cue_before(mention.first, ("not",), 5)
                if cue is None or mention.strength < 0.4:
                    continue
                features = {
                    "without": 1.0,
                    "without.strength": mention.strength,
                    "without.gap": (mention.first - cue.end) / 5,
                    "without.parent": reading.said.get(made.fields[target].table, 0.0),
                }
                inner = f"SELECT {quote(key.columns[0])} FROM {quote(sheet.name)}"
                mask = mention.mask | cue.mask
                yield reading.part((target, f" NOT IN ({inner})"), mask, features)


def of_others(reading: Reading, found: list[Part]) -> Iterator[Part]:
    """Tests that hold of none of what belongs to a row, or one of some and another of others."""
    likely = sorted((p for p in found if p.mask and p.score > 0), key=lambda p: -p.score)[:10]
    for part in likely:
        cue = reading.cue_before(part.first, ("not",), 8)
        if cue and "negated" not in part.features:
            near = 1 - (part.first - cue.end) / 9
            for pieces, said in _within(reading, part, "NOT IN"):
                features = {
                    **part.features,
                    "excluded": 1.0,
                    "excluded.near": near,
                    "excluded.said": said,
                }
                mask = part.mask | cue.mask
                yield reading.part(pieces, mask, features, hints=part.hints)
    for i, one in enumerate(likely):
        for two in likely[i + 1 :]:
            if one.column != two.column or one.column < 0 or one.mask & two.mask:
                continue
            first, second = sorted((one, two), key=lambda p: p.first)
            both = dict(_within(reading, second, "IN"))
            for pieces, said in _within(reading, first, "IN"):
                other = next((p for p in both if p[0] == pieces[0]), None)
                if other is None:
                    continue
                summed: Features = {
                    name: one.features.get(name, 0.0) + two.features.get(name, 0.0)
                    for name in one.features | two.features
                }
                between = [c for c in reading.cues.get("both", ()) if c.first < second.first]
                summed |= {"both": 1.0, "both.asked": bool(between), "both.said": said}
                yield reading.part((*pieces, " AND ", *other), one.mask | two.mask, summed)


def _within(reading: Reading, part: Part, how: str) -> Iterator[tuple[Pieces, float]]:
    """The test of what refers to a row, for each table that the question speaks of."""
    made = reading.made
    if not part.fields:
        return
    table = made.fields[part.fields[0]].table
    ways = graph(made)
    for parent, said in reading.said.items():
        if parent == table or said < 0.4:
            continue
        trees = ways.trees((parent, table))
        if not trees or not (first := _first(trees[0], parent)):
            continue
        (child, key) = first.pairs[0]
        edges = tuple(e for e in trees[0].edges if e is not first)
        tables = (first.child, *(t for t in trees[0].tables if t not in {parent, first.child}))
        inner = select_where(made, child, part, Tree(tables, edges, 0.0))
        yield (key, f" {how} ({inner})"), said


def _first(tree: Tree, parent: int) -> Edge | None:
    """The join by which others refer to the parent, if it is one to many."""
    own = [e for e in tree.edges if parent in {e.child, e.parent}]
    return own[0] if len(own) == 1 and own[0].parent == parent and len(own[0].pairs) == 1 else None
