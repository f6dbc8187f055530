"""Work on a Dask cluster: workers compute chunks, and the results come into the run's cache.

    with open_pool("local:4") as client:
        for name, result in each(client, do, {name: item}, lab): ...

`do(item, lab)` is a function of a module. It runs on a worker with a lab like the run's and an
empty cache, whose rows are part of the result. Dask runs the chunk of a lost worker again, and its
result is the same, since keys of the cache are hashes of what results depend on.

A worker runs SQL and the models that run in a process. Only the process of the run asks remote
models, so it pays each call once, in its budget. Workers connect to it directly, by Dask's
connections (TLS if Dask's settings say so). Messages are not unpickled, and each has to name the
run's token.
"""

import asyncio
import hashlib
import logging
import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import orjson

from workbench.canonical import content_hash, folder_hash
from workbench.errors import BadInputError, ClusterError, UnreadableDatabaseError
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.calls import runs_here
from workbench.llm.client import Client
from workbench.prompts import names as names_in
from workbench.sql.executor import Executor
from workbench.sql.sandbox import Sandbox
from workbench.store import Store
from workbench.types import Completion, Request

try:
    import dask
    import distributed
    from distributed.comm import CommClosedError, listen
    from distributed.scheduler import KilledWorker
    from distributed.utils import get_ip, sync
except ModuleNotFoundError as missing:
    raise BadInputError(
        "install Dask: pip install 'text2sql-workbench[cluster]'"
    ) from missing

T = TypeVar("T")
_AGAIN = "the results so far are cached: run the same again to go on"
_SILENT = logging.CRITICAL + 1  # Dask would log each lost connection
_FIELDS = ("system", "parameters", "limits", "at_once")
_TABLES = ("calls", "executions", "attempts", "selections")
_THREADS = 2048  # messages that may wait for models at the same time


class Files(NamedTuple):
    """A database: its path, a hash of its content, and the names of its files in its folder."""

    path: str
    content: str
    names: Sequence[str]


@contextmanager
def open_pool(cluster: "str | distributed.Client") -> Iterator[distributed.Client]:
    """A client of a scheduler's address or file, or of new workers here: "local:4" starts four."""
    if isinstance(cluster, distributed.Client):
        yield cluster
        return
    logging.getLogger("distributed").setLevel(_SILENT)
    kind, _, count = cluster.partition(":")
    workers_here = 0
    if kind == "local" and count.isdecimal():
        workers_here = int(count)
    is_address = "://" in cluster
    if not workers_here and not is_address and not Path(cluster).is_file():
        raise BadInputError(
            f"cluster {cluster!r}: give the address of a Dask scheduler, as tcp://HOST:8786, its"
            " scheduler file, or local: and a number of workers, as local:4"
        )
    with ExitStack() as opened:
        address = cluster if is_address else None
        scheduler_file = None if is_address else cluster
        if workers_here:
            # A worker would spend up to a twentieth of its time on samples of its stack.
            opened.enter_context(
                dask.config.set({"distributed.worker.profile.enabled": False})
            )
            started = distributed.LocalCluster(
                n_workers=workers_here,
                threads_per_worker=1,
                dashboard_address=":0",
                silence_logs=_SILENT,
            )
            address = opened.enter_context(started).scheduler_address
            scheduler_file = None
        try:
            client = distributed.Client(
                address, timeout=20, scheduler_file=scheduler_file
            )
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {cluster} ({error}): start one by `dask scheduler`"
            ) from error
        yield opened.enter_context(client)


def each(
    client: distributed.Client,
    do: Callable[[T, Lab], Any],
    items: Mapping[str, T],
    lab: Lab,
) -> Iterator[tuple[str, Any]]:
    """Yield the name and result of each item, as they come, computed rows in the lab's cache.

    After an error or Ctrl-C, models are asked nothing more, and the replies under way are stored.
    """
    client.get_versions(check=True)  # warns of workers with other packages
    relay = Relay(client, lab)
    settings = {field: getattr(lab, field) for field in _FIELDS}
    driver = Driver(
        relay.address, relay.token, versions(), settings, _texts(lab.prompts)
    )
    under_way: dict[Any, str] = {}  # the chunks' names by their futures

    def submit(name: str) -> Any:
        future = client.submit(run_chunk, items[name], do=do, driver=driver, pure=False)
        under_way[future] = name
        return future

    retried: set[str] = set()
    given_up: list[str] = []
    try:
        chunks = distributed.as_completed(map(submit, items))
        for future in chunks:
            name = under_way.pop(future)  # so that Dask forgets its result
            if future.status == "finished":
                result, rows = future.result()
                _merge(rows, lab.client.cache)
                yield name, result
                continue
            # What failed in this process is the cause of what failed on workers.
            if future.status != "error":  # cancelled, or lost
                raise relay.failure or ClusterError(f"the scheduler is lost; {_AGAIN}")
            error = future.exception()
            if not isinstance(error, KilledWorker):
                raise relay.failure or error
            # Dask has tried four workers, each perhaps ended by another chunk, so it tries four
            # more; if they end, too, the other chunks go on.
            if name in retried:
                given_up.append(name)
            else:
                retried.add(name)
                chunks.add(submit(name))
        if given_up:
            which = ", ".join(given_up)
            raise ClusterError(f"{which}: every worker that ran this ended; {_AGAIN}")
        relay.close()
    except BaseException:
        # Workers begin nothing more; then models are asked nothing more, and replies are awaited.
        with suppress(OSError, RuntimeError, TimeoutError):  # the scheduler may be lost
            client.cancel(list(under_way), force=True)
        with lab.client.stopped():
            relay.close()
        raise


