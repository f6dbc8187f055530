"""Run SQL that a model wrote, and keep each execution in the lab book.

A query is cached by the content of its database, its text and its limits: a gold query runs once however
many predictions are judged against it, and a time-out is remembered with its limit. What may pass by
itself (a lock, a full disk, a killed worker) is not kept.
"""

import os
import time
import zlib
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Self, TypeVar

import orjson

from workbench.canonical import canonical
from workbench.db.fingerprint import database_fingerprints
from workbench.db.guard import SQL_LENGTH
from workbench.db.supervisor import Supervisor
from workbench.errors import UnreadableDatabaseError
from workbench.store import Store
from workbench.types import Execution, Limits, Row

Job = tuple[Path, str]
_Told = TypeVar("_Told")  # what a caller wants to know of an execution
_DEFAULT = Limits()
_COMPRESS = 100_000  # bytes of JSON above which rows are stored compressed
_BATCH = 1.0  # seconds of finished executions that a kill may lose


@dataclass(frozen=True, slots=True)
class Timing:
    """Of each query in turn: its seconds, run by run, and its SQLite opcodes, which do not vary."""

    seconds: tuple[tuple[float, ...], ...] = ()
    opcodes: tuple[int, ...] = ()
    error: str = ""


class Executor:
    """The databases as a system may reach them: read-only, bounded, remembered.

    Safe to share between threads. Without a store nothing is remembered.
    """

    def __init__(self, store: Store | None = None, workers: int | None = None) -> None:
        self._store = store
        self._supervisor = Supervisor(workers or os.cpu_count() or 1)

    def execute(self, database: Path, sql: str, limits: Limits = _DEFAULT) -> Execution:
        """What the database answers; whatever goes wrong with the query is a value."""
        return self.execute_many([(database, sql)], limits)[0]

    def execute_many(
        self,
        jobs: Sequence[Job],
        limits: Limits = _DEFAULT,
        progress: Callable[[int], None] | None = None,
    ) -> list[Execution]:
        """The execution of every job, in order; equal jobs run once.

        `progress` is told how many more jobs are done. A database that is not there is the caller's
        mistake: `UnreadableDatabaseError`.
        """
        return self._each(jobs, limits, progress, self._recall, _execution)

    def result_fingerprints(
        self,
        jobs: Sequence[Job],
        limits: Limits = _DEFAULT,
        progress: Callable[[int], None] | None = None,
    ) -> list[str]:
        """The fingerprint of every job's execution, as `execute_many` gives it, "" where there is none.

        What is in the lab book is told without its rows: several times faster, and small in memory.
        """
        return self._each(jobs, limits, progress, self._recall_fingerprints, _fingerprint)

    def _each(
        self,
        jobs: Sequence[Job],
        limits: Limits,
        progress: Callable[[int], None] | None,
        recall: Callable[[Collection[str]], dict[str, _Told]],
        told: Callable[[dict[str, Any]], _Told],
    ) -> list[_Told]:
        """What is known of every job by `recall` from its key, or is `told` by a worker's answer."""
        paths = {path for path, _ in jobs}
        # Without a store nothing outlives this call, so where a database lies tells it from others.
        contents = self.fingerprints(paths) if self._store else {p: _place(p) for p in paths}
        # Hashed once for each database, not for each query: this is most of what a cached query costs.
        begun = {path: sha256(canonical([2, contents[path], limits])) for path in paths}
        known: dict[str, _Told] = {}
        keys = []
        for path, sql in jobs:
            if refusal := _refusal(sql):
                known[refusal] = told({"status": "error", "error": refusal, "seconds": 0.0})
            keys.append(refusal or _key(begun[path], sql))
        known |= recall(set(keys) - set(known))
        todo = {key: job for key, job in zip(keys, jobs, strict=True) if key not in known}
        times = Counter(keys)
        if progress:
            progress(sum(times[key] for key in known))
        order = list(todo)
        requests = [_request(path, sql, limits) for path, sql in todo.values()]
        fresh: dict[str, dict[str, Any]] = {}

        def keep() -> None:
            self._keep(
                [(key, contents[todo[key][0]], todo[key][1], fresh[key]) for key in fresh], limits
            )
            fresh.clear()

        kept = time.monotonic()
        try:
            for index, answer in self._supervisor.run(requests, limits.seconds):
                known[order[index]] = told(answer)
                if not answer.get("passing"):
                    fresh[order[index]] = answer
                if progress:
                    progress(times[order[index]])
                if time.monotonic() - kept > _BATCH:
                    keep()
                    kept = time.monotonic()
        finally:
            keep()
        return [known[key] for key in keys]

    def fingerprints(self, databases: Collection[Path]) -> dict[Path, str]:
        """For each database a hash of its content; without a store each is read anew."""
        return database_fingerprints(databases, self._supervisor, self._store)

    def time(self, database: Path, queries: Sequence[str], repeats: int, seconds: float) -> Timing:
        """Run the queries in turn, `repeats` times, all within so many seconds; never from the cache."""
        if refusal := next(filter(None, map(_refusal, queries)), ""):
            return Timing(error=refusal)
        request = {
            "do": "time_runs",
            "path": str(database.absolute()),
            "queries": list(queries),
            "repeats": repeats,
            "seconds": seconds,
        }
        ((_, answer),) = self._supervisor.run([request], seconds)
        return Timing(
            tuple(map(tuple, answer.get("times", ()))),
            tuple(answer.get("opcodes", ())),
            answer.get("error", ""),
        )

    def _recall(self, keys: Collection[str]) -> dict[str, Execution]:
        if not self._store:
            return {}
        found = self._store.read_keys(
            "SELECT key, status, fingerprint, row_count, truncated, seconds, error, columns, rows"
            " FROM executions WHERE key IN",
            list(keys),
        )
        return {
            key: Execution(
                status=status,
                columns=tuple(orjson.loads(columns)),
                rows=_rows(zlib.decompress(rows) if isinstance(rows, bytes) else rows),
                row_count=row_count,
                fingerprint=fingerprint,
                error=error,
                seconds=seconds,
                truncated=bool(truncated),
            )
            for key, status, fingerprint, row_count, truncated, seconds, error, columns, rows in found
        }

    def _recall_fingerprints(self, keys: Collection[str]) -> dict[str, str]:
        if not self._store:
            return {}
        return dict(
            self._store.read_keys(
                "SELECT key, fingerprint FROM executions WHERE key IN", list(keys)
            )
        )

    def _keep(self, fresh: list[tuple[str, str, str, dict[str, Any]]], limits: Limits) -> None:
        if not (self._store and fresh):
            return
        with self._store.write() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO executions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        key,
                        content,
                        sql,
                        canonical(limits).decode(),
                        answer["status"],
                        answer.get("fingerprint", ""),
                        len(answer.get("rows", ())),
                        answer.get("truncated", False),
                        answer["seconds"],
                        answer.get("error", ""),
                        orjson.dumps(answer.get("columns", [])).decode(),
                        _stored(orjson.dumps(answer.get("rows", []))),
                    )
                    for key, content, sql, answer in fresh
                ),
            )

    def close(self) -> None:
        """End the workers. The executor can still be used; it starts new ones."""
        self._supervisor.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _place(path: Path) -> str:
    if not path.is_file():
        raise UnreadableDatabaseError(
            f"{path.name}: no such file; give the path of an SQLite database"
        )
    return str(path.absolute())


