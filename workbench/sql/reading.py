"""Read a query: parse it, recognise equal ones, and find the tables and columns that it names."""

import re
from functools import lru_cache
from itertools import chain, pairwise, starmap
from typing import NamedTuple

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope
from sqlglot.schema import MappingSchema

from workbench.sql.sandbox import shared
from workbench.types import Schema, lower_name

_SQLITE = sqlglot.Dialect.get_or_raise("sqlite")
ColumnName = tuple[str, str]  # a table and its column, spelt as in the schema

_LONGEST = 20_000  # characters; parsing more takes seconds
_TABLES = 64  # in a join, which is also SQLite's limit
_WORK = 1_000_000  # the depths of all nodes together: for each, sqlglot may climb to the root
# Other texts are refused before sqlglot, which would log warnings about many of them, and so are
# commands in a query.
_COMMANDS = {
    TokenType.ALTER,
    TokenType.COMMAND,
    TokenType.CREATE,
    TokenType.DROP,
    TokenType.SET,
}
_OPENING = re.compile(r"(?is)(?:\s|\(|--[^\n]*+|/\*.*?\*/)*+(?:SELECT|WITH|VALUES)\b")
_QUOTED = re.compile(r"""('[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\])""")
_SPACE = re.compile(r"[ \t\n\f\r]+")  # to SQLite, other white space is part of a name
_NAMELESS_JOIN = re.compile(r"(?i)\b(?:USING|NATURAL)\b")
_CAST = re.compile(r"(?i)\bAS\s+(?:INT|INTEGER|REAL|TEXT)\s*\)")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = frozenset(
    """ABORT ACTION ADD AFTER ALL ALTER ALWAYS ANALYZE AND AS ASC ATTACH AUTOINCREMENT BEFORE
    BEGIN BETWEEN BY CASCADE CASE CAST CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE
    CROSS CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DATABASE DEFAULT DEFERRABLE
    DEFERRED DELETE DESC DETACH DISTINCT DO DROP EACH ELSE END ESCAPE EXCEPT EXCLUDE EXCLUSIVE
    EXISTS EXPLAIN FAIL FALSE FILTER FIRST FOLLOWING FOR FOREIGN FROM FULL GENERATED GLOB GROUP
    GROUPS HAVING IF IGNORE IMMEDIATE IN INDEX INDEXED INITIALLY INNER INSERT INSTEAD INTERSECT
    INTO IS ISNULL JOIN KEY LAST LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL NO NOT NOTHING
    NOTNULL NULL NULLS OF OFFSET ON OR ORDER OTHERS OUTER OVER PARTITION PLAN PRAGMA PRECEDING
    PRIMARY QUERY RAISE RANGE RECURSIVE REFERENCES REGEXP REINDEX RELEASE RENAME REPLACE
    RESTRICT RETURNING RIGHT ROLLBACK ROW ROWS SAVEPOINT SELECT SET STORED TABLE TEMP TEMPORARY
    THEN TIES TO TRANSACTION TRIGGER TRUE UNBOUNDED UNION UNIQUE UPDATE USING VACUUM VALUES VIEW
    VIRTUAL WHEN WHERE WINDOW WITH WITHIN WITHOUT""".split()  # noqa: SIM905
)


def quote(identifier: str) -> str:
    """Return the name as SQLite reads it anywhere: plain if possible, else in backticks, like BIRD.

    A name that contains a backtick gets double quotes.
    """
    if _PLAIN.fullmatch(identifier) and identifier.upper() not in _KEYWORDS:
        return identifier
    mark = '"' if "`" in identifier else "`"
    return mark + identifier.replace(mark, mark * 2) + mark


@lru_cache(maxsize=1024)
def parse(sql: str) -> exp.Expr | None:
    """Return the tree of one query, None for other text; it is cached, so copy it to change it.

    The parser is a little more lenient than SQLite, and does not read everything that SQLite runs.
    A query that would take sqlglot seconds is not read: a long one, one that joins more tables than
    SQLite does, and one of many nested parts.
    """
    if len(sql) > _LONGEST or not _OPENING.match(sql):
        return None
    try:
        tokens = sqlglot.tokenize(sql, read="sqlite")
        kinds = [token.token_type for token in tokens]
        if any(starmap(_begins_another, pairwise(kinds))):
            return None
        trees = _SQLITE.parser().parse(tokens, sql)
    except (SqlglotError, RecursionError):
        return None
    queries = [tree for tree in trees if tree and not isinstance(tree, exp.Semicolon)]
    if len(queries) != 1:
        return None
    query = queries[0]
    if not isinstance(query, exp.Query | exp.Values):
        return None
    is_bare = isinstance(query, exp.Select) and not query.expressions
    return None if is_bare or _takes_long(query) else query


