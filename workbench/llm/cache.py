"""Model calls in the lab book: the key a call has, and what is kept of it.

The key is made of all that a reply depends on and of nothing else: endpoint, model, messages, every
parameter and the sample index, but no time-out and no API key. Prompts share most of their text, so long
messages are cut at blank lines and each part that others may share is stored once, as plain text.
"""

import hashlib
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from workbench.canonical import canonical, content_hash
from workbench.errors import StoreError
from workbench.llm.provider import is_ours
from workbench.store import Store
from workbench.types import Completion, Message, Request, Usage

SHORT = 200  # characters up to which a message is not worth sharing
PART = 2000  # characters from which on a message's part ends at the next blank line
TAIL = 1000  # up to so many characters after the last blank line stay with their call: they differ
RECENT = 20_000  # answers kept in memory, about 40 MB

FILTERED = "the provider's content filter withheld the answer"


def request_key(request: Request, endpoint: str) -> str:
    """The call's key: equal for two requests exactly when the same reply may serve both."""
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
    """All that is kept of a call. `reply` is what the provider sent, less the text of the answer."""

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


COLUMNS = (
    "key, text, finish_reason, input_tokens, output_tokens, cached_tokens, cost, endpoint, model, "
    "messages, parameters, sample, prompt, reply, seconds, created"
)
_INSERT = f"INTO calls({COLUMNS}) VALUES ({', '.join('?' * 16)})"
_GET = (
    "SELECT text, model, finish_reason, input_tokens, output_tokens, cached_tokens, cost "
    "FROM calls WHERE key = ?"
)


_Texts = list[tuple[int, str]]
_Packed = tuple[_Texts, tuple[Any, ...]]


class Cache:
    """The table `calls` of a lab book, and the claims on calls that are being made."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._unsaved: list[tuple[Call, _Packed, bool]] = []
        self._recent: dict[str, Completion] = {}
        self._saving = threading.Lock()

    def get(self, key: str) -> Completion | None:
        """The stored answer, or None. Recent ones are in memory: a row never changes under its key."""
        if found := self._recent.get(key):
            return found
        if not (rows := self.store.read(_GET, (key,))):
            return None
        text, model, reason, read, written, cached, cost = rows[0]
        found = Completion(
            text, model, reason, Usage(read, written, cached), cost, key, cached=True
        )
        if reason == "content_filter":
            found = replace(found, fault="filtered", error=FILTERED)
        if len(self._recent) >= RECENT:
            self._recent.clear()
        self._recent[key] = found
        return found

    def put(self, call: Call, *, again: bool = False) -> None:
        """Keep a call: on disk when this returns. Threads that put at once share a transaction.

        What a full disk refuses is held here and written with the next call, or by `save`.
        """
        self._unsaved.append((call, pack(call), again))
        self.save()
        self._recent.pop(call.key, None)

    def save(self) -> None:
        """Write what is held."""
        with self._saving:
            if not (held := tuple(self._unsaved)):
                return
            paid = not all(is_ours(call.model) for call, _, _ in held)
            try:
                with self.store.write(paid=paid) as book:
                    for call, packed, again in held:
                        _write(book, packed, again=again)
                        book.execute("DELETE FROM claims WHERE key = ?", (call.key,))
            except StoreError as error:
                raise StoreError(
                    f"{error} ({len(held)} paid replies wait in memory for it)"
                ) from error
            del self._unsaved[: len(held)]


def insert(book: sqlite3.Connection, call: Call) -> bool:
    """Write a call into an open transaction; False if the book has one of that key."""
    return _write(book, pack(call), again=False)


def _write(book: sqlite3.Connection, packed: _Packed, *, again: bool) -> bool:
    texts, row = packed
    book.executemany("INSERT OR IGNORE INTO texts VALUES (?, ?)", texts)
    sql = f"INSERT OR {'REPLACE' if again else 'IGNORE'} {_INSERT}"
    return book.execute(sql, row).rowcount == 1


def pack(call: Call) -> _Packed:
    """The call as a row of `calls`, and the parts of its messages as rows of `texts`."""
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
    return texts, (
        call.key,
        call.text,
        call.finish_reason,
        usage.input,
        usage.output,
        usage.cached,
        call.cost,
        call.endpoint,
        call.model,
        orjson.dumps(messages).decode(),
        canonical(call.parameters).decode(),
        call.sample,
        call.prompt,
        orjson.dumps(call.reply).decode(),
        call.seconds,
        call.created,
    )


def unpack(row: Sequence[Any], texts: Mapping[int, str]) -> Call:
    """The call of a row that was selected by `COLUMNS`."""
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
    """What of a message others may share, in parts, and its own tail."""
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
    """The id of a part: from its content, so that two books agree on it."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
