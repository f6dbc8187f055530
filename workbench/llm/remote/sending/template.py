"""The body of a request as a template: another call's body is the same one with its own texts.

A template is made of a request of LiteLLM's own. It has the messages unchanged, or each of their texts at exactly one
place. Whether LiteLLM changes a text, or puts it elsewhere, depends on the form of the messages alone, which `parted`
gives: roles, parts, marks for the provider's cache, and what LiteLLM looks at in a text.
"""

import re
import secrets
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from workbench.canonical import canonical
from workbench.llm.remote.sending.parsing import PARSERS
from workbench.types import Message

_MARK = "cache_control"


def parted(messages: Sequence[Message]) -> tuple[Hashable, list[str]] | None:
    """The form of the messages, and their texts; None if there is anything but texts that are not blank.

    LiteLLM replaces blank texts for Anthropic, and cuts white space off the end of a last message of the assistant.
    """
    form: list[Hashable] = []
    texts: list[str] = []
    for message in messages:
        if message.keys() != {"role", "content"}:
            return None
        content = message["content"]
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        if not parts or not all(map(_is_text, parts)):
            return None
        found = [part["text"] for part in parts]
        trailing = message["role"] == "assistant" and tuple(text[-1].isspace() for text in found)
        marks = tuple(canonical(part[_MARK]) if _MARK in part else b"" for part in parts)
        form.append((message["role"], content is parts, marks, trailing))
        texts += found
    differ = len(set(texts)) == len(texts)  # else their places are not certain
    return ((*form, differ), texts) if texts else None


def _is_text(part: Any) -> bool:
    return (
        isinstance(part, Mapping)
        and part.keys() - {_MARK} == {"type", "text"}
        and part["type"] == "text"
        and isinstance(text := part["text"], str)
        and bool(text)
        and not text.isspace()
    )


@dataclass(frozen=True, slots=True)
class Template:
    """Pieces of JSON, and the numbers of the texts between them; no numbers if all messages stand between two pieces."""

    pieces: Sequence[bytes]
    numbers: Sequence[int]

    def filled(self, messages: Sequence[Message], texts: Sequence[str]) -> bytes:
        """The body with these messages. Raises TypeError for half a surrogate pair."""
        values: list[Any] = [texts[number] for number in self.numbers] or [messages]
        first, *others = self.pieces
        filling = zip(map(orjson.dumps, values), others, strict=True)
        return first + b"".join(piece for pair in filling for piece in pair)


def template(
    body: Mapping[str, Any], path: str, messages: Sequence[Message], texts: Sequence[str]
) -> Template | None:
    """A template of the body of LiteLLM's request to a path; None if the places of the texts are not certain."""
    name = secrets.token_hex(8)  # stands for the texts
    if body.get("messages") == messages:
        whole = orjson.dumps({**body, "messages": name}).split(f'"{name}"'.encode())
        return Template(whole, [])
    if not path.endswith(tuple(PARSERS)) or _marks(body) != _marks(messages):
        return None
    names = {text: f"{name} {number}" for number, text in enumerate(texts)}
    cut = re.split(rf'"{name} (\d+)"'.encode(), orjson.dumps(_renamed(body, names)))
    numbers = list(map(int, cut[1::2]))
    return Template(cut[::2], numbers) if sorted(numbers) == list(range(len(texts))) else None


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """The value with names in place of the texts."""
    if isinstance(value, Mapping):
        return {key: _renamed(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


def _marks(value: Any) -> int:
    """The number of marks in the value: Gemini's models take none, and LiteLLM then makes a cache by another call."""
    if isinstance(value, Mapping):
        return (_MARK in value) + sum(map(_marks, value.values()))
    return sum(map(_marks, value)) if isinstance(value, list | tuple) else 0
