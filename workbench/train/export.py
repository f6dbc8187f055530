"""Conversations for fine-tuning a model, as the JSON lines that providers and trainers read.

The selection step itself renders the prompts, so a tuned model is trained on the prompts that it will see.
OpenAI takes `messages`; Gemini takes `contents` and the system prompt apart. Both refuse other keys, so only
Hugging Face's form says which question a conversation is from.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import orjson

from workbench.errors import naming
from workbench.lab import Lab
from workbench.systems.chase_sql import Pairwise
from workbench.train.pairs import JudgePair
from workbench.types import Message

Format = Literal["gemini", "openai", "huggingface"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One agent's prompt about a question, and its answer as the last message."""

    question_id: str
    db_id: str
    agent: str  # the prompt's name
    messages: tuple[Message, ...]


def conversations(lab: Lab, pairs: Iterable[JudgePair]) -> Iterator[Conversation]:
    """The judge's prompt for each pair, and the letter that it should answer."""
    judge = Pairwise(model="")  # the model is no part of the prompt
    for pair in pairs:
        request = judge.request(lab, pair.context, pair.first, pair.second)
        question = pair.context.question
        messages = (*request.messages, {"role": "assistant", "content": pair.right})
        yield Conversation(question.id, question.db_id, request.prompt, messages)


def write(conversations: Iterable[Conversation], path: Path, form: Format) -> int:
    """Write the conversations as JSON lines, in order; return how many there are."""
    lines = [orjson.dumps(_record(conversation, form)) + b"\n" for conversation in conversations]
    with naming(path):
        path.write_bytes(b"".join(lines))
    return len(lines)


def _record(conversation: Conversation, form: Format) -> Any:
    if form == "huggingface":
        return conversation
    if form == "openai":
        return {"messages": conversation.messages}
    system, *others = conversation.messages
    names = {"user": "user", "assistant": "model"}
    return {
        "systemInstruction": {"role": "system", "parts": [{"text": system["content"]}]},
        "contents": [{"role": names[m["role"]], "parts": [{"text": m["content"]}]} for m in others],
    }
