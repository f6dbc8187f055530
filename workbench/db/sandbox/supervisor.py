"""Keep a few workers, send them requests, and kill the workers that exceed their deadline.

One loop in the calling thread waits for answers and deadlines, without further threads, so that Ctrl-C ends any
query at once. Threads that share a supervisor share its workers.
"""

import os
import queue
import selectors
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import orjson

from workbench.db.sandbox.process import WorkerProcess
from workbench.parallel import now_waits

_QUIET = 0.1  # seconds without an answer after which `meanwhile` is called
_STUCK = 0.1  # seconds after which the requests queued behind a query move to a free worker


class Supervisor:
    """At most `size` worker processes, started when first needed and replaced when they die."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._process = os.getpid()
        self._idle = _slots(size)

    def run(
        self,
        requests: Sequence[dict[str, Any]],
        seconds: float,
        meanwhile: Callable[[], object] | None = None,
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Each request's index and answer in order of arrival; an answer's `rows` are JSON text.

        Each request may take `seconds`. `meanwhile` is called when no answer has arrived for a tenth of a second.
        Abandoning the iterator kills the workers that still run. A request whose worker dies is run once more, by
        another worker: the system may have killed the first one, for example when memory ran out.
        """
        if not requests:
            return
        repeated: set[int] = set()
        todo = deque(
            (index, orjson.dumps(request) + b"\n") for index, request in enumerate(requests)
        )
        now_waits()
        with self._borrow(len(todo)) as idle, selectors.DefaultSelector() as selector:
            busy: list[WorkerProcess] = []
            try:
                while todo or busy:
                    _feed(todo, idle, busy, selector, seconds)
                    wait = min(worker.deadline for worker in busy) - time.monotonic()
                    if idle and not todo and any(len(worker.requests) > 1 for worker in busy):
                        wait = min(wait, _STUCK)
                    ready = selector.select(max(0, min(wait, _QUIET)))
                    if not ready and wait > _QUIET:
                        if meanwhile:
                            meanwhile()
                        ready = selector.select(wait - _QUIET)
                    for event, _ in ready:
                        worker: WorkerProcess = event.data
                        for answer in worker.read():
                            if worker.requests:  # else the request is moved to another worker
                                yield worker.answered(), answer
                        worker.restart_clock(seconds)
                    now = time.monotonic()
                    unread: set[WorkerProcess] = set()
                    if any(now >= worker.deadline for worker in busy):
                        # The caller may be slow to take answers: a worker whose answer is ready but
                        # unread has not timed out.
                        unread = {event.data for event, _ in selector.select(0)}
                    for worker in list(busy):
                        late = worker.requests and now >= worker.deadline and worker not in unread
                        if idle and not todo and now - worker.since > _STUCK:
                            todo.extend(worker.take_queued())
                        if late or not (worker.alive and worker.requests):
                            busy.remove(worker)
                            selector.unregister(worker.output)
                            if late or worker.moved or not worker.alive:
                                worker.kill()
                            idle.append(worker if worker.alive else None)
                        if worker.requests and not worker.alive:
                            (index, request), *queued = worker.requests
                            todo.extendleft(reversed(queued))
                            if late:
                                yield index, _timeout(seconds)
                            elif index in repeated:
                                yield index, _died(requests[index])
                            else:
                                repeated.add(index)
                                todo.appendleft((index, request))
            finally:
                for worker in busy:
                    worker.kill()

    @contextmanager
    def _borrow(self, most: int) -> Iterator[list[WorkerProcess | None]]:
        """Take up to `most` slots: wait for the first, and add those that are free.

        As many slots are put back as were taken, even after Ctrl-C.
        """
        self._forget_after_fork()
        taken: list[WorkerProcess | None] = [self._idle.get()]
        try:
            while len(taken) < min(most, self._size):
                taken.append(self._idle.get_nowait())
        except queue.Empty:
            pass
        size = len(taken)
        try:
            yield taken
        finally:
            for slot in (taken + [None] * size)[:size]:
                self._idle.put(slot)

    def _forget_after_fork(self) -> None:
        """Begin without workers in a forked process, as the present ones belong to its parent."""
        if self._process != os.getpid():
            self._process, self._idle = os.getpid(), _slots(self._size)

    def close(self) -> None:
        """End the idle workers; the supervisor can be used again."""
        self._forget_after_fork()
        idle: list[WorkerProcess | None] = []
        with suppress(queue.Empty):
            while True:
                idle.append(self._idle.get_nowait())
        for worker in idle:  # the other slots come back when the queries under way have ended
            if worker:
                worker.kill()
            self._idle.put(None)


def _slots(size: int) -> queue.SimpleQueue[WorkerProcess | None]:
    """Empty slots for workers. Unlike other queues, an interrupt cannot leave a SimpleQueue locked."""
    slots: queue.SimpleQueue[WorkerProcess | None] = queue.SimpleQueue()
    for _ in range(size):
        slots.put(None)
    return slots


def _feed(
    todo: deque[tuple[int, bytes]],
    idle: list[WorkerProcess | None],
    busy: list[WorkerProcess],
    selector: selectors.BaseSelector,
    seconds: float,
) -> None:
    """Send a request to each idle worker, then queue further requests at the workers with the fewest."""
    while todo and idle:
        worker = idle.pop() or WorkerProcess()
        try:
            worker.send(*todo[0], seconds)
        except BrokenPipeError:  # it died while idle
            worker.kill()
            idle.append(None)
            continue
        except BaseException:
            worker.kill()
            raise
        todo.popleft()
        busy.append(worker)
        selector.register(worker.output, selectors.EVENT_READ, worker)
    while todo:
        worker = min(busy, key=lambda worker: len(worker.requests))
        if not worker.accepts(todo[0][1]):
            break
        try:
            worker.send(*todo[0], seconds)
        except BrokenPipeError:  # the next read from it finds that it died
            break
        todo.popleft()


def _died(request: dict[str, Any]) -> dict[str, Any]:
    name = Path(request.get("path", "")).name
    error = f"{name}: the worker process was killed twice; is there too little memory?"
    return {"status": "error", "error": error, "seconds": 0.0, "rows": b"[]", "transient": True}


def _timeout(seconds: float) -> dict[str, Any]:
    error = f"no answer within {seconds:g} s"
    return {"status": "timeout", "error": error, "seconds": seconds, "rows": b"[]"}