def _texts(prompts: Path | None) -> dict[str, str]:
    """Return the texts of a folder of prompts, by their names in it."""
    if prompts is None:
        return {}
    files = {name: prompts / f"{name}.md" for name in names_in(prompts)}
    return {name: file.read_text("utf-8") for name, file in files.items()}


def _merge(rows: Mapping[str, Sequence[Sequence[Any]]], store: Store) -> None:
    with store.write(durable=False) as db:
        for table, new in rows.items():
            if new:
                marks = ", ".join("?" * len(new[0]))
                db.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", new)


class Relay:
    """Answers workers' messages by a run's lab; `failure` is the first error, which ends it."""

    def __init__(self, client: distributed.Client, lab: Lab) -> None:
        self.lab, self.token = lab, secrets.token_hex(16)
        self.failure: Exception | None = None
        self._threads = ThreadPoolExecutor(_THREADS, "relay")
        scheduler = urlsplit(client.scheduler.address)
        # The address of this machine from which it reaches the scheduler; workers reach it there.
        host = get_ip(scheduler.hostname, scheduler.port)
        secure = client.security.get_listen_args("client")

        async def start() -> Any:
            at = f"{scheduler.scheme}://{host}"
            return await listen(at, self._serve, deserialize=False, **secure)

        self._listener = client.sync(start)
        self.address: str = self._listener.contact_address

    def close(self) -> None:
        """Answer nothing more, and wait for the models' replies under way."""
        self._listener.stop()
        self._threads.shutdown(cancel_futures=True)

    async def _serve(self, connection: Any) -> None:
        loop = asyncio.get_running_loop()
        try:
            with suppress(CommClosedError, RuntimeError):  # the worker ends, or the run
                while True:
                    message = await connection.read()
                    answer = await loop.run_in_executor(
                        self._threads, self._answer, message
                    )
                    await connection.write(answer)
        finally:
            connection.abort()

    def _answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        if not secrets.compare_digest(str(message.get("token")), self.token):
            return {"error": "the message lacks the token of this run"}
        operations: dict[str, Callable[..., Any]] = {
            "ask": self._ask,
            "files": self._files,
            "copy": self._copy,
            "endpoint": self.lab.client.endpoint,
        }
        try:
            operation = operations[message["op"]]
            return {"answer": operation(*message["arguments"])}
        except Exception as error:  # noqa: BLE001  the run raises it, and the worker gets its text
            self.failure = self.failure or error
            return {"error": str(error)}

    def _ask(self, message: bytes) -> bytes:
        """Return answers by key: to the requests, and those in the cache to further keys."""
        asked = orjson.loads(message)
        to_ask: dict[str, Any] = asked["to_ask"]
        requests = [Request(**fields) for fields in to_ask.values()]
        answers = self.lab.client.complete_many(requests)
        by_key = dict(zip(to_ask, answers, strict=True))
        by_key |= self.lab.client.cache.get_many(asked["to_look_up"])
        return orjson.dumps(by_key)

    def _files(self, name: str) -> Files:
        return files_of(self.lab.database(name), self.lab.executor)

    def _copy(self, name: str) -> dict[str, bytes]:
        folder = self.lab.database(name).parent
        names = self._files(name).names
        return {name: (folder / name).read_bytes() for name in names}


