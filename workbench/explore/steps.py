"""The calls that a system makes for a question, recorded from the lab book; and one of them, edited.

Recording pays nothing: the system is run with a client that only serves what is held, and stops at the first
call that is not. A prompt is rendered from the data that its step was given, which the context alone
makes: gold has no way into it.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.errors import CacheMissError
from workbench.lab import Lab
from workbench.llm.budget import Ledger
from workbench.llm.client import Client
from workbench.prompts.prompt import load
from workbench.prompts.template import parse
from workbench.systems.system import System, attempt, stages
from workbench.types import Context, Question, Request, Selection


@dataclass(frozen=True, slots=True)
class Step:
    """One call, and the data its prompt was rendered from."""

    request: Request
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Recording:
    """What a system did with a question. `contexts` stand after retrieval and after each step of pruning.

    `missing` says which call the lab book lacked; the steps then end with those that wait for it.
    """

    question: Question
    steps: tuple[Step, ...]
    contexts: tuple[Context, ...]
    selection: Selection | None
    missing: str = ""


def record(system: System, question: Question, lab: Lab, *, pay: bool = False) -> Recording:
    """The steps of a system for a question; with `pay`, what the lab book lacks is asked for."""
    client = lab.client if pay else _held_only(lab.client)
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
            contexts.append(context)  # noqa: PERF402  those before a miss count
        trials = attempt(system, contexts[-1], watched)
        selection = system.select(watched, contexts[-1], trials)
    except CacheMissError as error:
        missing = str(error)
    return Recording(question, tuple(steps), tuple(contexts), selection, missing)


def _held_only(client: Client) -> Client:
    quiet = copy.copy(client)
    quiet.offline = True
    quiet.ledger = Ledger()  # looking costs nothing and is counted nowhere
    return quiet


@dataclass(frozen=True, slots=True)
class Edit:
    """What to change of a call: the template's source, the model, parameters, data of the context.

    What is None or not named stays.
    """

    source: str | None = None
    model: str | None = None
    parameters: Mapping[str, Any] | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, step: Step, prompts: Path | None = None) -> Step:
        """The step as it would be made with the edit."""
        request = step.request
        data = {**step.data, **self.data}
        prompt = load(request.prompt, prompts)
        messages: Sequence[Any]
        if self.source is None:
            messages = prompt.messages(**data)
        else:
            named = Path(f"{request.prompt}.md")  # so that errors name the prompt and the line
            system, user = parse(self.source, named).render(data)
            messages = ({"role": "system", "content": system}, {"role": "user", "content": user})
        parameters = request.parameters if self.parameters is None else self.parameters
        model = self.model or request.model
        return Step(replace(request, messages=messages, model=model, parameters=parameters), data)
