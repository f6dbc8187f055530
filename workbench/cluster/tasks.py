"""Work on a Dask cluster: the driver, which is this process, keeps the cache, and workers compute.

    with open_cluster("local:4") as cluster:
        for item, result in cluster.each(do, items, lab, name=lambda item: ("squares", str(item))):

`do(item, lab)` runs on a worker, with a lab like the given one. It must be a function of a module, and return plain
data. What it adds to the worker's cache is in this process's cache before its result is yielded. A task whose
worker is lost runs again on another worker and gives the same result, since cache keys are hashes of inputs.
"""

import itertools
import math
import queue
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar, cast

import distributed
from distributed.scheduler import KilledWorker

from workbench.cluster.driver import Driver
from workbench.cluster.versions import check_versions, identity, versions
from workbench.cluster.worker.link import DriverAddress
from workbench.cluster.worker.session import work
from workbench.errors import BadInputError, ClusterError, WorkbenchError
from workbench.lab import Lab

Future = Any  # Dask's classes have no types
T = TypeVar("T")
_AHEAD = 2  # tasks for each thread of the workers: one runs, the next one waits on the worker
_QUERIES = 200  # the most queries in one task
_PER_THREAD = 4  # tasks of queries for each thread
_CHECK = 0.2  # seconds between checks of the connection; Ctrl-C may wait as long
_COUNT = 2.0  # seconds between counts of the workers, which may come and go
_LOST = 15.0  # seconds after which a connection that Dask does not restore counts as lost
_PATIENCE = 10.0  # seconds without a worker after which the user is told
_END = 5.0  # seconds that a stopped run waits for models' replies


