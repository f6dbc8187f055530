"""The cached model calls: rows of the table `calls`, on disk before anybody sees them."""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

import orjson

from workbench.canonical import canonical
from workbench.llm import transfer
from workbench.llm.money import Statement
from workbench.llm.send import FILTERED, asked, dropped
from workbench.store import Store
from workbench.types import Completion, Request

_ANSWER = "text, model, finish_reason, input_tokens, output_tokens, cached_tokens, cost, key"
_CALL = (
    f"{_ANSWER}, endpoint, messages, parameters, dropped, sample, prompt, reply, seconds, created"
)


@dataclass
class _Unsaved:
    """Statements that are not on disk yet."""

    statements: list[Statement] = field(default_factory=list)
    refused: bool = False  # a full disk has refused them
    saving: Lock = field(default_factory=Lock)


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
        """Store what was paid: it is on disk when this returns, with all that came meanwhile."""
        self._unsaved.statements += statements
        await asyncio.to_thread(self.save)


def _completion(row: Sequence[Any]) -> Completion:
    """The answer of a row, as a failure if the provider's content filter withheld it."""
    answer = Completion(*row, True)  # type: ignore[call-arg]  # eight columns, and `cached`
    filtered = answer.finish_reason == "content_filter"
    return replace(answer, fault="filtered", error=FILTERED) if filtered else answer


def insert(request: Request, answer: Completion, endpoint: str, reply: Mapping[str, Any],
           began: float) -> Statement:  # fmt: skip
    """The statement that stores a call, and replaces one that is asked once more."""
    now, left_out = time.time(), dropped.get(asked(request), "") if dropped else ""
    values = (
        answer.text, answer.model, answer.finish_reason, answer.input_tokens, answer.output_tokens,
        answer.cached_tokens, answer.cost, answer.key, endpoint,
        orjson.dumps(request.messages).decode(), canonical(request.parameters).decode(), left_out,
        request.sample, request.prompt, orjson.dumps(reply).decode(), now - began, now,
    )  # fmt: skip
    return f"INSERT OR REPLACE INTO calls({_CALL}) VALUES ({', '.join('?' * len(values))})", values
