"""The connection that a worker keeps open from one query to the next."""

import os
import sqlite3
import time
from pathlib import Path
from typing import NamedTuple

from workbench.db.sandbox.guard import Guard
from workbench.db.sandbox.opening import connect, is_settled


class Opened(NamedTuple):
    key: tuple[str, float, bool]  # path, seconds, with_json
    state: tuple[int, ...]  # of the file when it was opened, see `_state`
    connection: sqlite3.Connection
    guard: Guard


class ConnectionCache:
    """Opens a database for a query and keeps the connection for the next query, as opening is slow.

    A kept connection is used again only if the file is unchanged and has no write-ahead log, and never
    after a stopped query. The guard allows no statement that affects later queries.
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
            # `str` decodes fastest; the worker repeats a query whose text is not UTF-8.
            connection.text_factory = str
            return Opened(key, state, connection, Guard(connection, deadline, with_json=with_json))
        except BaseException:
            connection.close()
            raise

    def close(self, opened: Opened, *, keep: bool) -> None:
        if keep and opened.state:  # else it could block checkpoints of a write-ahead log
            self._kept = opened
        else:
            opened.connection.close()


def _state(path: str) -> tuple[int, ...]:
    """The file's identity, size and times; () if it is missing, not settled, or has a write-ahead log."""
    try:
        os.stat(f"{path}-wal")  # noqa: PTH116  twice as fast as a Path's
    except FileNotFoundError:
        pass
    else:
        return ()
    try:
        stat = os.stat(path)  # noqa: PTH116
    except OSError:
        return ()
    if not is_settled(stat.st_ctime_ns):
        return ()
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
