"""Copy the readable rows of a damaged cache file, row by row: a bad page costs only its own rows."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HEADER_BYTES = 100  # of SQLite's file header, equal in all cache files of one page size


def set_aside(path: Path) -> Path:
    """Rename the file and its log to the first free `NAME.corrupt-N`.

    The log goes first: SQLite would otherwise replay it into the new file of the old name.
    """
    number = 1
    while (aside := path.with_name(f"{path.name}.corrupt-{number}")).exists():
        number += 1
    for suffix in ("-wal", "-shm", ""):
        if (file := path.with_name(path.name + suffix)).exists():
            file.rename(aside.with_name(aside.name + suffix))
    return aside


@dataclass(slots=True)
class Salvaged:
    """The numbers of rows copied and lost, and the tables whose lost rows cannot be counted."""

    copied: int = 0
    lost: int = 0
    uncounted: list[str] = field(default_factory=list)


def salvage(damaged: Path, new: sqlite3.Connection) -> Salvaged:
    """Copy the readable rows of `damaged` into `new`.

    Tables and columns that the damaged file lacks (an older version has fewer) are skipped.
    """
    salvaged = Salvaged()
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(_connect_damaged(damaged, new, Path(folder))) as old,
    ):
        # Text that is not UTF-8 is damaged, so decoding it must raise.
        old.text_factory = lambda raw: raw.decode()
        for table in sorted(_tables(new) & _tables(old)):
            columns = [name for name in _columns(new, table) if name in _columns(old, table)]
            names = ", ".join(columns)
            insert = (
                f"INSERT OR IGNORE INTO {table}({names}) VALUES ({', '.join('?' * len(columns))})"
            )
            new.execute("BEGIN IMMEDIATE")
            rows_read = failed_reads = 0
            for row in _rows(old, f"SELECT {names} FROM {table}"):
                if row is None:
                    failed_reads += 1
                else:
                    rows_read += 1
                    salvaged.copied += new.execute(insert, row).rowcount
            new.execute("COMMIT")
            if failed_reads:
                row_count = _row_count(old, table)
                salvaged.lost += max(0, (row_count or rows_read) - rows_read)
                salvaged.uncounted += [] if row_count else [table]
    return salvaged


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def _row_count(connection: sqlite3.Connection, table: str) -> int | None:
    """The number of rows, which SQLite counts in the table's smallest index; None if that index is damaged."""
    try:
        number: int = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    except sqlite3.Error:
        return None
    return number


def _tables(connection: sqlite3.Connection) -> set[str]:
    try:
        return {
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        }
    except (sqlite3.Error, UnicodeDecodeError):
        return set()


def _connect_damaged(damaged: Path, new: sqlite3.Connection, folder: Path) -> sqlite3.Connection:
    """A connection to the damaged file; if its header is unreadable, to a copy with the new file's header."""
    connection = sqlite3.connect(f"{damaged.absolute().as_uri()}?mode=ro", uri=True)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.Error:
        connection.close()
        copy = folder / "copy"
        shutil.copyfile(damaged, copy)
        new.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        source = Path(new.execute("PRAGMA database_list").fetchone()[2])
        with source.open("rb") as fresh, copy.open("r+b") as patched:
            header = bytearray(fresh.read(HEADER_BYTES))
            page_size = int.from_bytes(header[16:18], "big")
            header[28:32] = (copy.stat().st_size // page_size).to_bytes(4, "big")
            patched.write(header)
        connection = sqlite3.connect(copy)
    return connection


def _rows(old: sqlite3.Connection, select: str) -> Iterator[tuple[Any, ...] | None]:
    """The rows of a table by ascending rowid, and None for each failed read.

    A bad page fails for every rowid on it, so after a failure the next read starts one rowid further.
    Rowids may be hashes, far apart: after each hundred failures the step doubles.
    """
    query = f"{select.replace('SELECT', 'SELECT rowid,')} WHERE rowid > ? ORDER BY rowid"
    reached, failures = -1, 0
    while reached < 2**63:
        try:
            for rowid, *row in old.execute(query, (reached,)):
                reached, failures = rowid, 0
                yield tuple(row)
        except (sqlite3.Error, UnicodeDecodeError):
            reached += 2 ** (failures // 100)
            failures += 1
            yield None
        else:
            return
