"""The turn of a call: a limit on the calls of one model under way, and locks between runs.

Of all threads and processes that want the same call, the one that locks its byte of a file makes
it. The system ends such a lock with its process, or when the process closes any descriptor of the
file: so there is one descriptor, which is never closed.
"""

import asyncio
import fcntl
import os
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from workbench.errors import StoreError
from workbench.llm import faults

_TRY = fcntl.LOCK_EX | fcntl.LOCK_NB
_files: dict[Path, int] = {}
_held: set[tuple[Path, str]] = set()
_lock = threading.Lock()
os.register_at_fork(after_in_child=_held.clear)  # the locks stay with the parent


class Limiter:
    """Additive increase, multiplicative decrease; a wait that a 429 asks for pauses the model."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.limit = float(most)
        self.running = 0
        self._opens_at = 0.0
        self._cut_at = 0.0
        self._pause = 0.25
        self._turn = asyncio.Condition()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for a place for one attempt; a 429 raised in the block cuts the limit."""
        async with self._turn:
            try:
                await self._turn.wait_for(lambda: self.running < int(self.limit))
            except asyncio.CancelledError:
                self._turn.notify()  # it may have been told of a place, which is the next one's
                raise
            self.running += 1
        sent_at = 0.0
        throttled = None
        try:
            while (wait := self._opens_at - time.monotonic()) > 0:  # noqa: ASYNC110
                await asyncio.sleep(wait)
            sent_at = time.monotonic()
            yield
        except faults.Refusal as refused:
            if refused.fault == "rate_limit":
                throttled = refused
            raise
        finally:
            places = int(self.limit)
            self.running -= 1
            if throttled:
                self._cut(sent_at, throttled.wait)
            else:
                self._grow()
            new_places = max(0, int(self.limit) - places)
            async with self._turn:
                self._turn.notify(1 + new_places)

    def _cut(self, sent_at: float, asked: float) -> None:
        """Cut the limit once for all 429s of calls that were sent before the cut."""
        now = time.monotonic()
        if sent_at <= self._cut_at:
            # As many as are still under way were accepted.
            self.limit = min(self.limit, max(1.0, self.running))
            self._opens_at = max(self._opens_at, now + asked)
            return
        self._cut_at = now
        self.limit = max(1.0, 0.95 * self.running)
        self._pause = min(faults.LONGEST, asked or 2 * self._pause)
        if asked or not self.running:  # nothing was accepted: a limit on time
            self._opens_at = now + self._pause

    def _grow(self) -> None:
        self.limit = min(self._most, self.limit + 1 / self.limit)
        self._pause = 0.25


class Locks:
    """The locks beside a cache file, named by hashes."""

    def __init__(self, cache: Path) -> None:
        self._path = cache.resolve().with_name(cache.name + ".locks")

    def acquire(self, key: str) -> bool:
        """Lock a key; False if another thread or process has it."""
        with _lock:
            if (self._path, key) in _held:
                return False
            try:
                if self._path not in _files:
                    _files[self._path] = os.open(
                        self._path, os.O_RDWR | os.O_CREAT, 0o666
                    )
                fcntl.lockf(_files[self._path], _TRY, 1, int(key[-15:], 16))
            except BlockingIOError:
                return False
            except OSError as error:
                advice = "set WORKBENCH_HOME to a folder on a disk of this machine"
                told = f"{self._path} cannot be locked ({error.strerror}): {advice}"
                raise StoreError(told) from error
            _held.add((self._path, key))
            return True

    def release(self, key: str) -> None:
        with _lock:
            fcntl.lockf(_files[self._path], fcntl.LOCK_UN, 1, int(key[-15:], 16))
            _held.discard((self._path, key))
