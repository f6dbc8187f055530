"""Threads for calls and questions. They are reused, since starting a thread takes as long as storing a reply.

They are daemons, so that no process waits for a slow reply. A thread ends after `IDLE` seconds without work.
"""

import os
import queue
import threading
from collections.abc import Callable

IDLE = 10.0


class Threads:
    """As many threads as there are pieces of work under way."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._free = 0  # threads that wait for work, less the work in the queue
        self._lock = threading.Lock()

    def start(self, work: Callable[[], None]) -> None:
        """Run `work`, which must not raise, in a thread. Raises RuntimeError where the system has none left."""
        with self._lock:
            new = not self._free
            self._free -= not new
        if new:
            threading.Thread(target=self._run, args=(work,), name="workbench", daemon=True).start()
        else:
            self._work.put(work)

    def _run(self, work: Callable[[], None]) -> None:
        while True:
            work()
            del work
            with self._lock:
                self._free += 1
            try:
                work = self._work.get(timeout=IDLE)
            except queue.Empty:
                with self._lock:
                    if self._free:
                        self._free -= 1
                        return
                work = self._work.get()  # `start` has just reserved this thread


THREADS = Threads()
# A forked process does not inherit its parent's threads.
os.register_at_fork(after_in_child=THREADS.__init__)  # type: ignore[misc]
