"""The cached calls of models: rows of the table `calls`, on disk before anybody sees them.

The first line of an export names the machine, and each further one holds a call with its full
request, in the order of keys: equal caches of one machine give equal files. A merge adds rows and
replaces none.
"""

import asyncio
import math
import os
import platform
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from workbench.canonical import canonical
from workbench.errors import BadInputError, StoreError, fault, kind, naming
from workbench.llm.calls import request_key
from workbench.llm.money import Statement
from workbench.llm.send import FILTERED, asked, dropped
from workbench.store import Store, tables_of
from workbench.types import Completion, Request

_COLUMNS = {  # of a call, each with the kind of its values; the first eight are its answer
    "text": "text",
    "model": "text",
    "finish_reason": "text",
    "input_tokens": "count",
    "output_tokens": "count",
    "cached_tokens": "count",
    "cost": "cost",
    "key": "text",
    "endpoint": "text",
    "messages": "json",
    "parameters": "json",
    "dropped": "text",
    "sample": "count",
    "prompt": "text",
    "reply": "json",
    "seconds": "number",
    "created": "number",
}
_IS_VALID = {  # of a value {0} of each kind, in SQL, where 9e999 is infinity
    "text": "typeof({0}) = 'text'",
    "json": "typeof({0}) = 'text'",
    "count": "typeof({0}) = 'integer' AND {0} >= 0",
    "number": "typeof({0}) IN ('integer', 'real')",
    "cost": "{0} IS NULL OR typeof({0}) IN ('integer', 'real') AND {0} >= 0 AND {0} < 9e999",
}
_ALLOWED = {  # said of a value that is of another kind; JSON may be any
    "text": "a text",
    "count": "a whole number, 0 or more",
    "number": "a number",
    "cost": "a number, 0 or more, or null",
}
_ANSWER = ", ".join(list(_COLUMNS)[:8])
_CALL = ", ".join(_COLUMNS)
_VALUES = ", ".join(f":{name}" for name in _COLUMNS)
_JSON = [name for name, kind in _COLUMNS.items() if kind == "json"]
_MADE_ON = "made_on"  # of an export's first line
# Errors of one statement, which SQLite undoes; others are of the file or its disk.
_OF_A_STATEMENT = (
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    OverflowError,
    UnicodeEncodeError,
)
# Why a line of a file is no exported call.
_NO_CALL = (AttributeError, KeyError, TypeError, ValueError)


@dataclass
class _Unsaved:
    """Statements that are not on disk yet.

    While one commit writes, `next_commit` waits for its `turn`, and whoever stores something adds
    it and waits for `next_commit`. A commit takes all statements there are, and those stay until
    they are on disk: of a full disk, the error goes to all that wait, and the next commit tries
    again.
    """

    statements: list[Statement] = field(default_factory=list)
    refused: bool = False  # a full disk has refused them
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
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
        file = (os.getpid(), self.path.resolve())
        self._unsaved = _unsaved.setdefault(file, _Unsaved())

    def get_many(self, keys: Sequence[str]) -> dict[str, Completion]:
        """Return the cached answers by key; one that a content filter withheld has a fault."""
        select = f"SELECT {_ANSWER} FROM calls WHERE key"
        if len(keys) == 1:  # as often; it is the faster one
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
        unsaved = self._unsaved
        errors = []
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
        path = Path(path)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
        number = 0
        last_key = ""
        select = f"SELECT {_CALL} FROM calls WHERE ({where}) AND key > ? ORDER BY key LIMIT 500"
        try:
            with naming(path), unfinished.open("wb") as file:
                file.write(canonical({_MADE_ON: this_machine()}) + b"\n")
                while rows := self.read(select, [*values, last_key]):
                    for row in rows:
                        call = dict(zip(_COLUMNS, row, strict=True))
                        last_key = call["key"]
                        for name in _JSON:
                            call[name] = orjson.loads(call[name])
                        file.write(canonical(call) + b"\n")
                    number += len(rows)
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
        if not _is_database(other):
            with self.write() as db:
                return _merge_export(other, db)
        new = total = 0
        # A connection of its own, since it ends with what is attached.
        with Store(self.path) as ours, ours.write() as db:
            db.execute("ATTACH ? AS theirs", [f"{other.absolute().as_uri()}?mode=ro"])
            _check_types(other, db)
            tables = {"calls": _CALL}
            # Executions in another form are left out, as they can be made again.
            if tables_of(db, "theirs").get("executions") == tables_of(db)["executions"]:
                tables["executions"] = "*"
            for table, columns in tables.items():
                counted = db.execute(f"SELECT count(*) FROM theirs.{table}")
                total += counted.fetchone()[0]
                into = table if columns == "*" else f"{table}({columns})"
                copy = f"INSERT OR IGNORE INTO main.{into} SELECT {columns} FROM theirs.{table}"
                new += db.execute(copy).rowcount
        return new, total - new


