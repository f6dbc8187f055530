"""Gather the calls of all runs into batches.

A call in a batch has no thread that waits for its reply. When no call has joined for `QUIET` seconds, every question
waits for a reply, and the joined calls are sent as one batch.
"""

import sys
import threading
import time
from collections.abc import Iterable

from workbench.llm.cache.table import Cache
from workbench.llm.calls.batches.following import SentBatches
from workbench.llm.calls.batches.joined import Joined, JoinedCalls, first
from workbench.llm.calls.batches.table import BatchTable
from workbench.llm.calls.locks import CallLocks
from workbench.llm.provider import EMBEDDING
from workbench.llm.remote.batches import BatchService
from workbench.types import Request

QUIET = 5.0  # seconds without a new call after which the joined calls are sent


class Batches:
    """The batches of one client. Its thread lives while calls wait.

    Without `gathers`, calls wait for batches that an earlier run sent, and no new batch is sent.
    """

    def __init__(
        self, cache: Cache, locks: CallLocks, service: BatchService, *, gathers: bool
    ) -> None:
        self._service = service
        self._gathers = gathers
        self._table = BatchTable(cache.store)
        self._joined = JoinedCalls()
        self._sent = SentBatches(cache, locks, service, self._table, self._joined)
        self._reported: set[str] = set()  # models whose calls are sent live, which was printed
        self._changed = 0.0
        self._running = False
        self._lock = threading.Lock()

    def batch_of(self, key: str) -> str:
        """The name of the unread batch that has the call; "" if none has it."""
        return self._table.batch_of(key)

    def takes(self, request: Request) -> bool:
        """Whether a call that is in no batch goes into one."""
        return self.gathers(request.model) and not request.parameters.get(EMBEDDING)

    def gathers(self, model: str) -> bool:
        """Whether calls of the model are gathered; prints once why they are not."""
        if not self._gathers:
            return False
        if (why := self._service.unable(model)) and model not in self._reported:
            self._reported.add(model)
            print(f"{model}: {why}; its calls are sent live", file=sys.stderr)
        return not why

    def join(self, call: Joined) -> None:
        """Wait for the call's batch; a call without one is sent with the next batch."""
        with self._lock:
            self._joined.add(call)
            self._changed = time.monotonic()
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name="batches", daemon=True).start()

    def leave(self, key: str) -> bool:
        """Stop waiting for the call, which is not sent if it was not sent yet. False if it has just ended."""
        return self._joined.remove(key) is not None

    def _run(self) -> None:
        try:
            while self._step():
                time.sleep(self._pause())
        except BaseException as error:  # noqa: BLE001  the runs that wait raise it
            with self._lock:
                joined = self._joined.all()
                self._stop()
            self._joined.end(joined, error)

    def _stop(self) -> None:
        """Stop following batches; the next client that waits for one follows it. The caller holds the lock."""
        self._running = False
        self._sent.leave()

    def _pause(self) -> float:
        """The seconds until the next step is due."""
        now = time.monotonic()
        ends = [self._changed + QUIET, *self._sent.due()]
        return max(0.01, min([QUIET, *(end - now for end in ends if end > now)]))

    def _step(self) -> bool:
        """Send and check the batches that are due; False if no call waits, which ends the thread."""
        with self._lock:
            joined = self._joined.all()
            if not joined:
                self._stop()
                return False
        now = time.monotonic()
        waiting = [call for call in joined if not call.batch]
        full = len(waiting) >= self._sent.most
        if waiting and now >= self._sent.full_until and (full or now >= self._changed + QUIET):
            self._gather(waiting)
        for name, url in {call.batch: call.url for call in joined if call.batch}.items():
            self._sent.take_over(name, url)
        self._sent.advance()
        return True

    def _gather(self, waiting: Iterable[Joined]) -> None:
        """Make one batch of the calls of each model and address, without the calls for which it has no room."""
        groups: dict[tuple[str, str, str], list[Joined]] = {}
        for call in waiting:
            groups.setdefault((call.request.model, call.endpoint, call.url), []).append(call)
        for calls in groups.values():
            self._sent.begin(first(calls, self._sent.most))  # the next step sends the others
