"""Read a query: parse it, recognise equal ones, and find the tables and columns that it names."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope
from sqlglot.schema import MappingSchema

from workbench.sql.executor import refusal
from workbench.sql.sandbox import shared
from workbench.types import Schema, lower_name

ColumnName = tuple[str, str]  # a table and its column, spelt as in the schema

_LONGEST = 50_000  # characters; parsing a longer query takes seconds
_PREPARING = 2.0  # seconds in which SQLite must have prepared a query
_OPENING = re.compile(
    r"(?:\s|\(|--[^\n]*+(?:\n|\Z)|/\*.*?(?:\*/|\Z))*+(?:SELECT|WITH|VALUES)\b",
    re.IGNORECASE | re.DOTALL,
)
_QUOTED = re.compile(r"""('[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\])""")
_SPACE = re.compile(r"[ \t\n\f\r]+")  # to SQLite, other white space is part of a name
# SQLite's CAST treats every type that it does not know as NUMERIC, also DECIMAL, DATE and BOOLEAN, which sqlglot
# would rename. sqlglot reads STRING and LONG as other types, so its tree does not show them.
_MISREAD_TYPE = re.compile(r"\bAS\s+(?:STRING|LONG)\b", re.IGNORECASE)
_PLAIN_TYPES = frozenset(
    exp.DataType.INTEGER_TYPES
    | exp.DataType.TEXT_TYPES
    | {exp.DType.FLOAT, exp.DType.DOUBLE, exp.DType.VARBINARY, exp.DType.BLOB}
)
_WRAPPERS = (
    exp.Paren,
    exp.Lower,
    exp.Upper,
    exp.Cast,
    exp.Trim,
)  # a column inside keeps its values


@lru_cache(maxsize=1024)
def parse(sql: str) -> exp.Expr | str:
    """The tree, or the reason why this is not one query. The tree is cached: copy it before changing it.

    The parser is a little more lenient than SQLite, and does not read everything that SQLite runs.
    """
    if len(sql) > _LONGEST:
        return f"longer than {_LONGEST} characters"
    if not _OPENING.match(sql):  # sqlglot would log warnings about many texts that are no queries
        return "no query: it starts with neither SELECT nor WITH nor VALUES"
    try:
        trees = [tree for tree in sqlglot.parse(sql, read="sqlite") if tree]
    except SqlglotError as error:
        return str(error).partition("\n")[0]
    except RecursionError:
        return "nested too deeply"
    trees = [tree for tree in trees if not isinstance(tree, exp.Semicolon)]
    if len(trees) != 1:
        return f"{len(trees)} statements where one is expected"
    tree: Any = trees[0]
    if not isinstance(tree, exp.Query | exp.Values):
        return f"no query but {tree.key}"
    if isinstance(tree, exp.Select) and not tree.expressions:
        return "a SELECT without a result column"
    return tree


@lru_cache(maxsize=4096)  # many candidates of a question are equal
def normalise_text(sql: str) -> str:
    """The query in lower case with single spaces and no final semicolon; quoted parts stay as they are.

    It returns the same rows, perhaps under other column names. A query with a comment is returned as it is.
    """
    if "--" in sql or "/*" in sql:
        return sql
    parts = _QUOTED.split(sql)
    parts[::2] = [_SPACE.sub(" ", lower_name(part)) for part in parts[::2]]
    return "".join(parts).strip(" ").removesuffix(";").rstrip(" ")


@lru_cache(maxsize=4096)  # selectors need the normal form of a candidate several times
def normal_form(sql: str) -> str:
    """One spelling for queries that differ in layout, comments, letter case or optional words only.

    Literals stay as they are, and so does a name in double quotes without a table, which SQLite reads as a string if
    no column has that name. Names are not looked up, and aliases are not renamed: queries with the same normal form
    return the same rows, but not the other way round. Unreadable text is returned with single spaces.
    """
    tree = parse(sql)
    if not isinstance(tree, str) and not _MISREAD_TYPE.search(sql):
        tree = tree.copy()
        for name in list(tree.find_all(exp.Identifier)):
            if not may_be_string(name, sql):
                name.set("this", name.name.lower())
                name.set("quoted", name.args["quoted"] and not _is_plain_word(name.name))
        for join in tree.find_all(exp.Join):
            if join.kind in {"INNER", "OUTER"}:
                join.set("kind", None)
        for cast in tree.find_all(exp.Cast):
            if cast.to.this not in _PLAIN_TYPES:
                cast.set("to", exp.DataType(this=exp.DType.USERDEFINED, kind="NUMERIC"))
        try:
            return tree.sql("sqlite", comments=False, unsupported_level=ErrorLevel.IGNORE)
        except (SqlglotError, RecursionError):
            pass
    return " ".join(sql.split())


@lru_cache(maxsize=4096)
def _is_plain_word(name: str) -> bool:
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", name):
        return False
    return [t.token_type for t in sqlglot.tokenize(name, read="sqlite")] == [TokenType.VAR]


def may_be_string(name: exp.Expr, sql: str) -> bool:
    """Whether this is a column name in double quotes and without a table, which SQLite may read as a string."""
    start = name.meta.get("start", -1)
    column = name.parent
    return (
        sql[start : start + 1] == '"'
        and isinstance(column, exp.Column)
        and column.args.get("table") is None
    )


def is_aggregate(node: exp.Expr) -> bool:
    """Whether this is an aggregate call without OVER."""
    is_total = isinstance(node, exp.Anonymous) and node.name.lower() == "total"
    return (is_total or isinstance(node, exp.AggFunc)) and not has_over(node)


def has_over(call: exp.Expr) -> bool:
    """Whether this is a call with OVER, perhaps behind FILTER or IGNORE NULLS."""
    parent = call.parent
    while isinstance(parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        parent = parent.parent
    return isinstance(parent, exp.Window)


@dataclass(frozen=True, slots=True)
class Used:
    """The tables and columns that a query uses, spelt as in the schema; or the error of a query that cannot run."""

    tables: frozenset[str] = frozenset()
    columns: frozenset[ColumnName] = frozenset()
    error: str = ""


@lru_cache(maxsize=4096)
def used(sql: str, schema: Schema) -> Used:
    """The tables and columns that the query reads, as SQLite says while it prepares the query on an empty copy.

    A column counts wherever it is mentioned, in USING and NATURAL JOIN too; `*` counts as all columns that it stands
    for, in a subquery too, and in COUNT(*) as none. SQLite works in a sandboxed worker, as some short queries take it hours to prepare.
    """
    why = refusal(sql) or (f"longer than {_LONGEST} characters" if len(sql) > _LONGEST else "")
    if why:
        return Used(error=why)
    answer = shared().ask({"do": "used", "ddl": _ddl(schema), "sql": sql, "seconds": _PREPARING})
    if answer.get("error"):
        return Used(error=answer["error"])
    tables, columns = set(), set()
    for table_name, name in answer["reads"]:
        if table := schema.table(table_name or ""):
            tables.add(table.name)
            if column := schema.column(table.name, name or ""):
                columns.add((table.name, column.name))
    columns |= _joined(sql, schema)
    tables |= {table for table, _ in columns}
    return Used(frozenset(tables), frozenset(columns))


def _joined(sql: str, schema: Schema) -> set[ColumnName]:
    """The columns by which USING and NATURAL JOIN join, which SQLite does not tell."""
    tree = parse(sql)
    joins = [] if isinstance(tree, str) else list(tree.find_all(exp.Join))
    names = {name.name for join in joins for name in join.args.get("using") or ()}
    natural = any(join.args.get("method") == "NATURAL" for join in joins)
    if isinstance(tree, str) or not (names or natural):
        return set()
    read = (schema.table(node.name) for node in tree.find_all(exp.Table))
    tables = {table.name: table for table in read if table}
    if natural:
        count = Counter(lower_name(c.name) for table in tables.values() for c in table.columns)
        names |= {name for name, times in count.items() if times > 1}
    return {(t, c.name) for t in tables for name in names if (c := schema.column(t, name))}


@lru_cache(maxsize=64)
def _ddl(schema: Schema) -> str:
    def quoted(name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    return ";".join(
        f"CREATE TABLE {quoted(t.name)} ({', '.join(quoted(c.name) for c in t.columns)})"
        for t in schema.tables
    )


@dataclass(frozen=True, slots=True, eq=False)
class Resolved:
    """The tree of a query in which each column names its source, and the schema's column behind each."""

    tree: exp.Expr
    columns: dict[int, ColumnName]  # by the id of the tree's node
    sources: dict[
        int, dict[str, str]
    ]  # by the id of a SELECT: each name in FROM, and its table in the schema

    def column(self, node: Any) -> ColumnName | None:
        """The schema's column that an expression names, perhaps inside CAST, LOWER and the like; else None."""
        while isinstance(node, _WRAPPERS):
            node = node.this
        return self.columns.get(id(node))


def resolved(sql: str, schema: Schema) -> Resolved | None:
    """The query with every name looked up by sqlglot's `qualify`; None if it cannot be read.

    A name in double quotes that fits no column becomes a string, as in SQLite.
    """
    tree = parse(sql)
    if isinstance(tree, str):
        return None
    try:
        tree = tree.copy()
        known = {lower_name(column) for _, column in schema.columns()}
        known |= {lower_name(alias.alias) for alias in tree.find_all(exp.Alias)}
        for name in list(tree.find_all(exp.Identifier)):
            if may_be_string(name, sql) and lower_name(name.name) not in known:
                name.parent.replace(exp.Literal.string(name.name))  # type: ignore[union-attr]
        read = frozenset(lower_name(node.name) for node in tree.find_all(exp.Table))
        ctes = {lower_name(cte.alias) for cte in tree.find_all(exp.CTE)}
        tree = qualify(
            tree,
            dialect="sqlite",
            schema=_mapping(schema, read),
            validate_qualify_columns=False,
            allow_partial_qualification=True,
            quote_identifiers=False,
            identify=False,
            expand_stars=all(map(schema.table, read - ctes)),
            expand_alias_refs=False,
        )
        columns: dict[int, ColumnName] = {}
        sources: dict[int, dict[str, str]] = {}
        for scope in traverse_scope(tree):
            sources[id(scope.expression)] = {
                alias: found.name if (found := schema.table(source.name)) else ""
                for alias, source in scope.sources.items()
                if isinstance(source, exp.Table)
            }
            for having in scope.find_all(exp.Having):  # of which qualify leaves some
                for column in having.find_all(exp.Column):
                    for alias, table in sources[id(scope.expression)].items():
                        if not column.table and schema.column(table, column.name):
                            column.set("table", exp.to_identifier(alias))
            for column in scope.columns:
                if behind := _behind(column, scope, schema):
                    columns[id(column)] = behind
    except (SqlglotError, RecursionError, ValueError):
        return None
    return Resolved(tree, columns, sources)


@lru_cache(maxsize=256)
def _mapping(schema: Schema, read: frozenset[str]) -> MappingSchema:
    """The schema for sqlglot; a table outside it has no columns, since sqlglot refuses one that it does not know."""
    tables: dict[str, object] = {name: {"": "TEXT"} for name in read}
    for t in schema.tables:
        tables[lower_name(t.name)] = {lower_name(c.name): "TEXT" for c in t.columns}
    return MappingSchema(tables, dialect="sqlite", normalize=False)


def _behind(column: exp.Column, scope: Scope, schema: Schema) -> ColumnName | None:
    """The schema's column that a column of a scope stands for, through subqueries and common table expressions."""
    for _ in range(20):
        source: Any = scope.sources.get(column.table)
        if isinstance(source, exp.Table):
            table, found = schema.table(source.name), schema.column(source.name, column.name)
            return (table.name, found.name) if table and found else None
        while getattr(
            source, "union_scopes", None
        ):  # a compound query: its first one names the columns
            source = source.union_scopes[0]
        if source is None or not isinstance(source.expression, exp.Select):
            return None
        part = next(
            (p for p in source.expression.expressions if p.alias_or_name == column.name), None
        )
        inner: Any = part.unalias() if part else None
        while isinstance(inner, _WRAPPERS):
            inner = inner.this
        if not isinstance(inner, exp.Column):
            return None
        column, scope = inner, source
    return None
