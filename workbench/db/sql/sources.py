"""The sources of names in a query: tables, subqueries and common table expressions, with their columns."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlglot import exp

from workbench.types import Table, lower_name

ColumnName = tuple[str, str]  # a table and its column, spelt as in the schema
ColumnNames = frozenset[ColumnName]


class OfferedColumn(NamedTuple):
    """A column that a source offers to the query that names the source."""

    column: ColumnName | None = None  # the schema's column; None for an expression
    schema_columns: ColumnNames = frozenset()  # all columns of the schema from which it is computed


Columns = dict[str, OfferedColumn] | None  # by name in lower case; None if the names are not known


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A name in a FROM clause."""

    name: str  # as the query calls it, in lower case
    node: exp.Expr | None  # None for the result of a compound query, which its own ORDER BY names
    columns: Columns
    table: Table | None = None
    is_cte: bool = False  # a common table expression


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that one SELECT sees in its own FROM and among its own result columns."""

    sources: list[Source] = field(default_factory=list)
    aliases: frozenset[str] = frozenset()  # of result columns


class Binding(NamedTuple):
    """The meaning of a column's name. A name without a source is an alias, a string, or unknown."""

    source: Source | None = None
    column: ColumnName | None = None
    is_alias: bool = False


class Visible(NamedTuple):
    """The names that a query can see: scopes from the inside out, and common table expressions."""

    scopes: tuple[Scope, ...]
    ctes: Mapping[str, Columns]

    def within(self, scope: Scope) -> "Visible":
        return Visible((scope, *self.scopes), self.ctes)


def sources_with(name: str, sources: Iterable[Source]) -> list[Source]:
    """The sources that have a column of this name."""
    return [source for source in sources if source.columns and name in source.columns]


def with_alias_names(columns: Columns, node: exp.Expr) -> Columns:
    """The columns under the names of an alias such as `c(x, y)`."""
    alias = node.args.get("alias")
    names = [lower_name(name.name) for name in alias.columns] if alias else []
    if not names:
        return columns
    if columns is None or len(columns) != len(names):
        return dict.fromkeys(names, OfferedColumn())
    return dict(zip(names, columns.values(), strict=True))


def compound_columns(left: Columns, right: Columns) -> Columns:
    """The columns of a compound query: the names are those of its first query, and both queries' columns are used.

    Columns are paired by their positions, or by their names if the queries have different numbers of columns.
    """
    if left is None or right is None:
        return None
    none = OfferedColumn()
    if len(left) == len(right):
        pairs = dict(zip(left, zip(left.values(), right.values(), strict=True), strict=True))
    else:
        pairs = {name: (left.get(name, none), right.get(name, none)) for name in {**left, **right}}
    return {
        name: OfferedColumn(one.column, one.schema_columns | other.schema_columns)
        for name, (one, other) in pairs.items()
    }
