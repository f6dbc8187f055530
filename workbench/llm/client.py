"""Asking models: the cache first, their providers for what it does not hold.

A hit costs a hash and a look into the lab book, and imports nothing of any provider. What is not there is
asked for by `calls`, and kept before it is returned.
"""

import copy
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from workbench.errors import BudgetError, CacheMissError, ProviderError, StoreError
from workbench.llm import provider
from workbench.llm.budget import Budget, Ledger
from workbench.llm.cache import Cache, request_key
from workbench.llm.calls import Ask, Desk
from workbench.llm.claims import Claims
from workbench.llm.limits import Limiter
from workbench.llm.run import Run
from workbench.store import Store
from workbench.types import Completion, Request


class Client:
    """Answers requests from a lab book and, where it holds none, from their providers.

    `api_base` is one address, or one for each model; without it the environment's PROVIDER_API_BASE or
    PROVIDER_BASE_URL counts, as it is when a model is first met. `offline` makes a miss an error;
    `refresh` asks everything once more and replaces what is stored. `timeout` bounds an attempt and
    `deadline` a request with all its attempts, in seconds; `at_once` the calls under way per model.
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
        timeout: float = 120.0,
        deadline: float = 600.0,
        retries: int = 4,
        at_once: int = 64,
    ) -> None:
        self.store = store
        self.ledger = Ledger()
        self.offline = offline
        self.at_once = at_once
        self._desk = Desk(
            Cache(store),
            Claims(store),
            self.ledger,
            budget or Budget(),
            send,
            refresh=refresh,
            timeout=timeout,
            deadline=deadline,
            retries=retries,
        )
        self._api_base = api_base
        self._models: dict[str, tuple[str, str, Limiter]] = {}
        self._lock = threading.Lock()

    def key(self, request: Request) -> str:
        """The key under which the request's answer is kept."""
        return request_key(
            request, (self._models.get(request.model) or self._model(request.model))[0]
        )

    def endpoint(self, model: str) -> str:
        """What tells the model from others of its name: the server's address, or our model's version."""
        return self._model(model)[0]

    def held(self, request: Request) -> Completion | None:
        """The stored answer, uncounted; None where a run would have to ask."""
        return self._desk.look(self.key(request))

    def complete(self, request: Request) -> Completion:
        """The answer to one request."""
        key = self.key(request)
        found = self._desk.look(key)
        if found is None:
            return self._ask({key: self._open(key, request, 0)}, 1)[0]
        self.ledger.hit(request, found)
        return found

    def ask_again(self, request: Request) -> Completion:
        """A fresh answer to one request, which replaces what is stored."""
        again = copy.copy(self)
        again._desk = replace(self._desk, refresh=True, refreshed=set())  # noqa: SLF001  its own kind
        return again.complete(request)

    def complete_many(self, requests: Sequence[Request]) -> list[Completion]:
        """The answers to many, in their order. A request that fails has a `fault` and stops no other.

        What ends the run is raised: a key that is refused, a budget that is reached, a disk that is full.
        Answers that arrived are kept, so running the same again asks only for what is missing.
        """
        answers: dict[int, Completion] = {}
        asks: dict[str, Ask] = {}
        for place, request in enumerate(requests):
            key = self.key(request)
            if found := self._desk.look(key):
                answers[place] = found
                self.ledger.hit(request, found)
            elif key in asks:
                asks[key].places.append(place)
            else:
                asks[key] = self._open(key, request, place)
        if asks:
            answers |= self._ask(asks, len(requests))
        return [answers[place] for place in range(len(requests))]

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Meanwhile nothing is sent: runs of other threads keep what comes back in a moment, and end."""
        self._desk.stopped.set()
        yield
        self._desk.stopped.clear()  # not after a second Ctrl-C: their threads may still be there

    def _model(self, model: str) -> tuple[str, str, Limiter]:
        """A model's endpoint, as it stands in keys, its address, and the limiter of both."""
        given = self._api_base if isinstance(self._api_base, str) else self._api_base.get(model, "")
        url = provider.address(model, given)
        with self._lock:
            return self._models.setdefault(
                model, (provider.endpoint(model, url), url, Limiter(most=self.at_once))
            )

    def _open(self, key: str, request: Request, place: int) -> Ask:
        return Ask(key, request, *self._models[request.model], [place])

    def _ask(self, asks: dict[str, Ask], total: int) -> dict[int, Completion]:
        for ask in asks.values():
            provider.check(ask.request)
        if self.offline:
            first = next(iter(asks.values()))
            raise CacheMissError(
                f"offline, and {len(asks):,} of {total:,} requests have no answer in "
                f"{self.store.path}; the first: prompt {first.request.prompt!r}, question "
                f"{first.request.question!r}, {first.key}"
            )
        if self._desk.send is provider.send:
            provider.load()  # before any clock runs
        run = Run(self._desk, asks)
        try:
            return run.finish()
        except (ProviderError, BudgetError, StoreError) as error:
            missing = sum(len(ask.places) for ask in run.open.values())
            raise type(error)(
                f"{error}. {total - missing:,} of {total:,} answers are here and kept: "
                "put this right and run the same again, and only the others are asked for"
            ) from error
