"""Conversations to tune a model on, in the JSON lines that providers and trainers read.

The prompts are rendered by the very steps that ask them, so a tuned model meets what it has learned. OpenAI
takes `messages`, Gemini `contents`, the system apart. Both list the keys that a line may have, so where a
conversation is from stands beside `messages` for Hugging Face alone, whose trainers keep any column.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import orjson

from workbench.errors import naming
from workbench.lab import Lab
from workbench.select.pairwise import Pairwise
from workbench.train.pairs import Pair
from workbench.types import Message

Format = Literal["gemini", "openai", "huggingface"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said to an agent about a question, and last its answer. `agent` is the prompt's name."""

    question_id: str
    db_id: str
    agent: str
    messages: tuple[Message, ...]


def conversations(lab: Lab, pairs: Iterable[Pair]) -> Iterator[Conversation]:
    """For each pair what is said to a judge, and the letter that it should answer."""
    judge = Pairwise(model="")  # which model is asked is no part of a prompt
    for pair in pairs:
        asked = judge.request(lab, pair.context, pair.first, pair.second)
        question = pair.context.question
        talk = (*asked.messages, {"role": "assistant", "content": pair.right})
        yield Conversation(question.id, question.db_id, asked.prompt, talk)


def write(talks: Iterable[Conversation], path: Path, form: Format) -> int:
    """Write the conversations as JSON lines, in their order, and say how many there are."""
    shape = {"gemini": _gemini, "openai": _openai, "huggingface": _huggingface}[form]
    lines = [orjson.dumps(shape(talk)) + b"\n" for talk in talks]
    with naming(path):
        path.write_bytes(b"".join(lines))
    return len(lines)


def _huggingface(talk: Conversation) -> Any:
    return talk


def _openai(talk: Conversation) -> Any:
    return {"messages": talk.messages}


def _gemini(talk: Conversation) -> Any:
    system, *others = talk.messages
    names = {"user": "user", "assistant": "model"}
    return {
        "systemInstruction": {"role": "system", "parts": [{"text": system["content"]}]},
        "contents": [
            {"role": names[said["role"]], "parts": [{"text": said["content"]}]} for said in others
        ],
    }
