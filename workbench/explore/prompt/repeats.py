"""The samples of one prompt as one row, with the number of samples that gave each answer."""

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache

from workbench import replies
from workbench.explore.prompt.steps import Step
from workbench.llm.client import Client

_LONG = 90  # characters of an answer in a list


@lru_cache(maxsize=1000)
def sql_in(reply: str) -> str:
    """The query in a reply, "" without one; the cache spares reading it again when its question is picked again."""
    for read in (replies.sql_object, replies.last_sql):
        with suppress(replies.Unread):
            return read(reply)
    return ""


def grouped(steps: Sequence[Step]) -> list[list[int]]:
    """The indexes of the steps, grouped by prompt: sample 0 and the later samples that follow it are one group."""
    groups: list[list[int]] = []
    for index, step in enumerate(steps):
        before = steps[groups[-1][-1]].request if groups else None
        request = step.request
        if before and before.prompt == request.prompt and before.sample < request.sample:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def same_call(steps: Sequence[Step], groups: Sequence[Sequence[int]], prompt: str) -> int | None:
    """The first step of the prompt, or else the first step that generates SQL."""
    named = {group[0]: steps[group[0]].request.prompt for group in groups}
    wanted = prompt if prompt in named.values() else "generate/"
    return next((first for first, name in named.items() if name.startswith(wanted)), None)


def answers(client: Client, steps: Sequence[Step], group: Sequence[int]) -> dict[str, list[int]]:
    """The different answers of a prompt's samples, the most frequent first, each with the steps that gave it.

    An answer is the SQL in a reply, or the whole reply where it has none; "" stands for no cached reply.
    """
    found: dict[str, list[int]] = {}
    for index in group:
        reply = client.cached(steps[index].request)
        text = (sql_in(reply.text) or reply.text) if reply else ""
        found.setdefault(" ".join(text.split()), []).append(index)
    return dict(sorted(found.items(), key=lambda pair: -len(pair[1])))


def call_option(number: int, step: Step, found: dict[str, list[int]]) -> str:
    """A line for a prompt's samples in the list of calls."""
    samples = sum(map(len, found.values()))
    missing = len(found.get("", ()))
    parts = [f"{number} · {step.request.prompt}"]
    if samples > 1:
        parts.append(f"{samples} samples, {len(found.keys() - {''})} different answers")
    count = f"{missing} " if samples > 1 else ""
    parts.append(f"{count}not cached" if missing else "cached")
    return " · ".join(parts)


def answer_option(text: str, count: int) -> str:
    """A line for an answer in the list of a prompt's answers."""
    shown = text if len(text) <= _LONG else f"{text[:_LONG]}…"
    return f"{count} {'time' if count == 1 else 'times'}: {shown or 'not cached'}"
