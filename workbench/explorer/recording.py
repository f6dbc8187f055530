"""The calls that a system makes for a question, recorded from the cache; and edits of a call.

The system itself runs, offline, up to the first call that is not cached. So the page shows what is
sent, and costs nothing. An edited prompt is rendered from the data that its step was given, in
which there is no gold.
"""

import copy
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any

from workbench import replies
from workbench.errors import CacheMissError
from workbench.lab import Lab
from workbench.llm.calls import runs_here
from workbench.llm.client import Client
from workbench.llm.money import LETTERS, Ledger, Preview, estimate
from workbench.prompts import Prompt, load, names, sections
from workbench.systems.system import System, rebuilt, select, stages, trials_of
from workbench.types import Completion, Context, Message, Question, Request, Selection

Edit = Mapping[str, Any]  # what is changed: source, model, temperature, data


@dataclass(frozen=True, slots=True)
class Call:
    """A request, the data that its prompt shows, and its cached reply."""

    request: Request
    data: Mapping[str, Any]
    reply: Completion | None = None

    @property
    def verb(self) -> str:
        """The part of the system that makes the call: its prompt's folder."""
        return self.request.prompt.partition("/")[0]

    @property
    def has_query(self) -> bool:
        """Whether its reply proposes or repairs a query."""
        return self.verb in {"generate", "fix"}

    @property
    def opening(self) -> tuple[Message, ...]:
        """The messages before the first reply, which are those of the template."""
        messages = self.request.messages
        return tuple(
            takewhile(lambda message: message["role"] != "assistant", messages)
        )

    @property
    def is_later_turn(self) -> bool:
        """Whether the messages go on after a reply."""
        return len(self.opening) < len(self.request.messages)

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Role and text of each message."""
        messages = []
        for message in self.request.messages:
            text = message["content"]
            if not isinstance(text, str):  # in parts, of which a provider caches one
                text = "".join(part["text"] for part in text)
            messages.append((str(message["role"]).capitalize(), text))
        return messages

    @property
    def text(self) -> str:
        return "\n".join(f"# {role}\n{text}" for role, text in self.messages)

    @property
    def parts(self) -> list[tuple[str, str, str]]:
        """Role, title and text of each section of the prompt."""
        parts = []
        for role, text in self.messages:
            parts += [(role, title, body) for title, body in sections(text)]
        return parts

    @property
    def rate(self) -> float:
        """Tokens for a character of the prompt, by the provider's count if there is one."""
        if self.reply and self.reply.input_tokens and self.text:
            return self.reply.input_tokens / len(self.text)
        return 1 / LETTERS


@dataclass(frozen=True, slots=True)
class Recording:
    """The calls of a system for a question, and the contexts after each step that makes one.

    If the cache lacks calls, `calls` ends with them, and there is no selection.
    """

    question: Question
    calls: tuple[Call, ...]
    contexts: tuple[Context, ...]
    selection: Selection | None

    @property
    def missing(self) -> list[Call]:
        if self.selection:
            return []
        return [call for call in self.calls if call.reply is None]

    @property
    def queries(self) -> dict[str, str]:
        """The query that a reply proposes or repairs, by the call's key.

        Without a selection, there are no candidates, and the queries are read in the replies.
        """
        queries: dict[str, str] = {}
        if self.selection is None:
            for call in self.calls:
                if call.reply and call.has_query:
                    queries[call.reply.key] = sql_in(call.reply.text)
            return queries
        for last in self.selection.trials:
            for trial in last.history:
                keys = trial.candidate.call_keys
                if keys:  # the last call is the one that gave the SQL
                    queries.setdefault(keys[-1], trial.candidate.sql)
        return queries

    def conversation(self, call: Call) -> list[int]:
        """The numbers of the calls that are turns of the conversation of a call."""
        numbers = []
        for number, other in enumerate(self.calls):
            is_same_sample = other.request.sample == call.request.sample
            if is_same_sample and other.opening == call.opening:
                numbers.append(number)
        return numbers


def record(
    system: System, question: Question, lab: Lab, *, pay: bool = False
) -> Recording:
    """Run a system on a question from the cache; `pay` makes the calls that are not cached."""
    seen: list[tuple[Request, Mapping[str, Any]]] = []
    client = lab.client
    if not pay:
        client = copy.copy(client)
        client.offline = True
        client.ledger = Ledger()  # looking at cached calls is not counted as their use
    watched = replace(lab, client=client, watch=lambda *call: seen.append(call))
    contexts: list[Context] = []
    selection = None
    with suppress(CacheMissError):
        for context in stages(system, question, watched):
            contexts.append(context)  # noqa: PERF402  contexts before a miss are kept
        trials = trials_of(system, contexts[-1], watched)
        selection = select(system, contexts[-1], watched, trials)
    calls: list[Call] = []
    data_of_opening: dict[str, Mapping[str, Any]] = {}
    for request, data in seen:
        call = _call(request, data, watched)
        # A later turn shows the data of its conversation's first call.
        first_data = data_of_opening.setdefault(str(call.opening), data)
        if call.is_later_turn:
            call = replace(call, data=first_data)
        calls.append(call)
    return Recording(question, tuple(calls), tuple(contexts), selection)


