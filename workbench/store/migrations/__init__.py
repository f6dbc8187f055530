"""The tables of the cache file, version by version.

File n turns a cache file of version n - 1 into one of version n; a published file never changes.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

_FILES = sorted(Path(__file__).parent.glob("*.sql"), key=lambda path: int(path.name.split("_")[0]))
MIGRATIONS = tuple(path.read_text(encoding="utf-8") for path in _FILES)


def statements(migration: str) -> Iterator[str]:
    """The statements of a migration; a trigger's own semicolons do not end it."""
    statement = ""
    for part in migration.split(";"):
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
