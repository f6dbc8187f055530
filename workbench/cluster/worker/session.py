"""Run a task on a worker, with a lab of the worker's own, and send the new rows of its cache to the driver.

A worker has one cache file for each driver that it serves, so that it sends each row to that driver once. Indexes
and copies of databases lie in one folder of the machine, which all its workers share.
"""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import distributed
import orjson

from workbench.canonical import content_hash
from workbench.cluster.databases import DatabaseFiles, Databases
from workbench.cluster.rows import UnsentRows
from workbench.cluster.versions import check_versions, versions
from workbench.cluster.worker.client import WorkerClient
from workbench.cluster.worker.link import DriverAddress, Link
from workbench.errors import ClusterError, StoreError, WorkbenchError
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.sql.executor import Executor
from workbench.types import Limits


@dataclass(slots=True)
class Session:
    """The state of a worker for one driver: a cache, databases, and the labs of its tasks by their numbers."""

    store: Cache
    executor: Executor
    databases: Databases
    rows: UnsentRows
    labs: dict[int, Lab] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)
    _paths: dict[str, Path] = field(default_factory=dict)

    def lab(self, link: Link) -> Lab:
        with self.lock:
            if link.driver.lab not in self.labs:
                self.labs[link.driver.lab] = self._new_lab(link)
            return self.labs[link.driver.lab]

    def _new_lab(self, link: Link) -> Lab:
        settings = orjson.loads(link.call("settings"))
        texts = settings["prompts"]
        folder = None
        if texts is not None:
            name = content_hash("prompts", texts).removeprefix("prompts:")[:32]
            # Named by its content: a folder is never changed, whatever prompts other labs have.
            folder = self.store.path.parent / "prompts" / name
            for file, text in texts.items():
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / file).write_text(text, encoding="utf-8")

        def database(name: str) -> Path:
            with self.lock:
                if name not in self._paths:
                    wanted = DatabaseFiles(**link.call("database", name))
                    read = partial(link.call, "read", name)
                    self._paths[name] = self.databases.local(wanted, read)
                return self._paths[name]

        client = WorkerClient(self.store, link)
        limits = Limits(**settings["limits"])
        given = {name: settings[name] for name in ("system", "parameters", "at_once")}
        return Lab(client, self.executor, database, folder, limits=limits, **given)

    def send(self, link: Link, task: str = "", result: Any = None) -> None:
        """Send the unsent rows, calls and warnings to the driver, and the result of `task` if one is named."""
        with self.lock:
            self.store.save()
            client: Any = self.lab(link).client
            ended = {"answered": client.end_task(), "warnings": list(self.warnings)}
            report = ended | {"task": task, "result": result}
            self.warnings.clear()
            for rows, last in self.rows.parts():
                link.call("store", rows, report if last else {})

    def close(self) -> None:
        self.executor.close()
        self.databases.close()
        self.store.close()
        _delete(self.store.path)


_sessions: dict[str, Session] = {}  # by the driver's address
_opening = threading.Lock()
_SESSIONS = 8  # drivers that a worker serves before it closes the session of the first


def _session(link: Link) -> Session:
    with _opening:
        url = link.driver.url
        if url not in _sessions:
            if len(_sessions) >= _SESSIONS:
                _sessions.pop(next(iter(_sessions))).close()
            _sessions[url] = _new_session(link)
        return _sessions[url]


def _new_session(link: Link) -> Session:
    worker = link.worker
    folder = Path(worker.local_directory).parent / "workbench"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in folder.glob("session-*.sqlite"):
        with suppress(PermissionError):  # the worker of another user is alive
            try:
                os.kill(int(old.stem.split("-")[1]), 0)
            except ProcessLookupError:  # a worker that was killed could not delete its file
                _delete(old)
    number = content_hash("driver", link.driver.token).removeprefix("driver:")[:16]
    store = Cache(folder / f"session-{os.getpid()}-{number}.sqlite")
    executor = Executor(store, workers=worker.state.nthreads)
    warnings: list[str] = []
    name = f"worker {worker.address}"
    databases = Databases(
        folder / "databases", executor, lambda line: warnings.append(f"{name}: {line}")
    )
    return Session(store, executor, databases, UnsentRows(store), warnings=warnings)


def _delete(store: Path) -> None:
    for file in store.parent.glob(f"{store.name}*"):
        file.unlink(missing_ok=True)


def work(do: Callable[[Any, Lab], Any], item: Any, address: DriverAddress, task: str) -> None:
    """Run a task and send its result to the driver; nothing is returned, so that the scheduler carries no data."""
    link = Link(address, distributed.get_worker())
    worker = link.worker.address
    check_versions(address.versions, versions(), worker)
    try:
        session = _session(link)
        try:
            result = do(item, session.lab(link))
        except BaseException:
            with suppress(WorkbenchError):  # the task's own error is raised, not one of sending
                session.send(link)
            raise
        session.send(link, task, result)
    except RecursionError as error:
        # Without the traceback of a thousand calls, which Dask cannot send.
        raise RecursionError(str(error)) from None
    except (StoreError, OSError, MemoryError) as error:
        raise ClusterError(
            f"worker {worker} failed ({type(error).__name__}: {error}): put this right there, or stop this"
            " worker, and run the same again; the results so far are cached"
        ) from error
