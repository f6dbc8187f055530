"""A database's schema (tables, columns and keys), and the types of its values."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeVar

Value = None | int | float | str | bytes
Row = tuple[Value, ...]
_Record = TypeVar("_Record", "Table", "Schema")


@lru_cache(maxsize=65536)  # every step compares the names of a few schemas
def lower_name(name: str) -> str:
    """The name in the form in which SQLite compares names: only ASCII letters lose their case."""
    return name.lower() if name.isascii() else name.translate(_LOWER)


_LOWER = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column and what a prompt may show of it.

    `type` is the declared type. `description` and `value_description` come from the catalog and say what
    the column and its values mean. `examples` are values from the database. `expanded` is the catalog's longer name
    of the column, which is part of the description, too.
    """

    name: str
    type: str = ""
    description: str = ""
    value_description: str = ""
    examples: tuple[Value, ...] = ()
    expanded: str = ""


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """`columns` of the table with the key refer to `ref_columns` of `ref_table`, pair by pair."""

    columns: tuple[str, ...]
    ref_table: str
    ref_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    kind: Literal["table", "view", "virtual"] = "table"


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one database; `skipped` has a line for each part that could not be read."""

    db_id: str
    tables: tuple[Table, ...]
    skipped: tuple[str, ...] = ()

    def __hash__(self) -> int:
        """A hash of a few names: hashing every text would take a millisecond at each cache lookup."""
        parts = ((table.name, len(table.columns), *table.columns[:1]) for table in self.tables)
        return hash((self.db_id, *parts))

    def table(self, name: str) -> Table | None:
        """The table of that name, in any case, as in SQLite; or None."""
        return next((t for t in self.tables if lower_name(t.name) == lower_name(name)), None)

    def column(self, table: str, name: str) -> Column | None:
        """The column of that name in that table, in any case; or None."""
        owner = self.table(table)
        columns = owner.columns if owner else ()
        return next((c for c in columns if lower_name(c.name) == lower_name(name)), None)

    def columns(self) -> tuple[tuple[str, str], ...]:
        """Every (table, column), in schema order."""
        return tuple((t.name, c.name) for t in self.tables for c in t.columns)

    def only(self, columns: Iterable[tuple[str, str]]) -> "Schema":
        """The schema with only these (table, column) pairs, in its own order.

        A table stays if one of its columns is given. It keeps its primary key and its foreign keys to tables
        that stay, with the columns on both sides, as in CHESS (appendix A.3): a pruned schema can still be joined.
        Raises KeyError for a pair that is not in the schema.
        """
        known = {
            lower_name(t.name): {lower_name(column.name) for column in t.columns}
            for t in self.tables
        }
        wanted: dict[str, set[str]] = {}
        for table, column in columns:
            table_name, name = lower_name(table), lower_name(column)
            if name not in known.get(table_name, ()):
                raise KeyError(f"no column {table}.{column} in the schema of {self.db_id}")
            wanted.setdefault(table_name, set()).add(name)
        tables = [
            _with_fields(
                t,
                foreign_keys=tuple(k for k in t.foreign_keys if lower_name(k.ref_table) in wanted),
            )
            for t in self.tables
            if lower_name(t.name) in wanted
        ]
        for t in tables:
            kept = wanted[lower_name(t.name)]
            kept.update(map(lower_name, t.primary_key))
            for key in t.foreign_keys:
                kept.update(map(lower_name, key.columns))
                wanted[lower_name(key.ref_table)].update(map(lower_name, key.ref_columns))
        tables = [
            _with_fields(t, columns=tuple(c for c in t.columns if lower_name(c.name) in kept))
            for t in tables
            for kept in [wanted[lower_name(t.name)]]
        ]
        return _with_fields(self, tables=tuple(tables))


def _with_fields(record: _Record, **given: Any) -> _Record:
    """The record with the given fields; the same object if no field differs, so that caches by object find it."""
    if all(getattr(record, name) == value for name, value in given.items()):
        return record
    return replace(record, **given)
