"""The keys of the calls in the driver's cache. Each worker has a copy, so that it asks only for cached answers.

Once a task, a worker reads the keys that are new to it, in one message. A key travels as its first 64 bits. Where
two keys share these bits, a worker asks for an answer that is not cached, gets none, and computes it.
"""

import threading
from collections.abc import Iterable

import numpy as np

from workbench.store import Store

_BYTES = 8  # of each key


class CallKeys:
    """The keys of a cache file's calls, in the order in which this process found them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last = 0  # the last row that was read
        self._keys = bytearray()
        self._lock = threading.Lock()

    def after(self, known: int) -> bytes:
        """The first bytes of all keys but the first `known` keys, one after another."""
        with self._lock:
            end = self._store.read("SELECT max(rowid) FROM calls")[0][0] or 0
            # The first read takes all keys, which SQLite finds faster in an index; later reads take a few new rows.
            row = "rowid" if self._last else "+rowid"
            select = f"SELECT key FROM calls WHERE {row} > ? AND {row} <= ?"
            found = self._store.read(select, (self._last, end))
            self._keys += b"".join(_first_bytes(key) for (key,) in found)
            self._last = end
            return bytes(self._keys[_BYTES * known :])


def _first_bytes(key: str) -> bytes:
    return bytes.fromhex(key.partition(":")[2][: 2 * _BYTES])


class KnownKeys:
    """The keys that a worker has read from its driver; `count` is their number."""

    def __init__(self) -> None:
        self.count = 0
        self._keys: set[int] = set()

    def add(self, keys: bytes) -> None:
        self._keys.update(np.frombuffer(keys, f">u{_BYTES}").tolist())
        self.count += len(keys) // _BYTES

    def among(self, keys: Iterable[str]) -> list[str]:
        """The given keys that the driver's cache has."""
        return [key for key in keys if int.from_bytes(_first_bytes(key), "big") in self._keys]
