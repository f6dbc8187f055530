"""Read an SQLite file as a `Schema`, with example values if a prompt wants them.

Reading a schema asks SQLite for names and declared types and never for rows, so an endless view costs no
time. Each table that SQLite cannot describe adds a line to `Schema.skipped`; only a file that cannot be
read at all raises an error.
"""

import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from workbench.db.fingerprint import unreadable
from workbench.db.sandbox.opening import connect, lenient_text
from workbench.db.sql.scope import used
from workbench.db.text.quoting import one_line, quote
from workbench.errors import UnreadableDatabaseError
from workbench.types import Column, ForeignKey, Schema, Table, lower_name

# Limits on the rows of a table that are read for its example values.
_ROWS = 1_000
_CELLS = 50_000
_SECONDS = 5.0
_LONGEST = 50  # characters of an example value
_ROWS_FOR_NULL = 100_000  # rows of a table that are searched for NULLs

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


def read_schema(path: Path, db_id: str | None = None) -> Schema:
    """The tables, views and virtual tables of a database file, in the order they were created.

    Columns are those of `SELECT *`. SQLite's own tables and the shadow tables of virtual tables are left
    out. Foreign keys spell tables and columns as their own tables do. A foreign key to a missing table stays as
    it is declared, and its `ref_columns` may be empty. Raises `UnreadableDatabaseError`.
    """
    with reading(path) as connection:
        kinds = {row[1]: row[2] for row in connection.execute("PRAGMA main.table_list")}
        names = [
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY rowid"
            )
            if not lower_name(name).startswith("sqlite_") and kinds.get(name) != "shadow"
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


def with_examples(
    schema: Schema, path: Path, per_column: int = 3, *, nulls: bool = False
) -> Schema:
    """The schema with up to `per_column` distinct values in each column's `examples`.

    They are the most frequent values among a table's first rows (at most a thousand), by frequency and then
    by appearance: the same file gives the same examples, and a large file takes no longer than a small one.
    Blobs and values of more than fifty characters are left out, and views get no examples. With `nulls`, None
    follows the values of a column that has a NULL in its table's first hundred thousand rows. A table
    whose rows cannot be read, or not in time, adds a line to `skipped`.
    """
    tables: list[Table] = []
    skipped = list(schema.skipped)
    with reading(path) as connection:
        connection.text_factory = bytes  # only the chosen values are decoded
        for table in schema.tables:
            try:
                columns = _sampled(connection, table, per_column, nulls)
            except sqlite3.Error as error:
                columns = table.columns
                skipped.append(one_line(f"{table.name}: no example values: {error}"))
            tables.append(replace(table, columns=columns))
    return replace(schema, tables=tuple(tables), skipped=tuple(skipped))


