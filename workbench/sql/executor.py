"""Run SQL that a model wrote in sandboxed workers, and cache its executions.

An execution is cached under the content of its database, the SQL and the limits: a gold query runs once, however
many predictions are compared with it, and a time-out is cached with its limit. Failures that may pass (a locked
database, a killed worker) are not cached. What the sandbox guarantees stands in `worker.py`.
"""

import base64
import os
import stat
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Self, TypeVar

import orjson

from workbench.canonical import canonical, content_hash
from workbench.errors import UnreadableDatabaseError
from workbench.sql.sandbox import Answer, Sandbox
from workbench.store import Store
from workbench.types import Execution, Limits, Row

Job = tuple[Path, str]
Progress = Callable[[int, int], None]
T = TypeVar("T")

SQL_LENGTH = 1_000_000  # bytes of the longest query
SETTLED = 2_000_000_000  # ns; a younger file may change again without a change of its times
FORMAT = 2  # of the cached rows
COMPRESS = 100_000  # bytes of JSON: larger rows are stored compressed
INTERVAL = 0.1  # seconds between two transactions
SPEED = 20_000_000  # bytes a second that are read from a slow disk
DEFAULT = Limits()
STORED = ["status", "fingerprint", "row_count", "truncated", "seconds", "error", "columns", "rows"]


