"""The calls of one run: begun when there is a place, repeated, given up or stopped.

The thread that asks keeps the time and needs no event loop, so it runs as it is in a notebook cell. It
starts each attempt in a thread of its own and waits for whichever ends first.
"""

import heapq
import queue
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count

from workbench.errors import ProviderError, StoreError
from workbench.llm.budget import most
from workbench.llm.calls import Ask, Desk
from workbench.llm.limits import LONGEST_WAIT, Limiter, pause
from workbench.llm.provider import Refusal, is_ours
from workbench.types import Completion

LINGER = 1.5  # seconds that a run which is stopped waits for attempts under way
LOOK = 0.5  # seconds between looks whether the client is stopped
POLL = 0.05  # seconds between looks at a call that another process makes
GRACE = 0.3  # seconds beyond its time-out after which an attempt is no longer waited for

End = Completion | Refusal | BaseException | None


class Run:
    """The calls of one `complete_many` that are not in the cache, by key, until each has its answer."""

    def __init__(self, desk: Desk, asks: dict[str, Ask]) -> None:
        self.desk = desk
        self.open = asks
        self.answers: dict[int, Completion] = {}
        self._ready: dict[Limiter, deque[Ask]] = {}
        self._later: list[tuple[float, int, Ask]] = []
        self._order = count()
        self._under_way: set[Ask] = set()
        self._events: queue.SimpleQueue[tuple[Ask | None, int, End]] = queue.SimpleQueue()
        self._bell = partial(self._events.put, (None, 0, None))
        for ask in asks.values():
            self._again(ask)

    def finish(self) -> dict[int, Completion]:
        """Every answer, by its place among the requests."""
        try:
            while (wait := self._start()) is not None:
                with suppress(queue.Empty):
                    self._handle(*self._events.get(timeout=wait))
                self._give_up()
        except BaseException:
            self._linger()
            raise
        finally:
            for ask in self.open.values():
                self._drop(ask)
        return self.answers

    def _again(self, ask: Ask, wait: float = 0.0) -> None:
        if wait:
            heapq.heappush(self._later, (time.monotonic() + wait, next(self._order), ask))
        else:
            self._ready.setdefault(ask.limiter, deque()).append(ask)

    def _start(self) -> float | None:
        """Begin what is due and has a place. Returns how long to wait for an event; None at the end."""
        if self.desk.stopped.is_set():
            raise KeyboardInterrupt
        now = time.monotonic()
        while self._later and self._later[0][0] <= now:
            self._again(heapq.heappop(self._later)[2])
        waits = [LOOK]
        for limiter, ready in self._ready.items():
            while ready and limiter.start(self._bell):
                ask = ready.popleft()
                try:
                    sent = self._is_ours(ask) and self._send(ask)
                except BaseException:
                    limiter.end()
                    raise
                if not sent:
                    limiter.end()
                    if ask.ours:  # the budget waits for calls under way
                        ready.appendleft(ask)
                        waits.append(POLL)
                        break
            if ready:
                waits.append(limiter.opens_in() or 60.0)
        now = time.monotonic()
        waits += [due - now for due, _, _ in self._later[:1]]
        waits += [ask.began + ask.limit + GRACE - now for ask in self._under_way]
        return max(0.0, min(waits)) if self.open else None

    def _is_ours(self, ask: Ask) -> bool:
        """Whether this run is the one to make the call. If not, it is answered, followed or seen to later."""
        if ask.ours:
            return True
        if self.desk.follow(ask.key, partial(self._followed, ask)):
            return False
        ask.leads = True
        if is_ours(ask.request.model):  # costs nothing: no claim
            state = "there" if self.desk.look(ask.key) else "mine"
        else:
            self.desk.cache.save()
            state = self.desk.claims.claim(
                ask.key, self.desk.deadline + self.desk.timeout, again=self.desk.refresh
            )
        if state == "mine":
            ask.ours = True
            return True
        if state == "there" and (found := self.desk.look(ask.key)):
            self._answer(ask, found)
        else:
            self.desk.land(ask, None)
            self._again(ask, POLL)
        return False

    def _followed(self, ask: Ask, end: Completion | None) -> None:
        self._events.put((ask, -1, end))

    def _send(self, ask: Ask) -> bool:
        """Start an attempt, unless the budget has to wait."""
        desk = self.desk
        reserved = most(ask.request)
        if not desk.budget.reserve(reserved, ask.request.model):
            return False
        ask.began = time.monotonic()
        ask.deadline = ask.deadline or ask.began + desk.deadline
        ask.limit = max(0.1, min(desk.timeout, ask.deadline - ask.began))
        ask.attempts += 1
        ask.threads += 1
        self._under_way.add(ask)
        work = partial(self._work, ask, ask.attempts, reserved)
        threading.Thread(target=work, name=f"call {ask.key[5:13]}", daemon=True).start()
        return True

    def _work(self, ask: Ask, number: int, reserved: float | None) -> None:
        """One attempt, in a thread of its own."""
        end: End
        try:
            end = self.desk.attempt(ask, reserved)
        except BaseException as error:  # noqa: BLE001  raised where the run waits
            end = error
        self._events.put((ask, number, end))
        with self.desk.lock:
            ask.threads -= 1
            last = ask.orphan and not ask.threads
        if last:
            self.desk.land(ask, end if isinstance(end, Completion) else None)

    def _handle(self, ask: Ask | None, number: int, end: End) -> None:
        """What an attempt came to, or the call that another run made for us."""
        if ask is None or ask.key not in self.open:
            return
        if number < 0:
            if isinstance(end, Completion) and end.fault:
                self._answer(ask, end)
            elif found := self.desk.look(ask.key):
                self._answer(ask, found)
            else:
                self._again(ask)
        elif isinstance(end, Completion):
            self._answer(ask, end)
        elif isinstance(end, Refusal):
            if number == ask.attempts and ask in self._under_way:
                self._refused(ask, end)
        elif end is not None:
            self._leave(ask)
            raise end

    def _leave(self, ask: Ask, *, answered: bool = False) -> None:
        """No longer wait for the attempt under way."""
        if ask in self._under_way:
            self._under_way.discard(ask)
            ask.limiter.end(answered=answered)

    def _refused(self, ask: Ask, why: Refusal) -> None:
        """Ask again, end this request, or end the run."""
        desk = self.desk
        self._leave(ask)
        slow = why.fault == "rate_limit"
        ask.throttled += slow
        wait = pause(ask.throttled if slow else ask.attempts - ask.throttled, why.wait)
        if slow:
            ask.limiter.throttled(ask.began, min(why.wait, LONGEST_WAIT))
        again = (
            why.again
            and time.monotonic() + wait < ask.deadline
            and (slow or ask.attempts - ask.throttled <= desk.retries)
        )
        desk.ledger.fault(why.fault, again=again)
        if why.fatal:
            raise ProviderError(f"{ask.request.model} refused: {why}")
        if again:
            self._again(ask, wait)
            return
        text = f"{why} (asked {ask.attempts} times)" if ask.attempts > 1 else str(why)
        self._answer(
            ask, Completion("", ask.request.model, key=ask.key, fault=why.fault, error=text)
        )

    def _answer(self, ask: Ask, end: Completion) -> None:
        """An ask has its end, and so have the requests that are equal to it."""
        del self.open[ask.key]
        self._leave(ask, answered=True)
        first, *others = ask.places
        self.answers[first] = end
        self.answers.update((place, replace(end, cached=not end.fault)) for place in others)
        if end.cached:
            self.desk.ledger.hit(ask.request, end)
        if not end.fault or end.fault == "filtered":
            for _ in others:
                self.desk.ledger.hit(ask.request, end)
        self.desk.land(ask, end)

    def _give_up(self) -> None:
        """Stop waiting for attempts that are past their time; a late reply is stored all the same."""
        now = time.monotonic()
        for ask in [a for a in self._under_way if now > a.began + a.limit + GRACE]:
            self._refused(
                ask, Refusal("timeout", f"no complete reply in {ask.limit:g} s", again=True)
            )

    def _linger(self) -> None:
        """The run is stopped: take what comes back within a moment, and ask for nothing more."""
        until = time.monotonic() + LINGER
        while self._under_way and (left := until - time.monotonic()) > 0:
            with suppress(queue.Empty):
                ask, number, end = self._events.get(timeout=left)
                if ask is None or ask.key not in self.open:
                    continue
                if isinstance(end, Completion):
                    self._answer(ask, end)
                elif number == ask.attempts:
                    self._leave(ask)

    def _drop(self, ask: Ask) -> None:
        """The run ends without this answer."""
        self._leave(ask)
        with self.desk.lock:
            ask.orphan = True
            last = not ask.threads
        if last:
            with suppress(StoreError):
                self.desk.land(ask, None)