def _is_database(path: Path) -> bool:
    """Whether SQLite can read a file, and not an export.

    SQLite alone may open a cache file: closing it otherwise drops SQLite's locks on it.
    """
    try:
        Store(path, read_only=True).close()
    except StoreError as error:
        if getattr(error.__cause__, "sqlite_errorcode", 0) == sqlite3.SQLITE_NOTADB:
            return False
        raise
    return True


def _merge_export(path: Path, db: sqlite3.Connection) -> tuple[int, int]:
    """Add the calls of an export; returns the number of new ones, and that of the others."""
    insert_new = f"INSERT OR IGNORE INTO calls({_CALL}) VALUES ({_VALUES})"
    new = total = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                call = orjson.loads(line)
                if number == 1 and call.keys() == {_MADE_ON}:
                    continue
                row = _row(call)
            except _NO_CALL as error:
                raise BadInputError(
                    f"{path}, line {number}: no exported call ({fault(error)}), so nothing was "
                    "merged; export the calls again, by `workbench cache export FILE.jsonl`"
                ) from error
            new += db.execute(insert_new, row).rowcount
            total += 1
    return new, total - new


def _row(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of an exported call; one of `_NO_CALL` says what is wrong."""
    for name, kind_ in _COLUMNS.items():
        if not _is_valid(call[name], kind_):
            value = repr(call[name])[:100]
            raise ValueError(f"its {name} is {value}: it must be {_ALLOWED[kind_]}")
    parts = (call["model"], call["messages"], call["parameters"], call["sample"])
    key = request_key(Request("", *parts), call["endpoint"])
    if key != call["key"]:
        raise ValueError("its request was changed, so its key is wrong")
    row = {name: call[name] for name in _COLUMNS}
    for name in _JSON:
        row[name] = canonical(row[name]).decode()
    return row


def _is_valid(value: Any, kind_: str) -> bool:
    """Whether a column may have the value, as `_IS_VALID` says in SQL; a boolean is no number."""
    is_whole = type(value) is int and abs(value) < 2**63  # as SQLite has them
    is_number = is_whole or type(value) is float
    match kind_:
        case "text":
            return isinstance(value, str)
        case "count":
            return is_whole and value >= 0
        case "number":
            return is_number
        case "cost":
            return value is None or (is_number and 0 <= value < math.inf)
    return True


def _check_types(path: Path, db: sqlite3.Connection) -> None:
    """Raise BadInputError for a call of `theirs` with a value of a wrong type."""
    tests = []
    for name, kind_ in _COLUMNS.items():
        is_valid = _IS_VALID[kind_].format(name)
        tests.append(f"WHEN NOT ({is_valid}) THEN '{name}'")
    wrong = f"CASE {' '.join(tests)} END"
    select = f"SELECT key, {wrong} FROM theirs.calls WHERE {wrong} IS NOT NULL LIMIT 1"
    for key, name in db.execute(select):
        told = f"its {name} is of a wrong type, so nothing was merged"
        raise BadInputError(f"{path}: call {key!r}: {told}")


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


def insert(
    request: Request,
    answer: Completion,
    endpoint: str,
    reply: Mapping[str, Any],
    began: float,
) -> Statement:
    """Return the statement that stores a call."""
    now = time.time()
    values = asdict(answer) | {
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
    return f"INSERT OR REPLACE INTO calls({_CALL}) VALUES ({_VALUES})", values
