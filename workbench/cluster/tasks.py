"""Work on a Dask cluster: the driver, which is this process, keeps the cache, and workers compute.

    with open_cluster("local:4") as cluster:
        for item, result in cluster.each(do, items, lab, name=lambda item: ("squares", str(item))):

`do(item, lab)` runs on a worker, with a lab like the given one: it is a function of a module, and returns plain
data. Everything that it computed is in this process's cache before its result is yielded. A task whose worker is
lost runs again on another, to the same end, since whatever it computes is addressed by content.
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
from typing import Any, TypeVar

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
_AHEAD = 2  # tasks for each thread of the workers: one runs, the next one waits there
_QUERIES = 200  # the most in one task
_PER_THREAD = 4  # tasks of queries for each thread
_LOOK = 0.2  # seconds between looks at the connection, in which Ctrl-C may wait
_COUNT = 2.0  # seconds between counts of the workers, which may come and go
_LOST = 15.0  # seconds after which a connection that Dask does not restore counts as lost
_PATIENCE = 10.0  # seconds without a worker after which a line says so
_END = 5.0  # seconds that a stopped run waits for replies under way


class Cluster:
    """The workers of a Dask client; `close` leaves the client to whoever opened it."""

    def __init__(self, client: distributed.Client) -> None:
        self._client = client
        self._check()
        self._driver = Driver(client)
        self._driver.open()
        self._numbers = itertools.count(1)
        self._told: set[str] = set()
        self._counted, self._threads = -math.inf, 0

    @property
    def threads(self) -> int:
        """The threads of all workers together."""
        now = time.monotonic()
        if now > self._counted + _COUNT:
            counts: Mapping[str, int] = self._client.nthreads()
            self._counted, self._threads = now, sum(counts.values())
        return self._threads

    def queries_of_a_task(self, total: int) -> int:
        """The most queries of a task, of so many in all: each thread has several, so all end at about the same time."""
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
        watch: Callable[[], object] = lambda: None,
    ) -> Iterator[tuple[T, Any]]:
        """Each item that is done with its result, in the order in which they end.

        An item is taken from `items` when a worker has room. `name` is the kind of its task, by which Dask's
        dashboard counts tasks, and the item's own name. An item whose workers ended several times is `split`. One that
        cannot be split runs again when all others are done, and alone: if its workers end once more, it is the cause.
        The error names it when no item is left, or at the second cause. `watch` is called several times a second.
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
        state = _Watch(self._client)
        try:
            while True:
                while len(running) < _AHEAD * max(1, self.threads):
                    if again:
                        item = again.popleft()
                    elif (item := next(waiting, _NONE)) is _NONE:
                        if running or not suspects:
                            break
                        item, alone = suspects.popleft(), True
                    task = _key(*name(item))
                    future = self._client.submit(
                        work, do, item, address, task, key=task, pure=False
                    )
                    running[task] = future, item
                    future.add_done_callback(ended.put)
                if not running:
                    if cause:
                        raise cause
                    return
                watch()
                self._say()
                with suppress(queue.Empty):
                    future, item = running.pop(ended.get(timeout=_LOOK).key)
                    if failure := self._failure(future):
                        error = _as_line(failure, " ".join(name(item)))
                        if failure is not _ENDED:
                            raise error
                        if cause:
                            raise cause
                        if alone:
                            cause = error
                        else:
                            parts = split(item)
                            (again if len(parts) > 1 else suspects).extend(parts)
                    else:
                        self._say()
                        yield item, driver.results.pop(future.key)
                if driver.failure:
                    raise driver.failure
                state.check(self.threads)
        finally:
            self._end(number, lab, [future for future, _ in running.values()])

    def _failure(self, future: Future) -> BaseException | None:
        """Why a task has no result."""
        if self._driver.failure:
            raise self._driver.failure
        if future.status == "finished":
            return None
        if future.status != "error":
            raise ClusterError(_lost(self._client))
        error: BaseException = future.exception()
        return _ENDED if isinstance(error, KilledWorker) else error

    def _end(self, number: int, lab: Lab, futures: list[Future]) -> None:
        """After the last task, an error or Ctrl-C: nothing more is asked, and what arrives is stored."""
        if futures:
            with suppress(OSError, RuntimeError, TimeoutError):  # the scheduler may be lost
                self._client.cancel(futures, force=True)
            with lab.client.stopped():
                until = time.monotonic() + _END
                while self._driver.asking and time.monotonic() < until:
                    time.sleep(_LOOK / 4)
        self._driver.labs.pop(number)

    def _check(self) -> None:
        """Refuse workers without the workbench or of other versions, and workers inside this process."""

        def told_there() -> (
            Any
        ):  # a worker can read it without the workbench, since it is no module's
            from workbench.cluster.versions import identity  # noqa: PLC0415

            return identity()

        found: Mapping[str, Any] = self._client.run(told_there, on_error="return")
        for worker, told in found.items():
            if isinstance(told, Exception):  # whatever the import raised there
                raise ClusterError(
                    f"worker {worker} cannot import this version of workbench ({type(told).__name__}: {told}):"
                    " install it there, and run the same again; what came back is kept"
                ) from told
            check_versions(versions(), told["versions"], worker)
            if tuple(told["process"]) == identity()["process"]:
                raise BadInputError(
                    f"worker {worker} is a thread of this process: give a client whose workers are processes,"
                    " as Client(processes=True)"
                )

    def _say(self) -> None:
        """Print the lines that workers sent, each once."""
        for line in list(self._driver.said):
            if line not in self._told:
                self._told.add(line)
                print(f"workbench: {line}", file=sys.stderr)


_NONE: Any = object()
_ENDED = KilledWorker.__new__(KilledWorker)


class _Watch:
    """Notices a scheduler that is lost, and says once that there are no workers."""

    def __init__(self, client: distributed.Client) -> None:
        self._client = client
        self._connected = self._staffed = time.monotonic()
        self._said = False

    def check(self, threads: int) -> None:
        now = time.monotonic()
        if self._client.status == "running":
            self._connected = now
        elif self._client.status == "closed" or now > self._connected + _LOST:
            raise ClusterError(_lost(self._client))
        if threads:
            self._staffed = now
        elif now > self._staffed + _PATIENCE and not self._said:
            self._said = True
            print("workbench: the cluster has no worker: waiting for one", file=sys.stderr)


def _lost(client: distributed.Client) -> str:
    address = getattr(client.scheduler, "address", "")
    return f"the cluster's scheduler {address} is lost; what came back is kept, run the same again to go on"


def _key(kind: str, name: str) -> str:
    """The key of a task, whose part before the first hyphen Dask's dashboard shows as its name."""
    return f"{kind.replace('-', '_')}-{uuid.uuid4().hex} {name}"


def _as_line(error: BaseException, name: str) -> BaseException:
    """The error of a task as the run raises it: in one line, unless a user's step raised it."""
    kept = "what came back is kept, run the same again to go on"
    if error is _ENDED:
        return ClusterError(
            f"{name}: every worker that ran this task ended, for lack of memory or because it cannot import the"
            f" task; give workers more memory (--memory-limit) and what the driver has installed; {kept}"
        )
    if isinstance(error, WorkbenchError):
        return type(error)(
            f"{name}: {error}" if not isinstance(error, ClusterError) else f"{error}"
        )
    return error
