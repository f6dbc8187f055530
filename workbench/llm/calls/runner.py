"""Make the calls of one run: start, repeat, give up and stop them.

Each attempt has a thread, or joins a batch. The thread that called `complete_many` checks deadlines and waits for
the next attempt to end. It needs no event loop, so it works in a notebook cell.

A call goes through these steps. It waits in the schedule until its model's limiter has room. It is then
registered with this process's other runs and locked against other processes, so that each request is
paid once. Its budget is reserved, and a thread or a batch sends it. Its result is an event: an answer ends the
call; a refusal ends the call, ends the run, or puts the call back into the schedule.

A call without a reply within the client's time-out fails and is not sent again: its provider may have charged for
it. The attempt continues, and stores a reply that arrives late.
"""

import queue
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from workbench.llm.cache.keys import request_key
from workbench.llm.calls.attempts import Attempts, Result
from workbench.llm.calls.call_state import CallState, PendingCall
from workbench.llm.calls.refusals import Again, consequence, failure
from workbench.llm.calls.schedule import Schedule
from workbench.llm.provider import Refusal, runs_here
from workbench.parallel import now_waits
from workbench.types import Completion, Request

STOP_WAIT = 1.5  # seconds that a stopped run waits for attempts under way
POLL = 0.05  # seconds between checks of a call that another process makes
LONGEST = 60.0  # seconds between two checks; room for a call and a stop wake the run at once