def _begins_another(before: TokenType, kind: TokenType) -> bool:
    """Whether the second token begins another statement, or a command in a query's place."""
    if before == TokenType.SEMICOLON:
        return kind != TokenType.SEMICOLON
    # After a bracket: "(CREATE ...", or "WITH a AS (SELECT 1) CREATE ...".
    return kind in _COMMANDS and before in {TokenType.L_PAREN, TokenType.R_PAREN}


def _takes_long(tree: exp.Expr) -> bool:
    """Whether sqlglot would take seconds to look up the names of a query."""
    level = [tree]
    depth = work = 0
    while level:
        depth += 1
        work += depth * len(level)
        if any(len(node.args.get("joins") or ()) >= _TABLES for node in level):
            return True
        level = list(chain.from_iterable(node.iter_expressions() for node in level))
    return work > _WORK


@lru_cache(maxsize=4096)  # many candidates of a question are equal
def normalise_text(sql: str) -> str:
    """Return the query in lower case with single spaces, except in quotes, and no final semicolon.

    It returns the same rows, perhaps under other column names. A query with a comment is returned
    as it is.
    """
    if "--" in sql or "/*" in sql:
        return sql
    parts = _QUOTED.split(sql)
    for at in range(0, len(parts), 2):
        parts[at] = _SPACE.sub(" ", lower_name(parts[at]))
    text = "".join(parts).strip(" ")
    query = text.removesuffix(";").rstrip(" ")
    if query.endswith(";"):  # Python's sqlite3 refuses a second semicolon
        return text
    return query


@lru_cache(maxsize=4096)  # selectors need the normal form of a candidate several times
def normal_form(sql: str) -> str:
    """Return one spelling for queries that differ in layout, comments, case or optional words only.

    Literals stay as they are, and so does a name in double quotes without a table, which SQLite
    reads as a string if no column has that name. Names are not looked up, and aliases are not
    renamed: queries with the same normal form return the same rows, but not the other way round.
    Unreadable text is returned with single spaces, and so is a query with a CAST to a type whose
    name sqlglot would change into one that SQLite understands otherwise.
    """
    plain = " ".join(sql.split())
    tree = parse(sql)
    if not tree:
        return plain
    casts = list(tree.find_all(exp.Cast))
    if len(casts) != len(_CAST.findall(sql)):  # to a type that sqlglot may rename
        return plain
    tree = tree.copy()
    for node in list(tree.walk()):
        if isinstance(node, exp.Identifier) and not _may_be_string(node, sql):
            name = node.name.lower()
            node.set("this", name)
            node.set("quoted", node.args["quoted"] and quote(name) != name)
        elif isinstance(node, exp.Join) and node.kind in {"INNER", "OUTER"}:
            node.set("kind", None)
    try:
        return tree.sql("sqlite", comments=False, unsupported_level=ErrorLevel.IGNORE)
    except (SqlglotError, RecursionError):
        return plain


def _may_be_string(name: exp.Expr, sql: str) -> bool:
    """Whether SQLite may read this name as a string: of a column, in double quotes, no table."""
    start = name.meta.get("start", -1)
    column = name.parent
    return (
        sql[start : start + 1] == '"'
        and isinstance(column, exp.Column)
        and not column.table
    )


class Used(NamedTuple):
    """The tables and columns of a query, spelt as in the schema; or why it cannot run."""

    tables: frozenset[str] = frozenset()
    columns: frozenset[ColumnName] = frozenset()
    error: str = ""


