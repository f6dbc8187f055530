"""Of all processes that want the same call, one makes it: a byte of a file, locked by the system.

Such locks end with their process, and need no clock and no space on the disk. A process has one descriptor a file
and never closes it, since closing any other would drop its locks.
"""

import fcntl
import os
from pathlib import Path

_files: dict[tuple[int, Path], int] = {}  # descriptors by process, since a forked one has no locks


class Locks:
    """The locks of the calls of one cache file."""

    def __init__(self, cache: Path) -> None:
        self._path = cache.resolve().with_name(cache.name + ".locks")

    def acquire(self, key: str) -> bool:
        """Whether this process has the lock now. Threads of one process share it."""
        if (owner := (os.getpid(), self._path)) not in _files:
            _files[owner] = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.lockf(_files[owner], fcntl.LOCK_EX | fcntl.LOCK_NB, 1, int(key[-15:], 16))
        except BlockingIOError:
            return False
        return True

    def release(self, key: str) -> None:
        fcntl.lockf(_files[os.getpid(), self._path], fcntl.LOCK_UN, 1, int(key[-15:], 16))
