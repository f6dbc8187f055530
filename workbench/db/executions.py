"""The cache's table `executions`: query results by database content, SQL and limits."""

import time
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import orjson

from workbench.canonical import canonical
from workbench.db.sandbox.fetch import untagged
from workbench.store import Store
from workbench.types import Execution, Limits, Row

_FIELDS = ("status", "fingerprint", "row_count", "truncated", "seconds", "error")
_COMPRESS = 100_000  # bytes of JSON: larger rows are stored compressed
_TOGETHER = 0.1
Answer = dict[str, Any]  # of a worker, with `rows` as JSON text


class ExecutionKeys:
    """Makes the keys of one database's executions; their common part is hashed once."""

    def __init__(self, content: str, limits: Limits) -> None:
        self._common = sha256(canonical([2, content, limits]))

    def key(self, sql: str) -> str:
        digest = self._common.copy()
        digest.update(sql.encode())
        return f"execution:{digest.hexdigest()}"


def recall(store: Store, keys: Collection[str]) -> dict[str, Execution]:
    """The cached executions by key."""
    cached = store.read_keys(
        f"SELECT key, {', '.join(_FIELDS)}, columns, rows FROM executions WHERE key IN", list(keys)
    )
    return {
        key: execution(
            dict(zip(_FIELDS, fields, strict=True))
            | {
                "columns": orjson.loads(columns),
                "rows": zlib.decompress(rows) if isinstance(rows, bytes) else rows.encode(),
            }
        )
        for key, *fields, columns, rows in cached
    }


def recall_fingerprints(store: Store, keys: Collection[str]) -> dict[str, str]:
    """The fingerprints of cached executions by key; rows are not even read from the disk."""
    return dict(
        store.read_keys(
            "SELECT key, fingerprint FROM executions INDEXED BY executions_fingerprints WHERE key IN",
            list(keys),
        )
    )


def recall_statuses(store: Store, keys: Collection[str]) -> dict[str, str]:
    """The statuses of cached executions by key."""
    return dict(store.read_keys("SELECT key, status FROM executions WHERE key IN", list(keys)))


@contextmanager
def saving(store: Store, limits: Limits) -> Iterator[Callable[[str, str, str, Answer], None]]:
    """Caches a worker's answers by key, given with the fingerprint of their database and the SQL.

    Answers that come within `_TOGETHER` seconds share a transaction. All are stored when the block ends, however
    it ends.
    """
    common = canonical(limits).decode()
    waiting: list[tuple[Any, ...]] = []
    last = time.monotonic()

    def save() -> None:
        rows, waiting[:] = list(waiting), []
        marks = ", ".join("?" * len(rows[0]))
        with store.write(paid=False) as connection:
            connection.executemany(f"INSERT OR IGNORE INTO executions VALUES ({marks})", rows)

    def keep(key: str, content: str, sql: str, answer: Answer) -> None:
        nonlocal last
        row = (
            *(key, content, sql, common, answer["status"]),
            answer.get("fingerprint", ""),
            answer.get("row_count", 0),
            answer.get("truncated", False),
            answer["seconds"],
            answer.get("error", ""),
            orjson.dumps(answer.get("columns", [])).decode(),
            _stored(answer["rows"]),
        )
        waiting.append(row)
        if time.monotonic() > last + _TOGETHER:
            save()
            last = time.monotonic()

    try:
        yield keep
    finally:
        if waiting:
            save()


def execution(answer: Answer) -> Execution:
    """A worker's answer as an `Execution`."""
    return Execution(
        status=answer["status"],
        columns=tuple(answer.get("columns", ())),
        rows=_rows(answer["rows"]),
        row_count=answer.get("row_count", 0),
        fingerprint=answer.get("fingerprint", ""),
        error=answer.get("error", ""),
        seconds=answer["seconds"],
        truncated=bool(answer.get("truncated", False)),
        transient=bool(answer.get("transient", False)),
    )


def _stored(rows: bytes) -> str | bytes:
    return rows.decode() if len(rows) <= _COMPRESS else zlib.compress(rows, 1)


def _rows(text: bytes) -> tuple[Row, ...]:
    """Rows from JSON, in which an object with one entry stands for bytes or an infinity."""
    rows: list[list[Any]] = orjson.loads(text)
    if b"{" not in text:
        return tuple(map(tuple, rows))
    return tuple(tuple(map(untagged, row)) for row in rows)
