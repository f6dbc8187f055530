"""An SQLite file read as a `Schema`, and a `Schema` written as the text a prompt shows.

Reading asks SQLite for names and declared types, never for rows, so a view without end costs nothing.
What SQLite itself cannot describe is a line in `Schema.skipped`; only a file that cannot be read at all
is an error. Anything may stand in a name, a type or a value, so all that is written is quoted or kept
to one line.
"""

import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from workbench.db.worker import connect, lenient_text
from workbench.errors import UnreadableDatabaseError
from workbench.types import Column, ForeignKey, Schema, Table, Value, fold

# What a sample of values may cost, for each table.
_ROWS = 1_000
_CELLS = 50_000
_SECONDS = 5.0
# How much of one text a prompt shows.
_VALUE_LENGTH = 100
_DESCRIPTION_LENGTH = 1_000

_REMEDIES = {
    "FileNotFoundError": "; check the path",
    "IsADirectoryError": "; give the SQLite file itself",
    "DatabaseError": "; give a file that SQLite wrote",
    "SQLITE_NOTADB": "; give a file that SQLite wrote",
    "SQLITE_CORRUPT": "; the file is damaged: restore it, or salvage it with .recover in sqlite3",
    "SQLITE_BUSY": " by another program; close it there and try again",
    "SQLITE_READONLY": "; a write was interrupted: open it once in sqlite3, which rolls it back",
}

_REMEDY = "; check the file and its permissions"

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TYPE = re.compile(r"([A-Za-z0-9_ ]+)(\( *[+-]?\d+ *(, *[+-]?\d+ *)?\))?", re.ASCII)
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """
    ABORT ACTION ADD AFTER ALL ALTER ALWAYS ANALYZE AND AS ASC ATTACH AUTOINCREMENT BEFORE BEGIN BETWEEN
    BY CASCADE CASE CAST CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE CROSS CURRENT CURRENT_DATE
    CURRENT_TIME CURRENT_TIMESTAMP DATABASE DEFAULT DEFERRABLE DEFERRED DELETE DESC DETACH DISTINCT DO DROP
    EACH ELSE END ESCAPE EXCEPT EXCLUDE EXCLUSIVE EXISTS EXPLAIN FAIL FALSE FILTER FIRST FOLLOWING FOR
    FOREIGN FROM FULL GENERATED GLOB GROUP GROUPS HAVING IF IGNORE IMMEDIATE IN INDEX INDEXED INITIALLY
    INNER INSERT INSTEAD INTERSECT INTO IS ISNULL JOIN KEY LAST LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL
    NO NOT NOTHING NOTNULL NULL NULLS OF OFFSET ON OR ORDER OTHERS OUTER OVER PARTITION PLAN PRAGMA
    PRECEDING PRIMARY QUERY RAISE RANGE RECURSIVE REFERENCES REGEXP REINDEX RELEASE RENAME REPLACE RESTRICT
    RETURNING RIGHT ROLLBACK ROW ROWS SAVEPOINT SELECT SET STORED TABLE TEMP TEMPORARY THEN TIES TO
    TRANSACTION TRIGGER TRUE UNBOUNDED UNION UNIQUE UPDATE USING VACUUM VALUES VIEW VIRTUAL WHEN WHERE
    WINDOW WITH WITHIN WITHOUT
    """,
    )
)


def read_schema(path: Path, db_id: str | None = None) -> Schema:
    """The tables, views and virtual tables of a database file, in the order they were created.

    Columns are those that `SELECT *` shows. SQLite's own tables and the shadow tables of virtual ones
    are left out. A foreign key names its target as the target is spelled; one that points at nothing
    stays as declared, with no `ref_columns` where it declared none and the target has no key to match.
    Raises `UnreadableDatabaseError`.
    """
    with _reading(path) as connection:
        kinds = {row[1]: row[2] for row in connection.execute("PRAGMA main.table_list")}
        names = [
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY rowid"
            )
            if not fold(name).startswith("sqlite_") and kinds.get(name) != "shadow"
        ]
        tables: list[Table] = []
        skipped: list[str] = []
        for name in names:
            try:
                table = _table(connection, name, kinds.get(name, "table"))
            except sqlite3.Error as error:
                skipped.append(one_line(f"{name}: {error}"))
            else:
                if table.columns:
                    tables.append(table)
                else:
                    skipped.append(one_line(f"{name}: SQLite finds no columns in it"))
    if not names:
        skipped.append(f"{path.name} has no tables")
    return Schema(path.stem if db_id is None else db_id, _resolved(tables), tuple(skipped))


