"""The supervisor's side of one worker process: its pipes, its unanswered requests and its deadline."""

import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

_ROOT = Path(__file__).parents[3]
_PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]);"
    " from workbench.db.sandbox.worker import main; main(int(sys.argv[2]))"
)
_GRACE = 0.5  # seconds past the deadline in which a worker may stop a query by itself
_AHEAD = 4  # requests per worker, so that it need not wait for the next one
_AHEAD_BYTES = 8_000  # of the queued requests; a pipe takes so many without blocking


class WorkerProcess:
    """A worker process and the requests that it has not answered yet; it runs the first of them.

    `since` is when the first request began, `deadline` when it must have ended. Once the queued requests are
    `moved` to other workers, this worker would run them, too, so it is killed after the first request.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, str(_ROOT), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={},
            cwd="/",
            start_new_session=True,  # Ctrl-C in a terminal goes to the parent alone
        )
        assert self._process.stdin is not None  # noqa: S101  for the type checker: both are pipes
        assert self._process.stdout is not None  # noqa: S101
        self._input, self.output = self._process.stdin, self._process.stdout
        self._chunks: list[bytes] = []  # of an incomplete line
        self._lines: list[bytes] = []  # of an incomplete answer
        self.requests: deque[tuple[int, bytes]] = deque()
        self._queued_bytes = 0
        self.since = self.deadline = 0.0
        self.alive = True
        self.moved = False

    def accepts(self, request: bytes) -> bool:
        """Whether the request can be sent without waiting for the worker to read it."""
        return not self.moved and (
            not self.requests
            or (len(self.requests) < _AHEAD and self._queued_bytes + len(request) <= _AHEAD_BYTES)
        )

    def send(self, index: int, request: bytes, seconds: float) -> None:
        if not self.requests:
            self.restart_clock(seconds)
        self._queued_bytes += len(request)
        written = self._input.write(request) or 0
        while written < len(request):  # a signal interrupted the write
            written += self._input.write(request[written:]) or 0
        self.requests.append((index, request))

    def restart_clock(self, seconds: float) -> None:
        """Let the first request begin now."""
        self.since = time.monotonic()
        self.deadline = self.since + seconds + _GRACE

    def take_queued(self) -> list[tuple[int, bytes]]:
        """Remove and return the requests behind the first, for workers that are free."""
        queued = list(self.requests)[1:]
        if queued:
            self.requests = deque([self.requests[0]])
            self.moved = True
        return queued

    def read(self) -> Iterator[dict[str, Any]]:
        """The complete answers: two lines each, the second with the rows. The caller then restarts the clock."""
        chunk = os.read(self.output.fileno(), 1 << 20)
        self._chunks.append(chunk)
        if b"\n" in chunk:
            *lines, rest = b"".join(self._chunks).split(b"\n")
            self._chunks = [rest]
            self._lines += lines
            while len(self._lines) > 1:
                head, rows, *self._lines = self._lines
                yield orjson.loads(head) | {"rows": rows}
        self.alive = chunk != b""

    def answered(self) -> int:
        """Remove the first request; returns its index."""
        index, request = self.requests.popleft()
        self._queued_bytes -= len(request)
        return index

    def kill(self) -> None:
        self.alive = False
        self._process.kill()
        self._input.close()
        self.output.close()
        self._process.wait()
