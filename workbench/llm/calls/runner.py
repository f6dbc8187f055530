"""Make the calls of one run: start, repeat, give up and stop them.

Each attempt has a thread, or joins a batch. The thread that called `complete_many` keeps the time and waits for
whichever attempt ends first; it needs no event loop, so it works in a notebook cell as it is.

A call goes through these steps. It waits in the schedule until its model's limiter has room. Then it is
registered with this process's other runs and locked against other processes, so that each request is
paid once. Then its budget is reserved and a thread or a batch sends it. Its result comes back as an event: an answer
ends it; a refusal ends it, ends the run, or puts it back into the schedule.

A reply that is slower than the client's time-out ends the call as a failure, and it is not sent again: its
provider may have charged for it. The attempt goes on, and stores its reply if it still comes.
"""

import math
import queue
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from workbench.llm.cache import request_key
from workbench.llm.calls.batch_calls import Joined
from workbench.llm.calls.call_state import CallState, PendingCall
from workbench.llm.calls.refusals import Again, consequence, failure
from workbench.llm.calls.schedule import Schedule
from workbench.llm.provider import Refusal, Send, is_ours
from workbench.llm.remote.prices import most
from workbench.types import Completion, Request

STOP_WAIT = 1.5  # seconds that a stopped run waits for attempts under way
STOP_CHECK = 0.5  # seconds between checks whether the client is stopped
POLL = 0.05  # seconds between checks of a call that another process makes
FULL = 60.0  # seconds between checks of a limiter without room, which also wakes the run when it has some


