"""Write a `Schema` as text for a prompt, in the papers' styles, and quote names and values for SQL and prompts.

Names, types and values may contain anything, so each is quoted or kept to one line: data must not end a quotation.
"""

import re
from dataclasses import replace
from functools import lru_cache

from workbench.types import Column, Schema, Table, Value

LONGEST = 1_000  # characters of a text that a prompt shows
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TYPE = re.compile(r"([A-Za-z0-9_ ]+)(\( *[+-]?\d+ *(, *[+-]?\d+ *)?\))?", re.ASCII)
_KEYWORDS = frozenset(
    """ABORT ACTION ADD AFTER ALL ALTER ALWAYS ANALYZE AND AS ASC ATTACH AUTOINCREMENT BEFORE BEGIN BETWEEN BY CASCADE CASE
    CAST CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE CROSS CURRENT CURRENT_DATE CURRENT_TIME
    CURRENT_TIMESTAMP DATABASE DEFAULT DEFERRABLE DEFERRED DELETE DESC DETACH DISTINCT DO DROP EACH ELSE END ESCAPE
    EXCEPT EXCLUDE EXCLUSIVE EXISTS EXPLAIN FAIL FALSE FILTER FIRST FOLLOWING FOR FOREIGN FROM FULL GENERATED GLOB GROUP
    GROUPS HAVING IF IGNORE IMMEDIATE IN INDEX INDEXED INITIALLY INNER INSERT INSTEAD INTERSECT INTO IS ISNULL JOIN KEY
    LAST LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL NO NOT NOTHING NOTNULL NULL NULLS OF OFFSET ON OR ORDER OTHERS OUTER
    OVER PARTITION PLAN PRAGMA PRECEDING PRIMARY QUERY RAISE RANGE RECURSIVE REFERENCES REGEXP REINDEX RELEASE RENAME
    REPLACE RESTRICT RETURNING RIGHT ROLLBACK ROW ROWS SAVEPOINT SELECT SET STORED TABLE TEMP TEMPORARY THEN TIES TO
    TRANSACTION TRIGGER TRUE UNBOUNDED UNION UNIQUE UPDATE USING VACUUM VALUES VIEW VIRTUAL WHEN WHERE WINDOW WITH WITHIN
    WITHOUT""".split()  # noqa: SIM905
)


def quote(identifier: str) -> str:
    """The name as SQLite reads it anywhere: plain if possible, else in backticks, as in BIRD's queries.

    A name that contains a backtick gets double quotes.
    """
    if _PLAIN.fullmatch(identifier) and identifier.upper() not in _KEYWORDS:
        return identifier
    mark = '"' if "`" in identifier else "`"
    return mark + identifier.replace(mark, mark * 2) + mark


def one_line(text: str, length: int = LONGEST) -> str:
    """The text without control characters, cut to `length`."""
    text = _CONTROL.sub(" ", text)
    return text if len(text) <= length else text[: length - 1] + "…"


def literal(value: Value, length: int = 100) -> str:
    """The value as an SQL literal on one line; a text or a blob is cut to `length`."""
    if isinstance(value, str):
        return "'" + one_line(value, length).replace("'", "''") + "'"
    if isinstance(value, bytes):
        return f"x'{one_line(value.hex(), length)}'"
    return "NULL" if value is None else repr(value)


@lru_cache(maxsize=1024)  # the fixer and both orders of a pair show the same schema
def create_table_text(schema: Schema) -> str:
    """CREATE TABLE statements with comments, as in CHESS (figure 15) and CHASE-SQL.

    SQLite can run the text, and reading the new database gives the same tables, columns and keys. A view or a virtual
    table is written as a table with a comment, since queries use it like one.
    """
    return "\n\n".join(map(_create_table, schema.tables))


def bare_create_table_text(schema: Schema) -> str:
    """CREATE TABLE statements without comments, as BIRD's zero-shot prompt shows them."""
    tables = [
        replace(t, columns=tuple(Column(c.name, c.type) for c in t.columns)) for t in schema.tables
    ]
    return "\n\n".join(map(_create_table, tables))


@lru_cache(maxsize=256)  # several of MAC-SQL's agents show the same schema
def mac_sql_text(schema: Schema) -> str:
    """MAC-SQL's style: a bracketed list of columns for each table, then the foreign keys."""
    lines = ["[Schema]"]
    for table in schema.tables:
        lines += [f"# Table: {one_line(table.name)}", "["]
        for column in table.columns:
            texts = _texts(column, "Value examples: [{}]")
            described = " ".join(text.rstrip(".") + "." for text in texts)
            lines.append(f"  ({', '.join(filter(None, [one_line(column.name), described]))}),")
        lines.append("]")
    keys = [
        one_line(f"{quote(table.name)}.{quote(own)} = {quote(key.ref_table)}.{quote(other)}")
        for table in schema.tables
        for key in table.foreign_keys
        for own, other in zip(key.columns, key.ref_columns, strict=False)
    ]
    return "\n".join([*lines, *["[Foreign keys]"] * bool(keys), *keys])


def _create_table(table: Table) -> str:
    key = table.primary_key
    definitions = []
    for column in table.columns:
        plain = _TYPE.fullmatch(column.type)  # SQLite allows any text
        written = plain and all(quote(word) == word for word in plain[1].split())
        declared = column.type if written or not column.type else quote(column.type)
        definition = f"{quote(column.name)} {declared}".rstrip()
        definition += " PRIMARY KEY" * (key == (column.name,))
        definitions.append((definition, "; ".join(_texts(column, "examples: {}"))))
    if len(key) > 1:
        definitions.append((f"PRIMARY KEY ({_names(key)})", ""))
    for foreign in table.foreign_keys:
        names = f" ({_names(foreign.ref_columns)})" if foreign.ref_columns else ""
        target = quote(foreign.ref_table) + names
        definitions.append((f"FOREIGN KEY ({_names(foreign.columns)}) REFERENCES {target}", ""))
    kind = {"table": "", "view": " -- a view", "virtual": " -- a virtual table"}[table.kind]
    lines = [
        f"    {definition}{',' * (n < len(definitions))}{comment and f' -- {comment}'}"
        for n, (definition, comment) in enumerate(definitions, 1)
    ]
    return "\n".join([f"CREATE TABLE {quote(table.name)} ({kind}", *lines, ");"])


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(map(quote, columns))


def _texts(column: Column, examples: str) -> list[str]:
    """The column's descriptions, and its example values in the given form."""
    texts = [one_line(text).strip() for text in (column.description, column.value_description)]
    if column.examples:
        texts.append(examples.format(", ".join(map(literal, column.examples))))
    return [*filter(None, texts)]
