"""The parent's side of the worker processes: one thread drives one worker, which runs one request at a time.

A worker that has not answered half a second after its deadline is killed, as a single opcode can run for minutes
without a look at the clock. A request whose worker dies is run once more, by a new one: the system may have killed
the first, for example when memory ran out. Workers start when they are first needed.
"""

import atexit
import json
import os
import queue
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import orjson

Answer = dict[
    str, Any
]  # the fields of an `Execution`, with its rows as JSON text, and of other requests
BLANK: Answer = {"rows": "[]", "row_count": 0, "columns": [], "fingerprint": "", "seconds": 0.0}
BLANK |= {"error": "", "truncated": False, "transient": False}
WORKER = str(Path(__file__).with_name("worker.py"))
GRACE = 0.5  # seconds past the deadline in which a worker may stop a query by itself
TOGETHER = 0.1  # seconds whose answers come together, to be stored in one transaction
START = 60.0  # seconds in which a worker must have started


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

    def ask(self, request: Answer) -> Answer | None:
        """The answer, or None after the deadline; raises OSError if the worker dies."""
        if not self.ready:  # the deadline begins when the process has started
            self.ready = self._read(START) is not None
        data = json.dumps(request).encode() + b"\n"
        while data and self.process.stdin:  # a signal may interrupt a write
            data = data[self.process.stdin.write(data) or 0 :]
        return self._read(request["seconds"] + GRACE)

    def _read(self, seconds: float) -> Answer | None:
        assert self.process.stdout is not None  # noqa: S101  for the type checker: it is a pipe
        pipe, end = self.process.stdout.fileno(), time.monotonic() + seconds
        chunks: list[bytes] = []
        lines = 0  # an answer has two, the second with the rows
        while lines < 2:
            if not select.select([pipe], [], [], max(0, end - time.monotonic()))[0]:
                return None
            chunks.append(os.read(pipe, 1 << 20))
            lines += chunks[-1].count(b"\n")
            if not chunks[-1]:
                raise BrokenPipeError
        head, rows, _ = b"".join(chunks).split(b"\n")
        answer: Answer = BLANK | orjson.loads(head) | {"rows": rows.decode()}
        return answer

    def end(self) -> None:
        with self.process as process:  # which closes its pipes
            process.kill()


class Call:
    """The requests of one caller; `busy` are the workers that answer them."""

    def __init__(self) -> None:
        self.busy: set[Worker] = set()
        self.stopped = False

    def stop(self) -> None:
        """End the workers; a thread that waits for one's answer gets a BrokenPipeError."""
        self.stopped = True
        for worker in list(self.busy):
            worker.process.kill()


class Sandbox:
    """At most `size` workers, which threads may share."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._pool = ThreadPoolExecutor(self._size, "sql")
        self._own = threading.local()  # each thread's worker
        self._workers: set[Worker] = set()
        self._calls: set[Call] = set()

    def ask(self, request: Answer) -> Answer:
        """The answer to one request."""
        (((_, answer),),) = self.run([request])
        return answer

    def run(self, requests: Sequence[Answer]) -> Iterator[list[tuple[int, Answer]]]:
        """The requests' indices and answers as they arrive, those of a tenth of a second together.

        A caller that leaves the iterator early, by Ctrl-C for example, ends the requests under way.
        """
        if self._process != os.getpid():  # a forked process must not use its parent's workers
            self._begin()
        call = Call()
        self._calls.add(call)
        futures: dict[Future[Answer], int] = {}
        done: queue.SimpleQueue[Future[Answer]] = queue.SimpleQueue()
        try:
            for index, request in enumerate(requests):
                future = self._pool.submit(self._answer, request, call)
                futures[future] = index
                future.add_done_callback(done.put)
            while futures:
                arrived = [done.get()]
                end = time.monotonic() + TOGETHER
                while len(arrived) < len(futures) and (wait := end - time.monotonic()) > 0:
                    with suppress(queue.Empty):
                        arrived.append(done.get(timeout=wait))
                yield [(futures.pop(future), future.result()) for future in arrived]
        finally:
            self._calls.discard(call)
            for future in futures:
                future.cancel()
            if futures:
                call.stop()

    def _answer(self, request: Answer, call: Call) -> Answer:
        """The answer of this thread's worker."""
        error = "the worker process was killed twice; is there too little memory?"
        for _ in range(2):
            worker: Worker | None = getattr(self._own, "worker", None)
            if worker is None or worker.process.poll() is not None:
                worker = self._own.worker = Worker()
                self._workers.add(worker)
            call.busy.add(worker)
            try:
                if answer := not call.stopped and worker.ask(request):
                    return answer
            except OSError:
                answer = {}
            finally:
                call.busy.discard(worker)
            worker.end()
            self._workers.discard(worker)
            if call.stopped:
                error = "it was stopped"
                break
            if answer is None:
                late = f"no answer within {request['seconds']:g} s"
                return BLANK | {"status": "timeout", "error": late, "seconds": request["seconds"]}
        return BLANK | {"status": "error", "error": error, "transient": True}

    def close(self) -> None:
        """End the workers, and the requests under way. The sandbox can be used again."""
        if self._process == os.getpid():
            for call in list(self._calls):
                call.stop()
            self._pool.shutdown()
            for worker in self._workers:
                worker.end()
        self._begin()


@cache
def shared() -> Sandbox:
    """One worker that all of this process share, to read schemas and to prepare queries."""
    sandbox = Sandbox(1)
    atexit.register(sandbox.close)
    return sandbox
