"""Fetch a query's rows under a limit on their number and size, as JSON values, or say why it failed."""

import base64
import hashlib
import math
import sqlite3
from typing import Any


def fetch(
    connection: sqlite3.Connection, sql: str, max_rows: int, max_bytes: int
) -> dict[str, Any]:
    """Columns, rows and fingerprint; a result beyond the limits has no fingerprint, and only the rows that fit.

    Raises sqlite3's errors, and ValueError for a statement that returns no rows, such as INSERT.
    """
    cursor = connection.execute(sql)
    if cursor.description is None:
        raise ValueError("no statement in it that returns rows")
    columns = [column[0] for column in cursor.description]
    rows: list[tuple[Any, ...]] = []
    kinds: set[type] = set()
    size = 0
    for row in cursor:  # one at a time: fetching 64 rows of 20 MB would exceed the limit on memory
        rows.append(row)
        size += 16 * len(row)
        for value in row:
            kind = type(value)
            kinds.add(kind)
            if kind is bytes:
                size += len(value)
            elif kind is str:  # outside ASCII a character takes up to four bytes
                size += len(value) if value.isascii() else 4 * len(value)
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
        return answer | {"columns": columns, "rows": [list(map(tagged, row)) for row in rows]}
    return answer | {"columns": columns, "rows": rows}


def fingerprint(rows: list[tuple[Any, ...]], with_floats: bool) -> str:
    """A hash of the set of rows; two results have the same hash exactly when Python's sets of rows are equal.

    This is BIRD's comparison: 1 equals 1.0, 1 differs from "1", duplicates and order do not count.
    """
    distinct = set(rows)
    normal = [tuple(map(_whole, row)) for row in distinct] if with_floats else distinct
    return hashlib.sha256("\n".join(sorted(map(repr, normal))).encode()).hexdigest()


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def tagged(value: Any) -> Any:
    """Bytes and infinite numbers, which JSON lacks, as an object with one entry; other values as they are."""
    if isinstance(value, bytes):
        return {"blob": base64.b64encode(value).decode()}
    if isinstance(value, float) and math.isinf(value):
        return {"float": repr(value)}
    return value


def untagged(value: Any) -> Any:
    """The value for which `tagged` returns this JSON value."""
    if not isinstance(value, dict):
        return value
    return base64.b64decode(value["blob"]) if "blob" in value else float(value["float"])


def failure(error: Exception, denied: str, seconds: float) -> dict[str, Any]:
    """The answer for an error; `denied` is why the guard refused the query, "" if it did not refuse it."""
    if isinstance(error, MemoryError):
        return {"status": "too_large", "error": "the query needs more memory than it may use"}
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code
    if code == sqlite3.SQLITE_INTERRUPT:
        return {"status": "timeout", "error": f"no answer within {seconds:g} s"}
    if denied:
        return {"status": "denied", "error": f"{denied}: only a SELECT runs here"}
    if code in {sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_NOMEM}:
        return {"status": "too_large", "error": "a value or a step is larger than it may be"}
    answer: dict[str, Any] = {"status": "error", "error": _TRANSIENT.get(code, str(error))}
    if isinstance(error, OSError) and error.strerror:
        answer["error"] = error.strerror  # str(error) would show the folder
    if code in _TRANSIENT or isinstance(error, OSError):
        answer["transient"] = True
    return answer


# Failures that the next attempt may not have, so their executions are not cached.
_TRANSIENT = {
    sqlite3.SQLITE_BUSY: "the database is locked by another program",
    sqlite3.SQLITE_LOCKED: "the database is locked by another program",
    sqlite3.SQLITE_IOERR: "the disk gave an error",
    sqlite3.SQLITE_CANTOPEN: "the database file cannot be opened",
    sqlite3.SQLITE_READONLY: "a program that ended while it wrote left a journal: open the database once"
    " with a program that may write, which recovers it",
}