def union_schema(schema: Schema, queries: Iterable[str]) -> Schema:
    """The schema with only the tables and columns that any of the queries uses: algorithm 3 of CHASE-SQL.

    If a query uses a table without naming a column, as in COUNT(*), the table keeps its first key column. If a
    query cannot be parsed, or no query uses a known name, the schema stays whole.
    """
    pairs: set[tuple[str, str]] = set()
    for names in (used(query, schema) for query in queries):
        if names.error:
            return schema
        for name in names.tables - {table for table, _ in names.columns}:
            if table := schema.table(name):
                pairs.add(
                    (name, table.primary_key[0] if table.primary_key else table.columns[0].name)
                )
        pairs |= names.columns
    return schema.only(pairs) if pairs else schema


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that sees the database in one state; its errors become `UnreadableDatabaseError`."""
    try:
        with closing(connect(path)) as connection:
            connection.execute("BEGIN")
            connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
            yield connection
    except UnicodeEncodeError as error:
        raise unreadable(path, error) from None
    except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
        message = getattr(error, "strerror", None) or str(error)
        if isinstance(error, UnicodeDecodeError):
            message = "its schema has text that is not UTF-8"
        code = getattr(error, "sqlite_errorname", type(error).__name__)
        remedy = next((text for key, text in _REMEDIES.items() if code.startswith(key)), _REMEDY)
        raise UnreadableDatabaseError(
            f"{path.name}: {message.removeprefix(f'{path.name}: ')}{remedy}"
        ) from None  # the cause may show the folder


def _table(connection: sqlite3.Connection, name: str, kind: str) -> Table:
    # PRAGMA statements, not the table-valued functions: a table may be called pragma_table_xinfo.
    columns: list[Column] = []
    primary: dict[int, str] = {}
    for _, column, type_, _, _, position, hidden in connection.execute(
        f"PRAGMA main.table_xinfo({quote(name)})"
    ):
        if hidden != 1:  # 2 and 3 are generated columns, which SELECT * shows
            columns.append(Column(column, type_))
        if position:  # in the primary key, from 1; 0 outside it
            primary[position] = column
    keys: dict[int, list[tuple[str, str, str | None]]] = {}
    for id_, _, target, column, ref_column, *_ in connection.execute(
        f"PRAGMA main.foreign_key_list({quote(name)})"
    ):
        keys.setdefault(id_, []).append((target, column, ref_column))
    return Table(
        name,
        tuple(columns),
        tuple(primary[position] for position in sorted(primary)),
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
    """The tables; their foreign keys spell names as the target tables do, and have all columns of their targets."""
    targets = {
        lower_name(table.name): (table, {lower_name(c.name): c.name for c in table.columns})
        for table in tables
    }

    def resolve(key: ForeignKey) -> ForeignKey:
        if lower_name(key.ref_table) not in targets:
            return key
        table, spellings = targets[lower_name(key.ref_table)]
        columns = tuple(spellings.get(lower_name(name), name) for name in key.ref_columns)
        if not columns and len(table.primary_key) == len(key.columns):
            columns = table.primary_key
        return ForeignKey(key.columns, table.name, columns)

    return tuple(
        replace(table, foreign_keys=tuple(map(resolve, table.foreign_keys))) for table in tables
    )


def _sampled(
    connection: sqlite3.Connection, table: Table, per_column: int, nulls: bool
) -> tuple[Column, ...]:
    if table.kind == "view":
        return table.columns
    # length() stops at a NUL; counting bytes too keeps a cell of many megabytes inside SQLite. No number is so long.
    shown = ", ".join(
        f"CASE typeof({name}) WHEN 'blob' THEN NULL WHEN 'text' THEN CASE WHEN length({name}) <= {_LONGEST}"
        f" AND length(CAST({name} AS BLOB)) <= {4 * _LONGEST} THEN {name} END ELSE {name} END"
        for name in (quote(column.name) for column in table.columns)
    )
    # If SQLite used an index that covers the columns, other rows would come first.
    order = "NOT INDEXED" if table.kind == "table" else ""
    deadline = time.monotonic() + _SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
    source = f"FROM main.{quote(table.name)} {order} LIMIT ?"
    most = min(_ROWS, _CELLS // len(table.columns))
    rows = connection.execute(f"SELECT {shown} {source}", (most,)).fetchall()
    has_null: tuple[int | None, ...] = (0,) * len(table.columns)
    if nulls and per_column:
        names = [quote(column.name) for column in table.columns]
        tests = ", ".join(f"max({name} IS NULL)" for name in names)
        part = f"SELECT {', '.join(names)} {source}"
        has_null = connection.execute(f"SELECT {tests} FROM ({part})", (_ROWS_FOR_NULL,)).fetchone()
    counts = map(Counter, zip(*rows, strict=True)) if rows else (Counter() for _ in table.columns)
    columns: list[Column] = []
    for column, count, with_null in zip(table.columns, counts, has_null, strict=True):
        del count[None]
        values = [value for value, _ in count.most_common(per_column)]
        examples = tuple(lenient_text(v) if isinstance(v, bytes) else v for v in values)
        columns.append(replace(column, examples=(*examples, None) if with_null else examples))
    return tuple(columns)
