"""Send calls in batches: gather those of all runs, send them together, and take their answers as they come.

A call joins the batches in place of a thread that waits for its reply. Once no call has joined for `QUIET`
seconds, as every question waits at its step, all that have joined are sent as one batch. What is sent is on
disk before (`BatchTable`): a call that a killed run has sent joins its old batch and is not sent again.

A kill between the request for a batch and its id leaves a batch whose id is unknown. Its name is in its
metadata, so it is looked for among the provider's batches before it is asked for again.
"""

import sys
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import uuid4

from workbench.errors import StoreError
from workbench.llm.cache import Cache, call_of
from workbench.llm.calls.batch_calls import Joined, JoinedCalls, first
from workbench.llm.calls.batch_table import Batch, BatchTable
from workbench.llm.calls.limits import pause
from workbench.llm.calls.locks import CallLocks
from workbench.llm.provider import EMBEDDING, Refusal
from workbench.llm.remote.batches import BatchService, Status, failure
from workbench.llm.remote.prices import bill
from workbench.llm.remote.refusals import Gone
from workbench.llm.remote.replies import Reply, answer_of, read_usage
from workbench.types import Completion, Request, Usage

QUIET = 5.0  # seconds without another call after which those that have joined are sent
POLL = (5.0, 60.0)  # seconds between two looks at a batch: at first, and at most
SETTLING = 20.0  # seconds in which a batch that was asked for appears among its provider's batches
MOST, BYTES = 50_000, 100_000_000  # requests of a batch, and their size
TRIES = 8  # failures in a row after which the calls of a batch fail; its answers stay to be read
SAVED = 500  # answers that share a transaction


@dataclass(slots=True)
class _Watched:
    """A batch of ours to look after: when to look next, and the failures since the last success."""

    batch: Batch
    url: str
    due: float = 0.0
    wait: float = field(default_factory=lambda: POLL[0])
    failures: int = 0


