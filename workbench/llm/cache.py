"""The cached model calls: rows of the table `calls`, on disk before anybody sees them."""

import asyncio
import os
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
from workbench.store import Store
from workbench.types import Completion, Request

_ANSWER = "text, model, finish_reason, input_tokens, output_tokens, cached_tokens, cost, key"
_CALL = (
    f"{_ANSWER}, endpoint, messages, parameters, dropped, sample, prompt, reply, seconds, created"
)


@dataclass(frozen=True, slots=True)
class Call:
    """A stored call. `reply` is what the provider sent, less the answer; `seconds` is how long it took."""

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
    calls: int = 0
    durable: bool = False  # some were paid for
    refused: bool = False  # a full disk has refused them
    saving: Lock = field(default_factory=Lock)
    waiting: list[asyncio.Future[None]] = field(default_factory=list)
    flushing: asyncio.Task[None] | None = None


_unsaved: dict[
    tuple[int, Path], _Unsaved
] = {}  # by process and file: they outlive a Cache on a full disk


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
        rows = self.read(
            f"SELECT {_ANSWER} FROM calls WHERE {where}", [keys[0] if one else canonical(keys)]
        )
        return {row[-1]: _completion(row) for row in rows}

    def calls(self, where: str = "1", values: Sequence[Any] = ()) -> Iterator[Call]:
        """The calls with their requests, in the order of keys: `cache.calls("prompt = ?", ["generate/direct"])`."""
        select, last = (
            f"SELECT {_CALL} FROM calls WHERE ({where}) AND key > ? ORDER BY key LIMIT 500",
            "",
        )
        while rows := self.read(select, [*values, last]):
            for row in rows:
                endpoint, messages, parameters, dropped, sample, prompt, reply, *times = row[8:]
                request = Request(
                    prompt, row[1], orjson.loads(messages), orjson.loads(parameters), sample
                )
                answer = _completion(row[:8])
                yield Call(request, answer, endpoint, dropped, orjson.loads(reply), *times)
            last = rows[-1][7]

    @property
    def waits(self) -> int:
        """The number of paid replies that wait in memory, since a full disk has refused them."""
        return self._unsaved.calls if self._unsaved.refused else 0

    def add(self, *statements: Statement, durable: bool) -> None:
        """Add statements that the next `save` writes; `durable` for what was paid for."""
        self._unsaved.statements += statements
        self._unsaved.durable |= durable
        self._unsaved.calls += sum(sql.startswith("INSERT") for sql, _ in statements)

    def save(self) -> None:
        """Write what is not on disk yet. What a full disk refuses stays in memory for the next `save`."""
        unsaved = self._unsaved
        with unsaved.saving:
            durable, unsaved.durable = unsaved.durable, False
            if not (statements := tuple(unsaved.statements)):
                return
            calls, unsaved.refused = unsaved.calls, True
            try:
                with self.write(durable=durable) as db:
                    for sql, values in statements:
                        db.execute(sql, values)
            except BaseException:
                unsaved.durable |= durable
                raise
            unsaved.refused = False
            unsaved.calls -= calls
            del unsaved.statements[: len(statements)]

    async def put(self, *statements: Statement) -> None:
        """Add statements; they are on disk when this returns. Calls that end together share a transaction."""
        unsaved = self._unsaved
        self.add(*statements, durable=True)
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
    if answer.finish_reason != "content_filter":
        return answer
    error = "the provider's content filter withheld the answer"
    return replace(answer, fault="filtered", error=error)


def insert(
    request: Request, answer: Completion, endpoint: str, reply: Mapping[str, Any], *,
    seconds: float, created: float, dropped: str = "",
) -> Statement:  # fmt: skip
    """The statement that stores a call, and replaces one that is asked once more."""
    values = (
        answer.text, answer.model, answer.finish_reason, answer.input_tokens, answer.output_tokens,
        answer.cached_tokens, answer.cost, answer.key, endpoint, orjson.dumps(request.messages).decode(),
        canonical(request.parameters).decode(), dropped, request.sample, request.prompt,
        orjson.dumps(reply).decode(), seconds, created,
    )  # fmt: skip
    return f"INSERT OR REPLACE INTO calls({_CALL}) VALUES ({', '.join('?' * len(values))})", values
