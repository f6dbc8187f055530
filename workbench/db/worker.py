"""The process that runs untrusted SQL: one JSON line comes in for each query and one goes out.

The supervisor starts it in an interpreter of its own with an empty environment and no site-packages, so
it imports the standard library and two neighbours that do the same. It is built to be killed: the
deadline here is only the clean path and the parent's SIGKILL the sure one.
"""

import base64
import gc
import hashlib
import json
import math
import os
import resource
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from workbench.db.guard import OPCODES, Guard
from workbench.db.opening import connect, lenient_text, wal

_MB = 1_000_000
_ADDRESS_SPACE = 1536 * _MB  # what SQLite may allocate and map, and Python
_FILE_SIZE = 4 * _MB  # zero would keep WAL databases from being read at all


class _Opened(NamedTuple):
    key: tuple[str, float, bool]
    state: tuple[int, ...]
    connection: sqlite3.Connection
    guard: Guard


class _Door:
    """Opens a database for a query, and keeps the connection for the next one on the same file.

    It is used again only while the file is the same and has no write-ahead log, and never after a query
    that was stopped: nothing that the guard lets a query do lasts beyond its end. Opening takes longer than
    most queries.
    """

    def __init__(self) -> None:
        self._kept: _Opened | None = None

    def open(self, path: str, sql: str, seconds: float) -> _Opened:
        deadline = time.monotonic() + seconds
        with_json = "json_" in sql.lower()
        state = _state(path)
        key = (path, seconds, with_json)
        kept, self._kept = self._kept, None
        if kept and kept.key == key and kept.state == state:
            kept.guard.renew(deadline)
            kept.connection.text_factory = str
            return kept
        if kept:
            kept.connection.close()
        connection = connect(Path(path), alone=True, patience=min(5.0, seconds / 2))
        try:
            connection.text_factory = str  # decoded in C; the lenient way only where it is needed
            return _Opened(key, state, connection, Guard(connection, deadline, with_json=with_json))
        except BaseException:
            connection.close()
            raise

    def close(self, opened: _Opened, *, keep: bool) -> None:
        if (
            keep and opened.state
        ):  # open on a write-ahead log, it would keep others from clearing it
            self._kept = opened
        else:
            opened.connection.close()


_door = _Door()


def _state(path: str) -> tuple[int, ...]:
    """What tells a file from another in its place; () for one that has a write-ahead log, or is not there."""
    try:
        os.stat(f"{path}-wal")  # noqa: PTH116  twice as fast as a Path's
    except FileNotFoundError:
        pass
    else:
        return ()
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def run(path: str, sql: str, seconds: float, max_rows: int, max_bytes: int) -> dict[str, Any]:
    """One query: an `Execution` as JSON can say it."""

    def ask(opened: _Opened) -> dict[str, Any]:
        try:
            return _fetch(opened.connection, sql, max_rows, max_bytes)
        except sqlite3.OperationalError as error:
            if not str(error).startswith("Could not decode"):
                raise
        opened.connection.text_factory = lenient_text
        return _fetch(opened.connection, sql, max_rows, max_bytes)

    return _guarded(path, sql, seconds, ask, keep=True)


def time_runs(path: str, queries: list[str], repeats: int, seconds: float) -> dict[str, Any]:
    """How long each query takes, run in turn `repeats` times on one connection, and its SQLite opcodes.

    The opcodes, counted in tens, are the same on every machine and at every load.
    """

    def measure(opened: _Opened) -> dict[str, Any]:
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
    work: Callable[[_Opened], dict[str, Any]],
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


def _fetch(
    connection: sqlite3.Connection, sql: str, max_rows: int, max_bytes: int
) -> dict[str, Any]:
    cursor = connection.execute(sql)
    if cursor.description is None:
        raise ValueError("no statement in it that returns rows")
    columns = [column[0] for column in cursor.description]
    rows: list[tuple[Any, ...]] = []
    kinds: set[type] = set()
    size = 0
    for row in cursor:  # one at a time: sixty-four rows of 20 MB would be past every cap
        rows.append(row)
        size += 16 * len(row)
        for value in row:
            kind = type(value)
            kinds.add(kind)
            if kind is str or kind is bytes:
                size += len(value)
        if size > max_bytes or len(rows) > max_rows:
            rows.pop()
            cap = f"{max_rows:,} rows" if size <= max_bytes else f"{max_bytes:,} bytes"
            answer = {
                "status": "too_large",
                "error": f"the result is larger than {cap}",
                "truncated": True,
            }
            break
    else:
        answer = {
            "status": "ok" if rows else "empty",
            "fingerprint": fingerprint(rows, float in kinds),
        }
    if bytes in kinds or float in kinds:
        return answer | {"columns": columns, "rows": [list(map(_tagged, row)) for row in rows]}
    return answer | {"columns": columns, "rows": rows}


def fingerprint(rows: list[tuple[Any, ...]], with_floats: bool) -> str:
    """A hash of the set of rows, equal for two results exactly when Python's sets of them are equal.

    So 1 and 1.0 agree, 1 and "1" do not, duplicates and order do not matter: BIRD's comparison.
    """
    distinct = set(rows)
    spelled = [tuple(map(_number, row)) for row in distinct] if with_floats else distinct
    return hashlib.sha256("\n".join(sorted(map(repr, spelled))).encode()).hexdigest()


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _tagged(value: Any) -> Any:
    """JSON has no bytes and no infinity: a one-entry object stands for them."""
    if isinstance(value, bytes):
        return {"blob": base64.b64encode(value).decode()}
    if isinstance(value, float) and math.isinf(value):
        return {"float": repr(value)}
    return value


def _failure(error: Exception, denied: str, seconds: float) -> dict[str, Any]:
    message = str(error)
    if denied and not message.startswith("interrupted"):
        return {"status": "denied", "error": f"{denied}: only a SELECT runs here"}
    if message == "interrupted":
        return {"status": "timeout", "error": f"no answer within {seconds:g} s"}
    if "too big" in message or "out of memory" in message:
        return {"status": "too_large", "error": "a value or a step is larger than it may be"}
    if "locked" in message or "busy" in message:
        return {
            "status": "error",
            "error": "the database is locked by another program",
            "passing": True,
        }
    if isinstance(error, OSError) or "disk I/O" in message or "unable to open" in message:
        return {"status": "error", "error": message, "passing": True}
    return {"status": "error", "error": message}


def digest(path: str) -> dict[str, Any]:
    """A hash of the file and of what its write-ahead log adds to it."""
    content = hashlib.sha256()
    file = Path(path)
    try:
        for part in (file, wal(file)):
            if part.exists():
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
