"""The joins that bring tables together: along foreign keys, or along columns that look like them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from workbench.embedded.linking.index import Field, Index, Sheet
from workbench.types import lower_name

_MOST = 6  # tables that are joined
_LONGEST = 4  # joins from one of them to another
_GUESSED = 1.6  # the cost of a join that no foreign key declares; one that is declared costs 1


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """Columns of `child` that point at columns of `parent`."""

    child: int
    parent: int
    pairs: tuple[tuple[int, int], ...]
    cost: float = 1.0


@dataclass(frozen=True, slots=True)
class Tree:
    """Joins that connect some tables; `cost` tells how far-fetched they are."""

    tables: tuple[int, ...]
    edges: tuple[Edge, ...]
    cost: float


_Paths = dict[int, tuple[float, tuple[Edge, ...]]]  # to each table: the cost, and the joins


@dataclass(slots=True)
class Graph:
    """The possible joins of a schema; it is kept with its index, so that trees are found once."""

    edges: dict[int, list[Edge]] = field(default_factory=dict)
    known: dict[frozenset[int], list[Tree]] = field(default_factory=dict)
    paths: dict[tuple[int, Edge | None], _Paths] = field(default_factory=dict)

    def trees(self, tables: frozenset[int]) -> list[Tree]:
        """The cheapest way to connect these tables, and ways without one of its joins, by cost."""
        if tables not in self.known:
            best = self._grown(tables, None) if len(tables) <= _MOST else None
            found = {frozenset(best.edges): best} if best else {}
            for edge in best.edges if best else ():
                if other := self._grown(tables, edge):
                    found.setdefault(frozenset(other.edges), other)
            self.known[tables] = sorted(found.values(), key=lambda tree: tree.cost)[:4]
        return self.known[tables]

    def _grown(self, wanted: frozenset[int], without: Edge | None) -> Tree | None:
        """A tree grown to the nearest wanted table, again and again, from the best of three starts.

        The cheapest tree of all is a Steiner tree and too slow to find; this one is nearly always it.
        """
        trees = [tree for s in sorted(wanted)[:3] if (tree := self._from(s, wanted, without))]
        return min(trees, key=lambda tree: tree.cost, default=None)

    def _from(self, start: int, wanted: frozenset[int], without: Edge | None) -> Tree | None:
        inside, edges = [start], dict[Edge, None]()
        while missing := wanted.difference(inside):
            near = [
                (paths[goal][0], table, goal)
                for table in inside
                for paths in (self._paths(table, without),)
                for goal in missing & paths.keys()
            ]
            if not near:
                return None
            _, table, goal = min(near)
            for edge in self._paths(table, without)[goal][1]:
                for end in (edge.child, edge.parent):
                    if end not in inside:
                        inside.append(end)
                        edges[edge] = None
        return Tree((start, *sorted(inside[1:])), tuple(edges), sum(edge.cost for edge in edges))

    def _paths(self, start: int, without: Edge | None) -> _Paths:
        """The cheapest way from a table to each other one (Dijkstra)."""
        if (start, without) in self.paths:
            return self.paths[start, without]
        found: _Paths = {}
        order = count()  # edges cannot be compared: equal costs are taken in the order they came
        queue: list[tuple[float, int, int, tuple[Edge, ...]]] = [(0.0, next(order), start, ())]
        while queue:
            cost, _, table, path = heappop(queue)
            if table in found:
                continue
            found[table] = (cost, path)
            for edge in self.edges.get(table, ()) if len(path) < _LONGEST else ():
                other = edge.parent if edge.child == table else edge.child
                if edge is not without and other not in found:
                    heappush(queue, (cost + edge.cost, next(order), other, (*path, edge)))
        self.paths[start, without] = found
        return found


def graph(made: Index) -> Graph:
    """The joins of a schema: those that it declares, and columns named like another table's key."""
    if not isinstance(made.joins, Graph):
        made.joins = Graph()
        declared = list(_declared(made))
        known = {frozenset((edge.child, edge.parent)) for edge in declared}
        guessed = [e for e in _guessed(made) if frozenset((e.child, e.parent)) not in known]
        for edge in declared + guessed:
            if edge.child != edge.parent:
                made.joins.edges.setdefault(edge.child, []).append(edge)
                made.joins.edges.setdefault(edge.parent, []).append(edge)
    return made.joins


def _declared(made: Index) -> Iterator[Edge]:
    for sheet, table in zip(made.sheets, made.schema.tables, strict=False):
        for key in table.foreign_keys:
            ends = zip(key.columns, key.ref_columns, strict=False)
            pairs = tuple(
                (
                    made.by_name.get((lower_name(table.name), lower_name(a)), -1),
                    made.by_name.get((lower_name(key.ref_table), lower_name(b)), -1),
                )
                for a, b in ends
            )
            if pairs and all(a >= 0 <= b for a, b in pairs):
                yield Edge(sheet.id, made.fields[pairs[0][1]].table, pairs)
    for sheet in made.sheets:
        if sheet.role >= 0 and sheet.key:
            yield Edge(made.fields[sheet.role].table, sheet.id, ((sheet.role, sheet.key[0]),))


def _guessed(made: Index) -> Iterator[Edge]:
    for sheet in made.sheets:
        if len(sheet.key) == 1 and sheet.role < 0:
            key = made.fields[sheet.key[0]]
            for column in made.fields:
                own = column.table == sheet.id or made.sheets[column.table].role >= 0
                if not own and _points_at(column, key, sheet):
                    yield Edge(column.table, sheet.id, ((column.id, key.id),), _GUESSED)


def _points_at(column: Field, key: Field, sheet: Sheet) -> bool:
    """Is a column named or described like a key: pilot_id, the pilot's id, or `id` of pilot?"""
    if lower_name(column.name) == lower_name(key.name) != "id":
        return True
    if key.words == ("id",) and column.words == (*sheet.words, "id"):
        return True
    return not column.key and len(key.heading) > 1 and set(key.heading) <= column.told
