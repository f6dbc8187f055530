"""The connection from a task on a worker to the driver that submitted it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import distributed
from distributed.utils import sync

from workbench.errors import ClusterError


@dataclass(frozen=True, slots=True)
class DriverAddress:
    """The driver of a task: its address, its secret, the number of the task's lab there, and its versions."""

    url: str
    token: str
    lab: int
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Link:
    """The connection of a task to its driver, for all threads of the task."""

    driver: DriverAddress
    worker: distributed.Worker

    def call(self, op: str, *given: Any) -> Any:
        """The driver's answer to a message. The worker's own thread sends it, while this one waits."""
        message = {"token": self.driver.token, "lab": self.driver.lab, "given": given}

        async def send() -> Any:
            return await getattr(self.worker.rpc(self.driver.url), op)(**message)

        try:
            reply = sync(self.worker.loop, send)
        except OSError:
            try:
                reply = sync(
                    self.worker.loop, send
                )  # a connection that stood idle may have been cut
            except OSError as error:
                raise ClusterError(
                    f"worker {self.worker.address} cannot reach the driver at {self.driver.url} ({error}):"
                    " workers connect to the process that started the run, so start it where they can"
                ) from error
        if "error" in reply:
            raise ClusterError(reply["error"])
        return reply["answer"]
