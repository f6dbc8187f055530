"""The answer for a failed query: a status, and an error that names no folder."""

import sqlite3
from typing import Any


def failure(error: Exception, denied: str, seconds: float) -> dict[str, Any]:
    """The answer for an error; `denied` is why the guard refused the query, "" if it did not refuse it."""
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
