"""The client of a worker's lab: the worker runs models of ours, and the driver asks the others.

The worker computes no call that the driver's cache has.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import orjson

from workbench.cluster.call_keys import KnownKeys
from workbench.cluster.worker.link import Link
from workbench.errors import WorkbenchError
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.keys import runs_here
from workbench.types import Completion, Request


class WorkerClient(Client):
    """A client that runs models of ours itself, and has the driver ask the others."""

    def __init__(self, cache: Cache, link: Link) -> None:
        super().__init__(cache)
        self._link = link
        self._endpoints: dict[str, str] = {}
        self._known = KnownKeys()
        self._keys_read = False  # whether this task has read the new keys of the driver's cache
        # Calls that this worker answered and has not sent to the driver yet.
        self.answered: list[tuple[Request, Completion]] = []

    def endpoint(self, model: str) -> str:
        """The driver's endpoint of the model, so that calls have the same keys on both."""
        if model not in self._endpoints:
            self._endpoints[model] = self._link.call("endpoint", model)
        return self._endpoints[model]

    def has(self, model: str) -> bool:
        """Whether the worker has the model, in the driver's version."""
        if not runs_here(model):
            return False
        with suppress(WorkbenchError, ImportError, OSError):  # a tuned model of another machine
            return super().endpoint(model) == self.endpoint(model)
        return False

    def complete_many(self, requests: Sequence[Request]) -> list[Completion]:
        """The answers to the requests, in their order."""
        own = [index for index, request in enumerate(requests) if self.has(request.model)]
        drivers = [index for index in range(len(requests)) if index not in set(own)]
        answers = dict(zip(own, super().complete_many([requests[i] for i in own]), strict=True))
        for index, answer in answers.items():
            # The driver's ledger learns of these calls only from this list, and needs no texts.
            request = replace(requests[index], messages=(), parameters={})
            self.answered.append((request, replace(answer, text="")))
        if drivers:
            replies = self._link.call("ask", orjson.dumps([requests[i] for i in drivers]))
            for index, reply in zip(drivers, orjson.loads(replies), strict=True):
                answers[index] = Completion(**reply)
                self.ledger.add(requests[index], answers[index])
        return [answers[index] for index in range(len(requests))]

    def _missing(self, calls: dict[str, Request], total: int) -> dict[str, Completion]:
        """Look in the driver's cache, too."""
        if not self._keys_read:
            self._known.add(self._link.call("keys", self._known.count))
            self._keys_read = True
        found: dict[str, Completion] = {}
        if cached := self._known.among(calls):
            replies = orjson.loads(self._link.call("cached", cached))
            found = {reply["key"]: Completion(**reply) for reply in replies}
        rest = {key: request for key, request in calls.items() if key not in found}
        return found | (super()._missing(rest, total) if rest else {})

    def end_task(self) -> bytes:
        """End a task; returns the calls that this worker answered, as JSON, for the driver's ledger."""
        self._keys_read = False
        taken = list(self.answered)
        del self.answered[: len(taken)]
        return orjson.dumps(taken)