def _key(begun: Any, sql: str) -> str:
    whole = begun.copy()
    whole.update(sql.encode())
    return f"execution:{whole.hexdigest()}"


def _refusal(sql: str) -> str:
    """Why this text cannot even be sent to SQLite, or ""."""
    if "\0" in sql:
        return "the SQL holds a NUL character"
    try:
        size = len(sql.encode())
    except UnicodeEncodeError:
        return "the SQL holds half of a surrogate pair, which is no character"
    return f"the SQL is longer than {SQL_LENGTH:,} bytes" if size > SQL_LENGTH else ""


def _request(path: Path, sql: str, limits: Limits) -> dict[str, Any]:
    return {
        "do": "run",
        "path": str(path.absolute()),
        "sql": sql,
        "seconds": limits.seconds,
        "max_rows": limits.rows,
        "max_bytes": limits.bytes,
    }


def _execution(answer: dict[str, Any]) -> Execution:
    rows = _untagged(answer.get("rows", []))
    return Execution(
        status=answer["status"],
        columns=tuple(answer.get("columns", ())),
        rows=rows,
        row_count=len(rows),
        fingerprint=answer.get("fingerprint", ""),
        error=answer.get("error", ""),
        seconds=answer["seconds"],
        truncated=answer.get("truncated", False),
    )


def _fingerprint(answer: dict[str, Any]) -> str:
    return str(answer.get("fingerprint", ""))


def _stored(rows: bytes) -> str | bytes:
    return rows.decode() if len(rows) <= _COMPRESS else zlib.compress(rows, 1)


def _rows(stored: str | bytes) -> tuple[Row, ...]:
    return _untagged(orjson.loads(stored))


def _untagged(rows: list[list[Any]]) -> tuple[Row, ...]:
    """Rows from JSON; a one-entry object stands for a value that JSON has no word for."""
    return tuple(tuple([_value(v) if type(v) is dict else v for v in row]) for row in rows)


def _value(tagged: dict[str, str]) -> bytes | float:
    if "blob" in tagged:
        return b64decode(tagged["blob"])
    return float(tagged["float"])
