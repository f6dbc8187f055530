"""Messages from workers to the process of the run, which alone asks remote models: it pays each call once, in its budget.

Workers connect to it directly, by Dask's connections (TLS if Dask's settings say so). Messages are not unpickled, and each
has to name the run's token.
"""

import asyncio
import secrets
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import distributed
import orjson
from distributed.comm import CommClosedError, listen
from distributed.utils import get_ip

from workbench.cluster.worker import Files, files_of
from workbench.lab import Lab
from workbench.types import Request

_THREADS = 2048  # messages that may wait for models at the same time


class Relay:
    """Answers the workers' messages by the lab of a run; `failure` is the first error, which ends the run."""

    def __init__(self, client: distributed.Client, lab: Lab) -> None:
        self.lab, self.token = lab, secrets.token_hex(16)
        self.failure: Exception | None = None
        self._threads = ThreadPoolExecutor(_THREADS, "relay")
        scheduler = urlsplit(client.scheduler.address)
        own = get_ip(scheduler.hostname, scheduler.port)  # as the scheduler sees this machine
        secure = client.security.get_listen_args("client")

        async def start() -> Any:
            at = f"{scheduler.scheme}://{own}"
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
                    answer = await loop.run_in_executor(self._threads, self._answer, message)
                    await connection.write(answer)
        finally:
            connection.abort()

    def _answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        if not secrets.compare_digest(str(message.get("token")), self.token):
            return {"error": "the message lacks the token of this run"}
        answers: dict[str, Callable[..., Any]] = {"ask": self._ask, "files": self._files}
        answers |= {"copy": self._copy, "endpoint": self.lab.client.endpoint}
        try:
            return {"answer": answers[message["op"]](*message["given"])}
        except Exception as error:  # noqa: BLE001  the run raises it
            self.failure = self.failure or error
            return {"error": str(error)}

    def _ask(self, calls: bytes) -> bytes:
        """Answers by key: to each request, and to keys without one those that are cached."""
        asked: dict[str, Any] = orjson.loads(calls)
        requests = {key: Request(**fields) for key, fields in asked.items() if fields}
        answers = self.lab.client.complete_many(list(requests.values()))
        cached = self.lab.client.cache.get_many([key for key in asked if key not in requests])
        return orjson.dumps(cached | dict(zip(requests, answers, strict=True)))

    def _files(self, name: str) -> Files:
        return files_of(self.lab.database(name), self.lab.executor)

    def _copy(self, name: str) -> dict[str, bytes]:
        folder = self.lab.database(name).parent
        return {file: (folder / file).read_bytes() for file in self._files(name)[2]}
