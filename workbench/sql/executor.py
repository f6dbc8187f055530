"""Run SQL that a model wrote in sandboxed workers, and cache its executions.

An execution is cached under the content of its database, the SQL, the limits and SQLite's version:
a gold query runs once, however many predictions are compared with it, and a time-out is cached with
its limit. Failures that may pass (a locked database, a killed worker) are not cached, nor are
queries of the present time or of random numbers. What the sandbox guarantees stands in `worker.py`.
"""

import base64
import json
import os
import re
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any, Self, TypeVar

import orjson

from workbench.canonical import canonical, content_hash
from workbench.errors import UnreadableDatabaseError
from workbench.sql.sandbox import Answer, Sandbox
from workbench.sql.worker import MB, SETTLED
from workbench.store import Store
from workbench.types import Execution, Limits

Job = tuple[Path, str]
T = TypeVar("T")

_KEY_VERSION = 4  # raised when the same key would have another result
DEFAULT = Limits()
# What gives another value at another time.
_CHANGING = re.compile(
    r"""(?ix) ['"]now['"] | \bcurrent_(?:date|time|timestamp)\b | \brandom(?:blob)?\s*\(
    | \b(?:date|time|datetime|julianday|unixepoch)\s*\(\s*\) | \bstrftime\s*\([^(),]*\)"""
)
# Of an `Execution`, and columns of the cache.
FIELDS = (
    "status",
    "fingerprint",
    "row_count",
    "truncated",
    "seconds",
    "error",
    "columns",
    "rows",
)
_COLUMNS = ("key", "database", "sql", "limits", *FIELDS)
_INSERT = f"""INSERT OR IGNORE INTO executions ({", ".join(_COLUMNS)})
    VALUES ({", ".join("?" * len(_COLUMNS))})"""


class Executor:
    """Runs SQL on databases, read-only and within limits, and caches the executions in `store`.

    Threads may share it. `workers` is the number of processes, by default one for each CPU;
    `sandbox` has them, if executors share them. A query that fails has a status and an error; a
    path that is no readable database raises `UnreadableDatabaseError`.

    >>> harbour = wb.open_benchmark("bundled-dev").database("harbour")
    >>> with wb.Executor() as executor:
    ...     print(executor.execute(harbour, "DROP TABLE tug").error)
    not authorized: only a SELECT from tables runs here
    """

    def __init__(
        self,
        store: Store | None = None,
        workers: int | None = None,
        sandbox: Sandbox | None = None,
    ) -> None:
        self.store = store
        self.sandbox = sandbox or Sandbox(workers or os.cpu_count() or 1)

    def execute(self, database: Path, sql: str, limits: Limits = DEFAULT) -> Execution:
        return self.execute_many([(database, sql)], limits)[0]

    def execute_many(
        self, jobs: Sequence[Job], limits: Limits = DEFAULT
    ) -> list[Execution]:
        """Return the execution of every job, in order; equal jobs run once."""
        return self._run(jobs, limits, FIELDS, execution)

    def result_fingerprints(
        self, jobs: Sequence[Job], limits: Limits = DEFAULT
    ) -> list[str]:
        """Return the fingerprint of every job's result, "" for an incomplete one.

        Cached rows are not read.
        """
        return self._run(
            jobs, limits, ["fingerprint"], lambda answer: str(answer["fingerprint"])
        )

    def _run(
        self,
        jobs: Sequence[Job],
        limits: Limits,
        fields: Sequence[str],
        read: Callable[[Answer], T],
    ) -> list[T]:
        """Return what `read` makes of each job's answer, of which it needs these fields.

        An answer has the form of a row of the cache, in which columns and rows are JSON.
        """
        states = {path: file_state(path) for path, _ in jobs}
        # Without a store, keys are used in this call only, so a path can stand for its content.
        contents = {path: str(path) for path in states}
        if self.store:
            contents = self._contents(states)
        keys = _keys(jobs, contents, limits)
        results = {key: read(answer) for key, answer in self._cached(keys, fields)}
        by_key = dict(zip(keys, jobs, strict=True))  # equal jobs have one key
        missing = {key: by_key[key] for key in by_key if key not in results}
        for key, answer in self._executed(missing, limits, states, contents):
            results[key] = read(answer)
        return [results[key] for key in keys]

    def _cached(
        self, keys: Iterable[str], fields: Sequence[str]
    ) -> Iterator[tuple[str, Answer]]:
        """Yield the keys that are cached, each with these fields of its answer."""
        if self.store:
            select = f"SELECT key, {', '.join(fields)} FROM executions WHERE key IN"
            for key, *row in self.store.read_keys(select, list(dict.fromkeys(keys))):
                yield key, dict(zip(fields, row, strict=True))

    def _executed(
        self,
        jobs: dict[str, Job],
        limits: Limits,
        states: dict[Path, str],
        contents: dict[Path, str],
    ) -> Iterator[tuple[str, Answer]]:
        """Run the jobs, cache the answers that last, and yield each key with its answer."""
        keys = list(jobs)
        requests = _requests(list(jobs.values()), limits)
        limits_text = canonical(limits).decode()
        for batch in self.sandbox.run(requests):
            rows = []
            for index, answer in batch:
                path, sql = jobs[keys[index]]
                answer["columns"] = orjson.dumps(answer["columns"]).decode()
                # If the file has changed, the result may be of another content.
                is_lasting = self.store and _is_lasting(sql, answer)
                if is_lasting and _is_still(path, states[path]):
                    row = (keys[index], contents[path], _utf8(sql), limits_text)
                    rows.append((*row, *(answer[field] for field in FIELDS)))
            self._write(_INSERT, rows)
            for index, answer in batch:
                yield keys[index], answer

    def _write(self, insert: str, rows: list[tuple[Any, ...]]) -> None:
        if rows and self.store and not self.store.read_only:
            with self.store.write(durable=False) as connection:
                connection.executemany(insert, rows)

    def fingerprints(self, databases: Iterable[Path]) -> dict[Path, str]:
        """Return `db:` and a hash of each database's bytes, cached with the state of its file."""
        return self._contents({path: file_state(path) for path in databases})

    def _contents(self, states: dict[Path, str]) -> dict[Path, str]:
        """Return the fingerprints of database files in these states."""
        places: dict[Path, str] = {}
        for path in states:
            places[path] = content_hash("place", os.path.realpath(path))
        cached: dict[tuple[str, str], str] = {}
        if self.store:
            select = "SELECT place, state, fingerprint FROM databases WHERE place IN"
            for row in self.store.read_keys(select, list(places.values())):
                place, state, fingerprint = row
                cached[place, state] = fingerprint
        contents = {}
        for path, state in states.items():
            key = (places[path], state)
            if key in cached:
                contents[path] = cached[key]
                continue
            contents[path] = self._hash(path)
            # Asked after hashing: a file that is younger now may have changed meanwhile.
            if path.stat().st_ctime_ns < time.time_ns() - SETTLED:
                insert = "INSERT OR REPLACE INTO databases VALUES (?, ?, ?)"
                self._write(insert, [(*key, contents[path])])
        return contents

    def _hash(self, database: Path) -> str:
        answer = self.ask(database, {"do": "digest", "seconds": 3_600.0})
        if answer["error"]:
            raise UnreadableDatabaseError(f"{database.name}: {answer['error']}")
        return f"db:{answer['digest']}"

    def ask(self, database: Path, request: Answer) -> Answer:
        """Return a worker's answer to a request other than a query; nothing is cached."""
        file_state(database)  # raises for what is no database
        return self.sandbox.ask(request | {"path": os.path.realpath(database)})

    def close(self) -> None:
        """End the workers, and the queries under way; the next query starts new workers."""
        self.sandbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _utf8(text: str) -> str:
    """Return a text with what UTF-8 cannot hold, half of a surrogate pair, as an escape."""
    return text.encode("utf-8", "backslashreplace").decode()


