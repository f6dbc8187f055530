"""A call without an answer yet, and the state that all runs of a client share."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from workbench.llm.budget import Budget, Ledger
from workbench.llm.cache.table import Cache
from workbench.llm.calls.batches.gathering import Batches
from workbench.llm.calls.limits import Limiter
from workbench.llm.calls.locks import CallLocks
from workbench.llm.parameters import Parameters
from workbench.llm.provider import Send
from workbench.types import Completion, Request

LATE = 600.0  # seconds that an attempt goes on after its run has given it up, to store a late reply


@dataclass(eq=False, slots=True)
class PendingCall:
    """A request without an answer yet, and the state of its attempts, at most one at a time."""

    key: str
    request: Request
    endpoint: str  # as in the key
    url: str
    limiter: Limiter
    indices: list[int]  # of equal requests among the requests of the run
    registered: bool = False  # in `CallState.in_flight`: other runs of this process wait for it
    locked: bool = False  # this process has its lock: other processes wait for it
    attempts: int = 0
    throttled: int = 0  # attempts that met a 429, which do not count as failures
    allowed: float = 0.0  # when the limiter allowed the last attempt
    began: float = 0.0  # when the last attempt was sent
    limit: float = 0.0  # seconds that the run waits for the last attempt
    deadline: float = 0.0  # for all attempts together; the first one sets it
    waits_until: float = 0.0  # when the run stops waiting for another run that makes the call
    running: bool = False  # an attempt is under way, whether or not its run still waits
    replied: bool = False  # a reply to the attempt has arrived
    doubtful: bool = False  # the attempt is counted as perhaps paid
    abandoned: bool = False  # its run no longer waits: the end of the attempt resolves the call
    batch: str = ""  # the unread batch that had the call when the cache was last searched
    batched: bool = False  # the attempt is in a batch
    reserved: float | None = None  # dollars that the budget holds for the attempt


@dataclass(slots=True)
class CallState:
    """The state that all runs of one client share; `Client` explains the first eleven fields."""

    cache: Cache
    locks: CallLocks
    parameters: Parameters
    ledger: Ledger
    budget: Budget
    send: Send
    batches: Batches | None
    refresh: bool
    timeout: float
    deadline: float
    retries: int
    rejections: Counter[tuple[str, ...]] = field(default_factory=Counter)  # by model and reason
    refreshed: set[str] = field(default_factory=set)  # keys whose answers were replaced
    stopped: threading.Event = field(default_factory=threading.Event)
    wake_ups: set[Callable[[], None]] = field(default_factory=set)  # one for each run under way
    in_flight: dict[str, list[Callable[[Completion | None], None]]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def cached(self, key: str) -> Completion | None:
        """The stored answer; None while it is still to be refreshed."""
        return self.cached_many([key]).get(key)

    def cached_many(self, keys: Sequence[str]) -> dict[str, Completion]:
        """The stored answers by key, without those that are still to be refreshed."""
        if self.refresh:
            keys = [key for key in keys if key in self.refreshed]
        return self.cache.get_many(keys)

    def batch_of(self, key: str) -> str:
        """The name of the unread batch that has the call; "" if none has it."""
        return self.batches.batch_of(key) if self.batches else ""

    def follow(self, key: str, callback: Callable[[Completion | None], None]) -> bool:
        """Whether another run of this process makes the call; if so, the callback gets its result.

        If not, the caller is registered as the run that makes the call.
        """
        with self.lock:
            if key in self.in_flight:
                self.in_flight[key].append(callback)
                return True
            self.in_flight[key] = []
            return False

    def resolve(self, call: PendingCall, result: Completion | None) -> None:
        """End a registered call with an answer, a failure, or None if no answer will come."""
        with self.lock:
            if not call.registered:
                return
            call.registered = False
            callbacks = self.in_flight.pop(call.key)
        if call.locked:
            call.locked = False
            self.locks.release(call.key)
        for callback in callbacks:
            callback(result)

    def leave(self, call: PendingCall, result: Completion | None) -> None:
        """End a call for which its run no longer waits: at once, or when its attempt has ended.

        If the attempt has not ended after `LATE` seconds, the call ends, so that it can be made again. A call in
        a batch ends at once: an unsent call is never sent, and any run can wait for the batch of a sent call.
        """
        if call.batched and self.batches and self.batches.leave(call.key):
            call.running = False
            self.budget.settle(call.reserved, None, paid=False)
        with self.lock:
            call.abandoned = call.running
        if call.abandoned:
            timer = threading.Timer(LATE, self.resolve, (call, None))
            timer.daemon = True
            timer.start()
        else:
            self.resolve(call, result)

    def doubt(self, call: PendingCall) -> None:
        """Count an attempt without a reply as perhaps paid; a reply that arrives late is subtracted again."""
        with self.lock:
            if call.running and not (call.doubtful or call.replied):
                call.doubtful = True
                self.ledger.doubt(1)