@lru_cache(maxsize=4096)
def columns_used(sql: str, schema: Schema) -> Used:
    """Return the tables and columns that SQLite reads as it prepares the query on an empty copy.

    A column counts wherever it is mentioned, in USING and NATURAL JOIN too; `*` counts as all
    columns that it stands for, in a subquery too, and in COUNT(*) as none. SQLite works in a
    sandboxed worker, as some short queries take it hours to prepare.

    >>> schema = wb.read_schema(wb.open_benchmark("bundled-dev").database("harbour"))
    >>> sorted(wb.columns_used("SELECT tname FROM tug WHERE built > 2000", schema).columns)
    [('tug', 'built'), ('tug', 'tname')]
    """
    tables, columns = set(), set()
    answer = shared().ask(
        {"do": "used", "ddl": _ddl(schema), "sql": sql, "seconds": 2.0}
    )
    if answer["error"]:
        return Used(error=answer["error"])
    for table_name, column_name in answer["reads"]:
        table = schema.table(table_name or "")
        if table:
            tables.add(table.name)
            column = schema.column(table.name, column_name or "")
            if column:
                columns.add((table.name, column.name))
    # SQLite does not tell by which columns such a join compares.
    query = resolved(sql, schema) if _NAMELESS_JOIN.search(sql) else None
    if query:
        columns.update(query.columns.values())
        tables.update(table_name for table_name, _ in query.columns.values())
    return Used(frozenset(tables), frozenset(columns))


def _ddl(schema: Schema) -> str:
    """Return the statements that make an empty copy of the schema's tables."""
    statements = []
    for table in schema.tables:
        columns = ", ".join(quote(column.name) for column in table.columns)
        statements.append(f"CREATE TABLE {quote(table.name)} ({columns})")
    return ";".join(statements)


class Resolved(NamedTuple):
    """The tree of a query as it is written, and the column behind each name by its place in it.

    A name in double quotes that fits no column is a string, as in SQLite. Columns of `*` have
    places below 0.
    """

    tree: exp.Expr
    columns: dict[int, ColumnName]

    def column(self, node: object) -> ColumnName | None:
        """Return the schema's column that the node names, if it names one."""
        return self.columns.get(_place(node)) if isinstance(node, exp.Column) else None


def _place(column: exp.Column) -> int:
    """Return where a column stands in the query, which `qualify` keeps.

    A column that `qualify` has made of `*` stands nowhere, and gets a number of its own below 0.
    """
    return int(column.this.meta.get("start", -id(column)))


def resolved(sql: str, schema: Schema) -> Resolved | None:
    """Look up every name of a query by sqlglot's `qualify`; None if it cannot be read."""
    parsed = parse(sql)
    if not parsed:
        return None
    columns: dict[int, ColumnName] = {}
    try:
        tree = _with_strings(parsed.copy(), sql, schema)
        read = frozenset(lower_name(node.name) for node in tree.find_all(exp.Table))
        qualified = qualify(
            tree.copy(),
            dialect="sqlite",
            schema=_mapping(schema, read),
            validate_qualify_columns=False,
            allow_partial_qualification=True,
            quote_identifiers=False,
            identify=False,
            expand_alias_refs=False,
        )
        for scope in traverse_scope(qualified):
            names = list(scope.columns)
            for having in scope.find_all(exp.Having):  # some are without a table
                names += having.find_all(exp.Column)
            for name in names:
                fitting = _fitting(name, scope, schema)
                if len(fitting) == 1:
                    columns[_place(name)] = fitting[0]
    except (SqlglotError, RecursionError, ValueError):
        return None
    return Resolved(tree, columns)


def _with_strings(tree: exp.Expr, sql: str, schema: Schema) -> exp.Expr:
    """Turn names in double quotes that neither a column nor an alias has into strings."""
    known = {lower_name(column) for _, column in schema.columns()}
    known |= {lower_name(alias.alias) for alias in tree.find_all(exp.Alias)}
    for name in list(tree.find_all(exp.Identifier)):
        is_unknown = lower_name(name.name) not in known
        if is_unknown and _may_be_string(name, sql):
            name.parent.replace(exp.Literal.string(name.name))  # type: ignore[union-attr]
    return tree


def _fitting(name: exp.Column, scope: Scope, schema: Schema) -> list[ColumnName]:
    """Return the schema's columns that a name in a scope may stand for."""
    fitting = []
    for alias, source in scope.sources.items():
        if isinstance(source, exp.Table) and name.table in {alias, ""}:
            table = schema.table(source.name)
            column = schema.column(source.name, name.name)
            if table and column:
                fitting.append((table.name, column.name))
    return fitting


@lru_cache(maxsize=256)
def _mapping(schema: Schema, read: frozenset[str]) -> MappingSchema:
    """Return the schema for sqlglot.

    A table that is `read` but unknown has no columns in it, as sqlglot refuses others.
    """
    tables: dict[str, object] = {name: {"": "TEXT"} for name in read}  # no column
    for table in schema.tables:
        columns = {lower_name(column.name): "TEXT" for column in table.columns}
        tables[lower_name(table.name)] = columns
    return MappingSchema(tables, dialect="sqlite", normalize=False)
