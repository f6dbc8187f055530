"""The cached calls of models: rows of the table `calls`, on disk before anybody sees them.

An export has one call with its full request in each line of JSON, in the order of keys, so equal
caches give equal files. A merge adds rows and replaces none.
"""

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from workbench.canonical import canonical
from workbench.errors import BadInputError, StoreError, fault, kind, naming
from workbench.llm.calls import request_key
from workbench.llm.money import Statement
from workbench.llm.send import FILTERED, asked, dropped
from workbench.store import Store
from workbench.types import Completion, Request

_ANSWER = "text, model, finish_reason, input_tokens, output_tokens, cached_tokens, cost, key"
_CALL = (
    f"{_ANSWER}, endpoint, messages, parameters, dropped, sample, prompt, reply, seconds, created"
)
_COLUMNS = _CALL.split(", ")
_INSERT = f"({_CALL}) VALUES ({', '.join('?' * len(_COLUMNS))})"
_JSON = ("messages", "parameters", "reply")


@dataclass
class _Unsaved:
    """Statements that are not on disk yet."""

    statements: list[Statement] = field(default_factory=list)
    refused: bool = False  # a full disk has refused them
    turn: threading.Lock = field(default_factory=threading.Lock)


# By process and file: on a full disk they outlive a Cache.
_unsaved: dict[tuple[int, Path], _Unsaved] = {}


class Cache(Store):
    """A cache file with the calls of models.

    >>> cache = wb.Cache()  # lab.sqlite in $WORKBENCH_HOME
    >>> cache.export("run.jsonl"), cache.merge("run.jsonl")
    (0, (0, 0))
    """

    def __init__(self, path: Path | str | None = None) -> None:
        super().__init__(path)
        self._unsaved = _unsaved.setdefault((os.getpid(), self.path.resolve()), _Unsaved())

    def get_many(self, keys: Sequence[str]) -> dict[str, Completion]:
        """The cached answers by key; one that a content filter withheld has a fault."""
        one = len(keys) == 1
        where = "key = ?" if one else "key IN (SELECT value FROM json_each(?))"
        values = [keys[0] if one else canonical(keys)]
        found = {}
        for row in self.read(f"SELECT {_ANSWER} FROM calls WHERE {where}", values):
            answer = Completion(*row, True)  # type: ignore[call-arg]  # eight columns, and `cached`
            if answer.finish_reason == "content_filter":
                answer = replace(answer, fault="filtered", error=FILTERED)
            found[answer.key] = answer
        return found

    def left_out(self, model: str) -> list[str]:
        """The parameters that the model does not take: its cached calls were sent without them."""
        select = "SELECT DISTINCT dropped FROM calls WHERE model = ? AND dropped <> ''"
        rows = self.read(select, [model])
        return sorted({name for (names,) in rows for name in names.split(", ")})

    @property
    def waits(self) -> int:
        """The number of paid replies that wait in memory, since a full disk has refused them."""
        waiting = self._unsaved.statements if self._unsaved.refused else ()
        return sum(sql.startswith("INSERT") for sql, _ in waiting)

    async def put(self, *statements: Statement) -> None:
        """Store what was paid: it is on disk when this returns, in one commit with what else waits.

        What a full disk refuses waits in memory for the next `put`.
        """
        self._unsaved.statements += statements
        await asyncio.to_thread(self._save)

    def _save(self) -> None:
        unsaved = self._unsaved
        with unsaved.turn:
            if not (statements := tuple(unsaved.statements)):  # the turn before has saved them
                return
            try:
                with self.write() as db:
                    for statement in statements:
                        db.execute(*statement)
            except StoreError:
                unsaved.refused = True
                raise
            unsaved.refused = False
            del unsaved.statements[: len(statements)]

    def export(self, path: Path | str, where: str = "1", values: Sequence[Any] = ()) -> int:
        """Write the calls to a file of JSON lines, whole or not at all; returns their number."""
        path, number, last = Path(path), 0, ""
        unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
        select = f"SELECT {_CALL} FROM calls WHERE ({where}) AND key > ? ORDER BY key LIMIT 500"
        try:
            with naming(path), unfinished.open("wb") as file:
                while rows := self.read(select, [*values, last]):
                    for row in rows:
                        call = dict(zip(_COLUMNS, row, strict=True))
                        call |= {name: orjson.loads(call[name]) for name in _JSON}
                        file.write(canonical(call) + b"\n")
                    number, last = number + len(rows), call["key"]
            with naming(path):
                unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
        return number

    def merge(self, other: Path | str) -> tuple[int, int]:
        """Copy the calls and executions of a cache file, or an export's calls: all or nothing.

        Returns the number of rows that are new here, and the number of those that are not.
        """
        other = Path(other)
        if (found := kind(other)) or not other.exists():
            known = "name a cache file, or an export of one"
            raise BadInputError(f"{other} is {found or 'missing'}: {known}")
        if not other.stat().st_size:
            return 0, 0
        try:  # SQLite alone opens a cache file: closing it otherwise drops SQLite's locks on it
            Store(other).close()
        except StoreError as error:
            if getattr(error.__cause__, "sqlite_errorcode", 0) != sqlite3.SQLITE_NOTADB:
                raise
            return self._load(other)
        new = total = 0
        with Store(self.path) as ours, ours.write() as db:  # a connection of its own
            db.execute("ATTACH ? AS theirs", [f"{other.absolute().as_uri()}?mode=ro"])
            for table in ("calls", "executions"):
                total += db.execute(f"SELECT count(*) FROM theirs.{table}").fetchone()[0]
                copy = f"INSERT OR IGNORE INTO main.{table} SELECT * FROM theirs.{table}"
                new += db.execute(copy).rowcount
        return new, total - new

    def _load(self, path: Path) -> tuple[int, int]:
        new, number = 0, 0
        with path.open("rb") as file, self.write() as db:
            for number, line in enumerate(file, 1):
                try:
                    call = orjson.loads(line)
                    parts = (call["model"], call["messages"], call["parameters"], call["sample"])
                    if request_key(Request("", *parts), call["endpoint"]) != call["key"]:
                        raise ValueError("its request was changed, so its key is wrong")
                    call |= {name: canonical(call[name]).decode() for name in _JSON}
                    row = [call[name] for name in _COLUMNS]
                    new += db.execute(f"INSERT OR IGNORE INTO calls{_INSERT}", row).rowcount
                except (ValueError, TypeError, KeyError) as error:
                    raise BadInputError(
                        f"{path}, line {number}: no exported call ({fault(error)}), so nothing was "
                        "merged; export the calls again, by `workbench cache export FILE.jsonl`"
                    ) from error
        return new, number - new


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
    return f"INSERT OR REPLACE INTO calls{_INSERT}", values