class Executor:
    """Runs SQL on databases, read-only and within limits, and caches the executions in `store`.

    Threads may share it. `workers` is the number of processes, by default one for each CPU; `sandbox` has them, if
    executors share them. A query that fails has
    a status and an error and raises nothing; a path that is no readable database raises `UnreadableDatabaseError`.
    """

    def __init__(
        self, store: Store | None = None, workers: int | None = None, sandbox: Sandbox | None = None
    ) -> None:
        self.store = store
        self.sandbox = sandbox or Sandbox(workers or os.cpu_count() or 1)

    @property
    def caches(self) -> bool:
        """Whether new executions are cached, so that running a query again costs little."""
        return self.store is not None and not self.store.read_only

    def execute(self, database: Path, sql: str, limits: Limits = DEFAULT) -> Execution:
        return self.execute_many([(database, sql)], limits)[0]

    def execute_many(
        self, jobs: Sequence[Job], limits: Limits = DEFAULT, progress: Progress | None = None
    ) -> list[Execution]:
        """The execution of every job, in order; equal jobs run once. `progress` gets the jobs done, and all."""
        return self._run(jobs, limits, progress, STORED, execution)

    def result_fingerprints(
        self, jobs: Sequence[Job], limits: Limits = DEFAULT, progress: Progress | None = None
    ) -> list[str]:
        """The fingerprint of every job's result, "" for an incomplete one; cached rows are not read."""
        return self._run(
            jobs, limits, progress, ["fingerprint"], lambda a: a.get("fingerprint", "")
        )

    def statuses(self, jobs: Sequence[Job], limits: Limits = DEFAULT) -> list[str]:
        """The status of every job's execution; cached rows are not read."""
        return self._run(jobs, limits, None, ["status"], lambda answer: answer["status"])

    def _run(
        self,
        jobs: Sequence[Job],
        limits: Limits,
        progress: Progress | None,
        fields: list[str],
        read: Callable[[Answer], T],
    ) -> list[T]:
        states = {path: file_state(path) for path in {path for path, _ in jobs}}
        # Without a store, keys are used in this call only, so a path can stand for the database's content.
        contents = self.fingerprints(states) if self.store else {path: str(path) for path in states}
        common = {p: sha256(canonical([FORMAT, contents[p], limits])) for p in states}
        results: dict[str, T] = {}
        todo: dict[str, Job] = {}
        keys = []
        for path, sql in jobs:
            if key := refusal(sql):
                results[key] = read({"status": "error", "error": key, "seconds": 0.0})
            else:
                digest = common[path].copy()
                digest.update(sql.encode())
                key = f"execution:{digest.hexdigest()}"
                todo[key] = path, sql
            keys.append(key)
        if self.store:
            sql = f"SELECT key, {', '.join(fields)} FROM executions WHERE key IN (SELECT value FROM json_each(?))"
            for key, *values in self.store.read(sql, [canonical(list(todo)).decode()]):
                results[key] = read(dict(zip(fields, values, strict=True)))
                del todo[key]
        repeats = Counter(keys)
        done = sum(repeats[key] for key in results)
        report = progress or (lambda *_: None)
        report(done, len(jobs))
        same = {"do": "run", "seconds": limits.seconds} | {
            "max_rows": limits.rows,
            "max_bytes": limits.bytes,
        }
        real = {path: os.path.realpath(path) for path in states}
        requests = [same | {"path": real[path], "sql": sql} for path, sql in todo.values()]
        waiting = list(todo.items())
        new: list[tuple[Path, tuple[Any, ...]]] = []
        saved = time.monotonic()

        def save() -> None:
            nonlocal saved
            self._save(new, states)
            new.clear()
            saved = time.monotonic()

        try:
            for index, answer in self.sandbox.run(requests, quiet=save):
                key, (path, sql) = waiting[index]
                results[key] = read(answer)
                if self.caches and not answer.get("transient"):
                    row = (key, contents[path], sql, canonical(limits).decode(), *_stored(answer))
                    new.append((path, row))
                if time.monotonic() > saved + INTERVAL:
                    save()
                done += repeats[key]
                report(done, len(jobs))
        finally:
            save()
        return [results[key] for key in keys]

    def _save(self, new: list[tuple[Path, tuple[Any, ...]]], states: dict[Path, str]) -> None:
        """Store executions, but none on a database that has changed since: they may be of another content."""
        same = {path for path in {path for path, _ in new} if _unchanged(path, states[path])}
        rows = [row for path, row in new if path in same]
        if rows and self.store:
            names = f"key, database, sql, limits, {', '.join(STORED)}"
            insert = (
                f"INSERT OR IGNORE INTO executions ({names}) VALUES (?{', ?' * (3 + len(STORED))})"
            )
            with self.store.write(durable=False) as connection:
                connection.executemany(insert, rows)

    def fingerprints(self, databases: Iterable[Path]) -> dict[Path, str]:
        """`db:` and a hash of each database's bytes, which is cached with the state of its file."""
        states = {path: file_state(path) for path in databases}
        places = {path: content_hash("place", os.path.realpath(path)) for path in states}
        sql = "SELECT place, state, fingerprint FROM databases WHERE place IN (SELECT value FROM json_each(?))"
        values = [canonical(list(places.values())).decode()]
        stored = {row[:2]: row[2] for row in self.store.read(sql, values)} if self.store else {}
        found = {p: stored.get((places[p], state), "") for p, state in states.items()}
        new = [path for path, known in found.items() if not known]
        seconds = 60 + max((path.stat().st_size for path in new), default=0) / SPEED
        requests = [
            {"do": "digest", "path": os.path.realpath(path), "seconds": seconds} for path in new
        ]
        for index, answer in self.sandbox.run(requests):
            if "digest" not in answer:
                raise UnreadableDatabaseError(f"{new[index].name}: {answer['error']}")
            found[new[index]] = f"db:{answer['digest']}"
        rows = [(places[path], states[path], found[path]) for path in new if is_settled(path)]
        if self.store and self.caches and rows:
            with self.store.write(durable=False) as connection:
                connection.executemany("INSERT OR REPLACE INTO databases VALUES (?, ?, ?)", rows)
        return found

    def time(
        self, database: Path, queries: Sequence[str], repeats: int, seconds: float
    ) -> tuple[list[list[float]], list[int]] | None:
        """The seconds of each query's runs, and its number of SQLite opcodes, which is the same on every machine.

        The queries run in turn, `repeats` times, within `seconds` in all; the cache is not read. None if a query
        does not run to its end.
        """
        request = {"do": "times", "queries": list(queries), "repeats": repeats, "seconds": seconds}
        answer = self.ask(database, request) if not any(map(refusal, queries)) else {}
        return (answer["times"], answer["opcodes"]) if "times" in answer else None

    def texts(
        self, database: Path, table: str, column: str, longest: int = 200, seconds: float = 600.0
    ) -> list[str]:
        """The distinct texts of a column in code point order, without longer ones and those that are not UTF-8."""
        request = {"do": "texts", "table": table, "column": column, "longest": longest}
        answer = self.ask(database, request | {"seconds": seconds})
        if answer.get("error"):
            raise UnreadableDatabaseError(f"{database.name}, {table}.{column}: {answer['error']}")
        texts: list[str] = orjson.loads(answer["rows"])
        return texts

    def ask(self, database: Path, request: Answer) -> Answer:
        """A worker's answer to one of its other requests; the cache is not read."""
        file_state(database)
        return self.sandbox.ask(request | {"path": os.path.realpath(database)})

    def close(self) -> None:
        """End the workers, and the queries under way. The executor can still be used; it then starts new workers."""
        self.sandbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def refusal(sql: str) -> str:
    """Why the SQL cannot be sent to SQLite; "" if it can."""
    if "\0" in sql:
        return "the SQL contains a NUL character"
    try:
        size = len(sql.encode())
    except UnicodeEncodeError:
        return "the SQL contains half of a surrogate pair, which is not a character"
    return f"the SQL is longer than {SQL_LENGTH:,} bytes" if size > SQL_LENGTH else ""


