"""Locks on calls: of all processes that want the same call, the one that locks its byte of a file makes it.

The system ends such a lock with its process, or when the process closes any descriptor of the file:
so there is one descriptor, which is never closed.
"""

import fcntl
import os
import threading
from contextlib import suppress
from pathlib import Path

_TRY = fcntl.LOCK_EX | fcntl.LOCK_NB
_files: dict[Path, int] = {}
_held: set[tuple[Path, str]] = set()
_lock = threading.Lock()
os.register_at_fork(after_in_child=_held.clear)  # the locks stay with the parent


class Locks:
    """The locks beside a cache file, named by hashes."""

    def __init__(self, cache: Path) -> None:
        self._path = cache.resolve().with_name(cache.name + ".locks")

    def acquire(self, key: str) -> bool:
        """Lock a key; False if another thread or process has it."""
        with _lock, suppress(BlockingIOError):
            if self._path not in _files:
                _files[self._path] = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            if (self._path, key) not in _held:
                fcntl.lockf(_files[self._path], _TRY, 1, int(key[-15:], 16))
                _held.add((self._path, key))
                return True
        return False

    def release(self, key: str) -> None:
        with _lock:
            fcntl.lockf(_files[self._path], fcntl.LOCK_UN, 1, int(key[-15:], 16))
            _held.discard((self._path, key))
