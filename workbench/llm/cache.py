"""The cached calls of models: rows of the table `calls`, on disk before anybody sees them.

The first line of an export names the machine, and each further one holds a call with its full
request, in the order of keys: equal caches of one machine give equal files. A merge adds rows and
replaces none.
"""

import asyncio
import os
import platform
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from workbench.canonical import canonical
from workbench.errors import BadInputError, StoreError, fault, kind, naming
from workbench.llm.calls import request_key
from workbench.llm.money import Statement, valid_cost
from workbench.llm.send import FILTERED, asked, dropped
from workbench.store import Store, tables_of
from workbench.types import Completion, Request

_ANSWER = (
    "text, model, finish_reason, input_tokens, output_tokens, cached_tokens, cost, key"
)
_REQUEST = "endpoint, messages, parameters, dropped, sample, prompt"
_CALL = f"{_ANSWER}, {_REQUEST}, reply, seconds, created"
_COLUMNS = _CALL.split(", ")
_INSERT = f"({_CALL}) VALUES ({', '.join('?' * len(_COLUMNS))})"
_MADE_ON = "made_on"  # of an export's first line
_JSON = ("messages", "parameters", "reply")
_COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "sample")
_TIMES = ("seconds", "created")
_TEXTS = tuple(n for n in _COLUMNS if n not in {*_JSON, *_COUNTS, *_TIMES, "cost"})
# 9e999 is SQLite's infinity.
_WRONG_TYPES = " OR ".join(
    [f"typeof({name}) <> 'integer' OR {name} < 0" for name in _COUNTS]
    + [f"typeof({name}) NOT IN ('integer', 'real')" for name in _TIMES]
    + [f"typeof({name}) <> 'text'" for name in (*_TEXTS, *_JSON)]
    + [
        "NOT (cost IS NULL OR typeof(cost) IN ('integer', 'real') AND cost >= 0 AND cost < 9e999)"
    ]
)
# Errors of one statement, which SQLite undoes; others are of the file or its disk.
_OF_A_STATEMENT = (
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    OverflowError,
    UnicodeEncodeError,
)


@dataclass
class _Unsaved:
    """Statements that are not on disk yet."""

    statements: list[Statement] = field(default_factory=list)
    refused: bool = False  # a full disk has refused them
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    # It has not begun, and takes what comes.
    next_commit: "asyncio.Task[None] | None" = None


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
        self._unsaved = _unsaved.setdefault(
            (os.getpid(), self.path.resolve()), _Unsaved()
        )

    def get_many(self, keys: Sequence[str]) -> dict[str, Completion]:
        """Return the cached answers by key; one that a content filter withheld has a fault."""
        select = f"SELECT {_ANSWER} FROM calls WHERE key"
        if len(keys) == 1:
            rows = self.read(f"{select} = ?", keys)
        else:
            rows = self.read_keys(f"{select} IN", keys)
        answers = {}
        for row in rows:
            answer = Completion(*row, True)  # type: ignore[call-arg]  # eight columns, and `cached`
            if answer.finish_reason == "content_filter":
                answer = replace(answer, fault="filtered", error=FILTERED)
            answers[answer.key] = answer
        return answers

    def left_out(self, model: str) -> list[str]:
        """Return the parameters that the model does not take, which its calls were sent without."""
        select = "SELECT DISTINCT dropped FROM calls WHERE model = ? AND dropped <> ''"
        rows = self.read(select, [model])
        return sorted({name for (names,) in rows for name in names.split(", ")})

    @property
    def waits(self) -> int:
        """The number of paid replies that wait in memory, since a full disk has refused them."""
        if not self._unsaved.refused:
            return 0
        return sum(sql.startswith("INSERT") for sql, _ in self._unsaved.statements)

    async def put(self, *statements: Statement) -> None:
        """Store what was paid: it is on disk when this returns, in one commit with what else waits.

        What a full disk refuses waits in memory for the next `put`.
        """
        unsaved = self._unsaved
        unsaved.statements += statements
        if not unsaved.next_commit:
            unsaved.next_commit = asyncio.create_task(self._commit())
            unsaved.next_commit.add_done_callback(_retrieve)
        await asyncio.shield(unsaved.next_commit)

    async def _commit(self) -> None:
        async with self._unsaved.turn:
            self._unsaved.next_commit = None
            await asyncio.to_thread(self._save, tuple(self._unsaved.statements))

    def _save(self, statements: Sequence[Statement]) -> None:
        unsaved, errors = self._unsaved, []
        try:
            with self.write() as db:
                for statement in statements:
                    try:
                        db.execute(*statement)
                    except _OF_A_STATEMENT as error:  # it would be refused for ever
                        errors.append(error)
        except StoreError:
            unsaved.refused = True
            raise
        unsaved.refused = False
        del unsaved.statements[: len(statements)]
        if errors:
            raise StoreError(f"{len(errors)} replies could not be stored: {errors[0]}")

    def export(
        self, path: Path | str, where: str = "1", values: Sequence[Any] = ()
    ) -> int:
        """Write the calls to a file of JSON lines, whole or not at all; returns their number."""
        path, number, last = Path(path), 0, ""
        unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
        select = f"SELECT {_CALL} FROM calls WHERE ({where}) AND key > ? ORDER BY key LIMIT 500"
        try:
            with naming(path), unfinished.open("wb") as file:
                file.write(canonical({_MADE_ON: this_machine()}) + b"\n")
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
        what = kind(other)
        if what or not other.exists():
            allowed = "name a cache file, or an export of one"
            raise BadInputError(f"{other} is {what or 'missing'}: {allowed}")
        if not other.stat().st_size:
            return 0, 0
        try:  # SQLite alone opens a cache file: closing it otherwise drops SQLite's locks on it
            Store(other, read_only=True).close()
        except StoreError as error:
            if getattr(error.__cause__, "sqlite_errorcode", 0) != sqlite3.SQLITE_NOTADB:
                raise
            return self._load(other)
        new = total = 0
        with Store(self.path) as ours, ours.write() as db:  # a connection of its own
            db.execute("ATTACH ? AS theirs", [f"{other.absolute().as_uri()}?mode=ro"])
            wrong = f"SELECT key FROM theirs.calls WHERE {_WRONG_TYPES} LIMIT 1"
            if damaged := db.execute(wrong).fetchone():
                told = "has a field of a wrong type, so nothing was merged"
                raise BadInputError(f"{other}: call {damaged[0]!r} {told}")
            tables = {"calls": _CALL}
            if tables_of(db, "theirs").get("executions") == tables_of(db)["executions"]:
                tables["executions"] = "*"
            for table, columns in tables.items():
                total += db.execute(f"SELECT count(*) FROM theirs.{table}").fetchone()[
                    0
                ]
                into = table if columns == "*" else f"{table}({columns})"
                copy = f"INSERT OR IGNORE INTO main.{into} SELECT {columns} FROM theirs.{table}"
                new += db.execute(copy).rowcount
        return new, total - new

    def _load(self, path: Path) -> tuple[int, int]:
        new = total = 0
        with path.open("rb") as file, self.write() as db:
            for number, line in enumerate(file, 1):
                try:
                    call = orjson.loads(line)
                    if number == 1 and call.keys() == {_MADE_ON}:
                        continue
                    row = _row(call)
                except (AttributeError, ValueError, TypeError, KeyError) as error:
                    raise BadInputError(
                        f"{path}, line {number}: no exported call ({fault(error)}), so nothing was "
                        "merged; export the calls again, by `workbench cache export FILE.jsonl`"
                    ) from error
                new += db.execute(f"INSERT OR IGNORE INTO calls{_INSERT}", row).rowcount
                total += 1
        return new, total - new


