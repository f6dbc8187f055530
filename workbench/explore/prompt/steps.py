"""The calls that a system makes for a question, recorded from the cache; and edits of a call.

Recording costs nothing: the system runs with a client that only serves cached replies, and stops at the first
call that is not cached. A prompt is rendered from the data that its step was given, which comes from the
context alone, so that gold cannot get into it.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.errors import CacheMissError
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.llm.money import Ledger
from workbench.prompts.prompt import Prompt, load
from workbench.systems.system import System, select, stages, trials_of
from workbench.types import Context, Question, Request, Selection


@dataclass(frozen=True, slots=True)
class Step:
    """A call, and the data its prompt was rendered from."""

    request: Request
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Recording:
    """The steps of a system for a question.

    `contexts` has the context after retrieval and after each pruning step. `missing` names the call that was
    not cached; `steps` then ends with the calls made before the system stopped.
    """

    question: Question
    steps: tuple[Step, ...]
    contexts: tuple[Context, ...]
    selection: Selection | None
    missing: str = ""


def record(system: System, question: Question, lab: Lab, *, pay: bool = False) -> Recording:
    """Run a system on a question from the cache; with `pay`, calls that are not cached are made."""
    client = lab.client if pay else _cached_only(lab.client)
    steps: list[Step] = []

    def watch(request: Request, data: Mapping[str, Any]) -> None:
        steps.append(Step(request, data))
        if lab.watch:
            lab.watch(request, data)

    watched = replace(lab, client=client, watch=watch)
    contexts: list[Context] = []
    selection, missing = None, ""
    try:
        for context in stages(system, question, watched):
            contexts.append(context)  # noqa: PERF402  contexts before a miss are kept
        trials = trials_of(system, contexts[-1], watched)
        selection = select(system, contexts[-1], watched, trials)
    except CacheMissError as error:
        missing = str(error)
    read = tuple(_read(watched, step) for step in steps)
    return Recording(question, read, tuple(contexts), selection, missing)


def _read(lab: Lab, step: Step) -> Step:
    """The call whose reply the system read: the one with more room, if the first reply was cut off."""
    reply = lab.client.cached(step.request)
    longer = reply and lab.longer(step.request, reply)
    return Step(longer, step.data) if longer and lab.client.cached(longer) else step


def _cached_only(client: Client) -> Client:
    offline = copy.copy(client)
    offline.offline = True
    offline.ledger = Ledger()  # looking at cached calls is not counted as their use
    return offline


@dataclass(frozen=True, slots=True)
class Edit:
    """Changes to a call; a field that is None changes nothing.

    `source` is the template's text, `data` the changed texts of the context by name.
    """

    source: str | None = None
    model: str | None = None
    parameters: Mapping[str, Any] | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, step: Step, prompts: Path | None = None) -> Step:
        """The step with the edit applied."""
        request = step.request
        data = {**step.data, **self.data}
        own = self.source is not None
        prompt = Prompt(self.source or "", request.prompt) if own else load(request.prompt, prompts)
        messages = prompt.messages(**data)
        parameters = request.parameters if self.parameters is None else self.parameters
        model = self.model or request.model
        return Step(replace(request, messages=messages, model=model, parameters=parameters), data)
