"""The driver's side of a cluster: it answers workers' messages in the process that started the run.

Workers connect to the driver directly, by Dask's connections, so the scheduler sees no message. A thread answers
each message. The driver alone asks remote models, through the client of the run: it caches a reply before a worker
sees it, answers the same request from the cache, and keeps rate limits and budgets in one place. Messages hold
texts, numbers and bytes, and are not unpickled.
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
from workbench.cluster.rows import Rows, insert
from workbench.errors import ClusterError
from workbench.lab import Lab
from workbench.types import Completion, Request

PIECE = 8_000_000  # bytes of a file in one message
_THREADS = 2048  # messages that are answered at the same time
_LOCAL = {"127.0.0.1", "localhost", "::1", ""}


@dataclass(slots=True)
class Driver:
    """Answers the workers' messages. Each message names one of the labs of this process by its number.

    `failure` is the first error that a message caused here, such as a budget that is reached; it ends the run.
    `results` are those of tasks, by the task's key, and `warnings` are lines from workers for the user.
    """

    client: distributed.Client
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    address: str = ""
    labs: dict[int, Lab] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)
    warnings: dict[str, None] = field(default_factory=dict)
    failure: Exception | None = None
    asking: int = 0  # messages that wait for a model's replies
    _keys: dict[Path, CallKeys] = field(default_factory=dict)  # by cache file
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(_THREADS))
    _listener: Any = None

    def open(self) -> None:
        """Listen on the address from which this process reaches the scheduler, so that workers can connect, too."""
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
        """Stop listening. Models' replies that still arrive are cached."""
        self.labs.clear()
        if self._listener:
            self._listener.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _serve(self, connection: Any) -> None:
        """Answer the messages of one connection, one after another."""
        loop = asyncio.get_running_loop()
        try:
            with suppress(CommClosedError, RuntimeError):  # the worker or this process ends
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
            "endpoint": lambda lab, model: lab.client.endpoint(model),
            "settings": self._settings,
            "database": lambda lab, name: asdict(database_files(lab.database(name), lab.executor)),
            "read": self._read,
            "store": self._store,
        }
        try:
            if not secrets.compare_digest(message["token"], self.token):
                raise ClusterError("a message lacks the token of this run")
            if not (lab := self.labs.get(message["lab"])):
                raise ClusterError("the run has ended")
            return {"answer": handlers[message["op"]](lab, *message["arguments"])}
        except Exception as error:  # noqa: BLE001  the run raises it
            if message.get("lab") in self.labs:
                self.failure = self.failure or error
            return {"error": str(error)}

    def _ask(self, lab: Lab, requests: bytes) -> bytes:
        """The replies to requests, both as JSON."""
        decoded = [Request(**fields) for fields in orjson.loads(requests)]
        with self._lock:
            self.asking += 1
        try:
            return orjson.dumps(lab.client.complete_many(decoded))
        finally:
            with self._lock:
                self.asking -= 1

    def _new_keys(self, lab: Lab, known: int) -> bytes:
        """The keys of the cached calls that the worker does not know; `known` is how many it knows."""
        store = lab.client.cache
        with self._lock:
            keys = self._keys.setdefault(store.path, CallKeys(store))
        return keys.after(known)

    def _cached(self, lab: Lab, keys: Sequence[str]) -> bytes:
        """The cached answers to the calls with these keys, as JSON; calls without a cached answer are left out."""
        return orjson.dumps(list(lab.client.cache.get_many(keys).values()))

    def _settings(self, lab: Lab) -> bytes:
        """The settings from which a worker makes its lab, as JSON."""
        folder = lab.prompts
        texts = folder and {
            str(path.relative_to(folder)): path.read_text(encoding="utf-8")
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        names = ("system", "parameters", "limits", "at_once")
        settings = {name: getattr(lab, name) for name in names}
        return orjson.dumps(settings | {"prompts": texts})

    def _read(self, lab: Lab, name: str, file: str, start: int) -> bytes:
        """A piece of a file that belongs to a database, from the byte `start` on."""
        database = lab.database(name)
        if file not in database_files(database, lab.executor).files:
            raise ClusterError(f"{file} does not belong to the database {name}")
        with (database.parent / file).open("rb") as opened:
            opened.seek(start)
            return opened.read(PIECE)

    def _store(self, lab: Lab, rows: Rows, report: Mapping[str, Any]) -> None:
        """Add a worker's rows to the cache. A task's last message has a report: its calls, warnings and result."""
        insert(lab.client.cache, rows)
        if not report:
            return
        for request, answer in orjson.loads(report["answered"]):
            lab.client.ledger.add(Request(**request), Completion(**answer))
        self.warnings |= dict.fromkeys(report["warnings"])
        if report["task"]:
            self.results[report["task"]] = report["result"]
