"""Run SQL that a model wrote, and cache its executions.

An execution is cached under the content of its database, the SQL and the limits: a gold query runs once,
however many predictions are compared with it, and a time-out is cached with its limit. Transient failures
(a locked database, a full disk, a killed worker) are not cached.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Self, TypeVar

from workbench.db import executions
from workbench.db.executions import Answer, execution_keys
from workbench.db.fingerprint import database_fingerprints, file_state, unreadable
from workbench.db.sandbox.guard import SQL_LENGTH
from workbench.db.sandbox.supervisor import Supervisor
from workbench.errors import UnreadableDatabaseError
from workbench.store import Store
from workbench.types import Execution, Limits

Job = tuple[Path, str]
Progress = Callable[[int, int], None]
_Result = TypeVar("_Result")  # an execution, its fingerprint or its status
_DEFAULT = Limits()


class Executor:
    """Runs SQL on databases, read-only and within limits, and caches the executions in `store`.

    Threads may share an executor. `workers` is the number of processes that run SQL, by default one for each
    CPU, and `supervisor` gives them their queries. Without a store, or with a read-only store, new executions
    are not cached.
    """

    def __init__(
        self,
        store: Store | None = None,
        workers: int | None = None,
        supervisor: Supervisor | None = None,
    ) -> None:
        self.store = store
        self.supervisor = supervisor or Supervisor(workers or os.cpu_count() or 1)

    @property
    def caches(self) -> bool:
        """Whether new executions are cached, so that running a query again costs little."""
        return self.store is not None and not self.store.read_only

    def execute(self, database: Path, sql: str, limits: Limits = _DEFAULT) -> Execution:
        """The query's execution; a query that fails has a status and an error, and raises nothing."""
        return self.execute_many([(database, sql)], limits)[0]

    def execute_many(
        self,
        jobs: Sequence[Job],
        limits: Limits = _DEFAULT,
        progress: Progress | None = None,
    ) -> list[Execution]:
        """The execution of every job, in order; equal jobs run once.

        `progress` is called with the number of jobs that are done and the number of all. A database that
        does not exist raises `UnreadableDatabaseError`.
        """
        return self._run(jobs, limits, progress, executions.read_cached, executions.execution)

    def result_fingerprints(
        self,
        jobs: Sequence[Job],
        limits: Limits = _DEFAULT,
        progress: Progress | None = None,
    ) -> list[str]:
        """The fingerprint of every job's execution, "" for an incomplete execution.

        Cached fingerprints are read without the rows, several times faster than by `execute_many`.
        """
        read = executions.read_cached_fingerprints
        return self._run(
            jobs, limits, progress, read, lambda answer: str(answer.get("fingerprint", ""))
        )

    def statuses(self, jobs: Sequence[Job], limits: Limits = _DEFAULT) -> list[str]:
        """The status of every job's execution, without its rows."""
        read = executions.read_cached_statuses
        return self._run(jobs, limits, None, read, lambda answer: str(answer["status"]))

    def _run(
        self,
        jobs: Sequence[Job],
        limits: Limits,
        progress: Progress | None,
        read_cached: Callable[[Store, Collection[str]], dict[str, _Result]],
        convert: Callable[[Answer], _Result],
    ) -> list[_Result]:
        """The result of every job, which `read_cached` finds in the store or `convert` makes from a worker's answer."""
        paths = {str(path): path for path, _ in jobs}  # hashing texts is faster than hashing paths
        # Without a store, keys are used in this call only, so a path can stand for the database's content.
        states = {path: file_state(path) for path in paths.values()} if self.store else {}
        fingerprints = database_fingerprints(states, self.supervisor, self.store, states)
        contents = {
            name: fingerprints[path] if self.store else _existing(path)
            for name, path in paths.items()
        }
        key_makers = {name: execution_keys(content, limits) for name, content in contents.items()}
        results: dict[str, _Result] = {}
        queries: dict[str, tuple[str, str]] = {}  # by key: path and SQL
        keys = []
        for path, sql in jobs:
            if refusal := _refusal(sql):
                key = refusal
                answer = {"status": "error", "error": refusal, "seconds": 0, "rows": b"[]"}
                results[key] = convert(answer)
            else:
                key = key_makers[str(path)](sql)
                queries[key] = (str(path), sql)
            keys.append(key)
        if self.store:
            results |= read_cached(self.store, queries)
        todo = [key for key in queries if key not in results]
        repeats = Counter(keys)
        done = sum(repeats[key] for key in results)
        if progress:
            progress(done, len(jobs))
        common = {
            "do": "run",
            "seconds": limits.seconds,
            "max_rows": limits.rows,
            "max_bytes": limits.bytes,
        }
        real = {name: os.path.realpath(name) for name in {queries[key][0] for key in todo}}
        requests = [
            common | {"path": real[name], "sql": sql}
            for name, sql in map(queries.__getitem__, todo)
        ]
        store = self.store if self.caches else None
        new = executions.NewExecutions(store, limits, states) if store else None
        try:
            save = new.save if new else None
            for index, answer in self.supervisor.run(requests, limits.seconds, meanwhile=save):
                key = todo[index]
                results[key] = convert(answer)
                name, sql = queries[key]
                if new and not answer.get("transient"):
                    new.add(key, paths[name], contents[name], sql, answer)
                done += repeats[key]
                if progress:
                    progress(done, len(jobs))
        finally:
            if new:
                new.save()
        return [results[key] for key in keys]

    def fingerprints(self, databases: Iterable[Path]) -> dict[Path, str]:
        """Each database's fingerprint, a hash of its content; without a store every file is hashed again."""
        return database_fingerprints(databases, self.supervisor, self.store)

    def time(
        self, database: Path, queries: Sequence[str], repeats: int, seconds: float
    ) -> tuple[list[list[float]], list[int]] | None:
        """The seconds of each query's runs, and its number of SQLite opcodes, which is always the same.

        The queries run in turn, `repeats` times, within `seconds` in all; the cache is not read. None if a query does
        not run to its end.
        """
        if any(map(_refusal, queries)):
            return None
        request = {
            "do": "time_runs",
            "path": os.path.realpath(database),
            "queries": list(queries),
            "repeats": repeats,
            "seconds": seconds,
        }
        ((_, answer),) = self.supervisor.run([request], seconds)
        return None if answer.get("error") else (answer["times"], answer["opcodes"])

    def close(self) -> None:
        """End the workers. The executor can still be used; it then starts new workers."""
        self.supervisor.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _existing(path: Path) -> str:
    if not os.path.isfile(path):  # noqa: PTH113  a Path's raises for a name that is too long
        raise UnreadableDatabaseError(
            f"{path.name}: no such file; give the path of an SQLite database"
        )
    try:
        os.path.realpath(path).encode()
    except UnicodeEncodeError as error:
        raise unreadable(path, error) from error
    return str(path.absolute())


def _refusal(sql: str) -> str:
    """Why the SQL cannot be sent to SQLite; "" if it can."""
    if "\0" in sql:
        return "the SQL contains a NUL character"
    try:
        size = len(sql.encode())
    except UnicodeEncodeError:
        return "the SQL contains half of a surrogate pair, which is not a character"
    return f"the SQL is longer than {SQL_LENGTH:,} bytes" if size > SQL_LENGTH else ""
