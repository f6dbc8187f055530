"""Reads the values that are indexed, in one scan over each table.

Every distinct text in every column of every table is indexed, whatever the column's name, declared type and
number of values. The index leaves out, and reports for each column:

- cells that are not text: a number of the question goes into the query unchanged;
- cells of more than `LONGEST` characters: no question names them in full, and no prompt could show them;
- cells that are not valid UTF-8: no SQL literal can equal them;
- views: their values are those of their tables, and a view may be endless;
- cells that SQLite cannot read, or not within `SECONDS`.

The papers' code skips columns by name, type or size (names like "url" or "date", types other than TEXT, more than
2 MB). That loses values that questions name, and saves little time here: see tests/benchmarks/README.md.
"""

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.sql.schema import read_schema
from workbench.sql.schema_text import one_line, quote
from workbench.types import Column, Table

LONGEST = 200
SECONDS = 600.0  # for each table
_CELLS = 10_000  # cells in memory at once
_LONG, _OTHER, _DAMAGED = range(3)  # the number that replaces a cell that is left out, by reason
_REASONS = (f"longer than {LONGEST} characters", "no text", "no UTF-8")


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a database.

    columns: table and column names, sorted.
    texts: the distinct texts, in code point order.
    group_of, groups: text i is a value of the columns with the indices `groups[group_of[i]]`.
    skipped: a line for everything that was left out.
    """

    columns: tuple[tuple[str, str], ...]
    texts: list[str]
    group_of: NDArray[np.uint32]
    groups: list[tuple[int, ...]]
    skipped: tuple[str, ...]


def read_values(database: Path, progress: Callable[[int, int], None] | None = None) -> Values:
    """The values of a database, the same for any order of its rows.

    `progress` is called with the number of tables read and of all tables. Raises `UnreadableDatabaseError`.
    """
    schema = read_schema(database)
    skipped = list(schema.skipped)
    found: dict[tuple[str, str], list[str]] = {}
    uri = f"{database.absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        for number, table in enumerate(schema.tables, 1):
            if table.kind == "view":
                skipped.append(one_line(f"{table.name}: a view; its values are its tables'"))
                continue
            for column, (texts, why) in zip(table.columns, _read(connection, table), strict=True):
                if texts:
                    found[table.name, column.name] = texts
                if why:
                    skipped.append(one_line(f"{table.name}.{column.name}: {why}"))
            if progress:
                progress(number, len(schema.tables))
    columns = sorted(found)
    return Values(tuple(columns), *_grouped([found[name] for name in columns]), tuple(skipped))


def _read(connection: sqlite3.Connection, table: Table) -> list[tuple[list[str], str]]:
    """The texts of each column, read in one scan or, if that fails, column by column."""
    deadline = time.monotonic() + SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
    connection.text_factory = str
    try:
        return _scan(connection, table, table.columns)
    except sqlite3.Error:
        connection.text_factory = _decoded
    scanned: list[tuple[list[str], str]] = []
    for column in table.columns:
        try:
            scanned += _scan(connection, table, [column])
        except sqlite3.Error as error:
            late = time.monotonic() > deadline
            why = f"not read within {SECONDS:g} s" if late else str(error)
            scanned.append(([], why))
    return scanned


def _scan(
    connection: sqlite3.Connection, table: Table, columns: Sequence[Column]
) -> list[tuple[list[str], str]]:
    """Each column's distinct texts, and how many of its cells are left out, as in "no text: 120, no UTF-8: 1"."""
    # The CASE replaces cells inside SQLite, so that cells of many megabytes are never copied to Python. Bytes
    # are counted first, because length() of a text stops at its first NUL character.
    shown = ", ".join(
        f"CASE typeof({name}) WHEN 'text' THEN CASE WHEN length(CAST({name} AS BLOB)) <= {4 * LONGEST}"
        f" AND length({name}) <= {LONGEST} THEN {name} ELSE {_LONG} END"
        f" WHEN 'null' THEN NULL ELSE {_OTHER} END"
        for name in (quote(column.name) for column in columns)
    )
    rows = connection.execute(f"SELECT {shown} FROM main.{quote(table.name)}")
    found: list[dict[Any, None]] = [{} for _ in columns]
    left: list[Counter[int]] = [Counter() for _ in columns]
    while chunk := rows.fetchmany(max(1, _CELLS // len(columns))):
        for cells, distinct, count in zip(zip(*chunk, strict=True), found, left, strict=True):
            distinct.update(dict.fromkeys(cells))
            for reason in (_LONG, _OTHER, _DAMAGED):
                if reason in distinct:
                    count[reason] += cells.count(reason)
    for distinct in found:
        for marker in (None, _LONG, _OTHER, _DAMAGED):
            distinct.pop(marker, None)
    return [
        (sorted(distinct), ", ".join(f"{_REASONS[why]}: {n:,}" for why, n in count.items()))
        for distinct, count in zip(found, left, strict=True)
    ]


def _decoded(raw: bytes) -> str | int:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return _DAMAGED


def _grouped(
    texts_of: Sequence[Sequence[str]],
) -> tuple[list[str], NDArray[np.uint32], list[tuple[int, ...]]]:
    """The distinct texts of all columns, sorted, the number of each text's group of columns, and the groups.

    A database has few distinct groups of columns, so one number for each text says which columns hold it.
    """
    group_of: dict[str, int] = {}
    groups: list[tuple[int, ...]] = [(column,) for column in range(len(texts_of))]
    extended: dict[tuple[int, int], int] = {}  # the number of a group with one more column
    for column, texts in enumerate(texts_of):
        for text in texts:
            group = group_of.setdefault(text, column)
            if group != column:
                if (group, column) not in extended:
                    extended[group, column] = len(groups)
                    groups.append((*groups[group], column))
                group_of[text] = extended[group, column]
    every = sorted(group_of)
    return every, np.fromiter(map(group_of.__getitem__, every), np.uint32, len(every)), groups
