"""Follow batches: create them at their provider, and check them until they end.

A batch is on disk before it is sent (`BatchTable`), so a call that a killed run has sent joins its old batch and is
not sent again. A run that is killed after it asked for a batch, but before it stored the batch's id, leaves a batch
of unknown id. The name of a batch is in its metadata, so the provider's batches are searched for the name before the
batch is created again.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from uuid import uuid4

from workbench.llm.cache.table import Cache
from workbench.llm.calls.batches.joined import MOST, Joined, JoinedCalls
from workbench.llm.calls.batches.results import store_results
from workbench.llm.calls.batches.table import Batch, BatchTable
from workbench.llm.calls.locks import CallLocks
from workbench.llm.calls.pauses import pause
from workbench.llm.provider import Refusal
from workbench.llm.remote.batch_lines import failure
from workbench.llm.remote.batches import BatchService, Status
from workbench.llm.remote.refusals import Gone

POLL = (5.0, 60.0)  # seconds between two checks of a batch: at first, and at most
SETTLING = 20.0  # seconds after which a new batch is in its provider's list of batches
TRIES = 8  # failures in a row after which the calls of a batch fail; a later run can read it


@dataclass(slots=True)
class _Watched:
    """A batch that this client follows: when its next check is due, and the failures since the last success."""

    batch: Batch
    url: str
    due: float = 0.0
    wait: float = field(default_factory=lambda: POLL[0])
    failures: int = 0


class SentBatches:
    """The batches that a client follows, each of them locked against other processes.

    `most` is how many calls a batch may have, and `full_until` when its provider has room for the next one.
    """

    def __init__(
        self,
        cache: Cache,
        locks: CallLocks,
        service: BatchService,
        table: BatchTable,
        joined: JoinedCalls,
    ) -> None:
        self._cache = cache
        self._locks = locks
        self._service = service
        self._table = table
        self._joined = joined
        self._watched: dict[str, _Watched] = {}
        self.most = MOST
        self.full_until = 0.0

    def begin(self, calls: Sequence[Joined]) -> None:
        """Make one batch of the calls, on disk when this returns."""
        batch = Batch(uuid4().hex, calls[0].endpoint, calls[0].request.model)
        self._locks.acquire(batch.name)
        self._watched[batch.name] = _Watched(batch, calls[0].url)
        self._table.add(batch, {call.key: call.request for call in calls})
        for call in calls:
            call.batch = batch.name

    def take_over(self, name: str, url: str) -> None:
        """Follow a batch that an earlier run left; its calls start again if another process has read it."""
        if name in self._watched or not self._locks.acquire(name):
            return  # this client or another process follows it already
        if batch := self._table.load(name):
            self._watched[name] = _Watched(batch, url)
            return
        self._locks.release(name)
        for call in self._joined.of(name):
            if self._joined.remove(call.key):
                call.again()

    def due(self) -> Iterator[float]:
        """The times of the batches' next checks."""
        return (watched.due for watched in self._watched.values())

    def advance(self) -> None:
        """Take the batches that are due one step further."""
        for watched in list(self._watched.values()):
            if time.monotonic() >= watched.due:
                self._advance(watched)

    def leave(self) -> None:
        """Follow no batch any more."""
        for name in list(self._watched):
            self._forget(name)

    def _advance(self, watched: _Watched) -> None:
        """Take a batch one step further; after a refusal that may pass, try again later."""
        batch = watched.batch
        try:
            if batch.batch or self._create(watched):
                self._check(watched)
            watched.failures = 0
        except Gone as gone:
            self._close(watched, Refusal("connection", f"{gone}; it is perhaps paid", again=True))
        except Refusal as refusal:
            watched.failures += 1
            if refusal.again and watched.failures < TRIES:
                watched.due = time.monotonic() + pause(watched.failures, refusal.wait)
            elif batch.asked:  # the batch may be paid: a later run reads its answers
                text = f"{refusal}. The batch {batch.batch} is kept, and the next run collects its answers"
                calls = self._joined.of(batch.name)
                self._forget(batch.name)
                self._joined.end(calls, Refusal("server", text, fatal=refusal.fatal))
            else:
                fault = "server" if refusal.again else refusal.fault
                self._close(watched, Refusal(fault, str(refusal), fatal=refusal.fatal))

    def _close(self, watched: _Watched, refusal: Refusal) -> None:
        """Remove a batch that has ended, and refuse its calls that have no answer."""
        self._table.remove(watched.batch)
        calls = self._joined.of(watched.batch.name)
        self._forget(watched.batch.name)
        self._joined.end(calls, refusal)

    def _create(self, watched: _Watched) -> bool:
        """Upload the requests and create the batch; False if the provider may have created it and not listed it yet."""
        batch, service, url = watched.batch, self._service, watched.url
        requests = self._table.requests(batch)
        if not batch.file:
            lines = [service.line(request, key) for key, request in requests.items()]
            batch.file = service.upload(batch.model, url, batch.name, lines)
            self._table.update(batch)
        if batch.asked:
            batch.batch = service.find(batch.model, url, batch.name)
            if not batch.batch and time.time() < batch.asked + SETTLING:
                watched.due = time.monotonic() + min(POLL[0], SETTLING)
                return False
        if not batch.batch:
            batch.asked = time.time()
            self._table.update(batch)
            try:
                batch.batch = service.create(batch.model, url, batch.name, batch.file)
            except Refusal as refusal:
                if refusal.fault in {"rejected", "rate_limit"}:  # the batch was not created
                    batch.asked = None
                    self._table.update(batch)
                raise
        self._table.update(batch)
        print(
            f"batch of {len(requests):,} calls sent to {batch.model}: {batch.batch}. It continues if you stop, "
            "and the same command then collects its answers",
            file=sys.stderr,
        )
        return True

    def _check(self, watched: _Watched) -> None:
        batch = watched.batch
        status = self._service.look(batch.model, watched.url, batch.batch)
        if status.state == "ended":
            self._read(watched, status)
        elif status.state == "failed":
            self._fail(watched, status)
        else:
            watched.due = time.monotonic() + watched.wait
            watched.wait = min(1.5 * watched.wait, POLL[1])

    def _read(self, watched: _Watched, status: Status) -> None:
        """Store the answers, and end the calls that have none."""
        batch = watched.batch
        read = partial(self._service.read, batch.model, watched.url)
        items = chain.from_iterable(map(read, status.files))
        answers, whole = store_results(self._cache, self._table, self._joined, batch, items)
        if not whole or answers < (status.answers or 0):
            raise Refusal("connection", f"the results of {batch.batch} are cut off", again=True)
        self._close(watched, Refusal("server", "its batch ended without an answer", again=True))

    def _fail(self, watched: _Watched, status: Status) -> None:
        """End a batch that its provider rejected: refuse the requests that the provider names, resend the others."""
        batch = watched.batch
        requests = list(self._table.requests(batch))
        self._table.remove(batch)
        calls = {call.key: call for call in self._joined.of(batch.name)}
        self._forget(batch.name)
        text = "; ".join(text for text, _ in status.errors) or "the provider gives no reason"
        named = {requests[line - 1] for _, line in status.errors if 0 < line <= len(requests)}
        full = "token_limit" in text or "enqueued" in text.lower()
        # The provider's queue has no room: smaller batches are sent, after the longest time between two checks.
        if full:
            self.most = max(1, len(requests) // 2)
            self.full_until = time.monotonic() + POLL[1]
        for key, call in calls.items():
            if full or (named and key not in named):
                # Without a batch, the call is gathered into the next one.
                call.batch = ""
            else:
                self._joined.end([call], failure(f"the batch failed: {text}"))

    def _forget(self, name: str) -> None:
        del self._watched[name]
        self._locks.release(name)