class Cluster:
    """The workers of a Dask client; `close` leaves the client open."""

    def __init__(self, client: distributed.Client) -> None:
        self._client = client
        self._check_workers()
        self._driver = Driver(client)
        self._driver.open()
        self._numbers = itertools.count(1)
        self._printed: set[str] = set()  # workers' warnings
        self._counted_at, self._threads = -math.inf, 0

    @property
    def threads(self) -> int:
        now = time.monotonic()
        if now > self._counted_at + _COUNT:
            counts: Mapping[str, int] = self._client.nthreads()
            self._counted_at, self._threads = now, sum(counts.values())
        return self._threads

    def queries_of_a_task(self, total: int) -> int:
        """The most queries in one task, if there are `total`: threads get several tasks, so that all end together."""
        return min(_QUERIES, total // (_PER_THREAD * max(1, self.threads)) + 1)

    @property
    def scheduler(self) -> str:
        """The address of the scheduler, with which other processes open the cluster."""
        return str(self._client.scheduler.address)

    def close(self) -> None:
        self._driver.close()

    def each(
        self,
        do: Callable[[T, Lab], Any],
        items: Iterable[T],
        lab: Lab,
        *,
        name: Callable[[T], tuple[str, str]],
        split: Callable[[T], list[T]] = lambda item: [item],
        meanwhile: Callable[[], object] = lambda: None,
    ) -> Iterator[tuple[T, Any]]:
        """Each item and its result, in the order in which the tasks end.

        An item is taken from `items` when a worker has room. `name` returns the kind of its task, by which Dask's
        dashboard counts tasks, and the item's own name. An item is `split` if several workers ended while they ran
        it. An item that cannot be split runs again, alone, when all others are done. If its worker ends once more,
        the item counts as the cause. An error names the first cause when no item is left, or at the second cause.
        `meanwhile` is called several times a second.
        """
        number = next(self._numbers)
        driver = self._driver
        driver.labs[number], driver.failure = lab, None
        address = DriverAddress(driver.address, driver.token, number, versions())
        waiting = iter(items)
        again: deque[T] = deque()
        suspects: deque[T] = deque()
        alone = False  # a suspect runs
        cause: BaseException | None = None  # the error of a suspect whose workers ended again
        ended: queue.SimpleQueue[Future] = queue.SimpleQueue()
        running: dict[str, tuple[Future, T]] = {}
        health = _Health(self._client)
        try:
            while True:
                while len(running) < _AHEAD * max(1, self.threads):
                    if again:
                        item = again.popleft()
                    elif (item := next(waiting, _NONE)) is _NONE:
                        if running or not suspects:
                            break
                        item, alone = suspects.popleft(), True
                    kind, own = name(item)
                    # Dask's dashboard shows the part of a key before the first hyphen as the task's name.
                    task = f"{kind.replace('-', '_')}-{uuid.uuid4().hex} {own}"
                    future = self._client.submit(
                        work, do, item, address, task, key=task, pure=False
                    )
                    running[task] = future, item
                    future.add_done_callback(ended.put)
                if not running:
                    if cause:
                        raise cause
                    return
                meanwhile()
                self._print_warnings()
                with suppress(queue.Empty):
                    future, item = running.pop(ended.get(timeout=_CHECK).key)
                    if failure := self._failure(future):
                        error = _in_one_line(failure, " ".join(name(item)))
                        if not isinstance(failure, KilledWorker):
                            raise error
                        if cause:
                            raise cause
                        if alone:
                            cause = error
                        else:
                            parts = split(item)
                            (again if len(parts) > 1 else suspects).extend(parts)
                    else:
                        self._print_warnings()
                        yield item, driver.results.pop(future.key)
                if driver.failure:
                    raise driver.failure
                health.check(self.threads)
        finally:
            self._end(number, lab, [future for future, _ in running.values()])

    def _failure(self, future: Future) -> BaseException | None:
        if self._driver.failure:
            raise self._driver.failure
        if future.status == "finished":
            return None
        if future.status != "error":
            raise ClusterError(_lost_scheduler(self._client))
        return cast("BaseException", future.exception())

    def _end(self, number: int, lab: Lab, futures: list[Future]) -> None:
        """Cancel the tasks that an error or Ctrl-C left, ask models nothing more, and cache the replies that arrive."""
        if futures:
            with suppress(OSError, RuntimeError, TimeoutError):  # the scheduler may be lost
                self._client.cancel(futures, force=True)
            with lab.client.stopped():
                until = time.monotonic() + _END
                while self._driver.asking and time.monotonic() < until:
                    time.sleep(_CHECK / 4)
        self._driver.labs.pop(number)

    def _check_workers(self) -> None:
        """Refuse workers without the workbench or of other versions, and workers inside this process."""

        def on_worker() -> Any:
            # Dask sends the code of a nested function, so a worker without the workbench can load it.
            from workbench.cluster.versions import identity  # noqa: PLC0415

            return identity()

        found: Mapping[str, Any] = self._client.run(on_worker, on_error="return")
        for worker, reply in found.items():
            if isinstance(reply, OSError):  # a lost worker, which the scheduler forgets soon
                continue
            if isinstance(reply, Exception):  # the import failed there
                raise ClusterError(
                    f"worker {worker} cannot import this version of workbench ({type(reply).__name__}: {reply}):"
                    f" install it there, and run the same again; {_CACHED}"
                ) from reply
            check_versions(versions(), reply["versions"], worker)
            if tuple(reply["process"]) == identity()["process"]:
                raise BadInputError(
                    f"worker {worker} is a thread of this process: give a client whose workers are processes,"
                    " as Client(processes=True)"
                )

    def _print_warnings(self) -> None:
        """Print the warnings that workers sent, each once."""
        for line in list(self._driver.warnings):
            if line not in self._printed:
                self._printed.add(line)
                print(f"workbench: {line}", file=sys.stderr)


_NONE: Any = object()
_CACHED = "the results so far are cached"


class _Health:
    """Raises an error once the scheduler is lost, and prints a line if there are no workers."""

    def __init__(self, client: distributed.Client) -> None:
        self._client = client
        self._connected_at = self._had_workers_at = time.monotonic()
        self._warned = False

    def check(self, threads: int) -> None:
        now = time.monotonic()
        if self._client.status == "running":
            self._connected_at = now
        elif self._client.status == "closed" or now > self._connected_at + _LOST:
            raise ClusterError(_lost_scheduler(self._client))
        if threads:
            self._had_workers_at = now
        elif now > self._had_workers_at + _PATIENCE and not self._warned:
            self._warned = True
            print("workbench: the cluster has no worker: start one; the run waits", file=sys.stderr)


def _lost_scheduler(client: distributed.Client) -> str:
    address = getattr(client.scheduler, "address", "")
    return f"the cluster's scheduler {address} is lost; {_CACHED}, run the same again to go on"


def _in_one_line(error: BaseException, name: str) -> BaseException:
    """The error of the task `name` as the run raises it: in one line, unless a user's step raised it."""
    if isinstance(error, KilledWorker):
        return ClusterError(
            f"{name}: every worker that ran this task ended, for lack of memory or because it cannot import the task;"
            f" give workers more memory (--memory-limit) and the packages that the driver has; {_CACHED}, run the"
            " same again to go on"
        )
    if isinstance(error, WorkbenchError):
        return type(error)(str(error) if isinstance(error, ClusterError) else f"{name}: {error}")
    return error
