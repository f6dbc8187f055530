"""The connection from a task on a worker to the driver that submitted it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import distributed
from distributed.utils import sync

from workbench.errors import ClusterError


@dataclass(frozen=True, slots=True)
class DriverAddress:
    """The driver of a task: its address, its token, its number for the task's lab, and its versions."""

    url: str
    token: str
    lab: int
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Link:
    """The connection of a task to its driver, for all threads of the task."""

    driver: DriverAddress
    worker: distributed.Worker

    def call(self, op: str, *arguments: Any) -> Any:
        """The driver's answer to a message. Dask's thread sends the message, while this thread waits."""
        message = {"token": self.driver.token, "lab": self.driver.lab, "arguments": arguments}

        async def send() -> Any:
            return await getattr(self.worker.rpc(self.driver.url), op)(**message)

        try:
            reply = sync(self.worker.loop, send)
        except OSError:
            try:  # again: a connection that stood idle may have been cut
                reply = sync(self.worker.loop, send)
            except OSError as error:
                raise ClusterError(
                    f"worker {self.worker.address} cannot reach the driver at {self.driver.url} ({error}):"
                    " start the run on a machine to which the workers can connect"
                ) from error
        if "error" in reply:
            raise ClusterError(reply["error"])
        return reply["answer"]
