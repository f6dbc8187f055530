"""A hypothesis written as SQL, in the manner of BIRD: T1, T2, INNER JOIN."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.db.quoting import quote
from workbench.embedded.formula import Pieces
from workbench.embedded.head import Head
from workbench.embedded.index import Index
from workbench.embedded.joins import Tree
from workbench.embedded.reading import Part


@dataclass(frozen=True, slots=True)
class Names:
    """How the tables and columns of one query are called in it."""

    made: Index
    aliases: dict[int, str]

    def text(self, pieces: Pieces) -> str:
        return "".join(p if isinstance(p, str) else self.column(p) for p in pieces)

    def column(self, number: int) -> str:
        field = self.made.fields[number]
        alias = self.aliases.get(field.table, "")
        return f"{alias}.{quote(field.name)}" if alias else quote(field.name)


def render(made: Index, head: Head, tests: Sequence[Part], tree: Tree, *, distinct: bool) -> str:
    """The query; tests for equality on one column are alternatives of each other."""
    source, names = _source(made, tree)
    where = _where(names, tests)
    if head.nested:
        function = "MAX" if head.descending else "MIN"
        order = names.text(head.order)
        inner = f"SELECT {function}({order}) FROM {source}{where}"
        where = f"{where} AND {order} = ({inner})" if where else f" WHERE {order} = ({inner})"
    select = ", ".join(names.text(p) for p in head.select)
    once = "DISTINCT " * (distinct and head.shape == "list")
    text = f"SELECT {once}{select} FROM {source}{where}"
    if head.group:
        text += " GROUP BY " + ", ".join(names.column(i) for i in head.group)
    if head.having:
        text += " HAVING " + names.text(head.having)
    if head.order and not head.nested:
        text += f" ORDER BY {names.text(head.order)}{' DESC' if head.descending else ''}"
        text += f" LIMIT {head.limit}" if head.limit else ""
    return text


def select_where(made: Index, column: int, part: Part, tree: Tree) -> str:
    """A query for one column under one test, to stand within another query."""
    source, names = _source(made, tree)
    return f"SELECT {names.column(column)} FROM {source}{_where(names, [part])}"


def _source(made: Index, tree: Tree) -> tuple[str, Names]:
    tables = _in_order(tree)
    name = {t: quote(made.sheets[t].name) for t in tables}
    if len(tables) == 1:
        return name[tables[0]], Names(made, {})
    names = Names(made, {t: f"T{i}" for i, t in enumerate(tables, 1)})
    text = f"{name[tables[0]]} AS T1"
    known = {tables[0]}
    for table in tables[1:]:
        edge = next(
            e
            for e in tree.edges
            if {e.child, e.parent} <= known | {table} and table in {e.child, e.parent}
        )
        known.add(table)
        on = " AND ".join(f"{names.column(a)} = {names.column(b)}" for a, b in edge.pairs)
        text += f" INNER JOIN {name[table]} AS {names.aliases[table]} ON {on}"
    return text, names


def _in_order(tree: Tree) -> list[int]:
    """The tables, each joined to one before it."""
    tables = [tree.tables[0]]
    while len(tables) < len(tree.tables):
        for edge in tree.edges:
            for one, other in ((edge.child, edge.parent), (edge.parent, edge.child)):
                if one in tables and other not in tables:
                    tables.append(other)
    return tables


def _where(names: Names, tests: Iterable[Part]) -> str:
    groups: dict[object, list[str]] = {}
    for number, part in enumerate(tests):
        equal = part.column >= 0 and str(part.pieces[-1]).startswith((" = ", " LIKE "))
        groups.setdefault(part.column if equal else -1 - number, []).append(names.text(part.pieces))
    joined = [
        f"({' OR '.join(texts)})" if len(texts) > 1 else texts[0] for texts in groups.values()
    ]
    return " WHERE " + " AND ".join(joined) if joined else ""
