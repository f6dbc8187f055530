"""Model calls as rows of a cache file.

Prompts share most of their text, so long messages are cut at blank lines and each part that other messages may
share is stored once, as plain text.
"""

import hashlib
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from workbench.canonical import canonical
from workbench.store.checksum import checksum
from workbench.types import Completion, Message, Request, Usage

SHORT = 200  # characters: a message up to this length is stored whole with its call
PART = 2000  # characters: a part is at least this long and ends at the next blank line
TAIL = 1000  # characters: up to this many after the last blank line stay with the call: they differ


@dataclass(frozen=True, slots=True)
class Call:
    """A stored call.

    `text` is the answer and `reply` the rest of what the provider sent. `cost` is in dollars when the call was
    made, None if no price was known. `prompt` names the prompt. `seconds` is how long the call took, and
    `created` when it ended, in seconds since 1970.
    """

    key: str
    text: str
    finish_reason: str
    usage: Usage
    cost: float | None
    endpoint: str
    model: str
    messages: Sequence[Message]
    parameters: Mapping[str, Any]
    sample: int
    prompt: str
    reply: Mapping[str, Any]
    seconds: float
    created: float


def call_of(
    request: Request,
    key: str,
    endpoint: str,
    answer: Completion,
    reply: Mapping[str, Any],
    seconds: float,
) -> Call:
    """A call made of a request and its answer, created now."""
    return Call(
        key=key,
        text=answer.text,
        finish_reason=answer.finish_reason,
        usage=answer.usage,
        cost=answer.cost,
        endpoint=endpoint,
        model=request.model,
        messages=request.messages,
        parameters=request.parameters,
        sample=request.sample,
        prompt=request.prompt,
        reply=reply,
        seconds=seconds,
        created=time.time(),
    )


COLUMNS = (
    "key, text, finish_reason, input_tokens, output_tokens, cached_tokens, cost, endpoint, model, "
    "messages, parameters, sample, prompt, reply, seconds, created"
)
_INSERT = f"INTO calls({COLUMNS}, checksum) VALUES ({', '.join('?' * 17)})"

_Texts = list[tuple[int, str]]
Packed = tuple[_Texts, tuple[Any, ...]]


def insert(connection: sqlite3.Connection, call: Call) -> bool:
    """Write a call into an open transaction; False if the table has its key already."""
    return write(connection, pack(call), replace=False)


def write(connection: sqlite3.Connection, packed: Packed, *, replace: bool) -> bool:
    texts, row = packed
    connection.executemany("INSERT OR IGNORE INTO texts VALUES (?, ?)", texts)
    sql = f"INSERT OR {'REPLACE' if replace else 'IGNORE'} {_INSERT}"
    return connection.execute(sql, row).rowcount == 1


def pack(call: Call) -> Packed:
    """The shared parts of the call's messages as rows of `texts`, and the call as a row of `calls`."""
    texts: _Texts = []
    messages = []
    for message in call.messages:
        packed = dict(message)
        content = message.get("content")
        if isinstance(content, str):
            parts, tail = _parts(content)
            rows = [(text_id(part), part) for part in parts]
            texts += rows
            packed["content"] = [*(number for number, _ in rows), *([tail] if tail else [])]
        elif "content" in message:
            packed["content"] = {"json": content}
        messages.append(packed)
    usage = call.usage
    row = (
        call.key,
        call.text,
        call.finish_reason,
        usage.input,
        usage.output,
        usage.cached,
        None if call.cost is None else float(call.cost),
        call.endpoint,
        call.model,
        orjson.dumps(messages).decode(),
        canonical(call.parameters).decode(),
        call.sample,
        call.prompt,
        orjson.dumps(call.reply).decode(),
        float(call.seconds),
        float(call.created),
    )
    return texts, (*row, checksum(*row))


def part_ids(messages: Sequence[Message]) -> set[int]:
    """The ids of the shared parts of messages, given as they are stored."""
    contents = [message.get("content") for message in messages]
    listed = [content for content in contents if isinstance(content, list)]
    return {part for content in listed for part in content if isinstance(part, int)}


def unpack(row: Sequence[Any], texts: Mapping[int, str]) -> Call:
    """The call of a row of `COLUMNS`; `texts` has the shared parts by their ids."""
    key, text, reason, read, written, cached, cost, endpoint, model, messages, *rest = row
    parameters, sample, prompt, reply, seconds, created = rest
    whole = []
    for message in orjson.loads(messages):
        if isinstance(content := message.get("content"), list):
            message["content"] = "".join(p if isinstance(p, str) else texts[p] for p in content)
        elif content:
            message["content"] = content["json"]
        whole.append(message)
    usage, sent = Usage(read, written, cached), tuple(whole)
    given, answered = orjson.loads(parameters), orjson.loads(reply)
    return Call(
        key, text, reason, usage, cost, endpoint, model, sent, given, sample, prompt, answered, seconds, created
    )  # fmt: skip


def _parts(text: str) -> tuple[list[str], str]:
    """The parts of a message that other messages may share, and the tail that is its own."""
    if len(text) <= SHORT:
        return [], text
    end = text.rfind("\n\n") + 2
    if end == 1 or len(text) - end > TAIL:
        end = len(text)
    parts = []
    start = 0
    while start < end:
        cut = text.find("\n\n", start + PART, end)
        cut = end if cut < 0 else cut + 2
        parts.append(text[start:cut])
        start = cut
    return parts, text[end:]


def text_id(text: str) -> int:
    """The id of a part: a hash of its text, so that all cache files use the same id."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
