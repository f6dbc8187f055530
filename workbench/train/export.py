"""Conversations for fine-tuning a model, as the JSON lines that providers and trainers read.

The steps themselves render the prompts, so a tuned model learns the prompts that it will see. OpenAI takes `messages`;
Gemini takes `contents` and the system prompt apart. Both refuse other keys, so only Hugging Face's form says which
question a conversation is from.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import orjson

from workbench.errors import naming
from workbench.types import Message, Question, Request

Format = Literal["gemini", "openai", "huggingface"]


@dataclass(frozen=True)
class Conversation:
    """One agent's prompt about a question, and its answer as the last message; `agent` is the prompt's name."""

    question_id: str
    db_id: str
    agent: str
    messages: tuple[Message, ...]


def conversation(question: Question, request: Request, reply: str) -> Conversation:
    messages = (*request.messages, {"role": "assistant", "content": reply})
    return Conversation(question.id, question.db_id, request.prompt, messages)


def write(conversations: Iterable[Conversation], path: Path, form: Format) -> int:
    """Write the conversations as JSON lines, in order; return how many there are."""
    lines = [orjson.dumps(_record(one, form)) + b"\n" for one in conversations]
    with naming(path):
        path.write_bytes(b"".join(lines))
    return len(lines)


def _record(one: Conversation, form: Format) -> Any:
    if form == "huggingface":
        return one
    if form == "openai":
        return {"messages": one.messages}
    names = {"system": "system", "user": "user", "assistant": "model"}
    said = [{"role": names[m["role"]], "parts": [{"text": m["content"]}]} for m in one.messages]
    system, contents = ([], said) if said[0]["role"] == "user" else (said[:1], said[1:])
    return {**({"systemInstruction": system[0]} if system else {}), "contents": contents}
