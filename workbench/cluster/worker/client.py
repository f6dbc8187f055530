"""The client of a worker's lab: models of ours answer here, and the driver asks the others.

What the driver's cache has is not computed again, and what is computed counts for the driver's budget.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import orjson

from workbench.cluster.call_keys import KnownKeys
from workbench.cluster.rows import Answered, count
from workbench.cluster.worker.link import Link
from workbench.errors import WorkbenchError
from workbench.llm import provider
from workbench.llm.budget import Budget
from workbench.llm.calls.call_state import PendingCall
from workbench.llm.client import Client
from workbench.store import Store
from workbench.types import Completion, Request, Usage


class DriverBudget(Budget):
    """The driver's limit on the number of calls. A call counts when it begins, and for good if its worker is lost."""

    def __init__(self, link: Link) -> None:
        super().__init__()
        self._link = link

    def reserve(self, amount: float | None, model: str) -> bool:
        """Count a call; False if there is room only once calls under way have failed."""
        return bool(self._link.call("reserve", amount, model))

    def settle(self, amount: float | None, cost: float | None, *, paid: bool) -> None:
        """Do nothing: the call is counted."""


class WorkerClient(Client):
    """A client that answers for models of ours itself, and has the driver ask the others.

    `counted` says that the driver's budget limits the number of calls.
    """

    def __init__(self, store: Store, link: Link, *, counted: bool) -> None:
        super().__init__(store, budget=DriverBudget(link) if counted else None)
        self._link = link
        self._endpoints: dict[str, str] = {}
        self._known = KnownKeys()
        self._learned = False  # in this task, which keys the driver's cache has
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
                answers[index] = _completion(reply)
                count(self.ledger, requests[index], answers[index])
        return [answers[index] for index in range(len(requests))]

    def _look_up(
        self, requests: Mapping[int, Request], answers: dict[int, Completion]
    ) -> dict[str, PendingCall]:
        """Look in the driver's cache, too."""
        calls = super()._look_up(requests, answers)
        if calls and not self._learned:
            self._known.add(self._link.call("keys", self._known.count))
            self._learned = True
        if there := self._known.among(calls):
            for answer in map(_completion, orjson.loads(self._link.call("cached", there))):
                for index in calls.pop(answer.key).indices:
                    answers[index] = answer
                    self.ledger.hit(requests[index], answer)
        return calls

    def end_task(self) -> list[Answered]:
        """The calls that were answered here in a task, for the driver's ledger."""
        self._learned = False
        taken = list(self.answered)
        del self.answered[: len(taken)]
        return taken


def _completion(told: Mapping[str, Any]) -> Completion:
    return Completion(**{**told, "usage": Usage(**told["usage"])})
