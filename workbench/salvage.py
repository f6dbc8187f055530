"""What can still be read of a damaged lab book: row by row, so that one bad page costs its own rows only."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

HEADER = 100  # bytes of SQLite's file header, which every book of one page size has in common


def set_aside(path: Path) -> Path:
    """Rename book and log to the first free `NAME.corrupt-N`. The log goes first: a new book must not meet it."""
    number = 1
    while (aside := path.with_name(f"{path.name}.corrupt-{number}")).exists():
        number += 1
    for suffix in ("-wal", "-shm", ""):
        if (file := path.with_name(path.name + suffix)).exists():
            file.rename(aside.with_name(aside.name + suffix))
    return aside


def salvage(damaged: Path, book: sqlite3.Connection) -> tuple[int, int]:
    """Carry the readable rows of `damaged` into `book`; returns how many, and how many were met and lost."""
    kept = lost = 0
    tables = book.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(_readable(damaged, book, Path(folder))) as old,
    ):
        old.text_factory = lambda raw: raw.decode()  # what is no UTF-8 any more is damage too
        for (table,) in tables:
            columns = [row[1] for row in book.execute(f"PRAGMA table_info({table})")]
            insert = f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(columns))})"
            book.execute("BEGIN IMMEDIATE")
            for row in _rows(old, f"SELECT {', '.join(columns)} FROM {table}"):
                if row is None:
                    lost += 1
                else:
                    kept += book.execute(insert, row).rowcount
            book.execute("COMMIT")
    return kept, lost


def _readable(damaged: Path, book: sqlite3.Connection, folder: Path) -> sqlite3.Connection:
    """A connection to the book; where its header is overwritten, to a copy with a header of the same kind."""
    connection = sqlite3.connect(f"{damaged.absolute().as_uri()}?mode=ro", uri=True)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.Error:
        connection.close()
        copy = folder / "copy"
        shutil.copyfile(damaged, copy)
        book.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        source = Path(book.execute("PRAGMA database_list").fetchone()[2])
        with source.open("rb") as fresh, copy.open("r+b") as patched:
            header = bytearray(fresh.read(HEADER))
            size = int.from_bytes(header[16:18], "big")
            header[28:32] = (copy.stat().st_size // size).to_bytes(4, "big")
            patched.write(header)
        connection = sqlite3.connect(copy)
    return connection


def _rows(old: sqlite3.Connection, select: str) -> Iterator[tuple[Any, ...] | None]:
    """The rows of a table in the order of their ids, and None for each id where reading failed.

    A bad page fails for every id on it, so the walk goes on one id further; after a hundred failures its
    steps double, since ids may be hashes.
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