def with_examples(schema: Schema, path: Path, per_column: int = 3, max_length: int = 50) -> Schema:
    """The schema with up to `per_column` distinct values in each column's `examples`.

    They are the most frequent among a table's first rows (at most a thousand), in order of frequency and
    then of appearance: the same file gives the same examples, and a large one costs no more than a small
    one. NULLs, blobs and values longer than `max_length` are left out; views get none. A table whose rows
    cannot be read in time or at all has a line in `skipped`.
    """
    tables: list[Table] = []
    skipped = list(schema.skipped)
    with _reading(path) as connection:
        connection.text_factory = bytes  # only the chosen values are worth decoding
        for table in schema.tables:
            try:
                columns = _sampled(connection, table, per_column, max_length)
            except sqlite3.Error as error:
                columns = table.columns
                skipped.append(one_line(f"{table.name}: no example values: {error}"))
            tables.append(replace(table, columns=columns))
    return replace(schema, tables=tuple(tables), skipped=tuple(skipped))


def union_schema(schema: Schema, used: Iterable[frozenset[tuple[str, str]]]) -> Schema:
    """The schema cut to the (table, column) pairs that any of the queries uses: CHASE's algorithm 3.

    Pairs that a query made up are passed over; with none left the schema stays whole.
    """
    pairs = [pair for pair in frozenset().union(*used) if schema.column(*pair)]
    return schema.only(pairs) if pairs else schema


def quote(identifier: str) -> str:
    """The name as it stands in SQL: plain where it can, else in backticks, as BIRD's queries write it.

    A name with a backtick in it goes into double quotes. The result is valid wherever SQLite expects an
    identifier, for every name that SQLite lets anyone create.
    """
    if _PLAIN.fullmatch(identifier) and identifier.upper() not in _KEYWORDS:
        return identifier
    mark = '"' if "`" in identifier else "`"
    return mark + identifier.replace(mark, mark * 2) + mark


def create_table_text(schema: Schema) -> str:
    """CREATE TABLE statements with comments: how CHESS (figure 15) and CHASE show a schema.

    A column's comment holds its description, what its values mean, and examples; there is none where
    nothing is known. The text is SQL that SQLite runs, and what it creates reads back as the same
    tables, columns and keys. A view or a virtual table is written as a table, marked by a comment:
    for a query they are the same.
    """
    return "\n\n".join(_create_table(table) for table in schema.tables)


def mac_sql_text(schema: Schema) -> str:
    """The bracketed lists in which MAC-SQL shows a schema: each table's columns, then the foreign keys."""
    lines = ["[Schema]"]
    for table in schema.tables:
        lines += [f"# Table: {one_line(table.name)}", "["]
        for column in table.columns:
            about = [*_descriptions(column)]
            if column.examples:
                about.append(f"Value examples: [{_literals(column.examples)}]")
            told = " ".join(text.rstrip(".") + "." for text in about)
            lines.append(f"  ({', '.join(filter(None, [one_line(column.name), told]))}),")
        lines.append("]")
    keys = [
        one_line(f"{quote(t.name)}.{quote(column)} = {quote(key.ref_table)}.{quote(ref_column)}")
        for t in schema.tables
        for key in t.foreign_keys
        for column, ref_column in zip(key.columns, key.ref_columns, strict=False)
    ]
    return "\n".join([*lines, "[Foreign keys]", *keys] if keys else lines)


