"""An SQLite file read as a `Schema`, with example values where a prompt wants them.

Reading asks SQLite for names and declared types, never for rows, so a view without end costs nothing.
What SQLite itself cannot describe is a line in `Schema.skipped`; only a file that cannot be read at all
is an error.
"""

import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from workbench.db.opening import connect, lenient_text
from workbench.db.quoting import one_line, quote
from workbench.db.sql.used import used
from workbench.errors import UnreadableDatabaseError
from workbench.types import Column, ForeignKey, Schema, Table, fold

# What a sample of values may cost, for each table.
_ROWS = 1_000
_CELLS = 50_000
_SECONDS = 5.0

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

    Columns are those that `SELECT *` shows. SQLite's own tables and the shadow tables of virtual ones
    are left out. A foreign key names its target as the target is spelled; one that points at nothing
    stays as declared, with no `ref_columns` where it declared none and the target has no key to match.
    Raises `UnreadableDatabaseError`.
    """
    with reading(path) as connection:
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
    with reading(path) as connection:
        connection.text_factory = bytes  # only the chosen values are worth decoding
        for table in schema.tables:
            try:
                columns = _sampled(connection, table, per_column, max_length)
            except sqlite3.Error as error:
                columns = table.columns
                skipped.append(one_line(f"{table.name}: no example values: {error}"))
            tables.append(replace(table, columns=columns))
    return replace(schema, tables=tuple(tables), skipped=tuple(skipped))


def union_schema(schema: Schema, queries: Iterable[str]) -> Schema:
    """The schema cut to what any of the queries uses: CHASE's algorithm 3.

    A table of which a query names no column, as COUNT(*) does, stays with its key. With a query that
    cannot be read, or none that uses anything known, the schema stays whole.
    """
    pairs: set[tuple[str, str]] = set()
    for found in (used(query, schema) for query in queries):
        if found.error:
            return schema
        for name in found.tables - {table for table, _ in found.columns}:
            if table := schema.table(name):
                pairs.add(
                    (name, table.primary_key[0] if table.primary_key else table.columns[0].name)
                )
        pairs |= found.columns
    return schema.only(pairs) if pairs else schema


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
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
