"""Who may make a call: one of all threads and processes that want it.

A call is made by whoever holds its claim, a row of the lab book. A claim ends with its process, and at the
latest when the time it asked for has passed on the clock of the one who waits: no two clocks are compared,
and none is set back.
"""

import os
import socket
import sys
import time
import uuid
from pathlib import Path
from typing import Literal

from workbench.store import Store


class Claims:
    """The table `claims` of a lab book."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._seen: dict[str, tuple[str, float]] = {}

    def claim(
        self, key: str, seconds: float, *, again: bool = False
    ) -> Literal["mine", "held", "there"]:
        """Ask to make a call that takes at most `seconds`: "held" means that another is making it.

        Nothing is paid before this has written to the book: a book that cannot be written stops here.
        """
        found = self.store.read("SELECT owner, seconds FROM claims WHERE key = ?", (key,))
        if found and not self._over(key, *found[0]):
            return "held"
        with self.store.write() as book:
            if not again and book.execute("SELECT 1 FROM calls WHERE key = ?", (key,)).fetchone():
                return "there"
            if (
                book.execute("SELECT owner, seconds FROM claims WHERE key = ?", (key,)).fetchall()
                != found
            ):
                return "held"  # another was faster
            book.execute(
                "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)",
                (key, _owner(), seconds, time.time()),
            )
        self._seen.pop(key, None)
        return "mine"

    def release(self, key: str) -> None:
        """Give up a claim without an answer."""
        with self.store.write() as book:
            book.execute("DELETE FROM claims WHERE key = ? AND owner = ?", (key, _owner()))

    def _over(self, key: str, owner: str, seconds: float) -> bool:
        """Whether a claim has ended: its process is gone, or it was seen here for longer than it asked."""
        if _gone(owner):
            return True
        seen, since = self._seen.get(key, ("", 0.0))
        if seen != owner:
            self._seen[key] = (owner, time.monotonic())
            return False
        return time.monotonic() - since > seconds


def _place() -> str:
    """Where a process id means something: a host and, in containers, a namespace."""
    try:
        return f"{socket.gethostname()}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return socket.gethostname()


_PROCESS: dict[int, str] = {}  # this process's own number, by its id: a fork gets another


def _owner() -> str:
    number = _PROCESS.setdefault(os.getpid(), uuid.uuid4().hex)
    return f"{_place()} {os.getpid()} {number}"


def _gone(owner: str) -> bool:
    """Whether the process behind a claim is known to have ended."""
    place, pid, _ = owner.rsplit(" ", 2)
    if place != _place() or sys.platform == "win32":  # there, asking after a process ends it
        return False
    if int(pid) == os.getpid():
        return owner != _owner()  # an earlier process of the same id
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
