"""The joins that bring tables together: along foreign keys, or columns named like keys where none is declared."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from workbench.embedded.linking.index import Index, Pairs

_MOST = 6  # tables that are joined
_LONGEST = 4  # joins from one of them to another
_WAYS = 4  # to connect the same tables


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """Columns of `child` that point at columns of `parent`."""

    child: int
    parent: int
    pairs: Pairs


@dataclass(frozen=True, slots=True)
class Tree:
    """Joins that connect some tables."""

    tables: tuple[int, ...]
    edges: tuple[Edge, ...]


class Joins:
    """The possible joins of a schema."""

    def __init__(self, made: Index) -> None:
        self._edges: dict[int, list[Edge]] = {}
        self._trees: dict[frozenset[int], list[Tree]] = {}
        for edge in (Edge(*key) for key in made.keys or _guessed(made)):
            self._edges.setdefault(edge.child, []).append(edge)
            self._edges.setdefault(edge.parent, []).append(edge)

    def trees(self, tables: frozenset[int]) -> list[Tree]:
        """A short way to connect these tables, and ways without one of its joins, by length."""
        if tables not in self._trees:
            best = self._grown(tables) if len(tables) <= _MOST else None
            others = [self._grown(tables, edge) for edge in best.edges] if best else []
            found = {frozenset(tree.edges): tree for tree in (*reversed(others), best) if tree}
            self._trees[tables] = sorted(found.values(), key=lambda t: len(t.edges))[:_WAYS]
        return self._trees[tables]

    def _grown(self, wanted: frozenset[int], without: Edge | None = None) -> Tree | None:
        """A tree grown to the nearest wanted table, again and again.

        The shortest tree of all is a Steiner tree and too slow to find; this one is nearly always it.
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
        return Tree((start, *sorted(inside - {start})), tuple(edges))

    def _path(
        self, inside: set[int], goals: frozenset[int], without: Edge | None
    ) -> tuple[Edge, ...] | None:
        """The shortest way from one of the tables inside to one of the goals (breadth first)."""
        start: tuple[Edge, ...] = ()
        queue = deque((table, start) for table in sorted(inside))
        seen = set(inside)
        while queue:
            table, path = queue.popleft()
            if table in goals:
                return path
            for edge in self._edges.get(table, ()) if len(path) < _LONGEST else ():
                other = edge.parent if edge.child == table else edge.child
                if edge is not without and other not in seen:
                    seen.add(other)
                    queue.append((other, (*path, edge)))
        return None


def _guessed(made: Index) -> Iterator[tuple[int, int, Pairs]]:
    """Columns named like another table's key: pilot_id like the key pilot_id, or like `id` of pilot."""
    for sheet in (sheet for sheet in made.sheets if len(sheet.key) == 1):
        key = made.fields[sheet.key[0]]
        names = {key.words, (*sheet.words, *key.words)} - {("id",)}
        for column in made.fields:
            if column.table != sheet.id and column.words in names:
                yield column.table, sheet.id, ((column.id, key.id),)


@lru_cache(maxsize=256)  # as many as there are indexes
def joins(made: Index) -> Joins:
    """The joins of a schema, made once for all questions about it."""
    return Joins(made)
