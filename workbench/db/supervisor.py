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


class Supervisor:
    """At most `size` worker processes, started when first needed and replaced when they die."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(size):
            self._idle.put(None)

    def run(
        self, requests: Sequence[dict[str, Any]], seconds: float
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Each request's index and answer, as they come. Abandoning the iterator kills what runs."""
        todo = deque(enumerate(requests))
        with self._borrow(len(todo)) as idle, selectors.DefaultSelector() as selector:
            busy: dict[_Worker, int] = {}
            try:
                while todo or busy:
                    while todo and idle:
                        index, request = todo.popleft()
                        started = _start(idle.pop(), request, time.monotonic() + seconds + _GRACE)
                        busy[started] = index
                        selector.register(started.output, selectors.EVENT_READ, started)
                    wait = min(w.deadline for w in busy) - time.monotonic()
                    for event, _ in selector.select(max(wait, 0)):
                        done: _Worker = event.data
                        answer = done.read()
                        if answer is not None:
                            selector.unregister(done.output)
                            idle.append(done if done.alive else None)
                            yield busy.pop(done), answer
                    now = time.monotonic()
                    for late in [w for w in busy if now >= w.deadline]:
                        selector.unregister(late.output)
                        late.kill()
                        idle.append(None)
                        yield busy.pop(late), _timeout(seconds)
            finally:
                for abandoned in busy:
                    abandoned.kill()

    @contextmanager
    def _borrow(self, most: int) -> Iterator[list["_Worker | None"]]:
        """Places for workers: at least one, waiting for it if need be, and others that are free.

        As many go back as were taken, wherever an interrupt struck.
        """
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

    def close(self) -> None:
        """End the idle workers; the supervisor can be used again."""
        for _ in range(self._size):
            try:
                place = self._idle.get_nowait()
            except queue.Empty:
                break
            if place:
                place.kill()
        for _ in range(self._size - self._idle.qsize()):
            self._idle.put(None)


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
        self._received = bytearray()
        self.deadline = 0.0
        self.alive = True

    def send(self, request: dict[str, Any], deadline: float) -> None:
        self.deadline = deadline
        self._received.clear()
        self._input.write(orjson.dumps(request) + b"\n")

    def read(self) -> dict[str, Any] | None:
        """The answer once all of it is there; a worker that died answers that it did."""
        chunk = os.read(self.output.fileno(), 1 << 20)
        self._received += chunk
        if not chunk:
            self.kill()
            answer = {"status": "error", "error": "the worker died under the query", "seconds": 0.0}
            return answer | {"passing": True}
        return orjson.loads(self._received) if chunk.endswith(b"\n") else None

    def kill(self) -> None:
        self.alive = False
        self._process.kill()
        self._input.close()
        self.output.close()
        self._process.wait()


def _start(place: "_Worker | None", request: dict[str, Any], deadline: float) -> _Worker:
    """Hand the request to that worker, or to a new one where there is none or it died while idle."""
    worker = place or _Worker()
    try:
        worker.send(request, deadline)
    except BrokenPipeError:
        worker.kill()
        if place is None:
            raise
        return _start(None, request, deadline)
    except BaseException:
        worker.kill()
        raise
    return worker


def _timeout(seconds: float) -> dict[str, Any]:
    return {"status": "timeout", "error": f"no answer within {seconds:g} s", "seconds": seconds}
