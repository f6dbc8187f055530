"""Disk failures of a cache file, each as one line that says what to do."""

import sqlite3
from pathlib import Path

from workbench.errors import StoreError
from workbench.store.connection import primary_code

DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
UNWRITABLE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}


def damage_error(reason: str) -> sqlite3.DatabaseError:
    """SQLite's error for a damaged file, made here for damage that SQLite does not notice."""
    error = sqlite3.DatabaseError(reason)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def as_store_error(error: sqlite3.Error, path: Path) -> Exception:
    """A disk failure as a `StoreError`; an error in the caller's SQL is returned unchanged."""
    code, file = primary_code(error), f"cache file {path}"
    if code in DAMAGED:
        remedy = "open it again to copy its readable rows into a new file"
        return StoreError(f"{file} is damaged ({error}): {remedy}")
    if code == sqlite3.SQLITE_FULL:
        remedy = "rows stored before are safe; make space and run this again"
        return StoreError(f"disk full: {path}: {remedy}")
    if code in UNWRITABLE or code == sqlite3.SQLITE_IOERR:
        return StoreError(f"{file} cannot be written: {error}")
    if code == sqlite3.SQLITE_ERROR and str(error).startswith("no such"):  # table or column
        remedy = "another program changed it: restore a copy, or rename it to begin a new one"
        return StoreError(f"{file} lacks what a workbench writes ({error}); {remedy}")
    if code == sqlite3.SQLITE_BUSY:
        return StoreError(f"{file} is locked by another program: close it there")
    return error
