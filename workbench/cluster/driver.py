"""The driver's side of a cluster: what workers ask of the process that started the run, over Dask's own connections.

Workers connect to it directly, so the scheduler sees none of this. Each message is answered by a thread, as is each
question of a run on one machine. The driver alone asks remote models, through the client of the run: a reply is in
its cache before a worker sees it, whoever asks again gets the same one, and limits and budgets are kept in one place.
Messages hold texts, numbers and bytes, and are not unpickled.
"""

import asyncio
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import distributed
import orjson
from distributed.comm import CommClosedError, listen
from distributed.utils import get_ip

from workbench.cluster.call_keys import CallKeys
from workbench.cluster.databases import database_files
from workbench.cluster.rows import Rows, count, insert, request_and_answer
from workbench.errors import ClusterError
from workbench.lab import Lab
from workbench.llm.cache.table import Cache
from workbench.types import Request

PIECE = 8_000_000  # bytes of a file in one message
_THREADS = 2048  # messages that are answered at the same time
_LOCAL = {"127.0.0.1", "localhost", "::1", ""}


@dataclass(slots=True)
class Driver:
    """Answers the workers' messages about the labs of this process, each with a number.

    `failure` is the first error that a message caused here, such as a budget that is reached; it ends the run.
    `results` are what tasks returned, by the task's number, and `said` lines for the user.
    """

    client: distributed.Client
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    address: str = ""
    labs: dict[int, Lab] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)
    said: dict[str, None] = field(default_factory=dict)
    failure: Exception | None = None
    asking: int = 0  # messages that wait for a model
    _keys: dict[Path, CallKeys] = field(default_factory=dict)  # by cache file
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(_THREADS))
    _listener: Any = None

    def open(self) -> None:
        """Listen where the workers can connect: on the address by which this process reaches the scheduler."""
        address = urlsplit(self.client.scheduler.address)
        host = address.hostname or ""
        own = "127.0.0.1" if host in _LOCAL else get_ip(host, address.port or 80)
        arguments = self.client.security.get_listen_args("client")

        async def start() -> Any:
            return await listen(
                f"{address.scheme}://{own}", self._serve, deserialize=False, **arguments
            )

        self._listener = self.client.sync(start)
        self.address = self._listener.contact_address

    def close(self) -> None:
        """Listen no more. Answers that still come are stored."""
        self.labs.clear()
        if self._listener:
            self._listener.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _serve(self, connection: Any) -> None:
        """Answer the messages of one connection, one after another."""
        loop = asyncio.get_running_loop()
        try:
            with suppress(
                CommClosedError, RuntimeError
            ):  # the worker is gone, or this process ends
                while True:
                    message = await connection.read()
                    reply = await loop.run_in_executor(self._threads, self._answer, message)
                    await connection.write(reply)
        finally:
            connection.abort()  # a worker that waits for a reply learns that none will come

    def _answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        handlers: dict[str, Callable[..., Any]] = {
            "ask": self._ask,
            "keys": self._new_keys,
            "cached": self._cached,
            "reserve": self._reserve,
            "endpoint": lambda lab, model: lab.client.endpoint(model),
            "settings": self._settings,
            "database": self._database,
            "read": self._read,
            "keep": self._keep,
        }
        try:
            if not secrets.compare_digest(message["token"], self.token):
                raise ClusterError("a message has not the token of this run")
            if not (lab := self.labs.get(message["lab"])):
                raise ClusterError("the run has ended")
            return {"answer": handlers[message["op"]](lab, *message["given"])}
        except KeyboardInterrupt:  # what a stopped client raises in its threads
            return {"error": "the run was stopped"}
        except Exception as error:  # noqa: BLE001  the run raises it
            if message.get("lab") in self.labs:
                self.failure = self.failure or error
            return {"error": str(error)}

    def _ask(self, lab: Lab, requests: bytes) -> bytes:
        """The replies to requests, both as JSON."""
        asked = [
            Request(**one | {"shared": tuple(one["shared"])}) for one in orjson.loads(requests)
        ]
        with self._lock:
            self.asking += 1
        try:
            return orjson.dumps(lab.client.complete_many(asked))
        finally:
            with self._lock:
                self.asking -= 1

    def _new_keys(self, lab: Lab, known: int) -> bytes:
        """The keys of the cache's calls, but for those that the worker knows."""
        store = lab.client.store
        with self._lock:
            keys = self._keys.setdefault(store.path, CallKeys(store))
        return keys.after(known)

    def _cached(self, lab: Lab, keys: Sequence[str]) -> bytes:
        """The stored answers to those of the calls that have one, as JSON."""
        cache = Cache(lab.client.store)
        return orjson.dumps([answer for key in keys if (answer := cache.get(key))])

    def _reserve(self, lab: Lab, amount: float | None, model: str) -> bool:
        """Count a call that a worker makes itself; False while the budget has no room for it."""
        budget = lab.client.budget
        if fits := budget.reserve(amount, model):
            budget.settle(amount, amount, paid=True)
        return fits

    def _settings(self, lab: Lab) -> bytes:
        """The settings from which a worker makes its lab, as JSON."""
        texts = {
            str(path.relative_to(lab.prompts)): path.read_text(encoding="utf-8")
            for path in sorted(lab.prompts.rglob("*") if lab.prompts else ())
            if path.is_file() and lab.prompts
        }
        return orjson.dumps(
            {
                "system": lab.system,
                "parameters": lab.parameters,
                "limits": lab.limits,
                "at_once": lab.at_once,
                "counted": lab.client.budget.calls is not None,
                "prompts": texts if lab.prompts else None,
            }
        )

    def _database(self, lab: Lab, name: str) -> dict[str, Any]:
        return asdict(database_files(lab.database(name), lab.executor))

    def _read(self, lab: Lab, name: str, file: str, start: int) -> bytes:
        """A piece of a file that belongs to a database."""
        database = lab.database(name)
        if file not in database_files(database, lab.executor).files:
            raise ClusterError(f"{file} does not belong to the database {name}")
        with (database.parent / file).open("rb") as opened:
            opened.seek(start)
            return opened.read(PIECE)

    def _keep(self, lab: Lab, rows: Rows, report: Mapping[str, Any]) -> None:
        """Store what a worker computed; the last message of a task reports its result."""
        insert(lab.client.store, rows)
        if not report:
            return
        for call in report["answered"]:
            count(lab.client.ledger, *request_and_answer(call))
        self.said |= dict.fromkeys(report["said"])
        if report["task"]:
            self.results[report["task"]] = report["result"]
