"""The parent's side of the worker processes: one thread drives one worker, a request at a time.

A worker that has not answered half a second after its deadline is killed, as a single opcode can
run for minutes without a look at the clock. A request whose worker dies is run once more, by a new
one: the system may have killed the first, for example when memory ran out. Workers start when they
are first needed.
"""

import atexit
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path
from typing import Any

import orjson

# The fields of an `Execution`, with its rows as JSON; or those of another request or answer. A
# request is a line of JSON. An answer is two lines: its fields without the rows, then the rows.
Answer = dict[str, Any]
BLANK: Answer = {
    "rows": "[]",
    "row_count": 0,
    "columns": [],
    "fingerprint": "",
    "seconds": 0.0,
    "error": "",
    "truncated": False,
    "transient": False,
}
_KILLED: Answer = BLANK | {
    "status": "error",
    "error": "the worker process was killed twice; is there too little memory?",
    "transient": True,
}
WORKER = str(Path(__file__).with_name("worker.py"))
GRACE = 0.5  # seconds past the deadline in which a worker may stop a query by itself
PIPE = 4096  # bytes sent at once: more than a pipe holds would make both ends wait


class Worker:
    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", WORKER, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={},
            cwd="/",
            start_new_session=True,  # Ctrl-C in a terminal goes to the parent alone
        )
        self.ready = False
        self.rest = b""  # what was read after the last answer

    def ask(self, requests: Sequence[Answer]) -> Iterator[Answer]:
        """Yield the answers in order.

        Raises TimeoutError after a deadline, and another OSError if the worker dies.
        """
        if not self.ready:  # the deadline begins when the process has started
            self._read(60.0)
            self.ready = True
        lines = [json.dumps(request).encode() + b"\n" for request in requests]
        answered = 0
        for group in _groups(lines):
            # Several at once, so that the worker need not wait for the next.
            self._send(b"".join(group))
            for request in requests[answered : answered + len(group)]:
                yield self._read(request["seconds"] + GRACE)
            answered += len(group)

    def _send(self, data: bytes) -> None:
        assert self.process.stdin is not None  # noqa: S101  for the type checker: it is a pipe
        while data:  # a signal may interrupt a write
            written = self.process.stdin.write(data) or 0
            data = data[written:]

    def _read(self, seconds: float) -> Answer:
        assert self.process.stdout is not None  # noqa: S101  for the type checker: it is a pipe
        pipe = self.process.stdout.fileno()
        end = time.monotonic() + seconds
        chunks = [self.rest]
        lines = self.rest.count(b"\n")
        ready = select.poll()  # `select` takes no descriptor above 1,023
        ready.register(pipe, select.POLLIN)
        while lines < 2:  # an answer has two, the second with the rows
            if not ready.poll(1000 * max(0.0, end - time.monotonic())):
                raise TimeoutError
            chunk = os.read(pipe, 1 << 20)
            if not chunk:
                raise BrokenPipeError
            chunks.append(chunk)
            lines += chunk.count(b"\n")
        head, rows, self.rest = b"".join(chunks).split(b"\n", 2)
        answer: Answer = BLANK | orjson.loads(head) | {"rows": rows.decode()}
        return answer

    def end(self) -> None:
        with self.process as process:  # which closes its pipes
            process.kill()


def _groups(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield the lines in groups of at most `PIPE` bytes; a longer line is alone."""
    group: list[bytes] = []
    size = 0
    for line in lines:
        if group and size + len(line) > PIPE:
            yield group
            group = []
            size = 0
        group.append(line)
        size += len(line)
    if group:
        yield group


def _late(seconds: float) -> Answer:
    error = f"no answer within {seconds:g} s"
    return BLANK | {"status": "timeout", "error": error, "seconds": seconds}


class Sandbox:
    """At most `size` workers, which threads may share."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._pool = ThreadPoolExecutor(self._size, "sql")
        self._workers: dict[int, Worker] = {}  # of each thread of the pool
        # Of each caller of `run`: set when it has left.
        self._stops: set[threading.Event] = set()

    def ask(self, request: Answer) -> Answer:
        """Return the answer to one request."""
        (batch,) = self.run([request])
        _, answer = batch[0]
        return answer

    def run(self, requests: Sequence[Answer]) -> Iterator[list[tuple[int, Answer]]]:
        """Yield the requests' indices and answers as they arrive, in lists of a tenth of a second.

        A caller that leaves the iterator early, by Ctrl-C for example, ends the requests under way.
        """
        # A forked process must not use its parent's workers.
        if self._process != os.getpid():
            self._begin()
        left = threading.Event()
        self._stops.add(left)
        # So few in a task that no worker is left without one while another has several.
        per_task = len(requests) // (4 * self._size)
        per_task = max(1, min(32, per_task))
        futures: dict[Future[list[Answer]], int] = {}  # with the index of their first
        try:
            for start in range(0, len(requests), per_task):
                part = requests[start : start + per_task]
                futures[self._pool.submit(self._answers, part, left)] = start
            while futures:
                done, _ = wait(futures, 0.1)
                arrived: list[tuple[int, Answer]] = []
                for future in done:
                    start = futures.pop(future)
                    arrived += enumerate(future.result(), start)
                if arrived:
                    yield arrived
        finally:
            self._stops.discard(left)
            for future in futures:
                future.cancel()
            if futures:
                # All workers end, as nobody knows here which one has a request of this caller.
                self._stop([left])

    def _answers(
        self, requests: Sequence[Answer], left: threading.Event
    ) -> list[Answer]:
        """Return the answers of this thread's worker, and of those that take its place."""
        answers: list[Answer] = []
        died_at = -1  # the request at which the last worker died
        thread = threading.get_ident()
        while len(answers) < len(requests):
            if thread not in self._workers:
                self._workers[thread] = Worker()
            if left.is_set():
                raise CancelledError("the caller has left, or the sandbox was closed")
            try:
                for answer in self._workers[thread].ask(requests[len(answers) :]):
                    answers.append(answer)  # noqa: PERF402  those before an error count
            except TimeoutError:
                seconds = requests[len(answers)]["seconds"]
                answers.append(_late(seconds))
            except OSError:
                at = len(answers)
                if at == died_at:
                    answers.append({**_KILLED})
                died_at = at
            else:
                return answers
            self._workers.pop(
                thread
            ).end()  # after an error; the next round has a new one
        return answers

    def _stop(self, calls: Iterable[threading.Event]) -> None:
        """End these calls. All workers end; a request of another call is run once more."""
        for call in calls:
            call.set()
        for worker in list(self._workers.values()):
            worker.process.kill()

    def close(self) -> None:
        """End the workers, and the requests under way. The sandbox can be used again."""
        if self._process == os.getpid():
            self._stop(list(self._stops))
            self._pool.shutdown()
            for worker in self._workers.values():
                worker.end()
        self._begin()


@cache
def shared() -> Sandbox:
    """Return the one worker of this process that reads schemas and prepares queries."""
    sandbox = Sandbox(1)
    atexit.register(sandbox.close)
    return sandbox
