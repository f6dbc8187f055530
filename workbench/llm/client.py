"""Answer requests from the cache, and else from the models' providers.

A cached answer costs a hash and a lookup, and imports no provider's code. Other requests go to a `CallRunner`,
which stores each answer before it returns it.
"""

import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace

from workbench.errors import BudgetError, CacheMissError, ProviderError, StoreError
from workbench.llm import provider
from workbench.llm.budget import Budget, Ledger
from workbench.llm.cache.keys import request_key
from workbench.llm.cache.table import Cache
from workbench.llm.calls.batches.gathering import Batches
from workbench.llm.calls.batches.joined import MOST
from workbench.llm.calls.batches.table import BatchTable
from workbench.llm.calls.call_state import CallState, PendingCall
from workbench.llm.calls.limits import Limiter
from workbench.llm.calls.locks import CallLocks
from workbench.llm.calls.runner import CallRunner
from workbench.llm.parameters import Parameters
from workbench.llm.remote.batches import BatchService
from workbench.store import Store
from workbench.types import Completion, Request


class Client:
    """Answers requests from the cache, and sends the others to their providers.

    `store` is the cache. `send` makes one call; tests replace it by `Scripted`. `api_base` is an address,
    or one for each model; by default the environment's PROVIDER_API_BASE or PROVIDER_BASE_URL, read when
    a model is first used. With `offline`, a request that is not cached raises `CacheMissError`. With
    `refresh`, every request is asked once more and replaces its cached answer. `budget` limits what is
    paid. `timeout` is how many seconds a run waits for a reply, and `deadline` for all attempts of a
    request; a reply that is slower fails the request and is stored when it comes. `retries` is how many
    failures are followed by another attempt. At most `at_once` calls per model are under way,
    and fewer where the provider takes fewer.

    With `batch`, calls are sent in batches, at half the price, if LiteLLM supports batches of their provider;
    tests pass a `BatchService`.

    `ledger` counts what this client asked and paid.
    """

    def __init__(
        self,
        store: Store,
        *,
        send: provider.Send = provider.send,
        api_base: str | Mapping[str, str] = "",
        offline: bool = False,
        refresh: bool = False,
        budget: Budget | None = None,
        timeout: float = 600.0,
        deadline: float = 1200.0,
        retries: int = 4,
        at_once: int = 1024,
        batch: bool | BatchService = False,
    ) -> None:
        self.store = store
        self.ledger = Ledger()
        self.offline = offline
        self.at_once = at_once
        self.send = send
        cache, locks = Cache(store), CallLocks(store)
        batches = None
        if batch or BatchTable(store).has_unread():
            service = BatchService() if isinstance(batch, bool) else batch
            batches = Batches(cache, locks, service, gathers=bool(batch))
        self._state = CallState(
            cache,
            locks,
            Parameters(store, self.ledger),
            self.ledger,
            budget or Budget(),
            send,
            batches,
            refresh=refresh,
            timeout=timeout,
            deadline=math.inf if batch else deadline,
            retries=retries,
        )
        self._api_base = api_base
        self._models: dict[str, tuple[str, str, Limiter]] = {}
        self._lock = threading.Lock()

    def key(self, request: Request) -> str:
        return request_key(self.fit(request), self.endpoint(request.model))

    def fit(self, request: Request) -> Request:
        """The request as it is sent: without the parameters that its model is known to refuse."""
        return self._state.parameters.fit(request, self.endpoint(request.model))

    def endpoint(self, model: str) -> str:
        """The endpoint in the keys of the model's calls: its server's address or its version."""
        return (self._models.get(model) or self._model(model))[0]

    def cached(self, request: Request) -> Completion | None:
        """The cached answer or None; the ledger does not count it."""
        return self._state.cached(self.key(request))

    def complete(self, request: Request) -> Completion:
        return self.complete_many([request])[0]

    def ask_again(self, request: Request) -> Completion:
        """A new answer to one request, which replaces the cached one."""
        refreshing = copy(self)
        refreshing._state = replace(self._state, refresh=True, refreshed=set())  # noqa: SLF001  a Client
        return refreshing.complete(request)

    def complete_many(self, requests: Sequence[Request]) -> list[Completion]:
        """The answers to the requests, in their order. A request that fails has a `fault`; the rest go on.

        A refused key, a reached budget and a full disk end the run: they are raised. Answers that arrived
        are cached, so running the same again asks only for the missing ones.
        """
        answers: dict[int, Completion] = {}
        calls = self._look_up(dict(enumerate(requests)), answers)
        if calls and self._probe(calls.values()):
            open_requests = {i: requests[i] for call in calls.values() for i in call.indices}
            calls = self._look_up(open_requests, answers)
        if calls:
            answers |= self._make(calls, len(requests))
        return [answers[index] for index in range(len(requests))]

    def _look_up(
        self, requests: Mapping[int, Request], answers: dict[int, Completion]
    ) -> dict[str, PendingCall]:
        """Add the cached answers to `answers`; returns the calls for the other requests, by key."""
        calls: dict[str, PendingCall] = {}
        fitted = {index: self.fit(request) for index, request in requests.items()}
        keys = {
            index: request_key(request, self.endpoint(request.model))
            for index, request in fitted.items()
        }
        found = self._state.cached_many(list(keys.values()))
        for index, request in fitted.items():
            key = keys[index]
            if key in found:
                answers[index] = found[key]
                self.ledger.hit(request, found[key])
            elif key in calls:
                calls[key].indices.append(index)
            else:
                calls[key] = PendingCall(key, request, *self._models[request.model], [index])
        return calls

    def _probe(self, calls: Iterable[PendingCall]) -> bool:
        """Whether LiteLLM refuses parameters of these calls, which are then left out of their requests.

        LiteLLM is imported before any call's time begins, as that takes seconds.
        """
        for call in calls:
            provider.check(call.request)
        remote = [call for call in calls if not provider.runs_here(call.request.model)]
        if not remote or self._state.send is not provider.send:
            return False
        provider.load()
        probe = self._state.parameters.probe
        learned = [probe(call.request, call.endpoint, call.url) for call in remote]
        return any(learned)

    @property
    def budget(self) -> Budget:
        return self._state.budget

    @property
    def room(self) -> int:
        """The number of further questions whose calls the providers would take soon."""
        limiters = [limiter for _, _, limiter in list(self._models.values())]
        return min((limiter.room for limiter in limiters), default=1)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """While the block runs, no call is sent; runs in other threads store replies that still arrive, and end."""
        self._state.stopped.set()
        for wake in list(self._state.wake_ups):
            wake()
        yield
        self._state.stopped.clear()  # skipped after a second Ctrl-C, when those threads may still run

    def _model(self, model: str) -> tuple[str, str, Limiter]:
        """The model's endpoint as in keys, its address, and its limiter."""
        given = self._api_base if isinstance(self._api_base, str) else self._api_base.get(model, "")
        url = provider.address(model, given)
        batches = self._state.batches
        if batches and not provider.runs_here(model) and batches.gathers(model):
            limiter = Limiter(MOST, first=MOST)
        else:
            limiter = Limiter(self.at_once)
        with self._lock:
            return self._models.setdefault(model, (provider.endpoint(model, url), url, limiter))

    def _make(self, calls: dict[str, PendingCall], total: int) -> dict[int, Completion]:
        if self.offline:
            first = next(iter(calls.values()))
            raise CacheMissError(
                f"offline, and {len(calls):,} of {total:,} requests have no answer in "
                f"{self.store.path}; the first: prompt {first.request.prompt!r}, question "
                f"{first.request.question!r}, {first.key}; ask without `offline`, or import a cache that has them"
            )
        runner = CallRunner(self._state, calls)
        try:
            return runner.finish()
        except (ProviderError, BudgetError, StoreError) as error:
            missing = sum(len(call.indices) for call in runner.open.values())
            raise type(error)(
                f"{error}. {total - missing:,} of {total:,} answers are cached: "
                "fix this and run the same again to ask for the others"
            ) from error
