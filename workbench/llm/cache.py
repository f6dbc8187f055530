"""The cached model calls: rows of the table `calls`, on disk before anybody sees them."""

import asyncio
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

import orjson

from workbench.canonical import canonical
from workbench.errors import StoreError
from workbench.llm import transfer
from workbench.llm.money import Statement
from workbench.llm.send import FILTERED
from workbench.store import Store
from workbench.types import Completion, Request

_ANSWER = "text, model, finish_reason, input_tokens, output_tokens, cached_tokens, cost, key"
_CALL = (
    f"{_ANSWER}, endpoint, messages, parameters, dropped, sample, prompt, reply, seconds, created"
)


@dataclass(frozen=True, slots=True)
class Call:
    """A stored call. `reply` is what the provider sent, less the answer; `seconds` its time."""

    request: Request
    answer: Completion
    endpoint: str
    dropped: str
    reply: Mapping[str, Any]
    seconds: float
    created: float


@dataclass
class _Unsaved:
    """Statements that are not on disk yet, and the calls that wait until they are."""

    statements: list[Statement] = field(default_factory=list)
    refused: bool = False  # a full disk has refused them
    saving: Lock = field(default_factory=Lock)
    waiting: list[asyncio.Future[None]] = field(default_factory=list)
    flushing: asyncio.Task[None] | None = None


# By process and file: on a full disk they outlive a Cache.
_unsaved: dict[tuple[int, Path], _Unsaved] = {}


class Cache(Store):
    """A cache file with the calls of models.

    cache = wb.Cache()                                     # $WORKBENCH_HOME/lab.sqlite
    cache.export("run.jsonl"); cache.merge("other.sqlite")
    """

    def __init__(self, path: Path | str | None = None) -> None:
        super().__init__(path)
        self._unsaved = _unsaved.setdefault((os.getpid(), self.path.resolve()), _Unsaved())

    export = transfer.export
    merge = transfer.merge

    def get_many(self, keys: Sequence[str]) -> dict[str, Completion]:
        """The answers that are cached, by key."""
        one = len(keys) == 1
        where = "key = ?" if one else "key IN (SELECT value FROM json_each(?))"
        values = [keys[0] if one else canonical(keys)]
        rows = self.read(f"SELECT {_ANSWER} FROM calls WHERE {where}", values)
        return {row[-1]: _completion(row) for row in rows}

    def calls(self, where: str = "1", values: Sequence[Any] = ()) -> Iterator[Call]:
        """The calls in the order of keys: `cache.calls("prompt = ?", ["generate/direct"])`."""
        select = f"SELECT {_CALL} FROM calls WHERE ({where}) AND key > ? ORDER BY key LIMIT 500"
        last = ""
        while rows := self.read(select, [*values, last]):
            for row in rows:
                answer, last = _completion(row[:8]), row[7]
                endpoint, messages, parameters, dropped, sample, prompt, reply, *times = row[8:]
                given = (orjson.loads(messages), orjson.loads(parameters), sample)
                request = Request(prompt, answer.model, *given)
                yield Call(request, answer, endpoint, dropped, orjson.loads(reply), *times)

    @property
    def waits(self) -> int:
        """The number of paid replies that wait in memory, since a full disk has refused them."""
        waiting = self._unsaved.statements if self._unsaved.refused else ()
        return sum(sql.startswith("INSERT") for sql, _ in waiting)

    def save(self) -> None:
        """Write what was paid and is not on disk. What a full disk refuses waits for the next."""
        unsaved = self._unsaved
        with unsaved.saving:
            statements = tuple(unsaved.statements)
            unsaved.refused = bool(statements)
            if statements:
                with self.write() as db:
                    for statement in statements:
                        db.execute(*statement)
                unsaved.refused = False
                del unsaved.statements[: len(statements)]

    async def put(self, *statements: Statement) -> None:
        """Store what was paid; it is on disk when this returns, with what ends at the same time."""
        unsaved = self._unsaved
        unsaved.statements += statements
        done = asyncio.get_running_loop().create_future()
        unsaved.waiting.append(done)
        if not unsaved.flushing or unsaved.flushing.done():
            unsaved.flushing = asyncio.create_task(self._flush())
        await done

    async def _flush(self) -> None:
        while waiting := self._unsaved.waiting:
            self._unsaved.waiting = []
            error: StoreError | None = None
            try:
                await asyncio.to_thread(self.save)
            except StoreError as found:
                error = found
            for done in waiting:
                if not done.done():
                    done.set_exception(error) if error else done.set_result(None)


def _completion(row: Sequence[Any]) -> Completion:
    """The answer of a row, as a failure if the provider's content filter withheld it."""
    answer = Completion(*row, True)  # type: ignore[call-arg]  # eight columns, and `cached`
    filtered = answer.finish_reason == "content_filter"
    return replace(answer, fault="filtered", error=FILTERED) if filtered else answer


def insert(request: Request, answer: Completion, endpoint: str, reply: Mapping[str, Any],
           began: float, dropped: str = "") -> Statement:  # fmt: skip
    """The statement that stores a call, and replaces one that is asked once more."""
    now = time.time()
    values = (
        answer.text, answer.model, answer.finish_reason, answer.input_tokens, answer.output_tokens,
        answer.cached_tokens, answer.cost, answer.key, endpoint,
        orjson.dumps(request.messages).decode(), canonical(request.parameters).decode(), dropped,
        request.sample, request.prompt, orjson.dumps(reply).decode(), now - began, now,
    )  # fmt: skip
    return f"INSERT OR REPLACE INTO calls({_CALL}) VALUES ({', '.join('?' * len(values))})", values
