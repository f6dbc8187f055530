"""The parent's side of the workers: keeps a few, feeds them, kills what is past its deadline.

There is no thread: one loop in the calling thread waits for answers and deadlines alike, so Ctrl-C
returns at once from any statement, and threads that share a supervisor share its workers.
"""

import os
import queue
import selectors
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

_ROOT = Path(__file__).parents[2]
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); from workbench.db.worker import main; main()"
_GRACE = 0.5  # seconds past its deadline that a worker has to stop by itself
_STUCK = 0.1  # seconds after which what waits behind a query goes to a worker that is free
_AHEAD = 4  # requests a worker may hold, so that it need not wait for the next one
_AHEAD_BYTES = (
    8_000  # of those that wait: a pipe takes them without blocking, whatever the worker does
)


class Supervisor:
    """At most `size` worker processes, started when first needed and replaced when they die."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._process = os.getpid()
        self._idle = _places(size)

    def run(
        self, requests: Sequence[dict[str, Any]], seconds: float
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Each request's index and answer, as they come, with `rows` as JSON text.

        `seconds` is what each may take. Abandoning the iterator kills what runs.
        """
        todo = deque(
            (index, orjson.dumps(request) + b"\n") for index, request in enumerate(requests)
        )
        with self._borrow(len(todo)) as idle, selectors.DefaultSelector() as selector:
            crew: list[_Worker] = []
            try:
                while todo or crew:
                    _feed(todo, idle, crew, selector, seconds)
                    wait = min(worker.deadline for worker in crew) - time.monotonic()
                    if idle and not todo and any(len(worker.holds) > 1 for worker in crew):
                        wait = min(wait, _STUCK)
                    for event, _ in selector.select(max(wait, 0)):
                        worker: _Worker = event.data
                        for answer in worker.read():
                            if worker.holds:  # else it is of a request that was handed back
                                yield worker.answered(), answer
                        worker.begins(seconds)
                    now = time.monotonic()
                    answering: set[_Worker] = set()
                    if any(now >= worker.deadline for worker in crew):
                        # Whoever takes the answers may be slow: one that waits to be read is not late.
                        answering = {event.data for event, _ in selector.select(0)}
                    for worker in list(crew):
                        late = worker.holds and now >= worker.deadline and worker not in answering
                        if idle and not todo and now - worker.since > _STUCK:
                            todo.extend(worker.hand_back())
                        if late or not (worker.alive and worker.holds):
                            crew.remove(worker)
                            selector.unregister(worker.output)
                            if late or worker.handed_back or not worker.alive:
                                worker.kill()
                            idle.append(worker if worker.alive else None)
                        if worker.holds and not worker.alive:
                            (index, _), *waiting = worker.holds
                            todo.extendleft(reversed(waiting))
                            yield index, _timeout(seconds) if late else _DIED
            finally:
                for worker in crew:
                    worker.kill()

    @contextmanager
    def _borrow(self, most: int) -> Iterator[list["_Worker | None"]]:
        """Places for workers: at least one, waiting for it if need be, and others that are free.

        As many go back as were taken, wherever an interrupt struck.
        """
        self._leave_to_the_parent()
        taken: list[_Worker | None] = [self._idle.get()] if most else []
        try:
            while len(taken) < min(most, self._size):
                taken.append(self._idle.get_nowait())
        except queue.Empty:
            pass
        size = len(taken)
        try:
            yield taken
        finally:
            for place in (taken + [None] * size)[:size]:
                self._idle.put(place)

    def _leave_to_the_parent(self) -> None:
        """In a forked process the workers there are belong to the parent: begin with none."""
        if self._process != os.getpid():
            self._process, self._idle = os.getpid(), _places(self._size)

    def close(self) -> None:
        """End the idle workers; the supervisor can be used again."""
        self._leave_to_the_parent()
        for _ in range(self._size):
            try:
                place = self._idle.get_nowait()
            except queue.Empty:
                break
            if place:
                place.kill()
        for _ in range(self._size - self._idle.qsize()):
            self._idle.put(None)


