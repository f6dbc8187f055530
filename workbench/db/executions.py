"""The cache's table `executions`: query results by database content, SQL and limits."""

import time
import zlib
from collections.abc import Callable, Collection, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from workbench.canonical import canonical
from workbench.db.fingerprint import FileState, is_unchanged
from workbench.db.sandbox.fetch import untagged
from workbench.store import Store
from workbench.types import Execution, Limits, Row

_FIELDS = ("status", "fingerprint", "row_count", "truncated", "seconds", "error")
_COMPRESS = 100_000  # bytes of JSON: larger rows are stored compressed
_INTERVAL = 0.1  # seconds between two transactions
_FORMAT = 2  # the version of the cached rows
Answer = dict[str, Any]  # a worker's answer, whose `rows` are JSON text


def execution_keys(content: str, limits: Limits) -> Callable[[str], str]:
    """Makes the key of each query on one database; the keys' common part is hashed once."""
    common = sha256(canonical([_FORMAT, content, limits]))

    def key(sql: str) -> str:
        digest = common.copy()
        digest.update(sql.encode())
        return f"execution:{digest.hexdigest()}"

    return key


def read_cached(store: Store, keys: Collection[str]) -> dict[str, Execution]:
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


def read_cached_fingerprints(store: Store, keys: Collection[str]) -> dict[str, str]:
    """The fingerprints of cached executions by key, read from an index that leaves the rows on the disk."""
    return dict(
        store.read_keys(
            "SELECT key, fingerprint FROM executions INDEXED BY executions_fingerprints WHERE key IN",
            list(keys),
        )
    )


def read_cached_statuses(store: Store, keys: Collection[str]) -> dict[str, str]:
    """The statuses of cached executions by key."""
    return dict(store.read_keys("SELECT key, status FROM executions WHERE key IN", list(keys)))


class NewExecutions:
    """New executions on their way to the cache; executions that arrive within `_INTERVAL` share a transaction.

    `states` has the state of each database before the queries. The executions on a database that has changed since
    are not stored, as they may belong to another content.
    """

    def __init__(self, store: Store, limits: Limits, states: Mapping[Path, FileState]) -> None:
        self._store = store
        self._limits = canonical(limits).decode()
        self._states = states
        self._rows: dict[Path, list[tuple[Any, ...]]] = {}
        self._saved_at = time.monotonic()

    def add(self, key: str, path: Path, content: str, sql: str, answer: Answer) -> None:
        """Add a worker's answer; `content` is the fingerprint of the database at `path`."""
        rows: bytes = answer["rows"]
        row = (
            *(key, content, sql, self._limits, answer["status"]),
            answer.get("fingerprint", ""),
            answer.get("row_count", 0),
            answer.get("truncated", False),
            answer["seconds"],
            answer.get("error", ""),
            orjson.dumps(answer.get("columns", [])).decode(),
            rows.decode() if len(rows) <= _COMPRESS else zlib.compress(rows, 1),
        )
        self._rows.setdefault(path, []).append(row)
        if time.monotonic() > self._saved_at + _INTERVAL:
            self.save()

    def save(self) -> None:
        """Store the executions that were added since the last call."""
        added, self._rows = self._rows, {}
        rows = [
            row
            for path, rows in added.items()
            if is_unchanged(path, self._states[path][0])
            for row in rows
        ]
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            with self._store.write(durable=False) as connection:
                connection.executemany(f"INSERT OR IGNORE INTO executions VALUES ({marks})", rows)
        self._saved_at = time.monotonic()


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


def _rows(text: bytes) -> tuple[Row, ...]:
    """Rows from JSON, in which an object with one entry stands for bytes or an infinite number."""
    rows: list[list[Any]] = orjson.loads(text)
    if b"{" not in text:
        return tuple(map(tuple, rows))
    return tuple(tuple(map(untagged, row)) for row in rows)
