"""Make the calls of one run: start, repeat, time out and stop them.

Each attempt has a thread of its own. The thread that called `complete_many` keeps the time and waits for
whichever attempt ends first; it needs no event loop, so it works in a notebook cell as it is.

A call goes through these steps. It waits in `_ready` until its model's limiter has room. Then it is
registered with this process's other runs and locked against other processes, so that each request is
paid once. Then its budget is reserved and a thread sends it. Its result comes back as an event: an answer
ends it; a refusal ends it, ends the run, or puts it into `_later` until its pause is over.
"""

import heapq
import queue
import re
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count

from workbench.errors import ProviderError, StoreError
from workbench.llm.cache import request_key
from workbench.llm.calls.call_state import CallState, PendingCall
from workbench.llm.calls.limits import LONGEST_WAIT, Limiter, pause
from workbench.llm.provider import Refusal, is_ours
from workbench.llm.remote.prices import most
from workbench.types import Completion, Request

STOP_WAIT = 1.5  # seconds that a stopped run waits for attempts under way
STOP_CHECK = 0.5  # seconds between checks whether the client is stopped
POLL = 0.05  # seconds between checks of a call that another process makes
REJECTIONS = 5  # calls of one prompt rejected for one reason, without an answer, that end a run
OVERTIME = 0.3  # seconds that an attempt may exceed its time-out before the run gives it up

_OTHER_RUN = -1  # instead of an attempt's number: another run of this process made the call

Result = Completion | Refusal | BaseException | None


