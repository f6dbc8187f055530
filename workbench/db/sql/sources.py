"""The sources of names in a query: tables, subqueries and common table expressions, with their columns."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlglot import exp

from workbench.types import Table, lower_name

ColumnName = tuple[str, str]  # a table and its column, spelt as in the schema
ColumnNames = frozenset[ColumnName]


class Offered(NamedTuple):
    """A column that a source offers to the query around it."""

    column: ColumnName | None = None  # the schema's column; None for an expression
    by_star: ColumnNames = frozenset()  # the schema's columns that a mention of it uses


Columns = dict[str, Offered] | None  # by name in lower case; None if the names are not known


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A name in a FROM clause."""

    name: str  # as the query calls it, in lower case
    node: exp.Expr | None  # None: the result of a compound query, which its ORDER BY sees
    columns: Columns
    table: Table | None = None
    is_cte: bool = False  # a common table expression


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that one SELECT sees, apart from those of the queries around it."""

    sources: list[Source] = field(default_factory=list)
    aliases: frozenset[str] = frozenset()  # of result columns


class Binding(NamedTuple):
    """The meaning of a column's name. Without a source it is an alias, a string, or unknown."""

    source: Source | None = None
    column: ColumnName | None = None
    is_alias: bool = False


class Around(NamedTuple):
    """The names that a query can see: scopes from the inside out, and the CTEs."""

    scopes: tuple[Scope, ...]
    ctes: Mapping[str, Columns]

    def within(self, scope: Scope) -> "Around":
        return Around((scope, *self.scopes), self.ctes)


def having(name: str, sources: Iterable[Source]) -> list[Source]:
    """The sources that have a column of this name."""
    return [source for source in sources if source.columns and name in source.columns]


def renamed(columns: Columns, node: exp.Expr) -> Columns:
    """The columns under the names of an alias such as `c(x, y)`."""
    alias = node.args.get("alias")
    names = [lower_name(name.name) for name in alias.columns] if alias else []
    if not names:
        return columns
    if columns is None or len(columns) != len(names):
        return dict.fromkeys(names, Offered())
    return dict(zip(names, columns.values(), strict=True))


def side_by_side(left: Columns, right: Columns) -> Columns:
    """The columns of a compound query: named by its first query, and using what both queries use."""
    if left is None or right is None:
        return None
    if len(left) == len(right):
        pairs = zip(left.items(), right.values(), strict=True)
        return {name: Offered(a.column, a.by_star | b.by_star) for (name, a), b in pairs}
    none = Offered()
    return {
        name: Offered(left.get(name, none).column, left.get(name, none).by_star | other.by_star)
        for name in {**left, **right}
        for other in [right.get(name, none)]
    }
