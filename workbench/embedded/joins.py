"""The joins that bring tables together: along foreign keys, or along columns that look like them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from workbench.embedded.index import Index
from workbench.types import fold

_MOST = 6  # tables that the question speaks of
_LONGEST = 4  # joins from one of them to another
_ALIKE = 1.6  # what a join costs that no foreign key declares; one that does costs 1


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
    """The possible joins of a schema. Trees and paths are found once."""

    edges: dict[int, list[Edge]] = field(default_factory=dict)
    known: dict[frozenset[int], tuple[Tree, ...]] = field(default_factory=dict)
    paths: dict[tuple[int, Edge | None], dict[int, tuple[float, tuple[Edge, ...]]]] = field(
        default_factory=dict
    )

    def trees(self, tables: Iterable[int]) -> tuple[Tree, ...]:
        """The cheapest way to connect these tables, and other ways; none if they are not connected."""
        wanted = frozenset(tables)
        if wanted not in self.known:
            self.known[wanted] = tuple(self._found(wanted))
        return self.known[wanted]

    def _found(self, wanted: frozenset[int]) -> list[Tree]:
        if len(wanted) < 2:
            return [Tree(tuple(wanted), (), 0.0)]
        first = self._grown(wanted, None)
        if first is None or len(wanted) > _MOST:
            return []
        found = [first]
        for edge in first.edges:
            other = self._grown(wanted, edge)
            if other and all(set(other.edges) != set(tree.edges) for tree in found):
                found.append(other)
        return sorted(found, key=lambda tree: tree.cost)[:4]

    def _grown(self, wanted: frozenset[int], without: Edge | None) -> Tree | None:
        """A tree grown from one table to the nearest wanted one, again and again, from the best start."""
        best: Tree | None = None
        for start in sorted(wanted)[:3]:
            inside, edges = {start}, dict[Edge, None]()
            while not wanted <= inside:
                near = [
                    (cost, one, goal, path)
                    for one in inside
                    for goal, (cost, path) in self._from(one, without).items()
                    if goal in wanted and goal not in inside
                ]
                if not near:
                    break
                path = min(near, key=lambda found: found[:3])[3]
                for edge in path:
                    if edge.child not in inside or edge.parent not in inside:
                        edges[edge] = None
                        inside |= {edge.child, edge.parent}
            else:
                cost = sum(edge.cost for edge in edges)
                if best is None or cost < best.cost:
                    best = Tree((start, *sorted(inside - {start})), tuple(edges), cost)
        return best

    def _from(self, start: int, without: Edge | None) -> dict[int, tuple[float, tuple[Edge, ...]]]:
        """The cheapest way from a table to each other one."""
        if (start, without) in self.paths:
            return self.paths[start, without]
        found: dict[int, tuple[float, tuple[Edge, ...]]] = {}
        order = count()
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
    """The joins of a schema: what it declares, and columns of other tables named like a key."""
    if isinstance(made.joins, Graph):
        return made.joins
    found = made.joins = Graph()
    declared: set[tuple[int, int]] = set()
    edges: list[Edge] = []
    for sheet, table in zip(made.sheets, made.schema.tables, strict=False):
        for key in table.foreign_keys:
            pairs = tuple(
                (
                    made.by_name.get((fold(table.name), fold(a)), -1),
                    made.by_name.get((fold(key.ref_table), fold(b)), -1),
                )
                for a, b in zip(key.columns, key.ref_columns, strict=False)
            )
            if pairs and all(a >= 0 and b >= 0 for a, b in pairs):
                edges.append(Edge(sheet.id, made.fields[pairs[0][1]].table, pairs))
                declared.add((sheet.id, edges[-1].parent))
    for sheet in made.sheets:
        if sheet.role >= 0 and sheet.key:
            edges.append(
                Edge(made.fields[sheet.role].table, sheet.id, ((sheet.role, sheet.key[0]),))
            )
        if len(sheet.key) != 1 or sheet.role >= 0:
            continue
        key_field = made.fields[sheet.key[0]]
        for field_ in made.fields:
            if made.sheets[field_.table].role >= 0:
                continue
            same = field_.table != sheet.id and (
                (fold(field_.name) == fold(key_field.name) and fold(field_.name) != "id")
                or (
                    field_.words[-1:] == ("id",)
                    and field_.words[:-1] == sheet.words
                    and key_field.words == ("id",)
                )
            )
            if not same and not field_.key and field_.table != sheet.id and key_field.told:
                same = len(key_field.heading) > 1 and set(key_field.heading) <= field_.told
            if same and not {(field_.table, sheet.id), (sheet.id, field_.table)} & declared:
                edges.append(Edge(field_.table, sheet.id, ((field_.id, key_field.id),), _ALIKE))
    for edge in edges:
        if edge.child != edge.parent:
            found.edges.setdefault(edge.child, []).append(edge)
            found.edges.setdefault(edge.parent, []).append(edge)
    return found
