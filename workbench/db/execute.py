"""Run SQL that a model wrote, and keep each execution in the lab book.

A query is cached by the content of its database, its text and its limits: a gold query runs once however
many predictions are judged against it, and a time-out is remembered with its limit. What may pass by
itself (a lock, a full disk, a killed worker) is not kept.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from workbench.db.executions import Answer, Keys, execution, keep, recall, recall_fingerprints
from workbench.db.fingerprint import database_fingerprints
from workbench.db.guard import SQL_LENGTH
from workbench.db.supervisor import Supervisor
from workbench.errors import UnreadableDatabaseError
from workbench.store import Store
from workbench.types import Execution, Limits

Job = tuple[Path, str]
_Told = TypeVar("_Told")  # what a caller wants to know of an execution
_DEFAULT = Limits()


@dataclass(frozen=True, slots=True)
class Timing:
    """Of each query in turn: its seconds, run by run, and its SQLite opcodes, which do not vary."""

    seconds: tuple[tuple[float, ...], ...] = ()
    opcodes: tuple[int, ...] = ()
    error: str = ""


class Executor:
    """The databases as a system may reach them: read-only, bounded, remembered.

    Safe to share between threads. Without a store, or with one that cannot be written, nothing new is
    remembered.
    """

    def __init__(self, store: Store | None = None, workers: int | None = None) -> None:
        self._store = store
        self._supervisor = Supervisor(workers or os.cpu_count() or 1)

    @property
    def remembers(self) -> bool:
        """Whether what ran once is in a lab book, so that asking again costs little."""
        return self._store is not None and not self._store.read_only

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
        return self._each(jobs, limits, progress, recall, execution)

    def result_fingerprints(
        self,
        jobs: Sequence[Job],
        limits: Limits = _DEFAULT,
        progress: Callable[[int], None] | None = None,
    ) -> list[str]:
        """The fingerprint of every job's execution, as `execute_many` gives it, "" where there is none.

        What is in the lab book is told without its rows: several times faster, and small in memory.
        """
        return self._each(jobs, limits, progress, recall_fingerprints, _fingerprint)

    def _each(
        self,
        jobs: Sequence[Job],
        limits: Limits,
        progress: Callable[[int], None] | None,
        recall: Callable[[Store, Collection[str]], dict[str, _Told]],
        told: Callable[[Answer], _Told],
    ) -> list[_Told]:
        """What is known of every job by `recall` from its key, or is `told` by a worker's answer."""
        paths = {str(path): path for path, _ in jobs}  # texts are looked up faster than paths
        # Without a store nothing outlives this call, so where a database lies tells it from others.
        contents = (
            {str(path): content for path, content in self.fingerprints(paths.values()).items()}
            if self._store
            else {place: _existing(path) for place, path in paths.items()}
        )
        keyed = {place: Keys(content, limits) for place, content in contents.items()}
        known: dict[str, _Told] = {}
        places: dict[str, tuple[str, str]] = {}  # of each key the database and the query
        keys = []
        for path, sql in jobs:
            if refusal := _refusal(sql):
                known[refusal] = told(
                    {"status": "error", "error": refusal, "seconds": 0, "rows": b"[]"}
                )
                keys.append(refusal)
            else:
                place = str(path)
                key = keyed[place].key(sql)
                places[key] = (place, sql)
                keys.append(key)
        if self._store:
            known |= recall(self._store, places)
        todo = [key for key in places if key not in known]
        times = Counter(keys)
        if progress:
            progress(sum(times[key] for key in known))
        real = {place: os.path.realpath(place) for place in paths}
        requests = [
            _request(real[place], sql, limits) for place, sql in map(places.__getitem__, todo)
        ]
        for index, answer in self._supervisor.run(requests, limits.seconds):
            key = todo[index]
            known[key] = told(answer)
            if self._store and self.remembers and not answer.get("passing"):
                place, sql = places[key]
                keep(self._store, key, contents[place], sql, limits, answer)
            if progress:
                progress(times[key])
        return [known[key] for key in keys]

    def fingerprints(self, databases: Iterable[Path]) -> dict[Path, str]:
        """For each database a hash of its content; without a store each is read anew."""
        return database_fingerprints(databases, self._supervisor, self._store)

    def time(self, database: Path, queries: Sequence[str], repeats: int, seconds: float) -> Timing:
        """Run the queries in turn, `repeats` times, all within so many seconds; never from the cache."""
        if refusal := next(filter(None, map(_refusal, queries)), ""):
            return Timing(error=refusal)
        request = {
            "do": "time_runs",
            "path": os.path.realpath(database),
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

    def close(self) -> None:
        """End the workers. The executor can still be used; it starts new ones."""
        self._supervisor.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _existing(path: Path) -> str:
    if not path.is_file():
        raise UnreadableDatabaseError(
            f"{path.name}: no such file; give the path of an SQLite database"
        )
    return str(path.absolute())


def _refusal(sql: str) -> str:
    """Why this text cannot even be sent to SQLite, or ""."""
    if "\0" in sql:
        return "the SQL holds a NUL character"
    try:
        size = len(sql.encode())
    except UnicodeEncodeError:
        return "the SQL holds half of a surrogate pair, which is no character"
    return f"the SQL is longer than {SQL_LENGTH:,} bytes" if size > SQL_LENGTH else ""


def _request(path: str, sql: str, limits: Limits) -> dict[str, Any]:
    return {
        "do": "run",
        "path": path,
        "sql": sql,
        "seconds": limits.seconds,
        "max_rows": limits.rows,
        "max_bytes": limits.bytes,
    }


def _fingerprint(answer: Answer) -> str:
    return str(answer.get("fingerprint", ""))
