"""Connections to the cache file."""

import sqlite3
import time
from pathlib import Path

from workbench.errors import StoreError
from workbench.store.checksum import checksum

WAIT = 60.0  # seconds that a write waits for another program's write


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code: the low byte of the extended code that Python reports."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _use_wal(connection: sqlite3.Connection) -> None:
    """Turn on write-ahead logging. SQLite's busy timeout does not cover this statement, so retry it."""
    until = time.monotonic() + WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def connect_read_write(path: Path) -> sqlite3.Connection:
    """A connection that reads and writes the file, in WAL mode."""
    connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
    try:
        _refuse_foreign(connection, path)
        connection.execute("PRAGMA page_size=16384")  # in 4 KB, rows of 2 KB waste space
        _use_wal(connection)
        connection.execute("PRAGMA wal_autocheckpoint=250")
        connection.execute("PRAGMA cache_size=-64000")  # KB of pages kept in memory
        connection.create_function("checksum", -1, checksum, deterministic=True)
    except (sqlite3.Error, StoreError):
        connection.close()
        raise
    return connection


def _refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    """Raise `StoreError` for a database with tables and no version: another program made it."""
    if not connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
        return
    # Read after the tables, which another process may be adding together with the version.
    if connection.execute("PRAGMA user_version").fetchone() == (0,):
        raise StoreError(
            f"{path} is no cache file but a database of another program: name another file"
        )
