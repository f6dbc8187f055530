"""The connection a worker keeps from one query to the next."""

import os
import sqlite3
import time
from pathlib import Path
from typing import NamedTuple

from workbench.db.guard import Guard
from workbench.db.opening import connect


class Opened(NamedTuple):
    key: tuple[str, float, bool]
    state: tuple[int, ...]
    connection: sqlite3.Connection
    guard: Guard


class Door:
    """Opens a database for a query, and keeps the connection for the next one on the same file.

    It is used again only while the file is the same and has no write-ahead log, and never after a query
    that was stopped: nothing that the guard lets a query do lasts beyond its end. Opening takes longer than
    most queries.
    """

    def __init__(self) -> None:
        self._kept: Opened | None = None

    def open(self, path: str, sql: str, seconds: float) -> Opened:
        deadline = time.monotonic() + seconds
        with_json = "json_" in sql.lower()
        state = _state(path)
        key = (path, seconds, with_json)
        kept, self._kept = self._kept, None
        if kept and kept.key == key and kept.state == state:
            kept.guard.renew(deadline)
            kept.connection.text_factory = str
            return kept
        if kept:
            kept.connection.close()
        connection = connect(Path(path), alone=True, patience=min(5.0, seconds / 2))
        try:
            connection.text_factory = str  # decoded in C; the lenient way only where it is needed
            return Opened(key, state, connection, Guard(connection, deadline, with_json=with_json))
        except BaseException:
            connection.close()
            raise

    def close(self, opened: Opened, *, keep: bool) -> None:
        if (
            keep and opened.state
        ):  # open on a write-ahead log, it would keep others from clearing it
            self._kept = opened
        else:
            opened.connection.close()


def _state(path: str) -> tuple[int, ...]:
    """What tells a file from another in its place; () for one that has a write-ahead log, or is not there."""
    try:
        os.stat(f"{path}-wal")  # noqa: PTH116  twice as fast as a Path's
    except FileNotFoundError:
        pass
    else:
        return ()
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
