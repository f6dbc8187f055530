"""The lab book's table `executions`: what each query answered, by database content, text and limits."""

import zlib
from base64 import b64decode
from collections.abc import Collection
from hashlib import sha256
from typing import Any

import orjson

from workbench.canonical import canonical
from workbench.store import Store
from workbench.types import Execution, Limits, Row

_COMPRESS = 100_000  # bytes of JSON above which rows are stored compressed
Answer = dict[str, Any]  # a worker's, with `rows` as JSON text


class Keys:
    """The keys of one database's executions: hashed once for all of them as far as they are alike."""

    def __init__(self, content: str, limits: Limits) -> None:
        self._begun = sha256(canonical([2, content, limits]))

    def key(self, sql: str) -> str:
        whole = self._begun.copy()
        whole.update(sql.encode())
        return f"execution:{whole.hexdigest()}"


def recall(store: Store, keys: Collection[str]) -> dict[str, Execution]:
    """The executions that the book has, by key."""
    found = store.read_keys(
        "SELECT key, status, fingerprint, row_count, truncated, seconds, error, columns, rows"
        " FROM executions WHERE key IN",
        list(keys),
    )
    return {
        key: Execution(
            status=status,
            columns=tuple(orjson.loads(columns)),
            rows=_rows(zlib.decompress(rows) if isinstance(rows, bytes) else rows.encode()),
            row_count=row_count,
            fingerprint=fingerprint,
            error=error,
            seconds=seconds,
            truncated=bool(truncated),
        )
        for key, status, fingerprint, row_count, truncated, seconds, error, columns, rows in found
    }


def recall_fingerprints(store: Store, keys: Collection[str]) -> dict[str, str]:
    """Their fingerprints alone: rows are not even read from the disk."""
    return dict(
        store.read_keys(
            "SELECT key, fingerprint FROM executions INDEXED BY executions_fingerprints WHERE key IN",
            list(keys),
        )
    )


def keep(store: Store, key: str, content: str, sql: str, limits: Limits, answer: Answer) -> None:
    """Write what a query answered on that content of a database."""
    with store.write(paid=False) as book:
        book.execute(
            "INSERT OR IGNORE INTO executions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                key,
                content,
                sql,
                canonical(limits).decode(),
                answer["status"],
                answer.get("fingerprint", ""),
                answer.get("row_count", 0),
                answer.get("truncated", False),
                answer["seconds"],
                answer.get("error", ""),
                orjson.dumps(answer.get("columns", [])).decode(),
                _stored(answer["rows"]),
            ),
        )


def execution(answer: Answer) -> Execution:
    """A worker's answer as a record."""
    return Execution(
        status=answer["status"],
        columns=tuple(answer.get("columns", ())),
        rows=_rows(answer["rows"]),
        row_count=answer.get("row_count", 0),
        fingerprint=answer.get("fingerprint", ""),
        error=answer.get("error", ""),
        seconds=answer["seconds"],
        truncated=answer.get("truncated", False),
    )


def _stored(rows: bytes) -> str | bytes:
    return rows.decode() if len(rows) <= _COMPRESS else zlib.compress(rows, 1)


def _rows(text: bytes) -> tuple[Row, ...]:
    """Rows from JSON; a one-entry object stands for a value that JSON has no word for."""
    rows: list[list[Any]] = orjson.loads(text)
    if b"{" not in text:
        return tuple(map(tuple, rows))
    return tuple(tuple([_value(v) if type(v) is dict else v for v in row]) for row in rows)


def _value(tagged: dict[str, str]) -> bytes | float:
    if "blob" in tagged:
        return b64decode(tagged["blob"])
    return float(tagged["float"])
