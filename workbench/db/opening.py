"""The one way in which a database file is opened: for reading only, creating and changing nothing.

Imports the standard library alone, since the worker that runs untrusted SQL has nothing else.
"""

import sqlite3
from pathlib import Path
from urllib.parse import quote


def connect(path: Path, *, alone: bool = False, patience: float = 5.0) -> sqlite3.Connection:
    """Open a database for reading only, creating and changing nothing.

    A WAL database nobody has open is read as immutable: SQLite would otherwise create its -wal and
    -shm beside it, or fail where the folder is read-only. `alone` says that no other connection of this
    process can have the file open; `patience` is how many seconds a lock of another program is waited
    for. Raises sqlite3.Error or OSError with a text that names the file but not its folder.
    """
    name = path.name
    if path.is_symlink():
        path = path.resolve()  # SQLite looks for the -wal where the file really lies
    if not path.exists():
        raise FileNotFoundError(f"{name}: no such file")
    if not path.is_file():
        raise IsADirectoryError(f"{name}: not a file")
    header = _header(path, alone)
    if header and not header.startswith(b"SQLite format 3\0"):
        raise sqlite3.DatabaseError(f"{name}: not an SQLite database")
    options = "mode=ro"
    if header[18:19] == b"\2" and not _has_content(wal(path)):
        options += "&immutable=1"
    connection = sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?{options}",
        uri=True,
        timeout=patience,
        isolation_level=None,
        cached_statements=0,  # a statement of an untrusted query is not kept
    )
    connection.text_factory = lenient_text
    return connection


def _header(path: Path, alone: bool) -> bytes:
    """The first bytes of a file, read by another process unless this one is alone with it.

    POSIX drops all locks that a process holds on a file when it closes any handle of it, so reading
    the file here could cut a transaction of the caller's own in two.
    """
    if alone:
        with path.open("rb") as file:
            return file.read(20)
    import subprocess  # noqa: PLC0415  not for the worker, which is to start fast

    command = ["head", "-c", "20", str(path.absolute())]
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
    ).stdout


def wal(path: Path) -> Path:
    """The write-ahead log of a database."""
    return path.with_name(path.name + "-wal")


def _has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def lenient_text(raw: bytes) -> str:
    r"""TEXT as str; a byte that is no UTF-8 is marked as a backslash escape, such as `\xff`."""
    return raw.decode("utf-8", "backslashreplace")
