"""The attempts at the calls of one run: send a request, check and price its reply, and store it before returning it.

Each attempt has a thread or joins a batch, and stores its own reply. A run that stops waiting, at a deadline or
by Ctrl-C, therefore loses no reply that still arrives, and a later run with the same request waits for the same
attempt. The threads are daemons: they keep no process alive.
"""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from workbench.llm.cache.rows import call_of
from workbench.llm.cache.table import with_fault
from workbench.llm.calls.batches.joined import Joined
from workbench.llm.calls.call_state import LATE, CallState, PendingCall
from workbench.llm.provider import Refusal, Send, runs_here
from workbench.llm.remote.prices import bill, most
from workbench.llm.remote.refusals import causes
from workbench.llm.remote.replies import answer_of, read_usage
from workbench.threads import THREADS
from workbench.types import Completion, Usage

Result = Completion | BaseException


class Attempts:
    """The attempts of one run, at most one of each call at a time.

    `ended` is called with the result of each attempt, and `again` with a call whose batch another process has
    read. Any thread may call them.
    """

    def __init__(
        self,
        state: CallState,
        ended: Callable[[PendingCall, Result], None],
        again: Callable[[PendingCall], None],
    ) -> None:
        self._state = state
        self._ended = ended
        self._again = again
        self.under_way: set[PendingCall] = set()
        self.slow_at = math.inf  # no attempt is slow before this time

    def start(self, call: PendingCall) -> bool:
        """Make or start an attempt; False if the budget has no room while other calls are under way."""
        state = self._state
        ours = runs_here(call.request.model)
        batches = None if ours else state.batches
        batched = batches is not None and (bool(call.batch) or batches.takes(call.request))
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
        self.under_way.add(call)
        self.slow_at = min(self.slow_at, call.began + call.limit)
        if ours:
            self._make(call)  # the model computes and never waits, so a thread would gain nothing
        elif batches and batched:
            finish, again = partial(self._finish, call), partial(self._again, call)
            sent = (call.key, call.request, call.endpoint, call.url)
            batches.join(Joined(*sent, finish, again, call.batch))
            call.limiter.sends()
        else:
            try:
                THREADS.start(partial(self._make, call))
            except RuntimeError:  # the system has no thread left
                self.cancel(call)
                raise
        return True

    def slow(self, now: float) -> list[PendingCall]:
        """The calls whose attempts have had no reply within the time that the run waits for one."""
        if now <= self.slow_at:  # usually; checking all attempts after each reply would be slow
            return []
        slow = [call for call in self.under_way if now > call.began + call.limit]
        ends = (call.began + call.limit for call in self.under_way.difference(slow))
        self.slow_at = min(ends, default=math.inf)
        return slow

    def stop_waiting(self, call: PendingCall) -> None:
        """Free the place that the call's attempt, if one is under way, has in the limiter."""
        if call in self.under_way:
            self.under_way.discard(call)
            call.limiter.end()

    def cancel(self, call: PendingCall) -> None:
        """End an attempt that was not sent."""
        call.running = False
        self._state.budget.settle(call.reserved, None, paid=False)

    def _make(self, call: PendingCall) -> None:
        """Make one attempt, in a thread unless the model runs in this process."""
        call.limiter.sends()
        result = self._result(call, self._state.send)
        if isinstance(result, Completion) and not runs_here(call.request.model):
            self._state.cache.save_then(call.key, partial(self._report, call, result))
        else:
            self._report(call, result)

    def _finish(self, call: PendingCall, send: Send) -> Callable[[BaseException | None], None]:
        """Take the reply from a batch; returns a function that reports it, or the error if it is not stored."""
        return partial(self._report, call, self._result(call, send))

    def _result(self, call: PendingCall, send: Send) -> Result:
        try:
            return _answer(self._state, call, send)
        except BaseException as error:  # noqa: BLE001  the run's thread raises it
            return error

    def _report(
        self, call: PendingCall, result: Result, error: BaseException | None = None
    ) -> None:
        """Hand the result of an attempt to the run, or the error if it could not be stored."""
        result = error or result
        if isinstance(result, Completion):
            self._state.refreshed.add(call.key)
        # `leave` and this block exclude each other, so exactly one of them resolves the call.
        with self._state.lock:
            call.running = False
            abandoned = call.abandoned
        self._ended(call, result)
        if abandoned:
            self._state.resolve(call, result if isinstance(result, Completion) else None)


def _answer(state: CallState, call: PendingCall, send: Send) -> Completion:
    """Send the request, check the reply, and put it into the cache; it is on disk when the cache is saved."""
    request = call.request
    price, paid = None, False
    try:
        reply = send(request, call.key, call.url, call.limit + LATE)
        seconds = time.monotonic() - call.began
        paid, price = True, bill(request.model, reply, request.parameters.get("service_tier"))
        with state.lock:
            call.replied = True
            state.ledger.doubt(-call.doubtful)
    except Refusal as refusal:
        if _may_be_paid(refusal):
            price, paid = call.reserved, True
            state.doubt(call)
        raise
    finally:
        state.budget.settle(call.reserved, price, paid=paid)
    # The provider bills a reply even if it cannot be read, so its cost is recorded before a Refusal.
    answer = Completion(
        "", request.model, usage=read_usage(reply) or Usage(), cost=price, key=call.key
    )
    try:
        text, reason = answer_of(reply)
    except Refusal:
        state.ledger.paid(request, answer)
        raise
    answer = with_fault(replace(answer, text=text, finish_reason=reason))
    state.ledger.paid(request, answer)
    stored = call_of(request, call.key, call.endpoint, answer, reply, seconds)
    state.cache.put(stored, replace=state.refresh, save=False)
    return answer


def _may_be_paid(refusal: Refusal) -> bool:
    """Whether the request reached its provider, who may have charged for a reply that did not arrive whole."""
    names = {type(error).__name__ for error in causes(refusal)}
    sent = not names & {"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror"}
    return sent and refusal.fault in {"connection", "timeout", "malformed"}
