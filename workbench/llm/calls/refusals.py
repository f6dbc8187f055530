"""Decide what follows a refused attempt: another attempt, another request, a failure, or the end of the run."""

import re
import time
from dataclasses import dataclass

from workbench.errors import ProviderError
from workbench.llm.calls.call_state import CallState, PendingCall
from workbench.llm.calls.pauses import LONGEST_WAIT, pause
from workbench.llm.provider import Refusal, runs_here
from workbench.llm.remote.refusals import UnknownModel
from workbench.llm.remote.suggestions import suggestion
from workbench.types import Completion, Request

REJECTIONS = 5  # calls of one prompt rejected for one reason, without an answer, that end a run


@dataclass(frozen=True, slots=True)
class Again:
    """The call is sent again after `pause` seconds; one that met a 429 waits for its model's limiter instead."""

    pause: float
    first: bool = False


def consequence(
    state: CallState, call: PendingCall, refusal: Refusal
) -> Again | Request | Completion:
    """The next step: another attempt, the request without the refused parameter, or the call's failure.

    A refusal that every further call would meet is raised as `ProviderError`.
    """
    throttled = refusal.fault == "rate_limit"
    call.throttled += throttled
    failures = call.attempts - call.throttled
    wait = min(refusal.wait, LONGEST_WAIT)
    if throttled:
        call.limiter.throttled(call.allowed, wait)
        wait = call.limiter.opens_in()
    else:
        call.limiter.accepted(call.allowed)
        wait = pause(failures, wait)
    # Another attempt would be as slow, and would be paid, too.
    slow_and_paid = refusal.fault == "timeout" and call.doubtful
    again = (
        refusal.again
        and not slow_and_paid
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
        model = call.request.model
        names = suggestion(model) if isinstance(refusal, UnknownModel) else ""
        raise ProviderError(f"{model} refused: {refusal}" + (f" ({names})" if names else ""))
    if again:
        return Again(0.0, first=True) if throttled else Again(wait)
    if refitted:
        return state.parameters.fit(call.request, call.endpoint)
    if refusal.fault == "rejected" and not runs_here(call.request.model):
        _count_rejection(state, call, refusal)
    return failure(call, refusal)


def failure(call: PendingCall, refusal: Refusal) -> Completion:
    """The refusal as the call's result."""
    error = f"{refusal} (tried {call.attempts} times)" if call.attempts > 1 else str(refusal)
    return Completion("", call.request.model, key=call.key, fault=refusal.fault, error=error)


def _count_rejection(state: CallState, call: PendingCall, refusal: Refusal) -> None:
    """End the run if a model rejects several calls of one prompt for one reason and has answered none.

    Words with digits in a reason are ignored, since they may be the request's number.
    """
    request = call.request
    reason = re.sub(r"\S*\d\S*", "", str(refusal))
    state.rejections[request.model, request.prompt, reason] += 1
    if state.rejections[request.model, request.prompt, reason] < REJECTIONS:
        return
    if not state.cache.answered(request, call.endpoint):
        raise ProviderError(
            f"{request.model} rejected {REJECTIONS} calls of the prompt {request.prompt!r} for one "
            f"reason and answered none: {refusal}. If a parameter is the reason, set it with "
            "--parameter NAME=VALUE or under `parameters` in the experiment (null leaves it out)"
        )
