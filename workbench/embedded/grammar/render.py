"""A hypothesis written as SQL, in the manner of BIRD: T1, T2, INNER JOIN."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.embedded.grammar.head import Head
from workbench.embedded.grammar.joins import Tree
from workbench.embedded.linking.index import Index, Pieces
from workbench.embedded.linking.reading import Part
from workbench.sql.schema_text import quote


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of tables and columns in one query."""

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
        text += f" ORDER BY {names.text(head.order)}{' DESC' * head.descending} LIMIT {head.limit}"
    return text


def _source(made: Index, tree: Tree) -> tuple[str, _Names]:
    """The FROM clause: each table is joined to one before it."""
    name = {t: quote(made.sheets[t].name) for t in tree.tables}
    start = tree.tables[0]
    if len(tree.tables) == 1:
        return name[start], _Names(made, {})
    text, aliases = f"{name[start]} AS T1", {start: "T1"}
    names = _Names(made, aliases)
    while len(aliases) < len(tree.tables):
        for edge in tree.edges:
            ends = {edge.child, edge.parent}
            if len(new := ends - aliases.keys()) == 1:
                (table,) = new
                aliases[table] = f"T{len(aliases) + 1}"
                on = " AND ".join(f"{names.column(a)} = {names.column(b)}" for a, b in edge.pairs)
                text += f" INNER JOIN {name[table]} AS {aliases[table]} ON {on}"
    return text, names


def _where(names: _Names, tests: Iterable[Part]) -> str:
    groups: dict[object, list[str]] = {}
    for number, part in enumerate(tests):
        equal = part.column >= 0 and str(part.pieces[-1]).startswith(" = ")
        groups.setdefault(part.column if equal else -1 - number, []).append(names.text(part.pieces))
    joined = [
        f"({' OR '.join(texts)})" if len(texts) > 1 else texts[0] for texts in groups.values()
    ]
    return " WHERE " + " AND ".join(joined) if joined else ""