class Batches:
    """The batches of one client. Its thread lives while calls wait.

    Without `gathers`, calls only wait for batches that an earlier run sent, and no other is sent.
    """

    def __init__(
        self, cache: Cache, locks: CallLocks, service: BatchService, *, gathers: bool
    ) -> None:
        self._cache = cache
        self._locks = locks
        self._service = service
        self._gathers = gathers
        self._table = BatchTable(cache.store)
        self._joined = JoinedCalls()
        self._watched: dict[str, _Watched] = {}
        self._told: set[str] = set()
        self._changed = 0.0
        self._most = MOST
        self._after = 0.0  # nothing is sent before, as the provider has no room
        self._running = False
        self._lock = threading.Lock()

    def takes(self, request: Request, key: str) -> bool:
        """Whether the call goes into a batch, or is in one that is not read yet."""
        if self._table.batch_of(key):
            return True
        return self.gathers(request.model) and not request.parameters.get(EMBEDDING)

    def gathers(self, model: str) -> bool:
        """Whether calls of the model are gathered; says once why they are not."""
        if not self._gathers:
            return False
        if (why := self._service.unable(model)) and model not in self._told:
            self._told.add(model)
            print(f"{model}: {why}; its calls are sent live", file=sys.stderr)
        return not why

    def join(self, call: Joined) -> None:
        """Have the call sent with the next batch."""
        call.batch = self._table.batch_of(call.key)
        with self._lock:
            self._joined.add(call)
            self._changed = time.monotonic()
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name="batches", daemon=True).start()

    def leave(self, key: str) -> bool:
        """Wait for the call no longer: it is not sent if it was not yet. False if it has just ended."""
        return self._joined.remove(key) is not None

    def _run(self) -> None:
        try:
            while self._step():
                time.sleep(self._rest())
        except BaseException as error:  # noqa: BLE001  the runs that wait raise it
            with self._lock:
                joined = self._joined.all()
                self._stop()
            self._joined.end(joined, error)

    def _stop(self) -> None:
        """Look after no batch any more: whoever waits for one next does. Called with the lock held."""
        self._running = False
        for name in list(self._watched):
            self._forget(name)

    def _rest(self) -> float:
        """Seconds until there is something to do."""
        now = time.monotonic()
        ends = [self._changed + QUIET, *(watched.due for watched in self._watched.values())]
        return max(0.01, min([QUIET, *(end - now for end in ends if end > now)]))

    def _step(self) -> bool:
        """Do what is due; False if nobody waits, so the thread ends."""
        with self._lock:
            joined = self._joined.all()
            if not joined:
                self._stop()
                return False
        now = time.monotonic()
        waiting = [call for call in joined if not call.batch]
        full = len(waiting) >= self._most
        if waiting and now >= self._after and (full or now >= self._changed + QUIET):
            self._gather(waiting)
        for name, url in {call.batch: call.url for call in joined if call.batch}.items():
            self._take_over(name, url)
        for watched in list(self._watched.values()):
            if time.monotonic() >= watched.due:
                self._advance(watched)
        return True

    def _gather(self, waiting: Iterable[Joined]) -> None:
        """Make batches of the calls: one of each model and address, or more where they are too large."""
        groups: dict[tuple[str, str, str], list[Joined]] = {}
        for call in waiting:
            groups.setdefault((call.request.model, call.endpoint, call.url), []).append(call)
        for (model, endpoint, url), calls in groups.items():
            part = first(calls, self._most, BYTES)  # the others go into the next one
            batch = Batch(uuid4().hex, endpoint, model)
            self._locks.acquire(batch.name)
            self._watched[batch.name] = _Watched(batch, url)
            self._table.add(batch, {call.key: call.request for call in part})
            for call in part:
                call.batch = batch.name

    def _take_over(self, name: str, url: str) -> None:
        """Look after a batch of another run that ended; have its calls looked at anew if it was read meanwhile."""
        if name in self._watched or not self._locks.acquire(name):
            return  # or another process still reads it
        if batch := self._table.load(name):
            self._watched[name] = _Watched(batch, url)
            return
        self._locks.release(name)
        for call in self._joined.of(name):
            if self._joined.remove(call.key):
                call.again()

    def _advance(self, watched: _Watched) -> None:
        """Take a batch one step further; after a refusal that may pass, try again later."""
        batch = watched.batch
        try:
            if batch.batch or self._create(watched):
                self._look(watched)
            watched.failures = 0
        except Gone as gone:
            self._close(watched, Refusal("connection", f"{gone}; it is perhaps paid", again=True))
        except Refusal as refusal:
            watched.failures += 1
            if refusal.again and watched.failures < TRIES:
                watched.due = time.monotonic() + pause(watched.failures, refusal.wait)
            elif batch.asked:  # what it holds is paid: a later run reads it
                text = f"{refusal}. The batch {batch.batch} is kept, and the next run takes up its answers"
                calls = self._joined.of(batch.name)
                self._forget(batch.name)
                self._joined.end(calls, Refusal("server", text, fatal=refusal.fatal))
            else:
                fault = "server" if refusal.again else refusal.fault
                self._close(watched, Refusal(fault, str(refusal), fatal=refusal.fatal))

    def _close(self, watched: _Watched, refusal: Refusal) -> None:
        """Remove a batch from which no more answers come, and refuse its calls without one."""
        self._table.remove(watched.batch)
        calls = self._joined.of(watched.batch.name)
        self._forget(watched.batch.name)
        self._joined.end(calls, refusal)

    def _create(self, watched: _Watched) -> bool:
        """Upload the requests and create the batch; False where its provider is first to be asked again."""
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
                if refusal.fault in {"rejected", "rate_limit"}:  # so it was surely not created
                    batch.asked = None
                    self._table.update(batch)
                raise
        self._table.update(batch)
        print(
            f"batch of {len(requests):,} calls sent to {batch.model}: {batch.batch}. It goes on if you stop, "
            "and the same command takes up its answers",
            file=sys.stderr,
        )
        return True

    def _look(self, watched: _Watched) -> None:
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
        """Store the answers that are not stored yet, and end the calls that wait for them."""
        batch = watched.batch
        requests = self._table.requests(batch)
        answers, whole = 0, True
        found: dict[str, Reply | Refusal] = {}
        for file in status.files:
            for item in self._service.read(batch.model, watched.url, file):
                if item is None:
                    whole = False
                    continue
                answers += not isinstance(item.reply, Refusal)
                if item.key in requests:
                    found[item.key] = item.reply
                if len(found) >= SAVED:
                    self._store(batch, requests, found)
                    found = {}
        self._store(batch, requests, found)
        if not whole or answers < (status.answers or 0):
            raise Refusal("connection", f"the results of {batch.batch} are cut off", again=True)
        self._close(watched, Refusal("server", "its batch ended without an answer", again=True))

    def _store(
        self, batch: Batch, requests: Mapping[str, Request], found: Mapping[str, Reply | Refusal]
    ) -> None:
        """Store answers, and then end the calls that wait for them."""
        waiting = {call.key: call for call in self._joined.of(batch.name)}
        reports = []
        failed: StoreError | None = None
        for key, reply in found.items():
            if isinstance(reply, Refusal):
                continue
            reply["batch"] = batch.batch
            if report := self._joined.finish(key, reply):
                reports.append(report)
            else:  # a run that was stopped has paid for it
                self._put(requests[key], key, batch.endpoint, reply)
        try:
            self._cache.save()
            self._table.remove(batch, found)
            self._remove_empty(batch)
        except StoreError as error:
            failed = error
            raise
        finally:
            for report in reports:
                report(failed)
        for key, reply in found.items():
            if isinstance(reply, Refusal) and key in waiting:
                self._joined.end([waiting[key]], reply)

    def _remove_empty(self, batch: Batch) -> None:
        """Remove a batch that is read whole, before the last of its runs learns it and may close the cache file."""
        if not self._table.requests(batch):
            self._table.remove(batch)

    def _put(self, request: Request, key: str, endpoint: str, reply: Reply) -> None:
        """Store a reply for which no run waits."""
        usage, price = read_usage(reply) or Usage(), bill(request.model, reply)
        with suppress(Refusal):  # it holds no answer
            text, reason = answer_of(reply)
            answer = Completion(text, request.model, reason, usage, price, key)
            self._cache.put(call_of(request, key, endpoint, answer, reply, 0.0), save=False)

    def _fail(self, watched: _Watched, status: Status) -> None:
        """End a batch that its provider did not begin: refuse the requests that it names, send the others again."""
        batch = watched.batch
        requests = list(self._table.requests(batch))
        self._table.remove(batch)
        calls = {call.key: call for call in self._joined.of(batch.name)}
        self._forget(batch.name)
        text = "; ".join(text for text, _ in status.errors) or "the provider gives no reason"
        named = {requests[line - 1] for _, line in status.errors if 0 < line <= len(requests)}
        full = "token_limit" in text or "enqueued" in text.lower()
        if full:
            self._most = max(1, len(requests) // 2)
            self._after = time.monotonic() + POLL[1]
        for key, call in calls.items():
            if full or (named and key not in named):
                call.batch = ""
            else:
                self._joined.end([call], failure(f"the batch failed: {text}"))

    def _forget(self, name: str) -> None:
        del self._watched[name]
        self._locks.release(name)
