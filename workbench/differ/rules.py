"""What every database of a schema keeps: types, NOT NULL, unique columns, and keys to other tables.

They are read from the SQLite file. A key that the file's own rows break is no rule of it: benchmarks have many
such. Real rows tell which kinds of values a column holds, and whether it holds NULL.
"""

import re
import sqlite3
import time
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from workbench.db.fingerprint import file_state
from workbench.db.schema import read_schema, reading
from workbench.db.text.quoting import quote
from workbench.types import ForeignKey, Row, Schema, Table, Value, lower_name

_ROWS = 60  # of a table are read
_SECONDS = 1.0  # for finding out whether a key holds; later it is taken to hold


@dataclass(frozen=True, slots=True)
class Key:
    """Columns that must have, in a row of `table`, the values of its `ref_columns`, unless one is NULL."""

    columns: tuple[int, ...]
    table: str
    ref_columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TableRules:
    """The rules of one table and some of its rows. Columns are given by their positions."""

    name: str
    statements: tuple[str, ...]
    """CREATE statements of the table and its unique indexes."""
    columns: tuple[str, ...]
    types: tuple[str, ...]
    not_null: frozenset[int]
    unique: tuple[tuple[int, ...], ...]
    keys: tuple[Key, ...]
    rows: tuple[Row, ...]
    nulls: frozenset[int]
    """Columns in which real rows hold NULL."""

    kinds: tuple[frozenset[type], ...]
    """By column: the types of the values that real rows hold, else the one that the declared type stands for."""
    forms: tuple[str, ...]
    """By column: "date" or "number" where all texts in real rows are such, else ""."""

    def accepts(self, column: int, value: Value) -> bool:
        """Whether a value is of the column's kind."""
        if type(value) not in self.kinds[column]:
            return False
        return not isinstance(value, str) or self.forms[column] in {"", _form(value)}


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of the tables that queries need, parents before the tables that refer to them if possible."""

    schema: Schema
    tables: dict[str, TableRules]
    views: tuple[str, ...] = ()
    """CREATE statements."""


def read_rules(path: Path, names: frozenset[str], views: frozenset[str] = frozenset()) -> Rules:
    """The rules of these tables and of all tables that they refer to."""
    return _read(path, file_state(path)[0], names, views)


@lru_cache(maxsize=256)
def known_schema(path: Path, state: str) -> Schema:
    """The schema of a file in this state, read once."""
    del state  # part of the cache's key
    return read_schema(path)


@lru_cache(maxsize=1024)
def _read(path: Path, state: str, names: frozenset[str], views: frozenset[str]) -> Rules:
    schema = known_schema(path, state)
    tables: dict[str, TableRules] = {}

    def add(table: Table, connection: sqlite3.Connection) -> None:
        if table.name in tables:
            return
        tables[table.name] = own = _table_rules(connection, table, schema)
        for key in own.keys:
            if parent := schema.table(key.table):
                add(parent, connection)
        tables[table.name] = tables.pop(table.name)  # behind its parents

    with reading(path) as connection:
        for name in sorted(names):
            if table := schema.table(name):
                add(table, connection)
        statements = tuple(_created(connection, name) for name in sorted(views))
    return Rules(schema, tables, statements)


def _table_rules(connection: sqlite3.Connection, table: Table, schema: Schema) -> TableRules:
    columns: list[str] = []
    types: list[str] = []
    not_null: set[int] = set()
    primary: dict[int, int] = {}
    for _, column, type_, required, _, position, hidden in connection.execute(
        f"PRAGMA main.table_xinfo({quote(table.name)})"
    ):
        if hidden:  # a generated column is never inserted
            continue
        if required or position:  # SQLite lets NULL into a primary key; no schema means it
            not_null.add(len(columns))
        if position:
            primary[position] = len(columns)
        columns.append(column)
        types.append(type_)
    place = {lower_name(column): number for number, column in enumerate(columns)}
    unique = [tuple(primary[position] for position in sorted(primary))] if primary else []
    statements = [_created(connection, table.name)]
    indexes = connection.execute(f"PRAGMA main.index_list({quote(table.name)})").fetchall()
    for _, index, is_unique, origin, partial in indexes:
        parts = [row[2] for row in connection.execute(f"PRAGMA main.index_info({quote(index)})")]
        if is_unique and not partial and all(part and lower_name(part) in place for part in parts):
            unique.append(tuple(place[lower_name(part)] for part in parts))
            if origin == "c":
                statements.append(_created(connection, index))
    listed = ", ".join(map(quote, columns))
    rows = connection.execute(f"SELECT {listed} FROM {quote(table.name)} LIMIT ?", (_ROWS,))
    sample = tuple(map(tuple, rows.fetchall()))
    values = list(zip(*sample, strict=True)) if sample else [()] * len(columns)
    kinds = [
        frozenset(map(type, held)) - {type(None)} or frozenset({_declared(declared)})
        for held, declared in zip(values, types, strict=True)
    ]
    forms = [{_form(value) for value in held if isinstance(value, str)} for held in values]
    return TableRules(
        table.name,
        tuple(statements),
        tuple(columns),
        tuple(types),
        frozenset(not_null),
        tuple(dict.fromkeys(unique)),
        tuple(
            rule
            for key in table.foreign_keys
            if (rule := _key(key, place, schema)) and _holds(connection, table, key)
        ),
        sample,
        frozenset(number for number, held in enumerate(values) if None in held),
        tuple(kinds),
        tuple(next(iter(found)) if len(found) == 1 else "" for found in forms),
    )


def _key(key: ForeignKey, place: dict[str, int], schema: Schema) -> Key | None:
    parent = schema.table(key.ref_table)
    if not parent or parent.kind != "table" or len(key.ref_columns) != len(key.columns):
        return None
    there = [lower_name(column.name) for column in parent.columns]
    if not all(lower_name(name) in there for name in key.ref_columns):
        return None
    return Key(
        tuple(place[lower_name(name)] for name in key.columns),
        parent.name,
        tuple(there.index(lower_name(name)) for name in key.ref_columns),
    )


def _holds(connection: sqlite3.Connection, table: Table, key: ForeignKey) -> bool:
    """Whether every row of the table keeps the key."""
    given = " AND ".join(f"child.{quote(name)} IS NOT NULL" for name in key.columns)
    same = " AND ".join(
        f"parent.{quote(ref)} = child.{quote(name)}"
        for name, ref in zip(key.columns, key.ref_columns, strict=True)
    )
    deadline = time.monotonic() + _SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
    try:
        broken = connection.execute(
            f"SELECT 1 FROM {quote(table.name)} AS child WHERE {given} AND NOT EXISTS"
            f" (SELECT 1 FROM {quote(key.ref_table)} AS parent WHERE {same}) LIMIT 1"
        ).fetchone()
    except sqlite3.OperationalError:
        return True
    finally:
        connection.set_progress_handler(None, 0)
    return broken is None


def _created(connection: sqlite3.Connection, name: str) -> str:
    row = connection.execute(
        "SELECT sql FROM sqlite_schema WHERE lower(name) = lower(?) AND sql IS NOT NULL", (name,)
    ).fetchone()
    return str(row[0]) if row else ""


def _form(text: str) -> str:
    if re.fullmatch(r"-?\d{1,15}(\.\d+)?", text):
        return "number"
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return ""
    return "date"


def _declared(type_: str) -> type[Value]:
    """The type of values that SQLite's affinity of a declared type prefers (its documentation, section 3.1)."""
    name = type_.upper()
    if "INT" in name:
        return int
    if any(part in name for part in ("CHAR", "CLOB", "TEXT")):
        return str
    if any(part in name for part in ("REAL", "FLOA", "DOUB", "DEC", "NUM")):
        return float
    return int if "BOOL" in name else str