def _call(request: Request, data: Mapping[str, Any], lab: Lab) -> Call:
    """The call with its cached reply; one that was cut off gives way to its repetition."""
    reply = lab.client.cached(request)
    repeated = lab.longer(request, reply) if reply else None
    if repeated:
        whole_reply = lab.client.cached(repeated)
        if whole_reply:
            return Call(repeated, data, whole_reply)
    return Call(request, data, reply)


def _prompt_name(step: Any) -> str:
    """The name of the prompt that a step asks, "" if it asks none."""
    prompt = getattr(step, "prompt", "")
    return prompt.name if isinstance(prompt, Prompt) else str(prompt)


def _asking_steps(system: System) -> dict[str, Any]:
    """The steps of a system that ask a prompt, by its name."""
    steps = {}

    def visit(step: Any) -> Any:
        if _prompt_name(step):
            steps[_prompt_name(step)] = step
        return step  # as it is: nothing is rebuilt

    rebuilt(system, visit)
    return steps


def template(system: System, name: str, lab: Lab) -> Prompt:
    """The prompt of that name: the system's own, from a cell, or a file's."""
    step = _asking_steps(system).get(name)
    if step is None:
        return load(name, lab.prompts)
    return load(step.prompt, lab.prompts)


def changed(system: System, prompt: str, fields: Mapping[str, Any]) -> System:
    """The system with other fields in the steps that ask this prompt."""

    def change(step: Any) -> Any:
        return replace(step, **fields) if _prompt_name(step) == prompt else step

    return rebuilt(system, change)


def asked_prompts(system: System, folder: Path | None) -> dict[str, dict[str, Any]]:
    """The prompts that the steps of a system ask: source, model and temperature, by name."""
    asked: dict[str, dict[str, Any]] = {}
    for name, step in _asking_steps(system).items():
        asked[name] = {
            "source": load(step.prompt, folder).source,
            "model": getattr(step, "model", ""),
            "T": getattr(step, "temperature", None),
        }
    for name in names(folder) if folder else ():
        asked.setdefault(name, {"source": load(name, folder).source})
    return asked


def edited(call: Call, prompt: Prompt, edit: Edit) -> Call:
    """The call with another source, model or temperature, or with other texts in its data.

    Of a conversation the first messages are the template's, and its further turns stay as they are.
    """
    request = call.request
    data = {**call.data, **edit.get("data", {})}
    if "source" in edit or "data" in edit:
        changed_prompt = Prompt(edit.get("source", prompt.source), prompt.name)
        turns = request.messages[len(call.opening) :]
        messages = (*changed_prompt.messages(**data), *turns)
        request = replace(request, messages=messages)
    if "temperature" in edit:
        parameters = {**request.parameters, "temperature": edit["temperature"]}
        request = replace(request, parameters=parameters)
    if "model" in edit:
        request = replace(request, model=edit["model"])
    return Call(request, data)


@lru_cache(maxsize=1000)
def sql_in(reply: str) -> str:
    """The query in a reply, "" without one."""
    for read in (replies.sql_object, replies.last_sql):
        with suppress(replies.Unread):
            return read(reply)
    return ""


def cost(client: Client, calls: list[Call], *, is_least: bool = False) -> str:
    """The price of calls as a button says it: cached, free, or a range of dollars.

    With `is_least`, there are more calls, which are not known yet.
    """
    if all(client.cached(call.request) for call in calls):
        return "cached"
    requests = [call.request for call in _paid(calls)]
    if not requests:
        return "free"
    preview = client.preview(requests)
    if is_least and not preview.unpriced:
        return f"from {amount(preview.low, preview.high)}"
    return amount(preview.low, preview.high, preview.unpriced)


def cost_of_more(client: Client, calls: list[Call], times: int) -> str:
    """The price of so many new calls like each of these: free, or a range of dollars."""
    paid = _paid(calls)
    if not paid:
        return "free"
    more = Preview()
    for call in paid:
        tokens = call.rate * len(call.text)
        more += estimate(client.cache, call.request, tokens, times)
    return amount(more.low, more.high, more.unpriced)


def _paid(calls: list[Call]) -> list[Call]:
    return [call for call in calls if not runs_here(call.request.model)]


def amount(low: float, high: float, unpriced: float = 0) -> str:
    """A range of dollars with as many digits as its higher end needs."""
    if unpriced:
        return "price unknown"
    digits = 4
    if high >= 0.1:
        digits = 2
    elif high >= 0.01:
        digits = 3
    lowest, highest = f"{low:.{digits}f}", f"{high:.{digits}f}"
    return f"${highest}" if lowest == highest else f"${lowest} to {highest}"
