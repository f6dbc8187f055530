"""One attempt at a call: sent, checked, priced, and on disk before it is seen.

The reply is stored by the thread that made the attempt. So whoever stops waiting for it, at a deadline or
with Ctrl-C, loses nothing that still comes back, and whoever asks for the same meanwhile waits for the same
attempt. The threads are daemons and keep no process alive.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from workbench.llm.budget import Budget, Ledger, cost
from workbench.llm.cache import FILTERED, Cache, Call
from workbench.llm.claims import Claims
from workbench.llm.limits import Limiter
from workbench.llm.provider import Refusal, Reply, Send, is_ours
from workbench.types import Completion, Request, Usage


@dataclass(eq=False, slots=True)
class Ask:
    """A key on its way to an answer."""

    key: str
    request: Request
    endpoint: str
    url: str
    limiter: Limiter
    places: list[int]
    leads: bool = False  # others of this process wait for this ask
    ours: bool = False  # and those of other processes: the claim is held
    attempts: int = 0
    throttled: int = 0  # attempts that met a 429; they are not counted as failures
    began: float = 0.0
    limit: float = 0.0  # seconds for the attempt under way
    deadline: float = 0.0  # set by the first attempt
    threads: int = 0
    orphan: bool = False  # its run has ended; the last thread sees to what is left


@dataclass(slots=True)
class Desk:
    """What all runs of one client share."""

    cache: Cache
    claims: Claims
    ledger: Ledger
    budget: Budget
    send: Send
    refresh: bool
    timeout: float
    deadline: float
    retries: int
    refreshed: set[str] = field(default_factory=set)
    stopped: threading.Event = field(default_factory=threading.Event)
    flying: dict[str, list[Callable[[Completion | None], None]]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def look(self, key: str) -> Completion | None:
        """The stored answer; none while it is still to be refreshed."""
        if self.refresh and key not in self.refreshed:
            return None
        return self.cache.get(key)

    def follow(self, key: str, bell: Callable[[Completion | None], None]) -> bool:
        """Whether a run of this process makes that call already; its end then rings the bell."""
        with self.lock:
            if key in self.flying:
                self.flying[key].append(bell)
                return True
            self.flying[key] = []
            return False

    def land(self, ask: Ask, end: Completion | None) -> None:
        """The call that this ask leads has ended, with an answer, a failure, or not at all."""
        if not ask.leads:
            return
        ask.leads = False
        if ask.ours and (end is None or end.fault) and not is_ours(ask.request.model):
            self.claims.release(ask.key)
        with self.lock:
            bells = self.flying.pop(ask.key, [])
        for bell in bells:
            bell(end)

    def attempt(self, ask: Ask, reserved: float | None) -> Completion:
        """Send it, check the reply, and keep it."""
        request = ask.request
        price, paid = None, False
        try:
            reply = self.send(request, ask.key, ask.url, ask.limit)
            seconds = time.monotonic() - ask.began
            paid, usage = True, _usage(reply)
            if usage or is_ours(request.model):
                price = cost(request.model, usage or Usage())
        finally:
            self.budget.settle(reserved, price, paid=paid)
        usage = usage or Usage()
        answer = Completion("", request.model, "", usage, price, ask.key)
        try:
            text, reason = _answer(reply)
        except Refusal:
            self.ledger.paid(request, answer)
            raise
        answer = replace(answer, text=text, finish_reason=reason)
        if reason == "content_filter":
            answer = replace(answer, fault="filtered", error=FILTERED)
        self.ledger.paid(request, answer)
        self.cache.put(
            Call(
                key=ask.key,
                text=text,
                finish_reason=reason,
                usage=usage,
                cost=price,
                endpoint=ask.endpoint,
                model=request.model,
                messages=request.messages,
                parameters=request.parameters,
                sample=request.sample,
                prompt=request.prompt,
                reply=reply,
                seconds=seconds,
                created=time.time(),
            ),
            again=self.refresh,
        )
        self.refreshed.add(ask.key)
        return answer


def _usage(reply: Reply) -> Usage | None:
    if not (usage := reply.get("usage")):
        return None
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return Usage(usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0, cached)


def _answer(reply: Reply) -> tuple[str, str]:
    """The text of a reply, taken out of it, and why it ends there."""
    if not reply.get("choices"):
        raise Refusal("empty", "the reply has no choices")
    choice = reply["choices"][0]
    message = choice.get("message") or {}
    reason = choice.get("finish_reason") or "stop"
    text = message.pop("content", None)
    refused = (message.get("provider_specific_fields") or {}).get("refusal")
    if reason == "content_filter" or refused:
        return text or refused or "", "content_filter"
    if text is None:
        raise Refusal("empty", f"the reply has no content (finish_reason {reason!r})")
    return text, reason
