"""The rules that every database of a schema follows: types, NOT NULL, unique columns, and foreign keys.

The rules are read from the SQLite file. A foreign key that the file's rows break is left out: benchmarks have many of
them. The file's rows also show which kinds of values a column holds, and whether it holds NULL.
"""

import re
import sqlite3
import time
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from workbench.db.fingerprint import file_state
from workbench.db.sandbox.small import SmallDatabase
from workbench.db.schema import read_schema, reading
from workbench.db.text.quoting import quote
from workbench.types import ForeignKey, Row, Schema, Table, Value, lower_name

Rows = dict[str, list[Row]]  # by table, in the order of `Rules.tables`
Cell = tuple[str, int]  # a table and the position of a column
_ROWS = 60  # rows that are read of each table
_SECONDS = 1.0  # for checking a foreign key; a check that takes longer counts as passed


@dataclass(frozen=True, slots=True)
class Key:
    """A foreign key: `columns` refer to the `ref_columns` of `table`. Columns are given by their positions."""

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
    """By column: the Python types of the values in real rows, or that of the declared type if there are none."""
    forms: tuple[str, ...]
    """By column: "date" or "number" if every text in real rows is one, else ""."""

    def accepts(self, column: int, value: Value) -> bool:
        """Whether a value has a type and, if it is text, the form that the column's real values have."""
        if type(value) not in self.kinds[column]:
            return False
        return not isinstance(value, str) or self.forms[column] in {"", _form(value)}


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of tables. Parents come before the tables that refer to them, unless tables refer to each other."""

    schema: Schema
    tables: dict[str, TableRules]
    views: tuple[str, ...] = ()
    """The CREATE statements of views."""

    def cells(self) -> dict[tuple[str, str], Cell]:
        """Each column's table and position, by the names of its table and its own."""
        return {
            (name, column): (name, number)
            for name, table in self.tables.items()
            for number, column in enumerate(table.columns)
        }

    def database(self, rows: Rows) -> SmallDatabase:
        """A database of the schema with these rows."""
        statements = [one for table in self.tables.values() for one in table.statements]
        return small_database((*statements, *self.views), rows)


def small_database(statements: tuple[str, ...], rows: Rows) -> SmallDatabase:
    return SmallDatabase(statements, {name: tuple(content) for name, content in rows.items()})


def read_rules(path: Path, names: frozenset[str], views: frozenset[str] = frozenset()) -> Rules:
    """The rules of the tables `names` and of all tables that they refer to."""
    return _read(path, file_state(path)[0], names, views)


def schema_of(path: Path) -> Schema:
    """The schema of a file, read once as long as the file does not change."""
    return _schema(path, file_state(path)[0])


@lru_cache(maxsize=256)
def _schema(path: Path, state: str) -> Schema:
    del state  # only part of the cache key
    return read_schema(path)


@lru_cache(maxsize=1024)
def _read(path: Path, state: str, names: frozenset[str], views: frozenset[str]) -> Rules:
    schema = _schema(path, state)
    tables: dict[str, TableRules] = {}

    def add(table: Table, connection: sqlite3.Connection) -> None:
        if table.name in tables:
            return
        tables[table.name] = own = _table_rules(connection, table, schema)
        for key in own.keys:
            if parent := schema.table(key.table):
                add(parent, connection)
        tables[table.name] = tables.pop(table.name)  # moved behind its parents

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
        if required or position:  # SQLite allows NULL in a primary key, but no schema intends it
            not_null.add(len(columns))
        if position:
            primary[position] = len(columns)
        columns.append(column)
        types.append(type_)
    positions = {lower_name(column): number for number, column in enumerate(columns)}
    unique = [tuple(primary[position] for position in sorted(primary))] if primary else []
    statements = [_created(connection, table.name)]
    indexes = connection.execute(f"PRAGMA main.index_list({quote(table.name)})").fetchall()
    for _, index, is_unique, origin, partial in indexes:
        parts = [row[2] for row in connection.execute(f"PRAGMA main.index_info({quote(index)})")]
        lowered = [lower_name(part or "") for part in parts]  # an expression has no name
        if is_unique and not partial and all(name in positions for name in lowered):
            unique.append(tuple(positions[name] for name in lowered))
            if origin == "c":  # made by CREATE INDEX
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
            if (rule := _key(key, positions, schema)) and _holds(connection, table, key)
        ),
        sample,
        frozenset(number for number, held in enumerate(values) if None in held),
        tuple(kinds),
        tuple(next(iter(found)) if len(found) == 1 else "" for found in forms),
    )


def _key(key: ForeignKey, positions: dict[str, int], schema: Schema) -> Key | None:
    parent = schema.table(key.ref_table)
    if not parent or parent.kind != "table" or len(key.ref_columns) != len(key.columns):
        return None
    parent_columns = [lower_name(column.name) for column in parent.columns]
    if not all(lower_name(name) in parent_columns for name in key.ref_columns):
        return None
    return Key(
        tuple(positions[lower_name(name)] for name in key.columns),
        parent.name,
        tuple(parent_columns.index(lower_name(name)) for name in key.ref_columns),
    )


def _holds(connection: sqlite3.Connection, table: Table, key: ForeignKey) -> bool:
    """Whether every row of the table refers to a row that exists, or has NULL in the key."""
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
    """The Python type for a declared type, by the rules of SQLite's type affinity ("Datatypes in SQLite", section 3.1)."""
    name = type_.upper()
    if "INT" in name:
        return int
    if any(part in name for part in ("CHAR", "CLOB", "TEXT")):
        return str
    if any(part in name for part in ("REAL", "FLOA", "DOUB", "DEC", "NUM")):
        return float
    return int if "BOOL" in name else str
