"""Resolve each name in a query to a table and column, by SQLite's rules for finding names.

A SELECT sees the sources in its own FROM, then those of the outer queries. A subquery in FROM sees the outer
queries, but not its neighbours. A common table expression hides a table of the same name. An alias of a result
column hides a column in ORDER BY; everywhere else a column hides an alias. A name that two sources have (by USING,
NATURAL JOIN, or by mistake) means the column of both.
"""

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from workbench.db.sql.parse import may_be_string, own_nodes, parse
from workbench.db.sql.sources import (
    Binding,
    ColumnName,
    Columns,
    OfferedColumn,
    Scope,
    Source,
    Visible,
    compound_columns,
    sources_with,
    with_alias_names,
)
from workbench.types import Schema, lower_name

_ROWID = frozenset({"rowid", "oid", "_rowid_"})
# Inside these expressions a column still stands for its own values.
_WRAPPERS = (exp.Paren, exp.Lower, exp.Upper, exp.Cast, exp.Trim)


class Names:
    """Every name of a query, resolved in one walk from the outermost query inwards.

    `tables` and `columns` are those of the schema that the query uses; `unknown` are the names, as written, that
    the schema does not have. A query nested too deeply raises RecursionError.
    """

    def __init__(self, tree: exp.Expr, sql: str, schema: Schema) -> None:
        self.sql = sql
        self.schema = schema
        self.tables: set[str] = set()
        self.columns: set[ColumnName] = set()
        self.unknown: list[str] = []
        self._scopes: dict[int, Scope] = {}
        self._bindings: dict[int, Binding] = {}
        self._use_all(self._query(tree, Visible((), {})))

    def scope(self, select: exp.Expr) -> Scope:
        """The names that a SELECT of the tree sees."""
        return self._scopes.get(id(select), Scope())

    def binding(self, column: exp.Expr) -> Binding:
        """The meaning of a column of the tree."""
        return self._bindings.get(id(column), Binding())

    def column_name(self, node: Any) -> ColumnName | None:
        """The schema's column that an expression names, perhaps inside CAST, LOWER and the like; else None."""
        while isinstance(node, _WRAPPERS):
            node = node.this
        return self.binding(node).column if isinstance(node, exp.Column) else None

    def _use_all(self, columns: Columns) -> None:
        for offered in (columns or {}).values():
            self.columns |= offered.schema_columns

    def _query(self, node: exp.Expr, visible: Visible) -> Columns:
        """Walk a query; return its result columns."""
        visible = self._with_clause(node, visible)
        if isinstance(node, exp.Select):
            return self._select(node, visible)
        if isinstance(node, exp.Subquery):
            columns = self._query(node.this, visible)
        elif isinstance(node, exp.SetOperation):
            left = self._query(node.this, visible)
            columns = compound_columns(left, self._query(node.expression, visible))
        else:  # VALUES
            columns = None
            self._expressions(node.expressions, visible)
        result = visible.within(Scope([Source("", None, columns)]))
        self._expressions([node.args.get(key) for key in ("order", "limit", "offset")], result)
        return columns

    def _with_clause(self, node: exp.Expr, visible: Visible) -> Visible:
        if (clause := node.args.get("with_")) is None:
            return visible
        ctes = dict(visible.ctes)
        for cte in clause.expressions:
            name = lower_name(cte.alias)
            ctes[name] = None  # a recursive expression does not know its own columns
            ctes[name] = with_alias_names(self._query(cte.this, Visible(visible.scopes, ctes)), cte)
        return Visible(visible.scopes, ctes)

    def _select(self, node: exp.Select, visible: Visible) -> Columns:
        aliases = frozenset(lower_name(part.alias) for part in node.expressions) - {""}
        scope = self._scopes[id(node)] = Scope(aliases=aliases)
        if (clause := node.args.get("from_")) is not None:
            self._source(clause.this, scope, visible)
        self._joins(node, scope, visible)
        # All sources are known by now: these clauses may name the columns of each.
        for key, value in node.args.items():
            if key not in {"with_", "from_", "joins"}:
                parts = value if isinstance(value, list) else [value]
                self._expressions(parts, visible.within(scope))
        result: dict[str, OfferedColumn] = {}
        for index, part in enumerate(node.expressions):
            if not (isinstance(part, exp.Star | exp.Column) and part.is_star):
                name = lower_name(part.alias_or_name) or f"#{index}"
                result.setdefault(name, OfferedColumn(self.column_name(part.unalias())))
                continue
            sources = self.starred(part, scope)
            self._bindings[id(part)] = Binding(sources[0] if sources else None)
            for source in sources:
                if source.columns is None:
                    return None
                for name, offered in source.columns.items():
                    first = result.get(name, offered)
                    result[name] = OfferedColumn(
                        first.column, first.schema_columns | offered.schema_columns
                    )
        return result

    @staticmethod
    def starred(star: exp.Expr, scope: Scope) -> list[Source]:
        """The sources that `*` or `t.*` stands for."""
        wanted = lower_name(star.args["table"].name) if isinstance(star, exp.Column) else None
        return [source for source in scope.sources if wanted in {None, source.name}]

    def _joins(self, node: exp.Expr, scope: Scope, visible: Visible) -> None:
        joins = node.args.get("joins") or ()
        for join in joins:
            left = list(scope.sources)
            self._source(join.this, scope, visible)
            right = scope.sources[len(left) :]
            shared = [lower_name(name.name) for name in join.args.get("using") or ()]
            if join.args.get("method") == "NATURAL":
                shared = [n for s in right for n in s.columns or () if sources_with(n, left)]
            for name in shared:
                for source in (*sources_with(name, left), *sources_with(name, right)):
                    self.columns |= (source.columns or {})[name].schema_columns
        for join in joins:  # after all sources, as SQLite lets ON name a table that is joined later
            self._expressions([join.args.get("on")], visible.within(scope))

    def _source(self, node: exp.Expr, scope: Scope, visible: Visible) -> None:
        """Add a source in FROM or JOIN to the scope."""
        name = lower_name(node.alias_or_name)
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            scope.sources.append(self._table(node, name, visible))
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query | exp.Values):
            scope.sources.append(
                Source(name, node, with_alias_names(self._query(node, visible), node))
            )
        elif isinstance(node, exp.Subquery):  # a join in parentheses
            self._source(node.this, scope, visible)
        else:  # a table-valued function, VALUES
            scope.sources.append(Source(name, node, None))
            self._expressions([node.this, *node.expressions], visible.within(scope))
        self._joins(node, scope, visible)

    def _table(self, node: exp.Table, name: str, visible: Visible) -> Source:
        """The source of a table or of a common table expression; `name` is its alias, if it has one."""
        table_name = lower_name(node.name)
        if table_name in visible.ctes and not node.db:
            return Source(name, node, visible.ctes[table_name], is_cte=True)
        if (table := self.schema.table(node.name)) is None:
            self.unknown.append(node.name)
            return Source(name, node, None)
        self.tables.add(table.name)
        columns = [(table.name, column.name) for column in table.columns]
        own = {
            lower_name(column[1]): OfferedColumn(column, frozenset({column})) for column in columns
        }
        return Source(name, node, own, table)

    def _expressions(self, nodes: list[Any], visible: Visible) -> None:
        for root in nodes:
            if not isinstance(root, exp.Expr):
                continue
            for node in own_nodes(root):
                if isinstance(node, exp.Query):
                    columns = self._query(node, visible)
                    if not isinstance(node.parent, exp.Exists):
                        self._use_all(columns)
                elif isinstance(node, exp.Column) and not node.is_star:
                    self._bindings[id(node)] = self._column(node, visible.scopes)

    def _column(self, node: exp.Column, scopes: tuple[Scope, ...]) -> Binding:
        name, qualifier = lower_name(node.name), lower_name(node.table)
        if node.arg_key == "field" and (found := self.schema.table(name)):  # x IN some_table
            self.tables.add(found.name)
            return Binding()
        for scope in scopes:
            # As in SQLite, a name in ORDER BY is an alias first, and in other clauses a column first.
            is_alias = not qualifier and name in scope.aliases
            if is_alias and isinstance(node.parent, exp.Ordered):
                return Binding(is_alias=True)
            sources = [s for s in scope.sources if not qualifier or s.name == qualifier]
            if hits := sources_with(name, sources):
                for source in hits:
                    self.columns |= (source.columns or {})[name].schema_columns
                return Binding(hits[0], (hits[0].columns or {})[name].column)
            named = sources[0] if qualifier and sources else None
            if is_alias:
                return Binding(is_alias=True)
            if any(source.columns is None for source in sources) or (
                name in _ROWID and any(source.table for source in sources)
            ):
                return Binding(named)
            if named:
                self.unknown.append(f"{node.table}.{node.name}")
                return Binding(named)
        if not may_be_string(node.this, self.sql):
            self.unknown.append(f"{node.table}.{node.name}" if qualifier else node.name)
        return Binding()


@dataclass(frozen=True, slots=True)
class Used:
    """The tables and columns that a query mentions, spelt as in the schema."""

    tables: frozenset[str] = frozenset()
    columns: frozenset[tuple[str, str]] = frozenset()
    unknown: tuple[str, ...] = ()
    """Names that the schema does not have, as written (`t.x` if qualified)."""
    error: str = ""
    """Why the query cannot be read; the other fields are then empty."""


def used(sql: str, schema: Schema) -> Used:
    """The tables and columns that the query uses, by SQLite's rules for finding names.

    A column counts wherever it is mentioned, in USING and NATURAL JOIN too. `*` counts as the columns that reach
    the result: none in COUNT(*) and EXISTS, and in a subquery those that the outer query mentions. A name in
    double quotes that fits no column is a string, not an unknown name.
    """
    tree = parse(sql)
    if isinstance(tree, str):
        return Used(error=tree)
    try:
        names = Names(tree, sql, schema)
    except RecursionError:
        return Used(error="nested too deeply")
    unknown = tuple(dict.fromkeys(names.unknown))
    return Used(frozenset(names.tables), frozenset(names.columns), unknown)
