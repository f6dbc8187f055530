"""The process that runs untrusted SQL: one JSON line comes in for each query and one goes out.

The supervisor starts it in an interpreter of its own with an empty environment and no site-packages, so
it imports the standard library and neighbours that do the same. It is built to be killed: the
deadline here is only the clean path and the parent's SIGKILL the sure one.
"""

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
from typing import Any

from workbench.db.door import Door, Opened
from workbench.db.fetch import fetch
from workbench.db.guard import OPCODES
from workbench.db.opening import lenient_text, wal

_MB = 1_000_000
_ADDRESS_SPACE = 1536 * _MB  # what SQLite may allocate and map, and Python
_FILE_SIZE = 4 * _MB  # zero would keep WAL databases from being read at all


_door = Door()


def run(path: str, sql: str, seconds: float, max_rows: int, max_bytes: int) -> dict[str, Any]:
    """One query: an `Execution` as JSON can say it."""

    def ask(opened: Opened) -> dict[str, Any]:
        try:
            return fetch(opened.connection, sql, max_rows, max_bytes)
        except sqlite3.OperationalError as error:
            if not str(error).startswith("Could not decode"):
                raise
        opened.connection.text_factory = lenient_text
        return fetch(opened.connection, sql, max_rows, max_bytes)

    return _guarded(path, sql, seconds, ask, keep=True)


def time_runs(path: str, queries: list[str], repeats: int, seconds: float) -> dict[str, Any]:
    """How long each query takes, run in turn `repeats` times on one connection, and its SQLite opcodes.

    The opcodes, counted in tens, are the same on every machine and at every load.
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
    """`work` on a guarded connection; its failures are values."""
    started = time.monotonic()
    opened = None
    try:
        opened = _door.open(path, sql, seconds)
        answer = work(opened)
    except MemoryError:
        answer = {"status": "too_large", "error": "the query needs more memory than it may use"}
    except (sqlite3.Error, sqlite3.Warning, OSError, ValueError) as error:
        answer = _failure(error, opened.guard.denied if opened else "", seconds)
    if opened:
        ended = answer["status"] in {"ok", "empty", "error"} and not answer.get("passing")
        _door.close(opened, keep=keep and ended)
    answer["seconds"] = time.monotonic() - started
    return answer


def _failure(error: Exception, denied: str, seconds: float) -> dict[str, Any]:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary one
    if code == sqlite3.SQLITE_INTERRUPT:
        return {"status": "timeout", "error": f"no answer within {seconds:g} s"}
    if denied:
        return {"status": "denied", "error": f"{denied}: only a SELECT runs here"}
    if code in {sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_NOMEM}:
        return {"status": "too_large", "error": "a value or a step is larger than it may be"}
    answer: dict[str, Any] = {"status": "error", "error": _PASSING.get(code, str(error))}
    if isinstance(error, OSError) and error.strerror:
        answer["error"] = error.strerror  # the whole text would name the folder
    if code in _PASSING or isinstance(error, OSError):
        answer["passing"] = True
    return answer


_PASSING = {
    sqlite3.SQLITE_BUSY: "the database is locked by another program",
    sqlite3.SQLITE_LOCKED: "the database is locked by another program",
    sqlite3.SQLITE_IOERR: "the disk gave an error",
    sqlite3.SQLITE_CANTOPEN: "the database file cannot be opened",
    sqlite3.SQLITE_READONLY: "a program that ended while it wrote left a journal: open the database once"
    " with a program that may write, which recovers it",
}


def digest(path: str) -> dict[str, Any]:
    """A hash of the file and of what its write-ahead log adds to it."""
    content = hashlib.sha256()
    file = Path(path)
    try:
        for part in (file, wal(file)):
            if part.is_file():
                with part.open("rb") as opened:
                    content.update(hashlib.file_digest(opened, "sha256").digest())
    except OSError as error:
        return {"error": f"{file.name}: {error.strerror}"}
    return {"digest": content.hexdigest()}


def _confine() -> None:
    for kind, size in (
        (resource.RLIMIT_AS, _ADDRESS_SPACE),
        (resource.RLIMIT_FSIZE, _FILE_SIZE),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (size, size))


def _die_with_parent() -> None:
    """A query can hold the main thread past the end of standard input: watch from another one."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    _die_with_parent()
    _confine()
    gc.disable()  # nothing here makes cycles, and looking for them is a tenth of a short query
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


if __name__ == "__main__":
    main()
