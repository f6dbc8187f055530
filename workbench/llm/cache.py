"""Cached model calls: their keys, and how they are stored.

A key hashes everything that a reply depends on and nothing else: endpoint, model, messages, every parameter
and the sample index, but no time-out and no API key. Prompts share most of their text, so long messages are
cut at blank lines and each part that other messages may share is stored once, as plain text.
"""

import dataclasses
import hashlib
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from workbench.canonical import canonical, content_hash
from workbench.errors import StoreError
from workbench.llm.provider import is_ours
from workbench.store import Store
from workbench.store.checksum import checksum
from workbench.types import Completion, Message, Request, Usage

SHORT = 200  # characters: a message up to this length is stored whole with its call
PART = 2000  # characters: a part is at least this long and ends at the next blank line
TAIL = 1000  # characters: up to this many after the last blank line stay with the call: they differ
RECENT = 20_000  # answers in memory, about 40 MB

FILTERED = "the provider's content filter withheld the answer"


def request_key(request: Request, endpoint: str) -> str:
    """The call's key: equal for two requests exactly when one reply can answer both."""
    return content_hash(
        "call",
        {
            "version": 1,
            "endpoint": endpoint,
            "model": request.model,
            "messages": request.messages,
            "parameters": request.parameters,
            "sample": request.sample,
        },
    )


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it is stored.

    `text` is the answer and `reply` all else that the provider sent. `cost` is in dollars when the call was
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
    """A request and its answer as they are stored now."""
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
_GET = (
    "SELECT text, model, finish_reason, input_tokens, output_tokens, cached_tokens, cost "
    "FROM calls WHERE key = ?"
)


_Texts = list[tuple[int, str]]
_Packed = tuple[_Texts, tuple[Any, ...]]


class _Unsaved:
    """The calls that are not on disk yet, as put, packed, and with whether they replace others."""

    def __init__(self) -> None:
        self.calls: list[tuple[Call, _Packed, bool]] = []
        self.refused = False  # the last attempt to write them failed
        self.saving = threading.Lock()


_UNSAVED: dict[Path, _Unsaved] = {}  # by cache file, for all clients of this process


class Cache:
    """The table `calls` of a cache file."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._unsaved = _UNSAVED.setdefault(store.path.resolve(), _Unsaved())
        self._recent: dict[str, Completion] = {}

    def get(self, key: str) -> Completion | None:
        """The stored answer, or None. Recent answers are in memory too: the row of a key never changes."""
        if answer := self._recent.get(key):
            return answer
        if not (rows := self.store.read(_GET, (key,))):
            return None
        text, model, reason, read, written, cached, cost = rows[0]
        usage = Usage(read, written, cached)
        answer = Completion(text, model, reason, usage, cost, key, cached=True)
        if reason == "content_filter":
            answer = dataclasses.replace(answer, fault="filtered", error=FILTERED)
        self._remember(answer)
        return answer

    def answered(self, request: Request, endpoint: str) -> bool:
        """Whether any call of the request's prompt and parameters has a stored answer."""
        values = (endpoint, request.model, request.prompt, canonical(request.parameters).decode())
        select = (
            "SELECT 1 FROM calls WHERE endpoint = ? AND model = ? AND prompt = ? AND parameters = ?"
        )
        return bool(self.store.read(f"{select} LIMIT 1", values))

    def _remember(self, answer: Completion) -> None:
        if len(self._recent) >= RECENT:
            self._recent.clear()
        self._recent[answer.key] = answer

    def put(self, call: Call, *, replace: bool = False, save: bool = True) -> None:
        """Store a call, on disk when this returns. Threads that store at the same time share a transaction.

        Without `save` it stays in memory until the next one, so that many share a transaction, and so does a
        call of a model of our own, which costs nothing. A call that a full disk refuses stays in memory: the next `save`, of any client of this
        process, tries again.
        """
        self._unsaved.calls.append((call, pack(call), replace))
        if is_ours(call.model):
            fields = (call.text, call.model, call.finish_reason, call.usage, call.cost, call.key)
            self._remember(Completion(*fields, cached=True))
        else:
            if save:
                self.save()
            self._recent.pop(call.key, None)

    def save_refused(self) -> None:
        """Write the calls that a full disk refused, if there are any; raises `StoreError` if it still does."""
        if self._unsaved.refused:
            self.save()

    def save(self) -> None:
        """Write the calls that are not on disk yet."""
        unsaved = self._unsaved
        with unsaved.saving:
            if not (calls := tuple(unsaved.calls)):
                return
            paid = not all(is_ours(call.model) for call, _, _ in calls)
            unsaved.refused = True
            try:
                with self.store.write(paid=paid) as connection:
                    for _, packed, replace in calls:
                        _write(connection, packed, replace=replace)
            except StoreError as error:
                raise StoreError(f"{error} ({len(calls)} paid replies wait in memory)") from error
            unsaved.refused = False
            del unsaved.calls[: len(calls)]


def insert(connection: sqlite3.Connection, call: Call) -> bool:
    """Write a call into an open transaction; False if its key is there already."""
    return _write(connection, pack(call), replace=False)


def _write(connection: sqlite3.Connection, packed: _Packed, *, replace: bool) -> bool:
    texts, row = packed
    connection.executemany("INSERT OR IGNORE INTO texts VALUES (?, ?)", texts)
    sql = f"INSERT OR {'REPLACE' if replace else 'IGNORE'} {_INSERT}"
    return connection.execute(sql, row).rowcount == 1


def pack(call: Call) -> _Packed:
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
    return Call(
        key=key,
        text=text,
        finish_reason=reason,
        usage=Usage(read, written, cached),
        cost=cost,
        endpoint=endpoint,
        model=model,
        messages=tuple(whole),
        parameters=orjson.loads(parameters),
        sample=sample,
        prompt=prompt,
        reply=orjson.loads(reply),
        seconds=seconds,
        created=created,
    )


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
    """The id of a part: a hash of its text, so that cache files agree on it."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
