"""The client of a worker's lab: models of ours answer here, and the driver asks the others."""

from collections.abc import Sequence
from contextlib import suppress

import orjson

from workbench.cluster.rows import Answered, count
from workbench.cluster.worker.link import Link
from workbench.errors import WorkbenchError
from workbench.llm import provider
from workbench.llm.client import Client
from workbench.store import Store
from workbench.types import Completion, Request, Usage


class WorkerClient(Client):
    """A client that answers for models of ours itself, and has the driver ask the others."""

    def __init__(self, store: Store, link: Link) -> None:
        super().__init__(store)
        self._link = link
        self._endpoints: dict[str, str] = {}
        self.answered: list[Answered] = []  # here, and not sent to the driver yet

    def endpoint(self, model: str) -> str:
        """The driver's endpoint: keys made here are the driver's keys."""
        if model not in self._endpoints:
            self._endpoints[model] = self._link.call("endpoint", model)
        return self._endpoints[model]

    def is_here(self, model: str) -> bool:
        """Whether the worker has the model, in the driver's version."""
        if not provider.is_ours(model):
            return False
        with suppress(WorkbenchError, ImportError, OSError):  # a model that is tuned elsewhere
            return super().endpoint(model) == self.endpoint(model)
        return False

    def complete_many(self, requests: Sequence[Request]) -> list[Completion]:
        """The answers to the requests, in their order."""
        here = [index for index, request in enumerate(requests) if self.is_here(request.model)]
        there = [index for index in range(len(requests)) if index not in set(here)]
        answers = dict(zip(here, super().complete_many([requests[i] for i in here]), strict=True))
        for index, answer in answers.items():
            asked = requests[index]
            tags = (asked.prompt, asked.question, asked.system, asked.model)
            usage = (answer.usage.input, answer.usage.output, answer.cost)
            self.answered.append((*tags, *usage, answer.cached, answer.fault))
        if there:
            replies = self._link.call("ask", orjson.dumps([requests[i] for i in there]))
            for index, reply in zip(there, orjson.loads(replies), strict=True):
                answers[index] = Completion(**reply | {"usage": Usage(**reply["usage"])})
                count(self.ledger, requests[index], answers[index])
        return [answers[index] for index in range(len(requests))]

    def take_answered(self) -> list[Answered]:
        """The calls that were answered here since the last time, for the driver's ledger."""
        taken = list(self.answered)
        del self.answered[: len(taken)]
        return taken
