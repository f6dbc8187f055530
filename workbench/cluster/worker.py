"""A chunk of work on a worker, with a lab like the run's and an empty cache, whose rows are part of the result.

The worker runs SQL and the models that run in a process; the run's process answers every other call.
"""

import hashlib
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import distributed
import orjson
from distributed.utils import sync

from workbench.canonical import content_hash, folder_hash
from workbench.errors import ClusterError, UnreadableDatabaseError
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.keys import runs_here
from workbench.sql.executor import Executor
from workbench.sql.sandbox import Sandbox
from workbench.types import Completion, Request

Files = tuple[str, str, Sequence[str]]  # a database's path, its content, and the names of its files
_TABLES = ("calls", "executions", "attempts", "selections")


@dataclass(frozen=True)
class Driver:
    """The process of the run, for a worker: address and token, versions, what its lab is made of, and prompts."""

    address: str
    token: str
    versions: tuple[str, str]
    lab: Mapping[str, Any]
    prompts: Mapping[str, str]
    worker: Any = None

    def call(self, op: str, *given: Any) -> Any:
        """The relay's answer to a message."""

        async def send() -> Any:
            return await getattr(self.worker.rpc(self.address), op)(token=self.token, given=given)

        try:
            reply = sync(self.worker.loop, send)
        except OSError as error:
            who = f"worker {self.worker.address} cannot reach the run at {self.address}"
            raise ClusterError(f"{who}: {error}") from error
        if "error" in reply:
            raise ClusterError(reply["error"])
        return reply["answer"]


class RelayClient(Client):
    """Asks the run's process for cached answers, and for those of remote models."""

    def __init__(self, store: Cache, driver: Driver) -> None:
        super().__init__(store)
        self._driver = driver
        self.endpoint = cache(partial(driver.call, "endpoint"))  # type: ignore[method-assign]

    def complete_many(self, requests: Sequence[Request]) -> list[Completion]:
        calls = list(zip(map(self.key, requests), requests, strict=True))
        own = self.cache.get_many([key for key, _ in calls])
        ask = {key: None if runs_here(r.model) else r for key, r in calls if key not in own}
        found = orjson.loads(self._driver.call("ask", orjson.dumps(ask))) if ask else {}
        computed = iter(super().complete_many([r for key, r in calls if key not in found]))
        answers = []
        for key, request in calls:
            if key in found:
                answers.append(Completion(**found[key]))
                self.ledger.add(request, answers[-1])
            else:
                answers.append(next(computed))
        return answers


def run_chunk(item: Any, do: Callable[[Any, Lab], Any], driver: Driver) -> tuple[Any, Any]:
    """The result of `do(item, lab)` on this worker, and the rows that it added to the cache, by table."""
    driver = replace(driver, worker=(worker := distributed.get_worker()))
    if versions() != driver.versions:
        raise ClusterError(
            f"worker {worker.address} has another workbench or SQLite, {versions()} and not {driver.versions}: install"
            " the run's there"
        )
    shared = Path(worker.local_directory).parent / "workbench"  # by the workers of a machine
    (shared / "values").mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=worker.local_directory) as name:
        folder = Path(name)
        (folder / "values").symlink_to(shared / "values")
        for file, text in driver.prompts.items():
            (folder / "prompts" / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / "prompts" / file).write_text(text, encoding="utf-8")
        with Cache(folder / "lab.sqlite") as store:
            executor = Executor(store, sandbox=_sandbox(worker.state.nthreads))
            database: Callable[[str], Path] = cache(partial(_database, driver, shared, executor))
            client, prompts = RelayClient(store, driver), folder / "prompts"
            made = do(item, Lab(client, executor, database, prompts, **driver.lab))
            return made, {table: store.read(f"SELECT * FROM {table}") for table in _TABLES}


def files_of(path: Path, executor: Executor) -> Files:
    """A database with the descriptions of its columns, whose texts are part of the content."""
    texts = sorted((path.parent / "database_description").glob("*"))
    hashes = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in texts}
    content = content_hash("content", [executor.fingerprints([path])[path], hashes])
    return str(path.absolute()), content, [str(f.relative_to(path.parent)) for f in (path, *texts)]


def _database(driver: Driver, folder: Path, executor: Executor, db_id: str) -> Path:
    """The database at the run's path if it has the run's content, else one copy for the machine."""
    place, content, _ = driver.call("files", db_id)
    path = Path(place)
    with suppress(OSError, UnreadableDatabaseError):
        if files_of(path, executor)[1] == content:
            return path
    copy: Path = folder / content.removeprefix("content:")[:32] / path.name
    if not copy.is_file():
        draft = Path(mkdtemp(dir=folder))
        for file, data in driver.call("copy", db_id).items():
            (draft / file).parent.mkdir(exist_ok=True)
            (draft / file).write_bytes(data)
        if files_of(draft / path.name, executor)[1] != content:
            raise ClusterError(f"{path} changed while it was copied: run the same again")
        with suppress(OSError):  # another worker was faster
            draft.rename(copy.parent)
        shutil.rmtree(draft, ignore_errors=True)
    return copy


@cache
def versions() -> tuple[str, str]:
    return folder_hash(Path(__file__).parents[1])[:12], sqlite3.sqlite_version


@cache
def _sandbox(size: int) -> Sandbox:
    return Sandbox(size)