def _keys(jobs: Sequence[Job], contents: dict[Path, str], limits: Limits) -> list[str]:
    """Return each job's key in the cache, the same for equal jobs."""
    # Sums of reals differ in their last digit between versions of SQLite.
    parts = (limits, sqlite3.sqlite_version)
    common: dict[Path, bytes] = {}
    for path, content in contents.items():
        common[path] = canonical([_KEY_VERSION, content, *parts])
    keys = []
    for path, sql in jobs:
        digest = sha256(common[path] + sql.encode("utf-8", "surrogatepass"))
        keys.append(f"execution:{digest.hexdigest()}")
    return keys


def _requests(jobs: Sequence[Job], limits: Limits) -> list[Answer]:
    common = {"do": "run", **asdict(limits)}
    real = {path: os.path.realpath(path) for path, _ in jobs}
    requests = []
    for path, sql in jobs:
        # A longer text is refused for its length, so its beginning is enough.
        requests.append(common | {"path": real[path], "sql": sql[: MB + 1]})
    return requests


def file_state(path: Path) -> str:
    """Return the identity, size and times of a database file as text.

    A settled file of the same state has the same content: no program can set back the time of
    status change (ctime). Raises `UnreadableDatabaseError` for a path that is not a file, and for a
    database whose newest rows are in its write-ahead log alone.
    """
    # Every step of a system calls this, and texts are faster than paths.
    text = str(path)
    problem = ""
    try:
        text.encode()
        status = os.stat(text)  # noqa: PTH116
        log = f"{os.path.realpath(text)}-wal"
        if not stat.S_ISREG(status.st_mode):
            problem = "not a file"
        elif os.path.exists(log) and os.path.getsize(log):  # noqa: PTH110, PTH202
            problem = "its write-ahead log (-wal) holds changes: end the program that writes it"
    except OSError as error:
        problem = error.strerror or str(error)
    except ValueError as error:  # of a NUL, and of what is not UTF-8
        problem = str(error)
    if problem:
        message = f"{_utf8(path.name)}: {problem}; give a whole SQLite database"
        raise UnreadableDatabaseError(message)
    identity = (status.st_dev, status.st_ino)
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return " ".join(map(str, (*identity, status.st_size, *times)))


def _is_lasting(sql: str, answer: Answer) -> bool:
    """Whether the query would have the same answer another time."""
    if answer["transient"]:
        return False
    return not _CHANGING.search(sql[: MB + 1])


def _is_still(path: Path, state: str) -> bool:
    with suppress(UnreadableDatabaseError):
        return file_state(path) == state
    return False


def execution(answer: Answer) -> Execution:
    """Return a worker's answer, or a row of the cache, as an `Execution`."""
    return Execution(
        status=answer["status"],
        fingerprint=answer["fingerprint"],
        row_count=answer["row_count"],
        truncated=bool(answer["truncated"]),
        seconds=answer["seconds"],
        error=answer["error"],
        columns=tuple(orjson.loads(answer["columns"])),
        rows=tuple(map(tuple, values(answer["rows"]))),
        transient=answer.get("transient", False),
    )


def values(text: str) -> Any:
    """Return what a worker wrote as JSON, with {"blob": ...} for bytes and Infinity for itself."""
    if "{" not in text and "Infinity" not in text:
        return orjson.loads(text)

    def with_bytes(value: dict[str, str]) -> Any:
        # Another dict is one of a counterexample's results.
        return base64.b64decode(value["blob"]) if "blob" in value else value

    return json.loads(text, object_hook=with_bytes)
