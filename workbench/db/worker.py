"""The process that runs untrusted SQL, and the one way in which a database file is opened.

`execute.py` starts it as a script, in an interpreter of its own with an empty environment and no
site-packages, so it imports the standard library alone. One JSON line comes in for each query and
one goes out. It is built to be killed: some SQLite functions run for minutes inside a single opcode,
past every progress handler, so the deadline here is only the clean path and the parent's SIGKILL the
sure one.
"""

import sqlite3
from pathlib import Path
from urllib.parse import quote


def connect(path: Path) -> sqlite3.Connection:
    """Open a database for reading only, creating and changing nothing; text never raises.

    A WAL database nobody has open is read as immutable: SQLite would otherwise create its -wal and
    -shm beside it, or fail where the folder is read-only. Raises sqlite3.Error or OSError with a text
    that names the file but not its folder.
    """
    name = path.name
    if not path.exists():
        raise FileNotFoundError(f"{name}: no such file")
    if not path.is_file():
        raise IsADirectoryError(f"{name}: not a file")
    with path.open("rb") as file:
        header = file.read(100)
    if header and not header.startswith(b"SQLite format 3\0"):
        raise sqlite3.DatabaseError(f"{name}: not an SQLite database")
    wal = path.with_name(name + "-wal")
    in_wal_mode = header[18:19] == b"\2"
    options = "mode=ro"
    if in_wal_mode and not (wal.exists() and wal.stat().st_size):
        options += "&immutable=1"
    connection = sqlite3.connect(
        f"file:{quote(str(path.resolve()))}?{options}", uri=True, timeout=5.0, isolation_level=None
    )
    connection.text_factory = text
    return connection


def text(raw: bytes) -> str:
    """TEXT as str; bytes that are no UTF-8 show as backslash escapes, which other bytes cannot equal."""
    return raw.decode("utf-8", "backslashreplace")
