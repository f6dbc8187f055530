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


@dataclass(slots=True)
class Graph:
    """The possible joins of a schema; it is kept with its index, so that trees are found once."""

    edges: dict[int, list[Edge]] = field(default_factory=dict)
    known: dict[frozenset[int], list[Tree]] = field(default_factory=dict)

    def trees(self, tables: frozenset[int]) -> list[Tree]:
        """The cheapest way to connect these tables, and ways without one of its joins, by cost."""
        if tables not in self.known:
            best = self._grown(tables, None) if len(tables) <= _MOST else None
            others = [self._grown(tables, edge) for edge in best.edges] if best else []
            found = {frozenset(tree.edges): tree for tree in (*reversed(others), best) if tree}
            self.known[tables] = sorted(found.values(), key=lambda tree: tree.cost)[:4]
        return self.known[tables]

    def _grown(self, wanted: frozenset[int], without: Edge | None) -> Tree | None:
        """A tree grown to the nearest wanted table, again and again.

        The cheapest tree of all is a Steiner tree and too slow to find; this one is nearly always it.
        """
        start = min(wanted)
        inside, edges = {start}, dict[Edge, None]()
        while missing := wanted - inside:
            path = self._path(inside, missing, without)
            if path is None:
                return None
            for edge in path:
                inside |= {edge.child, edge.parent}
                edges[edge] = None
        return Tree((start, *sorted(inside - {start})), tuple(edges), sum(e.cost for e in edges))

    def _path(
        self, inside: set[int], goals: frozenset[int], without: Edge | None
    ) -> tuple[Edge, ...] | None:
        """The cheapest way from one of the tables inside to one of the goals (Dijkstra)."""
        order = count()  # edges cannot be compared: equal costs are taken in the order they came
        start: tuple[Edge, ...] = ()
        queue = [(0.0, next(order), table, start) for table in sorted(inside)]
        seen: set[int] = set()
        while queue:
            cost, _, table, path = heappop(queue)
            if table in goals:
                return path
            if table in seen or len(path) == _LONGEST:
                continue
            seen.add(table)
            for edge in self.edges.get(table, ()):
                if edge is not without:
                    other = edge.parent if edge.child == table else edge.child
                    heappush(queue, (cost + edge.cost, next(order), other, (*path, edge)))
        return None


def graph(made: Index) -> Graph:
    """The joins of a schema: those that it declares, and columns named like another table's key."""
    if not isinstance(made.joins, Graph):
        made.joins = Graph()
        declared = [Edge(*key) for key in made.keys]
        known = {frozenset((edge.child, edge.parent)) for edge in declared}
        guessed = [e for e in _guessed(made) if frozenset((e.child, e.parent)) not in known]
        for edge in declared + guessed:
            made.joins.edges.setdefault(edge.child, []).append(edge)
            made.joins.edges.setdefault(edge.parent, []).append(edge)
    return made.joins


def _guessed(made: Index) -> Iterator[Edge]:
    for sheet in made.sheets:
        if len(sheet.key) == 1:
            key = made.fields[sheet.key[0]]
            for column in made.fields:
                if column.table != sheet.id and _points_at(column, key, sheet):
                    yield Edge(column.table, sheet.id, ((column.id, key.id),), _GUESSED)


def _points_at(column: Field, key: Field, sheet: Sheet) -> bool:
    """Is a column named like a key: pilot_id, or `id` of pilot?"""
    if lower_name(column.name) == lower_name(key.name) != "id":
        return True
    return key.words == ("id",) and column.words == (*sheet.words, "id")
