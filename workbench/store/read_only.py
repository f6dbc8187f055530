"""Open an SQLite file in WAL mode where nothing can be written, or where nothing shall be.

SQLite reads a write-ahead log through an index in shared memory, the file `-shm`, which it makes where there is
none. In its exclusive mode the index is in this process's memory instead; the lock that this mode asks for
cannot be had on a file that is open for reading only, so it is opened without locks.
"""

import sqlite3
from pathlib import Path
from typing import Any


def connect_read_only(path: Path, **options: Any) -> sqlite3.Connection:
    """A connection that creates and changes nothing. Raises sqlite3.Error for a file that cannot be read."""
    log, index = (path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))
    uri = f"{path.absolute().as_uri()}?mode=ro"
    logged = log.exists() and log.stat().st_size > 0
    # With an index, another program may be writing: lock as it does.
    alone = logged and not index.exists()
    if not logged:
        uri += "&immutable=1"
    elif alone:
        uri += "&vfs=unix-none"
    connection: sqlite3.Connection = sqlite3.connect(uri, uri=True, isolation_level=None, **options)
    if alone:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    return connection