def this_machine() -> str:
    """Return the platform, and the versions of what numbers could depend on."""
    libraries = f"SQLite {sqlite3.sqlite_version}, NumPy {version('numpy')}"
    return f"{platform.platform()}, Python {platform.python_version()}, {libraries}"


def made_on(export: Path) -> str:
    """Return the machine that an export's first line names; "" if it names none."""
    with export.open("rb") as file:
        try:
            first = orjson.loads(file.readline())
        except ValueError:  # a cache file
            return ""
    return str(first.get(_MADE_ON, "")) if isinstance(first, dict) else ""


def _retrieve(commit: "asyncio.Task[None]") -> None:
    """Take the error of a commit that no stopped call waits for, which asyncio would print."""
    if not commit.cancelled():
        commit.exception()


def _row(call: Mapping[str, Any]) -> list[Any]:
    """Return the row of an exported call; ValueError, TypeError or KeyError say what is wrong."""
    for name in _TEXTS:
        _check(call, name, isinstance(call[name], str), "a text")
    for name in _COUNTS:
        count = call[name]
        is_count = type(count) is int and 0 <= count < 2**63
        _check(call, name, is_count, "a whole number, 0 or more")
    for name in _TIMES:
        _check(call, name, isinstance(call[name], int | float), "a number")
    cost = call["cost"]
    is_cost = cost is None or valid_cost(cost) is not None
    _check(call, "cost", is_cost, "a number, 0 or more, or null")
    request = Request(
        "", call["model"], call["messages"], call["parameters"], call["sample"]
    )
    if request_key(request, call["endpoint"]) != call["key"]:
        raise ValueError("its request was changed, so its key is wrong")
    row = []
    for name in _COLUMNS:
        value = call[name]
        row.append(canonical(value).decode() if name in _JSON else value)
    return row


def _check(call: Mapping[str, Any], name: str, is_valid: object, wanted: str) -> None:
    if not is_valid:
        raise ValueError(
            f"its {name} is {str(call[name])[:100]!r}: it must be {wanted}"
        )


def insert(
    request: Request,
    answer: Completion,
    endpoint: str,
    reply: Mapping[str, Any],
    began: float,
) -> Statement:
    """Return the statement that stores a call, and replaces one that is asked once more."""
    now = time.time()
    values = {
        "text": answer.text,
        "model": answer.model,
        "finish_reason": answer.finish_reason,
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
        "cached_tokens": answer.cached_tokens,
        "cost": answer.cost,
        "key": answer.key,
        "endpoint": endpoint,
        "messages": orjson.dumps(request.messages).decode(),
        "parameters": canonical(request.parameters).decode(),
        "dropped": dropped.get(asked(request), ""),
        "sample": request.sample,
        "prompt": request.prompt,
        "reply": orjson.dumps(reply).decode(),
        "seconds": now - began,
        "created": now,
    }
    return f"INSERT OR REPLACE INTO calls{_INSERT}", tuple(
        values[name] for name in _COLUMNS
    )
