"""Open an SQLite file in WAL mode without writing anything, for folders that cannot or must not change.

SQLite reads a write-ahead log through an index, the file `-shm`, and creates this file if it is missing. In
exclusive mode, SQLite keeps the index in this process's memory instead. This mode needs a lock that a file opened
for reading cannot get, so the file is then opened without locks.
"""

import sqlite3
from pathlib import Path
from typing import Any


def connect_read_only(path: Path, **options: Any) -> sqlite3.Connection:
    """A connection that creates and changes nothing. Raises sqlite3.Error for a file that cannot be read."""
    log, index = (path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))
    uri = f"{path.absolute().as_uri()}?mode=ro"
    has_log = log.exists() and log.stat().st_size > 0
    # If an index exists, another program may be writing: then use locks, as that program does.
    exclusive = has_log and not index.exists()
    if not has_log:
        uri += "&immutable=1"
    elif exclusive:
        uri += "&vfs=unix-none"
    connection: sqlite3.Connection = sqlite3.connect(uri, uri=True, isolation_level=None, **options)
    if exclusive:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    return connection