class CallRunner:
    """The calls of one `complete_many` that are not in the cache, until each has its answer.

    `open` has the calls without an answer, by key; `answers` the answers by the index of their request.
    """

    def __init__(self, state: CallState, calls: dict[str, PendingCall]) -> None:
        self.state = state
        self.open = calls
        self.answers: dict[int, Completion] = {}
        self._schedule = Schedule(calls.values())
        self._attempts = Attempts(
            state, partial(self._post, self._end_attempt), partial(self._post, self._start_again)
        )
        self._followed: set[PendingCall] = set()  # other runs of this process make them
        self._events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._no_reply = f"makes this call and has no reply in {state.deadline:g} s"
        self._woken = False  # whether a wake-up is among the events
        self._writable = False  # whether the cache file was found writable
        self._stopping = False
        self._saves_at_end = any(runs_here(call.request.model) for call in calls.values())

    def finish(self) -> dict[int, Completion]:
        """Make all calls; returns the answers by the index of their request."""
        self.state.wake_ups.add(self._wake)
        try:
            while (wait := self._start_calls()) is not None:
                now_waits()
                with suppress(queue.Empty):
                    self._events.get(timeout=wait)()
                self._give_up_slow()
            if self._saves_at_end:
                self.state.cache.save()
        except BaseException:
            self._collect_last_answers()
            raise
        finally:
            self.state.wake_ups.discard(self._wake)
            for limiter in self._schedule.due:
                limiter.withdraw(self._wake)
            for call in self.open.values():
                self._attempts.stop_waiting(call)
                self.state.leave(call, None)
        return self.answers

    def _start_calls(self) -> float | None:
        """Start the calls that are due and have room; returns how long to wait, None if all are done."""
        if self.state.stopped.is_set():
            raise KeyboardInterrupt
        self._schedule.end_pauses()
        waits = [LONGEST]
        for limiter, due in self._schedule.due.items():
            while due and not self.state.stopped.is_set() and (now := limiter.start(self._wake)):
                call = due.popleft()
                call.allowed = now
                sent = False
                try:
                    sent = self._secure(call) and self._attempts.start(call)
                finally:
                    if not sent:
                        limiter.cancel()
                if call.registered and not sent:  # the budget waits for a call under way
                    due.appendleft(call)
                    waits.append(POLL)
                    break
            if due:
                waits.append(limiter.opens_in() or LONGEST)
            else:
                limiter.withdraw(self._wake)
        ends = (self._attempts.slow_at, *(call.waits_until for call in self._followed))
        waits += [self._schedule.pause_left(), min(ends) - time.monotonic()]
        return max(0.0, min(waits)) if self.open else None

    def _wake(self) -> None:
        """Wake the run, which then starts calls; several wake-ups at once count as one."""
        if not self._woken:
            self._woken = True
            self._post(setattr, self, "_woken", False)

    def _post(self, act: Callable[..., None], *given: Any) -> None:
        """Call a function in the run's thread."""
        self._events.put(partial(act, *given))

    def _secure(self, call: PendingCall) -> bool:
        """Whether this run may make the call.

        If not, the cache has its reply, another run of this process reports its result, or it is checked again later.
        """
        state = self.state
        call.batch = state.batch_of(call.key)  # first: a batch stores its replies, then ends
        if call.registered:
            return self._is_open(call)
        fitted = state.parameters.fit(call.request, call.endpoint)
        if fitted is not call.request:  # a parameter was refused since the call was prepared
            self._refit(call, fitted)
            return False
        call.waits_until = call.waits_until or time.monotonic() + state.deadline
        if state.follow(call.key, partial(self._post, self._take_result, call)):
            self._followed.add(call)
            return False
        call.registered = True
        if not runs_here(call.request.model):  # a call that costs nothing needs no lock
            if not self._writable:  # no call is paid whose reply cannot be stored
                state.cache.store.check_writable()
                self._writable = True
            state.cache.save_refused()
            call.locked = state.locks.acquire(call.key)
            if not call.locked:
                state.resolve(call, None)
                if time.monotonic() < call.waits_until:
                    self._schedule.add(call, POLL)
                else:
                    self._give_up(call, f"another process {self._no_reply}")
                return False
        return self._is_open(call)

    def _is_open(self, call: PendingCall) -> bool:
        """Whether the cache has no reply. A cached reply answers the call."""
        if cached := self.state.cached(call.key):
            self._answer(call, cached)
        return not cached

    def _take_result(self, call: PendingCall, result: Completion | None) -> None:
        """Take the result of a call that another run made."""
        self._followed.discard(call)
        if self.open.get(call.key) is not call:
            return
        if result and result.fault:
            self._answer(call, result)
        elif self._is_open(call):  # the other run was stopped: this run makes the call
            self._schedule.add(call)

    def _start_again(self, call: PendingCall) -> None:
        """Schedule a call again after another process has read its batch."""
        self._attempts.stop_waiting(call)
        if self.open.get(call.key) is call:
            self._attempts.cancel(call)
            self.state.resolve(call, None)
            self._schedule.add(call)

    def _end_attempt(self, call: PendingCall, result: Result) -> None:
        """Act on the result of an attempt of this run."""
        self._attempts.stop_waiting(call)
        ignored = self._stopping and not isinstance(result, Completion)
        if ignored or self.open.get(call.key) is not call:
            return
        if isinstance(result, Completion):
            call.limiter.accepted(call.allowed)
            self._answer(call, result)
        elif isinstance(result, Refusal):
            match consequence(self.state, call, result):
                case Again(pause, first):
                    self._schedule.add(call, pause, first=first)
                case Request() as request:
                    self._refit(call, request)
                case Completion() as answer:
                    self._answer(call, answer)
        else:
            raise result

    def _refit(self, call: PendingCall, request: Request) -> None:
        """Replace a refused call by one with parameters that its model takes, and so with another key."""
        del self.open[call.key]
        self.state.resolve(call, None)
        key = request_key(request, call.endpoint)
        if key in self.open:
            self.open[key].indices += call.indices
        else:
            again = PendingCall(key, request, call.endpoint, call.url, call.limiter, call.indices)
            self.open[key] = again
            self._schedule.add(again)

    def _answer(self, call: PendingCall, answer: Completion) -> None:
        """Record the answer for the call and for every equal request of this run."""
        del self.open[call.key]
        first, *equal = call.indices
        self.answers[first] = answer
        self.answers.update((index, replace(answer, cached=not answer.fault)) for index in equal)
        if answer.cached:
            self.state.ledger.hit(call.request, answer)
        if not answer.fault or answer.fault == "filtered":
            for _ in equal:
                self.state.ledger.hit(call.request, answer)
        self.state.leave(call, answer)

    def _give_up_slow(self) -> None:
        """End calls whose reply is late, or which another run makes too slowly."""
        now = time.monotonic()
        for call in self._attempts.slow(now):
            self.state.doubt(call)
            self._attempts.stop_waiting(call)
            text = (
                f"no reply in {call.limit:g} s: the request is perhaps paid, so it is not sent again; "
                "a late reply is stored for the next run"
            )
            self._give_up(call, text)
        for call in [c for c in self._followed if now > c.waits_until]:
            self._followed.discard(call)
            self._give_up(call, f"another run of this process {self._no_reply}")

    def _give_up(self, call: PendingCall, text: str) -> None:
        self.state.ledger.fault("timeout", again=False)
        self._answer(call, failure(call, Refusal("timeout", text)))

    def _collect_last_answers(self) -> None:
        """After a stop, take the answers that arrive within `STOP_WAIT`; start nothing new."""
        self._stopping = True
        until = time.monotonic() + STOP_WAIT
        with suppress(queue.Empty):
            while any(not call.batched for call in self._attempts.under_way):
                self._events.get(timeout=max(0.0, until - time.monotonic()))()