@dataclass(frozen=True)
class Driver:
    """The run's process, for a worker: address, token, versions, its lab's parts, and prompts."""

    address: str
    token: str
    versions: tuple[str, str]
    lab: Mapping[str, Any]
    prompts: Mapping[str, str]
    worker: Any = None

    def call(self, op: str, *arguments: Any) -> Any:
        """The relay's answer to a message."""

        async def send() -> Any:
            operation = getattr(self.worker.rpc(self.address), op)
            return await operation(token=self.token, arguments=arguments)

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

    def endpoint(self, model: str) -> str:
        if model not in self._endpoints:
            self._endpoints[model] = self._driver.call("endpoint", model)
        return self._endpoints[model]

    def complete_many(self, requests: Sequence[Request]) -> list[Completion]:
        calls = [(self.key(request), request) for request in requests]
        cached = self.cache.get_many([key for key, _ in calls])
        to_ask: dict[str, Request] = {}
        to_look_up: dict[str, Request] = {}
        for key, request in calls:
            if key in cached:
                continue
            # A model of this process is asked here, unless the run has its answer.
            if runs_here(request.model):
                to_look_up[key] = request
            else:
                to_ask[key] = request
        relayed: dict[str, Any] = {}
        if to_ask or to_look_up:
            message = {"to_ask": to_ask, "to_look_up": list(to_look_up)}
            relayed = orjson.loads(self._driver.call("ask", orjson.dumps(message)))
        here = [request for key, request in calls if key not in relayed]
        computed = iter(super().complete_many(here))  # in the order of `here`
        answers = []
        for key, request in calls:
            if key in relayed:
                answers.append(Completion(**relayed[key]))
                self.ledger.add(request, answers[-1])
            else:
                answers.append(next(computed))
        return answers


def run_chunk(
    item: Any, do: Callable[[Any, Lab], Any], driver: Driver
) -> tuple[Any, Any]:
    """Return `do(item, lab)` on this worker, and the rows that it added to the cache, by table."""
    worker = distributed.get_worker()
    driver = replace(driver, worker=worker)
    if versions() != driver.versions:
        raise ClusterError(
            f"worker {worker.address} has another workbench or SQLite, {versions()} and not"
            f" {driver.versions}: install the run's there"
        )
    # Of all workers of a machine.
    shared = Path(worker.local_directory).parent / "workbench"
    (shared / "values").mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=worker.local_directory) as name:
        folder = Path(name)
        (folder / "values").symlink_to(shared / "values")
        prompts = folder / "prompts"
        for prompt, text in driver.prompts.items():
            file = prompts / f"{prompt}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        with Cache(folder / "lab.sqlite") as store:
            executor = Executor(store, sandbox=_sandbox(worker.state.nthreads))
            database: Callable[[str], Path] = cache(
                partial(_database, driver, shared, executor)
            )
            client = RelayClient(store, driver)
            result = do(item, Lab(client, executor, database, prompts, **driver.lab))
            rows = {name: store.read(f"SELECT * FROM {name}") for name in _TABLES}
            return result, rows


def files_of(path: Path, executor: Executor) -> Files:
    """A database with the descriptions of its columns, whose texts are part of the content."""
    texts = sorted((path.parent / "database_description").glob("*"))
    hashes = {}
    for text in texts:
        hashes[text.name] = hashlib.sha256(text.read_bytes()).hexdigest()
    fingerprint = executor.fingerprints([path])[path]
    content = content_hash("content", [fingerprint, hashes])
    names = [str(file.relative_to(path.parent)) for file in (path, *texts)]
    return Files(str(path.absolute()), content, names)


def _database(driver: Driver, folder: Path, executor: Executor, db_id: str) -> Path:
    """The database at the run's path if it has the run's content, else one copy for the machine."""
    wanted = Files(*driver.call("files", db_id))
    path = Path(wanted.path)
    with suppress(OSError, UnreadableDatabaseError):
        if files_of(path, executor).content == wanted.content:
            return path
    copied = folder / wanted.content.removeprefix("content:")[:32]
    if not (copied / path.name).is_file():
        draft = Path(mkdtemp(dir=folder))
        for name, data in driver.call("copy", db_id).items():
            (draft / name).parent.mkdir(exist_ok=True)
            (draft / name).write_bytes(data)
        if files_of(draft / path.name, executor).content != wanted.content:
            raise ClusterError(
                f"{path} changed while it was copied: run the same again"
            )
        try:
            draft.rename(copied)
        except OSError:  # another worker was faster
            shutil.rmtree(draft, ignore_errors=True)
    return copied / path.name


@cache
def versions() -> tuple[str, str]:
    return folder_hash(Path(__file__).parents[1])[:12], sqlite3.sqlite_version


@cache
def _sandbox(size: int) -> Sandbox:
    return Sandbox(size)
