"""Pairs as conversations, in the JSON lines that providers tune on: the prompt a judge sees, and its answer.

The prompt is `select/pairwise`, rendered by the very step that asks it, so a tuned model meets what it has
learned. OpenAI and Hugging Face's trainers take `messages`; Gemini takes `contents`, the system apart.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import orjson

from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.select.pairwise import Pairwise
from workbench.train.pairs import Pair
from workbench.types import Message

Format = Literal["gemini", "openai", "huggingface"]


def conversations(lab: Lab, pairs: Iterable[Pair]) -> Iterator[tuple[Message, ...]]:
    """For each pair what is said to a judge, and the letter that it should answer."""
    judge = Pairwise(model="")  # which model is asked is no part of a prompt
    for pair in pairs:
        asked = judge.request(lab, pair.context, pair.first, pair.second).messages
        yield (*asked, {"role": "assistant", "content": pair.right})


def write(talks: Iterable[tuple[Message, ...]], path: Path, form: Format) -> int:
    """Write the conversations as JSON lines and say how many there are."""
    shape = _gemini if form == "gemini" else _messages
    lines = [orjson.dumps(shape(talk)) + b"\n" for talk in talks]
    try:
        path.write_bytes(b"".join(lines))
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}") from error
    return len(lines)


def _messages(talk: tuple[Message, ...]) -> dict[str, Any]:
    return {"messages": list(talk)}


def _gemini(talk: tuple[Message, ...]) -> dict[str, Any]:
    system, *others = talk
    names = {"user": "user", "assistant": "model"}
    return {
        "systemInstruction": {"role": "system", "parts": [{"text": system["content"]}]},
        "contents": [
            {"role": names[said["role"]], "parts": [{"text": said["content"]}]} for said in others
        ],
    }