class CallRunner:
    """The calls of one `complete_many` that are not in the cache, until each has its answer.

    `open` has the calls without an answer, by key; `answers` the answers by the index of their request.
    """

    def __init__(self, state: CallState, calls: dict[str, PendingCall]) -> None:
        self.state = state
        self.open = calls
        self.answers: dict[int, Completion] = {}
        self._ready: dict[Limiter, deque[PendingCall]] = {}
        self._later: list[tuple[float, int, PendingCall]] = []  # a heap by time
        self._order = count()  # between calls that are due at the same time
        self._under_way: set[PendingCall] = set()
        # A call, the number of its attempt and the result; an event without a call only wakes the run.
        self._events: queue.SimpleQueue[tuple[PendingCall | None, int, Result]] = (
            queue.SimpleQueue()
        )
        self._wake = partial(self._events.put, (None, 0, None))
        for call in calls.values():
            self._schedule(call)

    def finish(self) -> dict[int, Completion]:
        """Make all calls; returns the answers by the index of their request."""
        try:
            while (wait := self._start_calls()) is not None:
                with suppress(queue.Empty):
                    self._handle(*self._events.get(timeout=wait))
                self._time_out()
            self.state.cache.save()
        except BaseException:
            self._collect_last_answers()
            raise
        finally:
            for call in self.open.values():
                self._abandon(call)
        return self.answers

    def _schedule(self, call: PendingCall, wait: float = 0.0) -> None:
        if wait:
            heapq.heappush(self._later, (time.monotonic() + wait, next(self._order), call))
        else:
            self._ready.setdefault(call.limiter, deque()).append(call)

    def _start_calls(self) -> float | None:
        """Start the calls that are due and have room; returns how long to wait, None if all are done."""
        if self.state.stopped.is_set():
            raise KeyboardInterrupt
        now = time.monotonic()
        while self._later and self._later[0][0] <= now:
            self._schedule(heapq.heappop(self._later)[2])
        waits = [STOP_CHECK]
        for limiter, ready in self._ready.items():
            while ready and not self.state.stopped.is_set() and limiter.start(self._wake):
                call = ready.popleft()
                try:
                    sent = self._secure(call) and self._send(call)
                except BaseException:
                    limiter.end()
                    raise
                if not sent:
                    limiter.end()
                    if call.locked:  # the budget has room again when a call under way costs less
                        ready.appendleft(call)
                        waits.append(POLL)
                        break
            if ready:
                waits.append(limiter.opens_in() or 60.0)
        now = time.monotonic()
        waits += [due - now for due, _, _ in self._later[:1]]
        waits += [call.began + call.limit + OVERTIME - now for call in self._under_way]
        return max(0.0, min(waits)) if self.open else None

    def _secure(self, call: PendingCall) -> bool:
        """Whether this run may make the call.

        If not, the answer was cached meanwhile, or another run of this process will report its result, or
        another process makes the call and it is scheduled for another look.
        """
        if call.locked:
            return True
        fitted = self.state.parameters.fit(call.request, call.endpoint)
        if fitted is not call.request:  # refused since the call was made ready
            self._refit(call, fitted)
            return False
        if self.state.follow(call.key, partial(self._followed, call)):
            return False
        call.registered = True
        if is_ours(call.request.model):  # a call that costs nothing needs no lock
            state = "cached" if self.state.cached(call.key) else "acquired"
        else:
            self.state.cache.save()  # a full disk must stop the run before it pays for more
            state = self.state.locks.acquire(
                call.key, self.state.deadline + self.state.timeout, refresh=self.state.refresh
            )
        if state == "acquired":
            call.locked = True
            return True
        if state == "cached" and (cached := self.state.cached(call.key)):
            self._answer(call, cached)
        else:
            self.state.resolve(call, None)
            self._schedule(call, POLL)
        return False

    def _followed(self, call: PendingCall, result: Completion | None) -> None:
        self._events.put((call, _OTHER_RUN, result))

    def _send(self, call: PendingCall) -> bool:
        """Make or start an attempt; False if the budget has no room while other calls are under way."""
        state = self.state
        reserved = most(call.request)
        if not state.budget.reserve(reserved, call.request.model):
            return False
        call.began = time.monotonic()
        call.deadline = call.deadline or call.began + state.deadline
        call.limit = max(0.1, min(state.timeout, call.deadline - call.began))
        call.attempts += 1
        call.threads += 1
        self._under_way.add(call)
        work = partial(self._work, call, call.attempts, reserved)
        if is_ours(call.request.model):
            work()  # it computes and never waits, so a thread would only cost time
        else:
            threading.Thread(target=work, name=f"call {call.key[5:13]}", daemon=True).start()
        return True

    def _work(self, call: PendingCall, number: int, reserved: float | None) -> None:
        """One attempt, in a thread of its own unless the model is ours."""
        result: Result
        try:
            result = self.state.attempt(call, reserved)
        except BaseException as error:  # noqa: BLE001  `_handle` raises it in the run's thread
            result = error
        self._events.put((call, number, result))
        # `_abandon` and this block exclude each other, so exactly one of them resolves the call.
        with self.state.lock:
            call.threads -= 1
            last = call.abandoned and not call.threads
        if last:
            self.state.resolve(call, result if isinstance(result, Completion) else None)

    def _handle(self, call: PendingCall | None, number: int, result: Result) -> None:
        """Act on the result of an attempt of ours, or of another run that made the call."""
        if call is None or call.key not in self.open:
            return
        if number == _OTHER_RUN:
            if isinstance(result, Completion) and result.fault:
                self._answer(call, result)
            elif cached := self.state.cached(call.key):
                self._answer(call, cached)
            else:  # the other run was stopped: this one makes the call
                self._schedule(call)
        elif isinstance(result, Completion):
            self._answer(call, result)  # also of an attempt that was given up as too slow
        elif isinstance(result, Refusal):
            if number == call.attempts and call in self._under_way:
                self._refused(call, result)
        elif result is not None:
            self._stop_waiting(call)
            raise result

    def _stop_waiting(self, call: PendingCall, *, answered: bool = False) -> None:
        """Give back the limiter's room of the attempt under way, if there is one."""
        if call in self._under_way:
            self._under_way.discard(call)
            call.limiter.end(answered=answered)

    def _refused(self, call: PendingCall, refusal: Refusal) -> None:
        """Try the call again, end it with a fault, or end the run."""
        state = self.state
        self._stop_waiting(call)
        throttled = refusal.fault == "rate_limit"
        call.throttled += throttled
        failures = call.attempts - call.throttled
        wait = pause(call.throttled if throttled else failures, refusal.wait)
        if throttled:
            call.limiter.throttled(call.began, min(refusal.wait, LONGEST_WAIT))
        again = (
            refusal.again
            and time.monotonic() + wait < call.deadline
            and (throttled or failures <= state.retries)
        )
        refitted = (
            refusal.fault == "rejected"
            and not refusal.fatal
            and state.parameters.learn(call.request, call.endpoint, str(refusal))
        )
        state.ledger.fault(refusal.fault, again=again or refitted)
        if refusal.fatal:
            raise ProviderError(f"{call.request.model} refused: {refusal}")
        if again:
            self._schedule(call, wait)
            return
        if refitted:
            self._refit(call, state.parameters.fit(call.request, call.endpoint))
            return
        if refusal.fault == "rejected" and not is_ours(call.request.model):
            self._count_rejection(call, refusal)
        error = f"{refusal} (tried {call.attempts} times)" if call.attempts > 1 else str(refusal)
        self._answer(
            call,
            Completion("", call.request.model, key=call.key, fault=refusal.fault, error=error),
        )

    def _refit(self, call: PendingCall, request: Request) -> None:
        """Make another call of a refused one, with the parameters that its model takes, and so another key."""
        del self.open[call.key]
        self.state.resolve(call, None)
        key = request_key(request, call.endpoint)
        if key in self.open:
            self.open[key].indices += call.indices
            return
        self.open[key] = PendingCall(
            key, request, call.endpoint, call.url, call.limiter, call.indices
        )
        self._schedule(self.open[key])

    def _count_rejection(self, call: PendingCall, refusal: Refusal) -> None:
        """End the run when a model rejects several calls of one prompt alike and has answered none.

        Words with digits are ignored, since they may be the number of the request.
        """
        request = call.request
        reason = re.sub(r"\S*\d\S*", "", str(refusal))
        self.state.rejections[request.model, request.prompt, reason] += 1
        if self.state.rejections[request.model, request.prompt, reason] < REJECTIONS:
            return
        if not self.state.cache.answered(request, call.endpoint):
            raise ProviderError(
                f"{request.model} rejected {REJECTIONS} calls of the prompt {request.prompt!r} for one "
                f"reason and answered none: {refusal}. If a parameter is the reason, set it with "
                "--parameter NAME=VALUE or under `parameters` in the experiment (null leaves it out)"
            )

    def _answer(self, call: PendingCall, answer: Completion) -> None:
        """Record the answer for the call and for every equal request of this run."""
        del self.open[call.key]
        self._stop_waiting(call, answered=True)
        first, *equal = call.indices
        self.answers[first] = answer
        self.answers.update((index, replace(answer, cached=not answer.fault)) for index in equal)
        if answer.cached:
            self.state.ledger.hit(call.request, answer)
        if not answer.fault or answer.fault == "filtered":
            for _ in equal:
                self.state.ledger.hit(call.request, answer)
        self.state.resolve(call, answer)

    def _time_out(self) -> None:
        """Give up attempts past their time-out; their threads go on and store a late reply."""
        now = time.monotonic()
        for call in [c for c in self._under_way if now > c.began + c.limit + OVERTIME]:
            self._refused(
                call, Refusal("timeout", f"no complete reply in {call.limit:g} s", again=True)
            )

    def _collect_last_answers(self) -> None:
        """After a stop, take the answers that arrive within `STOP_WAIT`; start nothing new."""
        until = time.monotonic() + STOP_WAIT
        while self._under_way and (left := until - time.monotonic()) > 0:
            with suppress(queue.Empty):
                call, number, result = self._events.get(timeout=left)
                if call is None or call.key not in self.open:
                    continue
                if isinstance(result, Completion):
                    self._answer(call, result)
                elif number == call.attempts:
                    self._stop_waiting(call)

    def _abandon(self, call: PendingCall) -> None:
        """The run ends without this answer: its last thread resolves the call, or this does if none runs."""
        self._stop_waiting(call)
        with self.state.lock:
            call.abandoned = True
            last = not call.threads
        if last:
            with suppress(StoreError):
                self.state.resolve(call, None)
