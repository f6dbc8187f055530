"""Locks on calls: of all threads and processes that want the same call, one makes it.

A lock is a byte of the file `lab.sqlite.locks`, locked by the operating system. The file stays empty. A lock
needs no space on a disk and no clock, and ends with its process, even with a killed one.
"""

import fcntl
import os
import threading
from pathlib import Path

from workbench.errors import StoreError
from workbench.store import Store


class CallLocks:
    """The locks beside a cache file. All clients of one process share them."""

    def __init__(self, store: Store) -> None:
        self._path = store.path.with_name(store.path.name + ".locks").resolve()

    def acquire(self, key: str) -> bool:
        """Lock a call, named by a hash; False if another thread or process has it."""
        return _file(self._path).acquire(key)

    def release(self, key: str) -> None:
        """End a lock of this process."""
        _file(self._path).release(key)


class _LockFile:
    """The file, open while this process has locks in it: closing it would end them all."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        self._held: set[str] = set()
        self._lock = threading.Lock()

    def acquire(self, key: str) -> bool:
        with self._lock:
            if key in self._held:  # the system would grant the lock to this process a second time
                return False
            self._held.add(key)  # keeps the file open
        try:
            with self._lock:
                if self._descriptor < 0:
                    self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _byte(key))
        except BaseException as error:
            self._leave(
                key
            )  # also after Ctrl-C, or a later run of this process would wait for itself
            if isinstance(error, BlockingIOError):
                return False
            if isinstance(error, OSError):
                raise StoreError(
                    f"{self._path} cannot be locked: {error.strerror}; set WORKBENCH_HOME to a folder "
                    "that can be written"
                ) from error
            raise
        return True

    def release(self, key: str) -> None:
        if key in self._held:
            fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, _byte(key))
            self._leave(key)

    def _leave(self, key: str) -> None:
        """Forget a key, and close the file if no other is held."""
        with self._lock:
            self._held.discard(key)
            if not self._held and self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1


# A forked process does not inherit its parent's locks, so it begins with files of its own.
_FILES: dict[tuple[int, Path], _LockFile] = {}


def _file(path: Path) -> _LockFile:
    return _FILES.setdefault((os.getpid(), path), _LockFile(path))


def _byte(key: str) -> int:
    """The position of a key's byte: the last 60 bits of its hash."""
    return int(key[-15:], 16)
