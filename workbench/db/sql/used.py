"""Which tables and columns of a schema a query uses, by SQLite's rules for finding names."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from workbench.db.sql.parse import inside, may_be_string, parse
from workbench.types import Schema, fold


@dataclass(frozen=True, slots=True)
class Used:
    """The tables and columns a query mentions, spelt as in the schema.

    `unknown` are names that stand for nothing there, as written (`t.x` where qualified). `error` says
    why the query could not be read; everything else is then empty.
    """

    tables: frozenset[str] = frozenset()
    columns: frozenset[tuple[str, str]] = frozenset()
    unknown: tuple[str, ...] = ()
    error: str = ""


def used(sql: str, schema: Schema) -> Used:
    """What of the schema the query uses, by SQLite's rules for finding names.

    A column counts wherever it is mentioned, in USING and NATURAL JOIN too. `*` stands for every column
    that it hands on to the answer: none in COUNT(*) and EXISTS, and in a subquery those that the outer
    query mentions. A name in double quotes that fits no column is a string, not an unknown name.
    """
    tree = parse(sql)
    if isinstance(tree, str):
        return Used(error=tree)
    finder = _Finder(sql, schema)
    try:
        finder.mark_all(finder.query(tree, (), {}))
    except RecursionError:
        return Used(error="nested too deeply")
    return Used(
        frozenset(finder.tables), frozenset(finder.columns), tuple(dict.fromkeys(finder.unknown))
    )


_Marks = frozenset[tuple[str, str]]
_NOTHING: _Marks = frozenset()
# What a mention of each name uses; None where the names are not known.
_Columns = dict[str, _Marks] | None
_ROWID = frozenset({"rowid", "oid", "_rowid_"})


@dataclass(frozen=True, slots=True)
class _Source:
    """One name in a FROM clause, and its columns."""

    name: str
    columns: _Columns
    is_table: bool = False


@dataclass(frozen=True, slots=True)
class _Scope:
    """The names one SELECT sees, apart from those of the queries around it."""

    sources: list[_Source] = field(default_factory=list)
    aliases: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Finder:
    """One walk through a query from the outside in; fills `tables`, `columns` and `unknown`."""

    sql: str
    schema: Schema
    tables: set[str] = field(default_factory=set)
    columns: set[tuple[str, str]] = field(default_factory=set)
    unknown: list[str] = field(default_factory=list)

    def mark_all(self, columns: _Columns) -> None:
        for marks in (columns or {}).values():
            self.columns |= marks

    def query(
        self, node: exp.Expr, outer: tuple[_Scope, ...], ctes: dict[str, _Columns]
    ) -> _Columns:
        """Walk a query; give its result columns."""
        ctes = self.with_clause(node, outer, ctes)
        if isinstance(node, exp.Select):
            return self.select(node, outer, ctes)
        if isinstance(node, exp.Subquery):
            columns = self.query(node.this, outer, ctes)
        elif isinstance(node, exp.SetOperation):
            columns = self.query(node.this, outer, ctes)
            right = self.query(node.expression, outer, ctes)
            columns = _side_by_side(columns, right)
        else:  # VALUES
            columns = None
            self.expressions(node.expressions, outer, ctes)
        scope = _Scope([_Source("", columns)])
        for key in ("order", "limit", "offset"):
            self.expressions([node.args.get(key)], (scope, *outer), ctes)
        return columns

    def with_clause(
        self, node: exp.Expr, outer: tuple[_Scope, ...], ctes: dict[str, _Columns]
    ) -> dict[str, _Columns]:
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        ctes = dict(ctes)
        for cte in clause.expressions:
            name = fold(cte.alias)
            ctes[name] = None  # as its own body sees it, where it is recursive
            ctes[name] = _renamed(self.query(cte.this, outer, ctes), cte)
        return ctes

    def select(
        self, node: exp.Select, outer: tuple[_Scope, ...], ctes: dict[str, _Columns]
    ) -> _Columns:
        scope = _Scope(aliases={fold(part.alias) for part in node.expressions} - {""})
        scopes = (scope, *outer)
        if (clause := node.args.get("from_")) is not None:
            self.source(clause.this, scope, outer, ctes)
        self.joins(node, scope, outer, ctes)
        for key, value in node.args.items():
            if key not in {"with_", "from_", "joins"}:
                self.expressions(value if isinstance(value, list) else [value], scopes, ctes)
        result: dict[str, _Marks] = {}
        for place, part in enumerate(node.expressions):
            if not (isinstance(part, exp.Star | exp.Column) and part.is_star):
                result.setdefault(fold(part.alias_or_name) or f"#{place}", _NOTHING)
                continue
            wanted = fold(part.args["table"].name) if isinstance(part, exp.Column) else None
            for source in scope.sources:
                if wanted in {None, source.name}:
                    if source.columns is None:
                        return None
                    for name, marks in source.columns.items():
                        result[name] = result.get(name, _NOTHING) | marks
        return result

    def joins(
        self,
        node: exp.Expr,
        scope: _Scope,
        outer: tuple[_Scope, ...],
        ctes: dict[str, _Columns],
    ) -> None:
        for join in node.args.get("joins") or ():
            left = list(scope.sources)
            self.source(join.this, scope, outer, ctes)
            right = scope.sources[len(left) :]
            shared = [fold(name.name) for name in join.args.get("using") or ()]
            if join.args.get("method") == "NATURAL":
                shared = [n for s in right for n in s.columns or () if _having(n, left)]
            for name in shared:
                for source in (*_having(name, left), *_having(name, right)):
                    self.columns |= (source.columns or {})[name]
        for join in (
            node.args.get("joins") or ()
        ):  # SQLite lets ON name a table that is joined later
            self.expressions([join.args.get("on")], (scope, *outer), ctes)

    def source(
        self,
        node: exp.Expr,
        scope: _Scope,
        outer: tuple[_Scope, ...],
        ctes: dict[str, _Columns],
    ) -> None:
        """Add what stands in FROM or JOIN to the scope."""
        name = fold(node.alias_or_name)
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            table = self.schema.table(node.name)
            if fold(node.name) in ctes and not node.db:
                scope.sources.append(_Source(name, ctes[fold(node.name)]))
            elif table is not None:
                self.tables.add(table.name)
                own = {fold(c.name): frozenset({(table.name, c.name)}) for c in table.columns}
                scope.sources.append(_Source(name, own, is_table=True))
            else:
                self.unknown.append(node.name)
                scope.sources.append(_Source(name, None))
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query | exp.Values):
            columns = _renamed(self.query(node, outer, ctes), node)
            scope.sources.append(_Source(name, columns))
        elif isinstance(node, exp.Subquery):  # a join in parentheses
            self.source(node.this, scope, outer, ctes)
        else:  # a table-valued function, VALUES
            scope.sources.append(_Source(name, None))
            self.expressions([node.this, *node.expressions], (scope, *outer), ctes)
        self.joins(node, scope, outer, ctes)

    def expressions(
        self, nodes: list[Any], scopes: tuple[_Scope, ...], ctes: dict[str, _Columns]
    ) -> None:
        for root in nodes:
            if not isinstance(root, exp.Expr):
                continue
            for node in inside(root):
                if isinstance(node, exp.Query):
                    columns = self.query(node, scopes, ctes)
                    if not isinstance(node.parent, exp.Exists):
                        self.mark_all(columns)
                elif isinstance(node, exp.Column) and not node.is_star:
                    self.column(node, scopes)

    def column(self, node: exp.Column, scopes: tuple[_Scope, ...]) -> None:
        name, table = fold(node.name), fold(node.table)
        if node.arg_key == "field" and (found := self.schema.table(name)):  # x IN some_table
            self.tables.add(found.name)
            return
        for scope in scopes:
            if isinstance(node.parent, exp.Ordered) and not table and name in scope.aliases:
                return
            sources = [s for s in scope.sources if not table or s.name == table]
            hits = _having(name, sources)
            for source in hits:
                self.columns |= (source.columns or {})[name]
            open_ended = any(source.columns is None for source in sources)
            alias = not table and name in scope.aliases
            rowid = name in _ROWID and any(source.is_table for source in sources)
            if hits or open_ended or alias or rowid:
                return
            if table and sources:
                break
        if not may_be_string(node.this, self.sql):
            self.unknown.append(f"{node.table}.{node.name}" if table else node.name)


def _having(name: str, sources: Iterable[_Source]) -> list[_Source]:
    return [source for source in sources if source.columns and name in source.columns]


def _renamed(columns: _Columns, node: exp.Expr) -> _Columns:
    """The columns under the names of an alias such as `c(x, y)`."""
    names = (
        [fold(name.name) for name in node.args["alias"].columns] if node.args.get("alias") else []
    )
    if not names:
        return columns
    if columns is None or len(columns) != len(names):
        return dict.fromkeys(names, _NOTHING)
    return dict(zip(names, columns.values(), strict=True))


def _side_by_side(left: _Columns, right: _Columns) -> _Columns:
    """The columns of a compound: named by its first query, using what both use."""
    if left is None or right is None:
        return None
    if len(left) != len(right):
        return {
            name: left.get(name, _NOTHING) | right.get(name, _NOTHING) for name in {**left, **right}
        }
    return {name: left[name] | marks for name, marks in zip(left, right.values(), strict=True)}
