"""The cache: one SQLite file of everything that was expensive to make; `schema.sql` describes its tables.

A file of another program or layout is refused, and never touched.
"""

import os
import re
import shlex
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from workbench.canonical import canonical
from workbench.errors import StoreError, kind

_SCHEMA = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
_LAYOUT = zlib.crc32(re.sub(r"--.*|\s+", "", _SCHEMA).encode()) >> 1  # in the file's user_version
_WAIT = 60.0  # seconds that a write waits for another process's write
_UNUSABLE = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY,
             sqlite3.SQLITE_PERM}  # fmt: skip


def home() -> Path:
    """The folder of the cache file and the indexes: `WORKBENCH_HOME`, or `~/.workbench`."""
    return Path(os.environ.get("WORKBENCH_HOME") or Path.home() / ".workbench")


class Store:
    """An open cache file, by default `lab.sqlite` in `home()`; threads may share it.

    Where the file cannot be written (`read_only`), reads work and a write raises `StoreError`.
    Only SQLite opens the file: if this process closed a descriptor of its own, the system would
    drop SQLite's locks, and another process would delete the log that this one still writes.
    """

    def __init__(self, path: Path | str | None = None) -> None:
        self.path = Path(path) if path else home() / "lab.sqlite"
        self._locks = threading.Lock(), threading.Lock()  # of the connections that read and write
        if found := kind(self.path):
            raise StoreError(f"{self.path} is {found}: name another file")
        writes = self.path if self.path.exists() else self.path.parent
        self.read_only = writes.exists() and not os.access(writes, os.W_OK)
        with self._errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._reader = self._connect()
            self._check_layout()
            self._writer = self._reader if self.read_only else self._connect()

    @cached_property
    def db(self) -> Any:
        """The file as a `sqlite_utils.Database`, to look around in."""
        from sqlite_utils import Database  # noqa: PLC0415  no run needs it

        return Database(self._reader)

    def read(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a SELECT."""
        with self._locks[0], self._errors():
            return self._reader.execute(sql, values).fetchall()

    def read_keys(self, sql: str, keys: Sequence[str]) -> list[Any]:
        """The rows of a SELECT that ends in `WHERE key IN`, for any number of keys."""
        return self.read(f"{sql} (SELECT value FROM json_each(?))", [canonical(keys)])

    def check_writable(self) -> None:
        if self.read_only:
            told = "cannot be written: set WORKBENCH_HOME to another folder"
            raise StoreError(f"cache file {self.path} {told}")

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """One transaction, on disk when the block ends, and rolled back if it raises.

        With `durable=False`, for what can be computed again, a power cut may lose it; a kill does not.
        """
        self.check_writable()
        with self._locks[1], self._errors():
            self._writer.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                yield self._writer
                self._writer.execute("COMMIT")
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")

    def close(self) -> None:
        """Close the file once no thread reads or writes it."""
        with self._locks[1], self._locks[0]:  # in the order of a read within a write
            self._reader.close()
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect(self) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode={'ro' if self.read_only else 'rwc'}"
        log = self.path.with_name(self.path.name + "-wal")
        if self.read_only and not (log.exists() and log.stat().st_size):
            uri += "&immutable=1"  # else SQLite needs to create files beside it
        connection = sqlite3.connect(
            uri, uri=True, timeout=_WAIT, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA cache_size=-64000")  # KB of pages kept in memory
        return connection

    def _check_layout(self) -> None:
        """Refuse a database of another program or layout, and make the tables of a new one."""
        until = time.monotonic() + _WAIT
        while True:  # another process may be making the tables
            try:
                select = "SELECT name FROM sqlite_schema WHERE type = 'table'"
                tables = {name for (name,) in self._reader.execute(select)}
                if tables and self._reader.execute("PRAGMA user_version").fetchone() != (_LAYOUT,):
                    ours = {"calls", "executions"} <= tables
                    program = "an older workbench" if ours else "another program"
                    raise StoreError(f"{self.path} is a file of {program}: name another file")
                if tables or self.read_only:
                    return
                self._reader.execute("PRAGMA page_size=16384")
                self._reader.execute("PRAGMA journal_mode=WAL")
                make = f"BEGIN IMMEDIATE; {_SCHEMA}; PRAGMA user_version={_LAYOUT}; COMMIT;"
                self._reader.executescript(make)
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn a failure of disk or file into one sentence; a mistake in the SQL stays as it is."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
                copy = f"sqlite3 {shlex.quote(str(self.path))} .recover | sqlite3 NEW.sqlite"
                told = f"is no cache file, or damaged ({error}): copy what can be read into a new file by\n{copy}"
            elif code == sqlite3.SQLITE_FULL:
                told = "has no room on its disk: make space and run this again; what it has is safe"
            elif code == sqlite3.SQLITE_BUSY:
                told = "is locked by another program: close it there"
            elif code in _UNUSABLE or isinstance(error, OSError):
                told = f"cannot be used ({error}): set WORKBENCH_HOME to another folder"
            else:
                raise
            raise StoreError(f"cache file {self.path} {told}") from error
