"""Of all processes that want the same call, one makes it: a byte of a file, locked by the system.

Such locks end with their process, and need no clock and no space on the disk. A process has one descriptor a file
and never closes it, since closing any other would drop its locks.
"""

import fcntl
import os
import threading
from pathlib import Path

_files: dict[tuple[int, Path], int] = {}  # descriptors by process, since a forked one has no locks
_held: set[tuple[int, Path, str]] = set()
_lock = threading.Lock()


class Locks:
    """The locks beside a cache file, named by hashes."""

    def __init__(self, cache: Path) -> None:
        self._path = cache.resolve().with_name(cache.name + ".locks")

    def acquire(self, key: str) -> bool:
        """Lock a key; False if another thread or process has it."""
        owner = (os.getpid(), self._path)
        with _lock:
            if (*owner, key) in _held:
                return False
            if owner not in _files:
                _files[owner] = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.lockf(_files[owner], fcntl.LOCK_EX | fcntl.LOCK_NB, 1, int(key[-15:], 16))
            except BlockingIOError:
                return False
            _held.add((*owner, key))
            return True

    def release(self, key: str) -> None:
        owner = (os.getpid(), self._path)
        with _lock:
            if (*owner, key) in _held:
                fcntl.lockf(_files[owner], fcntl.LOCK_UN, 1, int(key[-15:], 16))
                _held.discard((*owner, key))
