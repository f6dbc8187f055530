"""The process that runs untrusted SQL. It reads requests and writes answers as lines of JSON.

The supervisor starts it in an interpreter with an empty environment and without site-packages, so it and
the modules that it imports use the standard library alone. Its own deadline stops most queries, and the
supervisor's SIGKILL stops the others.
"""

import errno
import gc
import hashlib
import json
import os
import resource
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from workbench.db.sandbox.connection_cache import ConnectionCache, Opened
from workbench.db.sandbox.fetch import failure, fetch
from workbench.db.sandbox.guard import OPCODES
from workbench.db.sandbox.opening import lenient_text, wal

_MB = 1_000_000
_ADDRESS_SPACE = 1536 * _MB  # for what SQLite allocates and maps, and for Python
_FILE_SIZE = 4 * _MB  # with 0, SQLite could not read WAL databases, whose -shm file it writes

_HOLES = 1_000_000_000  # a file with more unallocated bytes is hashed as a sparse file
_BLOCK = 65_536  # bytes of a sparse file that are hashed together

_connections = ConnectionCache()


def run(path: str, sql: str, seconds: float, max_rows: int, max_bytes: int) -> dict[str, Any]:
    """Run a query; returns the fields of its `Execution` as JSON values."""

    def query(opened: Opened) -> dict[str, Any]:
        try:
            return fetch(opened.connection, sql, max_rows, max_bytes)
        except sqlite3.OperationalError as error:
            if not str(error).startswith("Could not decode"):
                raise
        opened.connection.text_factory = lenient_text
        return fetch(opened.connection, sql, max_rows, max_bytes)

    return _guarded(path, sql, seconds, query, keep=True)


def time_runs(path: str, queries: list[str], repeats: int, seconds: float) -> dict[str, Any]:
    """Time the queries in turn, `repeats` times, on one connection; also count their SQLite opcodes.

    The counts are multiples of ten, and the same on every machine and under every load.
    """

    def measure(opened: Opened) -> dict[str, Any]:
        connection = opened.connection
        deadline = time.monotonic() + seconds
        opcodes = [_count_opcodes(connection, query, deadline) for query in queries]
        connection.set_progress_handler(lambda: time.monotonic() > deadline, OPCODES)
        times: list[list[float]] = [[] for _ in queries]
        for _ in range(repeats):
            for query, series in zip(queries, times, strict=True):
                started = time.perf_counter()
                for _row in connection.execute(query):
                    pass
                series.append(time.perf_counter() - started)
        return {"status": "ok", "times": times, "opcodes": opcodes}

    return _guarded(path, " ".join(queries), seconds, measure, keep=False)


def _count_opcodes(connection: sqlite3.Connection, query: str, deadline: float) -> int:
    tens = 0

    def tick() -> bool:
        nonlocal tens
        tens += 1
        return time.monotonic() > deadline

    connection.set_progress_handler(tick, 10)
    for _row in connection.execute(query):
        pass
    return 10 * tens


def _guarded(
    path: str,
    sql: str,
    seconds: float,
    work: Callable[[Opened], dict[str, Any]],
    *,
    keep: bool,
) -> dict[str, Any]:
    """The answer of `work` on a guarded connection, or the answer for its failure."""
    started = time.monotonic()
    opened = None
    try:
        opened = _connections.open(path, sql, seconds)
        answer = work(opened)
    except (MemoryError, sqlite3.Error, sqlite3.Warning, OSError, ValueError) as error:
        answer = failure(error, opened.guard.denied if opened else "", seconds)
    if opened:
        ended = answer["status"] in {"ok", "empty", "error"} and not answer.get("transient")
        _connections.close(opened, keep=keep and ended)
    answer["seconds"] = time.monotonic() - started
    return answer


def digest(path: str) -> dict[str, Any]:
    """A hash of the bytes of a file and of its write-ahead log; only the filled blocks of a sparse file are hashed."""
    content = hashlib.sha256()
    file = Path(path)
    try:
        for part in (file, wal(file)):
            if part.is_file():
                with part.open("rb") as opened:
                    state = os.fstat(opened.fileno())
                    sparse = state.st_size - 512 * state.st_blocks > _HOLES
                    whole = (
                        _sparse_digest(opened) if sparse else hashlib.file_digest(opened, "sha256")
                    )
                    content.update(whole.digest())
    except OSError as error:
        return {"error": f"{file.name}: {error.strerror}"}
    return {"digest": content.hexdigest()}


def _sparse_digest(file: BinaryIO) -> "hashlib._Hash":
    """A hash of the size and of the numbers and bytes of all blocks that are not only zeros; holes are not read."""
    size = os.fstat(file.fileno()).st_size
    content = hashlib.sha256(f"sparse {size} ".encode())
    number = 0
    while number * _BLOCK < size:
        try:
            number = os.lseek(file.fileno(), number * _BLOCK, os.SEEK_DATA) // _BLOCK
        except OSError as error:
            if error.errno != errno.ENXIO:  # else only a hole is left
                raise
            break
        file.seek(number * _BLOCK)
        block = file.read(_BLOCK)
        if block.strip(b"\0"):
            content.update(number.to_bytes(8, "big") + block)
        number += 1
    return content


def _confine() -> None:
    for kind, size in (
        (resource.RLIMIT_AS, _ADDRESS_SPACE),
        (resource.RLIMIT_FSIZE, _FILE_SIZE),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (size, size))


def _exit_with(parent: int) -> None:
    """Exit when the parent does. A thread watches the parent, as a query may block the main thread.

    The parent's process id is an argument, as the parent may die before this process could read it.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def main(parent: int) -> None:
    _exit_with(parent)
    _confine()
    gc.disable()  # no code here makes reference cycles, and the search for them costs 10% of a short query
    answers: dict[str, Callable[..., dict[str, Any]]] = {
        "run": run,
        "time_runs": time_runs,
        "digest": digest,
    }
    decode, encode = json.JSONDecoder().decode, _ENCODER.encode
    for line in sys.stdin.buffer:
        request = decode(line.decode())
        answer = answers[request.pop("do")](**request)
        rows = answer.pop("rows", [])
        answer["row_count"] = len(rows)
        sys.stdout.buffer.write(f"{encode(answer)}\n{encode(rows)}\n".encode())
        sys.stdout.buffer.flush()


_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))
