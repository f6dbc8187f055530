"""Conversations to train on: JSON lines with `messages`, the form that Hugging Face and OpenAI share."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from workbench.errors import BadInputError, content_of
from workbench.types import Message

_ROLES = ("system", "user", "assistant")


def read_conversations(path: Path) -> list[tuple[Message, ...]]:
    """The conversations of a file. Each ends with the assistant's reply, which the model learns to give."""
    lines = content_of(path).splitlines()
    conversations = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                conversations.append(_conversation(orjson.loads(line)))
            except ValueError as error:
                raise BadInputError(
                    f"{path}, line {number}: {error}; expected "
                    '{"messages": [{"role": "system", "content": "..."}, {"role": "user", ...}, '
                    '{"role": "assistant", "content": "A"}]}'
                ) from error
    if not conversations:
        raise BadInputError(
            f"{path}: no conversation to learn from; give JSON lines with `messages`"
        )
    return conversations


def _conversation(line: Any) -> tuple[Message, ...]:
    messages = line.get("messages") if isinstance(line, Mapping) else None
    if not isinstance(messages, list) or len(messages) < 2:
        raise ValueError("no list of messages")
    for message in messages:
        if not isinstance(message, Mapping):
            raise ValueError(f"a message that is {message!r}")  # noqa: TRY004  a file's, not a caller's
        role, content = message.get("role"), message.get("content")
        if role not in _ROLES or not isinstance(content, str):
            raise ValueError(f"a message of role {role!r} with content of {type(content).__name__}")
    if messages[-1]["role"] != "assistant" or not messages[-1]["content"]:
        raise ValueError("no reply of the assistant's at the end")
    return tuple({"role": m["role"], "content": m["content"]} for m in messages)
