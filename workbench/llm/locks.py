"""Of all processes that want the same call, one makes it: a byte of a file, locked by the system.

Such locks end with their process. A process has one descriptor a file and never closes it, since
closing any other would drop its locks.
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