def one_line(text: str, length: int = _DESCRIPTION_LENGTH) -> str:
    """The text without control characters and no longer than that: data must not end a comment."""
    text = _CONTROL.sub(" ", text)
    return text if len(text) <= length else text[: length - 1] + "…"


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that sees one state of the database throughout, with errors told as ours."""
    try:
        with closing(connect(path)) as connection:
            connection.execute("BEGIN")
            connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
            yield connection
    except (sqlite3.Error, OSError) as error:
        said = getattr(error, "strerror", None) or str(error)
        code = getattr(error, "sqlite_errorname", type(error).__name__)
        remedy = next((text for key, text in _REMEDIES.items() if code.startswith(key)), _REMEDY)
        raise UnreadableDatabaseError(
            f"{path.name}: {said.removeprefix(f'{path.name}: ')}{remedy}"
        ) from None  # the cause may name the folder


def _table(connection: sqlite3.Connection, name: str, kind: str) -> Table:
    # PRAGMA statements, not the table-valued functions: a table may be called pragma_table_xinfo.
    columns: list[Column] = []
    places: dict[int, str] = {}
    for _, column, type_, _, _, place, hidden in connection.execute(
        f"PRAGMA main.table_xinfo({quote(name)})"
    ):
        if hidden != 1:  # 2 and 3 are generated columns, which SELECT * shows
            columns.append(Column(column, type_))
        if place:
            places[place] = column
    keys: dict[int, list[tuple[str, str, str | None]]] = {}
    for id_, _, target, column, ref_column, *_ in connection.execute(
        f"PRAGMA main.foreign_key_list({quote(name)})"
    ):
        keys.setdefault(id_, []).append((target, column, ref_column))
    return Table(
        name,
        tuple(columns),
        tuple(places[place] for place in sorted(places)),
        tuple(
            ForeignKey(
                tuple(column for _, column, _ in keys[id_]),
                keys[id_][0][0],
                tuple(ref_column for _, _, ref_column in keys[id_] if ref_column is not None),
            )
            for id_ in sorted(keys, reverse=True)  # SQLite numbers them from the last declared
        ),
        "view" if kind == "view" else "virtual" if kind == "virtual" else "table",
    )


def _resolved(tables: list[Table]) -> tuple[Table, ...]:
    """The tables with the targets of their foreign keys spelled out, and spelled as they are there."""
    targets = {
        fold(table.name): (table, {fold(c.name): c.name for c in table.columns}) for table in tables
    }

    def resolve(key: ForeignKey) -> ForeignKey:
        if fold(key.ref_table) not in targets:
            return key
        table, spelled = targets[fold(key.ref_table)]
        columns = tuple(spelled.get(fold(name), name) for name in key.ref_columns)
        if not columns and len(table.primary_key) == len(key.columns):
            columns = table.primary_key
        return ForeignKey(key.columns, table.name, columns)

    return tuple(
        replace(table, foreign_keys=tuple(map(resolve, table.foreign_keys))) for table in tables
    )


def _sampled(
    connection: sqlite3.Connection, table: Table, per_column: int, max_length: int
) -> tuple[Column, ...]:
    if table.kind == "view":
        return table.columns
    # Counting bytes keeps a cell of many megabytes, NULs and all, from leaving SQLite.
    shown = ", ".join(
        f"CASE WHEN typeof({name}) <> 'blob' AND length({name}) <= {max_length}"
        f" AND length(CAST({name} AS BLOB)) <= {4 * max_length} THEN {name} END"
        for name in (quote(column.name) for column in table.columns)
    )
    # An index that covers the columns would decide which rows come first.
    order = "NOT INDEXED" if table.kind == "table" else ""
    deadline = time.monotonic() + _SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
    rows = connection.execute(
        f"SELECT {shown} FROM main.{quote(table.name)} {order} LIMIT ?",
        (min(_ROWS, _CELLS // len(table.columns)),),
    ).fetchall()
    counts = map(Counter, zip(*rows, strict=True)) if rows else (Counter() for _ in table.columns)
    columns: list[Column] = []
    for column, count in zip(table.columns, counts, strict=True):
        del count[None]
        values = [value for value, _ in count.most_common(per_column)]
        examples = tuple(lenient_text(v) if isinstance(v, bytes) else v for v in values)
        columns.append(replace(column, examples=examples))
    return tuple(columns)


def _create_table(table: Table) -> str:
    definitions = [
        (
            f"{quote(column.name)} {_type(column.type)}".rstrip()
            + (" PRIMARY KEY" if table.primary_key == (column.name,) else ""),
            _comment(column),
        )
        for column in table.columns
    ]
    if len(table.primary_key) > 1:
        definitions.append((f"PRIMARY KEY ({_names(table.primary_key)})", ""))
    for key in table.foreign_keys:
        target = quote(key.ref_table) + (f" ({_names(key.ref_columns)})" if key.ref_columns else "")
        definitions.append((f"FOREIGN KEY ({_names(key.columns)}) REFERENCES {target}", ""))
    kind = {"table": "", "view": " -- a view", "virtual": " -- a virtual table"}[table.kind]
    lines = [
        f"    {definition}{'' if i == len(definitions) else ','}{comment and f' -- {comment}'}"
        for i, (definition, comment) in enumerate(definitions, 1)
    ]
    return "\n".join([f"CREATE TABLE {quote(table.name)} ({kind}", *lines, ");"])


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(map(quote, columns))


def _type(declared: str) -> str:
    """A declared type as SQL; SQLite lets any quoted text be one."""
    plain = _TYPE.fullmatch(declared)
    if plain and all(quote(word) == word for word in plain[1].split()):
        return declared
    return declared and quote(declared)


def _comment(column: Column) -> str:
    about = [*_descriptions(column)]
    if column.examples:
        about.append(f"examples: {_literals(column.examples)}")
    return "; ".join(about)


def _descriptions(column: Column) -> Iterator[str]:
    for text in (column.description, column.value_description):
        if shown := one_line(text).strip():
            yield shown


def _literals(values: tuple[Value, ...]) -> str:
    return ", ".join(map(_literal, values))


def _literal(value: Value) -> str:
    if isinstance(value, str):
        return "'" + one_line(value, _VALUE_LENGTH).replace("'", "''") + "'"
    if isinstance(value, bytes):
        return f"x'{one_line(value.hex(), _VALUE_LENGTH)}'"
    return "NULL" if value is None else repr(value)