def file_state(path: Path) -> str:
    """The identity, size and times of a database file, as text: another state may be another content.

    No program can set back the time of status change (ctime). Raises `UnreadableDatabaseError` for a path that is
    not a file, and for a database whose newest rows are in its write-ahead log alone.
    """
    name = str(path)  # every step of a system calls this, and texts are faster than paths
    try:
        name.encode()
        found = os.stat(name)  # noqa: PTH116
    except UnicodeEncodeError:
        raise UnreadableDatabaseError(
            f"{path.name!a}: the path is not UTF-8; rename the file"
        ) from None
    except (OSError, ValueError) as error:  # a ValueError for a name with a NUL
        why = getattr(error, "strerror", error)
        raise UnreadableDatabaseError(f"{path.name}: {why}; give an SQLite database") from None
    if not stat.S_ISREG(found.st_mode):
        raise UnreadableDatabaseError(f"{path.name}: not a file; give the SQLite database itself")
    log = f"{os.path.realpath(name)}-wal"
    if os.path.exists(log) and os.path.getsize(log):  # noqa: PTH110, PTH202
        raise UnreadableDatabaseError(
            f"{path.name}: its write-ahead log (-wal) holds changes that are not in the file: close the program"
            " that writes it, or run PRAGMA wal_checkpoint(TRUNCATE) in sqlite3"
        )
    state = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    return " ".join(map(str, state))


def is_settled(path: Path) -> bool:
    """Whether the file changed so long ago that another change would give it another state."""
    return path.stat().st_ctime_ns < time.time_ns() - SETTLED


def _unchanged(path: Path, state: str) -> bool:
    try:
        return file_state(path) == state
    except UnreadableDatabaseError:
        return False


def _stored(answer: Answer) -> tuple[Any, ...]:
    """The values of the columns `STORED`."""
    rows: bytes = answer.get("rows", b"[]")
    return (
        *(answer["status"], answer.get("fingerprint", ""), answer.get("row_count", 0)),
        *(answer.get("truncated", False), answer["seconds"], answer.get("error", "")),
        orjson.dumps(answer.get("columns", [])).decode(),
        rows.decode() if len(rows) <= COMPRESS else zlib.compress(rows, 1),
    )


def execution(answer: Answer) -> Execution:
    """An answer of a worker, or a row of the cache, as an `Execution`."""
    rows, columns = answer.get("rows", b"[]"), answer.get("columns", ())
    if isinstance(columns, str):  # from the cache
        columns = orjson.loads(columns)
        rows = zlib.decompress(rows) if isinstance(rows, bytes) else rows.encode()
    return Execution(
        status=answer["status"],
        columns=tuple(columns),
        rows=rows_of(rows),
        row_count=answer.get("row_count", 0),
        fingerprint=answer.get("fingerprint", ""),
        error=answer.get("error", ""),
        seconds=answer["seconds"],
        truncated=bool(answer.get("truncated", False)),
        transient=bool(answer.get("transient", False)),
    )


def rows_of(found: bytes | list[list[Any]]) -> tuple[Row, ...]:
    """Rows, perhaps as JSON text, in which an object with one entry stands for bytes or an infinite number."""
    if isinstance(found, bytes):
        rows: list[list[Any]] = orjson.loads(found)
        if b"{" not in found:
            return tuple(map(tuple, rows))
    else:
        rows = found
    return tuple(tuple(map(_untagged, row)) for row in rows)


def _untagged(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return base64.b64decode(value["blob"]) if "blob" in value else float(value["float"])