def _places(size: int) -> "queue.SimpleQueue[_Worker | None]":
    """Room for so many workers. A SimpleQueue, unlike others, cannot be left locked by an interrupt."""
    places: queue.SimpleQueue[_Worker | None] = queue.SimpleQueue()
    for _ in range(size):
        places.put(None)
    return places


class _Worker:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, str(_ROOT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={},
            cwd="/",
            start_new_session=True,  # Ctrl-C in a terminal is the parent's to handle
        )
        assert self._process.stdin is not None  # noqa: S101  for the type checker: both are pipes
        assert self._process.stdout is not None  # noqa: S101
        self._input, self.output = self._process.stdin, self._process.stdout
        self._chunks: list[bytes] = []
        self._lines: list[bytes] = []
        self.holds: deque[tuple[int, bytes]] = (
            deque()
        )  # requests without an answer, the first at work
        self._held = 0
        self.since = 0.0  # when the first began, and when it must have ended
        self.deadline = 0.0
        self.alive = True
        self.handed_back = False  # it still has requests that were given to others

    def takes(self, request: bytes) -> bool:
        """Whether it can be given another request without waiting for it to read."""
        return not self.handed_back and (
            not self.holds
            or (len(self.holds) < _AHEAD and self._held + len(request) <= _AHEAD_BYTES)
        )

    def send(self, index: int, request: bytes, seconds: float) -> None:
        if not self.holds:
            self.begins(seconds)
        self._held += len(request)
        written = self._input.write(request) or 0
        while written < len(request):  # a signal cut it short
            written += self._input.write(request[written:]) or 0
        self.holds.append((index, request))

    def begins(self, seconds: float) -> None:
        """The first of its requests is at work from now on."""
        self.since = time.monotonic()
        self.deadline = self.since + seconds + _GRACE

    def hand_back(self) -> list[tuple[int, bytes]]:
        """The requests behind a slow one, for workers that are free; this one is to end after it."""
        waiting = list(self.holds)[1:]
        if waiting:
            self.holds = deque([self.holds[0]])
            self.handed_back = True
        return waiting

    def read(self) -> Iterator[dict[str, Any]]:
        """The answers that are complete: two lines each, the second with the rows.

        Whoever has begun to answer is past its query, so the caller sets a new deadline.
        """
        chunk = os.read(self.output.fileno(), 1 << 20)
        self._chunks.append(chunk)
        if b"\n" in chunk:
            *lines, rest = b"".join(self._chunks).split(b"\n")
            self._chunks = [rest]
            self._lines += lines
            while len(self._lines) > 1:
                told, rows, *self._lines = self._lines
                yield orjson.loads(told) | {"rows": rows}
        self.alive = chunk != b""

    def answered(self) -> int:
        """The index of the request that was at work; the next one is now."""
        index, request = self.holds.popleft()
        self._held -= len(request)
        return index

    def kill(self) -> None:
        self.alive = False
        self._process.kill()
        self._input.close()
        self.output.close()
        self._process.wait()


_DIED = {
    "status": "error",
    "error": "the worker died under the query",
    "seconds": 0.0,
    "rows": b"[]",
    "passing": True,
}


def _feed(
    todo: deque[tuple[int, bytes]],
    idle: "list[_Worker | None]",
    crew: list[_Worker],
    selector: selectors.BaseSelector,
    seconds: float,
) -> None:
    """Give one request to every worker in turn, as long as there are requests and room for them."""
    while todo and idle:
        worker = idle.pop() or _Worker()
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
        crew.append(worker)
        selector.register(worker.output, selectors.EVENT_READ, worker)
    while todo:
        worker = min(crew, key=_load)
        if not worker.takes(todo[0][1]):
            break
        try:
            worker.send(*todo[0], seconds)
        except BrokenPipeError:  # reading from it will tell
            break
        todo.popleft()


def _load(worker: _Worker) -> int:
    return len(worker.holds)


def _timeout(seconds: float) -> dict[str, Any]:
    error = f"no answer within {seconds:g} s"
    return {"status": "timeout", "error": error, "seconds": seconds, "rows": b"[]"}
