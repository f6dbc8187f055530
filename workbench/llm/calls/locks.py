"""Locks on calls: of all threads and processes that want the same call, one makes it.

A lock is a row of the cache file. It ends with its process. A lock of another host, whose processes cannot
be seen from here, ends when this process has seen it for longer than the call may take: the two hosts'
clocks are never compared.
"""

import os
import socket
import sys
import time
import uuid
from pathlib import Path
from typing import Literal

from workbench.store import Store


class CallLocks:
    """The table `call_locks` of a cache file."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._seen: dict[str, tuple[str, float]] = {}  # key: owner, when first seen here

    def acquire(
        self, key: str, seconds: float, *, refresh: bool = False
    ) -> Literal["acquired", "locked", "cached"]:
        """Lock a call that takes at most `seconds`.

        "locked": another process makes the call. "cached": the answer is stored already, unless
        `refresh`. Since this writes to the cache file, a file that cannot be written stops the run here,
        before it pays.
        """
        select = "SELECT owner, seconds FROM call_locks WHERE key = ?"
        rows = self.store.read(select, (key,))
        if rows and not self._ended(key, *rows[0]):
            return "locked"
        with self.store.write(paid=False) as connection:
            cached = connection.execute("SELECT 1 FROM calls WHERE key = ?", (key,)).fetchone()
            if cached and not refresh:
                return "cached"
            if connection.execute(select, (key,)).fetchall() != rows:
                return "locked"  # another process locked it since the first SELECT
            connection.execute(
                "INSERT OR REPLACE INTO call_locks VALUES (?, ?, ?, ?)",
                (key, _owner(), seconds, time.time()),
            )
        self._seen.pop(key, None)
        return "acquired"

    def release(self, key: str) -> None:
        """End this process's lock on a call that got no answer."""
        with self.store.write(paid=False) as connection:
            connection.execute(
                "DELETE FROM call_locks WHERE key = ? AND owner = ?", (key, _owner())
            )

    def _ended(self, key: str, owner: str, seconds: float) -> bool:
        if _is_gone(owner):
            return True
        seen, since = self._seen.get(key, ("", 0.0))
        if seen != owner:
            self._seen[key] = (owner, time.monotonic())
            return False
        return time.monotonic() - since > seconds


def _host() -> str:
    """Where a process id is unique: a host, and in a container also its process namespace."""
    try:
        return f"{socket.gethostname()}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return socket.gethostname()


_UNIQUE: dict[
    int, str
] = {}  # an id of this process that is never reused; a forked child gets its own


def _owner() -> str:
    unique = _UNIQUE.setdefault(os.getpid(), uuid.uuid4().hex)
    return f"{_host()} {os.getpid()} {unique}"


def _is_gone(owner: str) -> bool:
    """Whether the process that owns a lock is known to have ended."""
    host, pid, _ = owner.rsplit(" ", 2)
    if host != _host() or sys.platform == "win32":  # on Windows, os.kill would end the process
        return False
    if int(pid) == os.getpid():
        return owner != _owner()  # an earlier process with the same id
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
