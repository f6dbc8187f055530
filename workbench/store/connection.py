"""Connections to the cache file."""

import sqlite3
import time
from pathlib import Path

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
        connection.execute("PRAGMA page_size=16384")  # in 4 KB, rows of 2 KB waste space
        _use_wal(connection)
        connection.execute("PRAGMA wal_autocheckpoint=250")
        connection.execute("PRAGMA cache_size=-64000")  # KB of pages kept in memory
        connection.create_function("checksum", -1, checksum, deterministic=True)
    except sqlite3.Error:
        connection.close()
        raise
    return connection
