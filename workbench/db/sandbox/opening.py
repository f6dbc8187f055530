"""Open a database file for reading only. Imports the standard library alone, as the worker must."""

import os
import sqlite3
import struct
import time
from pathlib import Path
from urllib.parse import quote

_HEADER = 100  # bytes of the database's header
_LOG_HEADER, _FRAME = 32, 24  # bytes of a log's header, and of the header before each of its pages
# The byte order of a log's checksums, by its magic number.
_WORDS = {0x377F0682: "<", 0x377F0683: ">"}
_SETTLED_AGE = 2_000_000_000  # ns; a younger file may change again without a change of its times


def connect(path: Path, *, alone: bool = False, patience: float = 5.0) -> sqlite3.Connection:
    """Open a database for reading only, without creating or changing a file.

    A WAL database that no process has open is read as immutable, or with the index of its log in memory.
    Otherwise SQLite would create -wal and -shm files beside it, or fail in a read-only folder. `alone` says
    that no other connection of this process has the file open; `patience` is how many seconds to wait for
    another program's lock. Raises sqlite3.Error or OSError with a text that names the file but not its
    folder.
    """
    name = path.name
    if path.is_symlink():
        path = Path(os.path.realpath(path))  # SQLite looks for the -wal beside the link's target
    if not path.exists():
        raise FileNotFoundError(f"{name}: no such file")
    if not path.is_file():
        raise IsADirectoryError(f"{name}: not a file")
    header = _header(path, alone)
    if header and not header.startswith(b"SQLite format 3\0"):
        raise sqlite3.DatabaseError(f"{name}: not an SQLite database")
    log = wal(path)
    logged = header[18:19] == b"\2" and log.exists() and log.stat().st_size > 0
    indexed = path.with_name(f"{path.name}-shm").exists()
    unindexed = logged and not indexed and _has_commit(log)
    if not logged:
        _check_whole(path, header)
    options = "mode=ro"
    if unindexed:
        options += "&vfs=unix-none"  # a reader cannot take the lock of exclusive mode
    elif not header or (header[18:19] == b"\2" and not (logged and indexed)):
        # Without `immutable`, SQLite would delete a log without a commit.
        options += "&immutable=1"
    connection = sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?{options}",
        uri=True,
        timeout=patience,
        isolation_level=None,
        cached_statements=0,  # no statement of an untrusted query stays in memory
    )
    if unindexed:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")  # puts the index into memory
    connection.text_factory = lenient_text
    return connection


def _header(path: Path, alone: bool) -> bytes:
    """The first bytes of a file, read by another process unless no connection of this process has it open.

    When a process closes any handle of a file, POSIX drops all locks of the process on that file. Reading the
    file in this process could therefore unlock it in the middle of one of the caller's transactions.
    """
    if alone:
        with path.open("rb") as file:
            return file.read(_HEADER)
    import subprocess  # noqa: PLC0415  slow to import, and a worker does not need it

    command = ["head", "-c", str(_HEADER), str(path.absolute())]
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
    ).stdout


def _check_whole(path: Path, header: bytes) -> None:
    """Raise for a file whose last page is cut off, of which SQLite would read the missing part as NULLs."""
    page = int.from_bytes(header[16:18], "big")
    page = 65_536 if page == 1 else page
    changes, pages, checked = (int.from_bytes(header[at : at + 4], "big") for at in (24, 28, 92))
    size, whole = path.stat().st_size, pages * page
    if len(header) == _HEADER and changes == checked and whole - page < size < whole:
        error = sqlite3.DatabaseError(
            f"{path.name}: the file is cut off: {size:,} of its {whole:,} bytes are here"
        )
        error.sqlite_errorname = "SQLITE_CORRUPT"
        raise error


def _has_commit(log: Path) -> bool:
    """Whether the log has a committed transaction. SQLite deletes a log without one when it closes the database."""
    if not log.exists():
        return False
    with log.open("rb") as file:
        header = file.read(_LOG_HEADER)
        if len(header) < _LOG_HEADER:
            return False
        magic, _, page_size, _, *salts, first, second = struct.unpack(">8I", header)
        if magic not in _WORDS or not 512 <= page_size <= 65_536:
            return False
        order = _WORDS[magic]
        sums = _added((0, 0), header[:24], order)
        while sums == (first, second):
            frame = file.read(_FRAME + page_size)
            if len(frame) < _FRAME + page_size:
                return False
            _, pages, *frame_salts, first, second = struct.unpack(">6I", frame[:_FRAME])
            sums = _added(_added(sums, frame[:8], order), frame[_FRAME:], order)
            if frame_salts != salts:
                return False
            # Only a transaction's last frame counts the pages.
            if pages and sums == (first, second):
                return True
    return False


def _added(sums: tuple[int, int], data: bytes, order: str) -> tuple[int, int]:
    """The checksums, with more data in them."""
    one, two = sums
    for left, right in struct.iter_unpack(f"{order}2I", data):
        one = (one + left + two) & 0xFFFFFFFF
        two = (two + right + one) & 0xFFFFFFFF
    return one, two


def wal(path: Path) -> Path:
    """The write-ahead log of a database."""
    return path.with_name(path.name + "-wal")


def lenient_text(raw: bytes) -> str:
    r"""TEXT as str; a byte that is not UTF-8 becomes a backslash escape such as `\xff`."""
    return raw.decode("utf-8", "backslashreplace")


def is_settled(changed: int) -> bool:
    """Whether the file changed so long ago that another change would give it other times."""
    return changed < time.time_ns() - _SETTLED_AGE