class CallRunner:
    """The calls of one `complete_many` that are not in the cache, until each has its answer.

    `open` has the calls without an answer, by key; `answers` the answers by the index of their request.
    """

    def __init__(self, state: CallState, calls: dict[str, PendingCall]) -> None:
        self.state = state
        self.open = calls
        self.answers: dict[int, Completion] = {}
        self._schedule = Schedule(calls.values())
        self._under_way: set[PendingCall] = set()
        self._followed: set[PendingCall] = set()  # other runs of this process make them
        self._events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._writable = False
        self._stopping = False

    def finish(self) -> dict[int, Completion]:
        """Make all calls; returns the answers by the index of their request."""
        try:
            while (wait := self._start_calls()) is not None:
                with suppress(queue.Empty):
                    self._events.get(timeout=wait)()
                self._give_up_slow()
            self.state.cache.save()
        except BaseException:
            self._collect_last_answers()
            raise
        finally:
            for limiter in self._schedule.due:
                limiter.withdraw(self._wake)
            for call in self.open.values():
                self._stop_waiting(call)
                self.state.leave(call, None)
        return self.answers

    def _start_calls(self) -> float | None:
        """Start the calls that are due and have room; returns how long to wait, None if all are done."""
        if self.state.stopped.is_set():
            raise KeyboardInterrupt
        waits = [STOP_CHECK]
        if (pause := self._schedule.end_pauses()) is not None:
            waits.append(pause)
        for limiter, due in self._schedule.due.items():
            while due and not self.state.stopped.is_set() and limiter.start(self._wake):
                call = due.popleft()
                try:
                    sent = self._secure(call) and self._send(call)
                except BaseException:
                    limiter.cancel()
                    raise
                if not sent:
                    limiter.cancel()
                    if (
                        call.registered
                    ):  # the budget has room again when a call under way costs less
                        due.appendleft(call)
                        waits.append(POLL)
                        break
            if due:
                waits.append(limiter.opens_in() or FULL)
            else:
                limiter.withdraw(self._wake)
        now = time.monotonic()
        waits += [call.began + call.limit - now for call in self._under_way]
        waits += [call.waits_until - now for call in self._followed]
        return max(0.0, min(waits)) if self.open else None

    def _wake(self) -> None:
        self._events.put(lambda: None)

    def _post(self, act: Callable[..., None], *given: Any) -> None:
        """Have the run's thread do something."""
        self._events.put(partial(act, *given))

    def _secure(self, call: PendingCall) -> bool:
        """Whether this run may make the call.

        If not, the answer was cached meanwhile, or another run of this process will report its result, or
        another process makes the call and it is scheduled for another look.
        """
        if call.registered:
            return True
        state = self.state
        if state.beginnings.waits(call.request):
            self._schedule.add(call, POLL)
            return False
        fitted = state.parameters.fit(call.request, call.endpoint)
        if fitted is not call.request:  # refused since the call was made ready
            self._refit(call, fitted)
            return False
        call.waits_until = call.waits_until or time.monotonic() + state.deadline
        if state.follow(call.key, partial(self._post, self._hear, call)):
            self._followed.add(call)
            return False
        call.registered = True
        if not is_ours(call.request.model):  # a call that costs nothing needs no lock
            self._check_disk()
            call.locked = state.locks.acquire(call.key)
            if not call.locked:
                state.resolve(call, None)
                if time.monotonic() < call.waits_until:
                    self._schedule.add(call, POLL)
                else:
                    self._fail_waiting(call, "another process")
                return False
        if cached := state.cached(call.key):
            self._answer(call, cached)
            return False
        return True

    def _check_disk(self) -> None:
        """Stop the run before it pays for more if replies cannot be stored."""
        if not self._writable:
            self.state.cache.store.check_writable()
            self._writable = True
        self.state.cache.save_refused()

    def _hear(self, call: PendingCall, result: Completion | None) -> None:
        """Take the result of a call that another run made."""
        self._followed.discard(call)
        if self.open.get(call.key) is not call:
            return
        if result and result.fault:
            self._answer(call, result)
        elif cached := self.state.cached(call.key):
            self._answer(call, cached)
        else:  # the other run was stopped: this one makes the call
            self._schedule.add(call)

    def _send(self, call: PendingCall) -> bool:
        """Make or start an attempt; False if the budget has no room while other calls are under way."""
        state = self.state
        ours = is_ours(call.request.model)
        batches = None if ours else state.batches
        batched = batches is not None and batches.takes(call.request, call.key)
        call.reserved = most(call.request, batch=batched)
        if not state.budget.reserve(call.reserved, call.request.model):
            return False
        call.began = time.monotonic()
        call.batched = batched
        call.deadline = math.inf if batched else call.deadline or call.began + state.deadline
        call.limit = (
            math.inf if batched else max(0.1, min(state.timeout, call.deadline - call.began))
        )
        call.attempts += 1
        call.running, call.replied, call.doubtful = True, False, False
        self._under_way.add(call)
        if ours:
            self._work(call)  # it computes and never waits, so a thread would only cost time
        elif batches and batched:
            finish, again = partial(self._finish, call), partial(self._post, self._look_again, call)
            batches.join(Joined(call.key, call.request, call.endpoint, call.url, finish, again))
        else:
            state.beginnings.start(call.request)
            try:
                state.threads.start(partial(self._work, call))
            except RuntimeError:  # the system has no thread left
                state.beginnings.end(call.request, answered=False)
                call.running = False
                state.budget.settle(call.reserved, None, paid=False)
                raise
        return True

    def _work(self, call: PendingCall) -> None:
        """One attempt, in a thread unless the model is ours."""
        self._report(call, self._result(call, self.state.send))

    def _finish(self, call: PendingCall, send: Send) -> Callable[[BaseException | None], None]:
        """Take the reply from a batch; returns what reports it, or why it could not be stored."""
        result = self._result(call, send, save=False)
        return lambda error: self._report(call, error or result)

    def _look_again(self, call: PendingCall) -> None:
        """Look at a call anew whose batch another process has read."""
        self._stop_waiting(call)
        if self.open.get(call.key) is call:
            self.state.budget.settle(call.reserved, None, paid=False)
            call.running = False
            self.state.resolve(call, None)
            self._schedule.add(call)

    def _result(
        self, call: PendingCall, send: Send, *, save: bool = True
    ) -> Completion | BaseException:
        try:
            return self.state.attempt(call, send, save=save)
        except BaseException as error:  # noqa: BLE001  `_end_attempt` raises it in the run's thread
            return error

    def _report(self, call: PendingCall, result: Completion | BaseException) -> None:
        """Hand the result of an attempt to the run's thread."""
        # `leave` and this block exclude each other, so exactly one of them resolves the call.
        with self.state.lock:
            call.running = False
            abandoned = call.abandoned
        self._post(self._end_attempt, call, result)
        if abandoned:
            self.state.resolve(call, result if isinstance(result, Completion) else None)

    def _end_attempt(self, call: PendingCall, result: Completion | BaseException) -> None:
        """Act on the result of an attempt of ours."""
        self._stop_waiting(call)
        if self.open.get(call.key) is not call:
            return
        if isinstance(result, Completion):
            call.limiter.accepted(call.began)
            self._answer(call, result)
        elif self._stopping:
            return
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

    def _stop_waiting(self, call: PendingCall) -> None:
        """Give back the limiter's room of the attempt under way, if there is one."""
        if call in self._under_way:
            self._under_way.discard(call)
            call.limiter.end()

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
        self._schedule.add(self.open[key])

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
        """End calls whose reply, or whose maker in another run, is too slow."""
        now = time.monotonic()
        for call in [c for c in self._under_way if now > c.began + c.limit]:
            self.state.doubt(call)
            self.state.ledger.fault("timeout", again=False)
            self._stop_waiting(call)
            text = (
                f"no reply in {call.limit:g} s: the request is sent and perhaps paid, and not sent again; "
                "a reply that still comes is stored for the next run"
            )
            self._answer(call, failure(call, Refusal("timeout", text)))
        for call in [c for c in self._followed if now > c.waits_until]:
            self._followed.discard(call)
            self._fail_waiting(call, "another run of this process")

    def _fail_waiting(self, call: PendingCall, maker: str) -> None:
        self.state.ledger.fault("timeout", again=False)
        text = f"{maker} makes this call and has no reply in {self.state.deadline:g} s"
        self._answer(call, failure(call, Refusal("timeout", text)))

    def _collect_last_answers(self) -> None:
        """After a stop, take the answers that arrive within `STOP_WAIT`; start nothing new."""
        self._stopping = True
        until = time.monotonic() + STOP_WAIT
        while (
            any(not call.batched for call in self._under_way)
            and (left := until - time.monotonic()) > 0
        ):
            with suppress(queue.Empty):
                self._events.get(timeout=left)()
