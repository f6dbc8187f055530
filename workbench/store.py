"""The lab book: one SQLite file that holds everything expensive, readable by any SQLite tool.

Rows are content-addressed: a row's key is made of all that it depends on, so rows are only ever added
and a second process writing the same row changes nothing. Writes are one `BEGIN IMMEDIATE` transaction
each, committed with `synchronous=FULL` in WAL mode before anybody sees them; reads never wait for them.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.canonical import canonical
from workbench.errors import StoreError

if TYPE_CHECKING:
    import sqlite_utils

# Entry n turns a book of version n into one of version n + 1; a published entry never changes.
MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE databases(
        place TEXT PRIMARY KEY,       -- hash of where the file lies
        state TEXT NOT NULL,          -- what its folder said when it was read: sizes, times
        fingerprint TEXT NOT NULL     -- hash of its content
    );
    CREATE TABLE executions(
        key TEXT PRIMARY KEY,         -- hash of database, sql and limits
        database TEXT NOT NULL,
        sql TEXT NOT NULL,
        limits TEXT NOT NULL,
        status TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        row_count INTEGER NOT NULL,
        truncated INTEGER NOT NULL,
        seconds REAL NOT NULL,
        error TEXT NOT NULL,
        columns TEXT NOT NULL,        -- JSON
        rows NOT NULL                 -- JSON, or a BLOB: JSON compressed by zlib
    );
    """,
)


def home() -> Path:
    """Where lab book and indexes live: `WORKBENCH_HOME`, or `.workbench` in the user's home."""
    return Path(os.environ.get("WORKBENCH_HOME") or Path.home() / ".workbench")


class Store:
    """An open lab book, safe to share between threads; processes open the same file each for itself."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or home() / "lab.sqlite"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._reader = self._connect()
            self._writer = self._connect()
            self._migrate()
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"lab book {self.path}: {error}; set WORKBENCH_HOME to another folder") from error
        self._reading = threading.Lock()
        self._writing = threading.Lock()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=60, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        return connection

    def _migrate(self) -> None:
        writer = self._writer
        writer.execute("BEGIN IMMEDIATE")  # two processes opening a new book take turns
        try:
            version: int = writer.execute("PRAGMA user_version").fetchone()[0]
            if version > len(MIGRATIONS):
                raise StoreError(
                    f"lab book {self.path} is of version {version}, written by a newer workbench; this "
                    f"one reads up to {len(MIGRATIONS)}: upgrade it, or set WORKBENCH_HOME to another folder"
                )
            for script in MIGRATIONS[version:]:
                for statement in script.split(";"):
                    writer.execute(statement)
            writer.execute(f"PRAGMA user_version={len(MIGRATIONS)}")
            writer.execute("COMMIT")
        except BaseException:
            writer.execute("ROLLBACK")
            raise

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """All rows of a SELECT."""
        with self._reading:
            return self._reader.execute(sql, parameters).fetchall()

    def read_keys(self, sql: str, keys: Sequence[str]) -> list[Any]:
        """The rows of a SELECT that ends in `IN`, for any number of keys."""
        return self.read(f"{sql} (SELECT value FROM json_each(?))", [canonical(keys)])

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction: committed and on disk when the block ends, rolled back if it raises."""
        with self._writing:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def browse(self) -> "sqlite_utils.Database":
        """The book through sqlite-utils, for looking around in a notebook."""
        import sqlite_utils  # noqa: PLC0415  a quarter of a second, paid by those who browse

        return sqlite_utils.Database(self._reader)

    def close(self) -> None:
        self._reader.close()
        self._writer.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
