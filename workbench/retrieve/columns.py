"""The rule of what is indexed, and the one scan over a database that follows it.

Indexed is every distinct text in every column of every table: whatever the column is called, whatever
type it declares, however many values it holds. Left out, and said so column by column, are

- cells that are no text: a number of the question goes into the query as it is;
- cells of more than `LONGEST` characters: prose that nobody names in full and no prompt could show;
- cells that are no UTF-8, which no literal of SQL can equal;
- views: their values are those of their tables, and a view may have no end;
- what SQLite cannot read, or not within `SECONDS`.

Rules that go by name, type or size (nothing called "url" or "date", TEXT only, at most 2 MB) save time that
need not be saved here, and lose values that questions name: see tests/benchmarks/README.md.
"""

import itertools
import operator
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.db.quoting import one_line, quote
from workbench.db.schema import read_schema, reading
from workbench.types import Column, Table

LONGEST = 200
SECONDS = 600.0  # for each table
_CELLS = 10_000  # in memory at once
_LONG, _OTHER, _DAMAGED = range(3)  # what stands for a cell that is left out
_REASONS = (f"longer than {LONGEST} characters", "no text", "no UTF-8")

Left = Counter[int | str]  # how many cells for which of the reasons, or SQLite's own words


@dataclass(frozen=True, slots=True)
class Values:
    """What is to be indexed: `texts`, distinct and in code point order, and where each one stands.

    Text i stands in the columns `groups[group_of[i]]`, which are places in `columns`.
    """

    columns: tuple[tuple[str, str], ...]
    texts: list[str]
    group_of: NDArray[np.uint32]
    groups: list[tuple[int, ...]]
    skipped: tuple[str, ...]


def read_values(database: Path, progress: Callable[[int, int], None] | None = None) -> Values:
    """Everything the rule includes, the same in whatever order the rows lie.

    `progress` is told how many of the tables are read. Raises `UnreadableDatabaseError`.
    """
    schema = read_schema(database)
    skipped = list(schema.skipped)
    found: dict[tuple[str, str], list[str]] = {}
    with reading(database) as connection:
        for number, table in enumerate(schema.tables, 1):
            if table.kind == "view":
                skipped.append(one_line(f"{table.name}: a view; its values are its tables'"))
                continue
            for column, (texts, left) in zip(table.columns, _read(connection, table), strict=True):
                if texts:
                    found[table.name, column.name] = texts
                if why := _told(left):
                    skipped.append(one_line(f"{table.name}.{column.name}: {why}"))
            if progress:
                progress(number, len(schema.tables))
    columns = sorted(found)
    return Values(tuple(columns), *_grouped([found[name] for name in columns]), tuple(skipped))


def _read(connection: sqlite3.Connection, table: Table) -> list[tuple[list[str], Left]]:
    """Of all columns together if that goes, else of one after the other."""
    deadline = time.monotonic() + SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
    connection.text_factory = str
    try:
        return _scan(connection, table, table.columns)
    except sqlite3.Error:
        connection.text_factory = _decoded
    scanned: list[tuple[list[str], Left]] = []
    for column in table.columns:
        try:
            scanned += _scan(connection, table, [column])
        except sqlite3.Error as error:
            late = time.monotonic() > deadline
            why = f"not read within {SECONDS:g} s" if late else str(error)
            scanned.append(([], Counter({why: 1})))
    return scanned


def _scan(
    connection: sqlite3.Connection, table: Table, columns: Sequence[Column]
) -> list[tuple[list[str], Left]]:
    """Each column's distinct texts, and how many of its cells are left out."""
    # Counting bytes keeps a cell of many megabytes, NULs and all, from leaving SQLite.
    shown = ", ".join(
        f"CASE typeof({name}) WHEN 'text' THEN CASE WHEN length(CAST({name} AS BLOB)) <= {4 * LONGEST}"
        f" AND length({name}) <= {LONGEST} THEN {name} ELSE {_LONG} END"
        f" WHEN 'null' THEN NULL ELSE {_OTHER} END"
        for name in (quote(column.name) for column in columns)
    )
    rows = connection.execute(f"SELECT {shown} FROM main.{quote(table.name)}")
    found: list[dict[Any, None]] = [{} for _ in columns]
    left: list[Left] = [Counter() for _ in columns]
    while chunk := rows.fetchmany(max(1, _CELLS // len(columns))):
        for cells, distinct, count in zip(zip(*chunk, strict=True), found, left, strict=True):
            distinct.update(dict.fromkeys(cells))
            for reason in (_LONG, _OTHER, _DAMAGED):
                if reason in distinct:
                    count[reason] += cells.count(reason)
    for distinct in found:
        for marker in (None, _LONG, _OTHER, _DAMAGED):
            distinct.pop(marker, None)
    return [(sorted(distinct), count) for distinct, count in zip(found, left, strict=True)]


def _decoded(raw: bytes) -> str | int:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return _DAMAGED


def _told(left: Left) -> str:
    """Such as "no text: 120, no UTF-8: 1"."""
    return ", ".join(
        f"{_REASONS[why]}: {count:,}" if isinstance(why, int) else why
        for why, count in left.items()
        if count
    )


def _grouped(
    texts_of: Sequence[Sequence[str]],
) -> tuple[list[str], NDArray[np.uint32], list[tuple[int, ...]]]:
    """The texts of all columns, sorted, the group of columns that each stands in, and the groups.

    Few groups occur, so a text costs one number whether it stands in one column or in ten.
    """
    every = list(itertools.chain.from_iterable(texts_of))
    column_of = np.repeat(np.arange(len(texts_of), dtype=np.uint32), [len(t) for t in texts_of])
    order = sorted(range(len(every)), key=every.__getitem__)  # equal texts by column
    column_of = column_of[order]
    every = _side_by_side(list(map(every.__getitem__, order)))
    first = np.ones(len(every), bool)  # whether a text differs from the one before
    first[1:] = np.fromiter(map(operator.ne, itertools.islice(every, 1, None), every), bool)
    starts = np.flatnonzero(first)
    sizes = np.diff(starts, append=len(every))
    group_of = column_of[starts]
    groups: list[tuple[int, ...]] = [(number,) for number in range(len(texts_of))]
    known = {group: number for number, group in enumerate(groups)}
    for number in np.flatnonzero(sizes > 1).tolist():
        group = tuple(column_of[starts[number] : starts[number] + sizes[number]].tolist())
        if group not in known:
            known[group] = len(groups)
            groups.append(group)
        group_of[number] = known[group]
    return list(itertools.compress(every, first)), group_of, groups


def _side_by_side(texts: list[str]) -> list[str]:
    """Equal texts that follow each other in memory as in the list: whatever reads them next is faster."""
    joined = "\0".join(texts)
    return joined.split("\0") if joined.count("\0") == len(texts) - 1 else texts
