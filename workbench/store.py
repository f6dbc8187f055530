"""The cache: one SQLite file of everything that was expensive to make.

`schema.sql` describes its tables. A file of another program is refused, and never touched. In a
file of another version of the workbench the calls and budgets stay, and tables of another form,
which can be computed again, are made anew.
"""

import os
import re
import shlex
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Self

from workbench.canonical import canonical
from workbench.errors import StoreError, kind

_SCHEMA = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
_TABLES = "SELECT name, sql FROM {}.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
_KEPT = {"calls", "budgets", "batches"}  # money was paid for them
_WAIT = 60.0  # seconds that a write waits for another process's write
_DAMAGED = """is no cache file, or damaged ({error}): copy what can be read into a new file by
{command}"""
_FULL = "has no room on its disk: make space and run this again; what it has is safe"
_UNUSABLE = "cannot be used ({error}): set WORKBENCH_HOME to another folder"
_ADVICE = {  # by SQLite's error code
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_BUSY: "is locked by another program: close it there",
    sqlite3.SQLITE_IOERR: _UNUSABLE,
    sqlite3.SQLITE_CANTOPEN: _UNUSABLE,
    sqlite3.SQLITE_READONLY: _UNUSABLE,
    sqlite3.SQLITE_PERM: _UNUSABLE,
}


class _Connection(sqlite3.Connection):
    """A connection that closes with its last use, so that a dropped `Store` leaves none open."""

    __del__ = sqlite3.Connection.close


def home() -> Path:
    """Return the folder of the cache file and the indexes: `WORKBENCH_HOME`, or `~/.workbench`."""
    return Path(os.environ.get("WORKBENCH_HOME") or Path.home() / ".workbench")


def tables_of(connection: sqlite3.Connection, database: str = "main") -> dict[str, str]:
    """Return the definitions of a database's tables by name, without comments and white space."""
    rows = connection.execute(_TABLES.format(database)).fetchall()
    return {name: re.sub(r"--.*|\s+", "", definition) for name, definition in rows}


@cache
def _ours() -> tuple[dict[str, str], set[str]]:
    """Return the tables of this version, and the columns of its table of calls."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_SCHEMA)
        return tables_of(connection), _columns_of_calls(connection)


def _columns_of_calls(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute("SELECT name FROM pragma_table_info('calls')")
    return {name for (name,) in rows}


class Store:
    """An open cache file, by default `lab.sqlite` in `home()`; threads may share it.

    Where the file cannot be written (`read_only`), reads work and a write raises `StoreError`.
    Only SQLite opens the file: if this process closed a descriptor of its own, the system would
    drop SQLite's locks, and another process would delete the log that this one still writes.
    """

    def __init__(
        self, path: Path | str | None = None, *, read_only: bool = False
    ) -> None:
        self.path = Path(path) if path else home() / "lab.sqlite"
        self._log = self.path.with_name(self.path.name + "-wal")
        self._reading = threading.Lock()
        self._writing = threading.Lock()
        what = kind(self.path)
        if what:
            raise StoreError(f"{self.path} is {what}: name another file")
        written = self.path if self.path.exists() else self.path.parent
        may_write = os.access(written, os.W_OK) or not written.exists()
        self.read_only = read_only or not may_write
        with self._errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._reader = self._connect()
            self._check_whole()
            self._prepare()
            self._writer = self._reader if self.read_only else self._connect()

    @cached_property
    def db(self) -> Any:
        """The file as a `sqlite_utils.Database`, to look around in."""
        from sqlite_utils import Database  # noqa: PLC0415  no run needs it

        return Database(self._reader)

    def read(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a SELECT."""
        with self._reading, self._errors():
            return self._reader.execute(sql, values).fetchall()

    def read_keys(self, sql: str, keys: Sequence[str]) -> list[Any]:
        """Return the rows of a SELECT that ends in `WHERE key IN`, for any number of keys."""
        return self.read(f"{sql} (SELECT value FROM json_each(?))", [canonical(keys)])

    def check_writable(self) -> None:
        if self.read_only:
            advice = "cannot be written: set WORKBENCH_HOME to another folder"
            raise StoreError(f"cache file {self.path} {advice}")

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """Run the block in one transaction, on disk when it ends, and rolled back if it raises.

        With `durable=False` a power cut may lose it; a kill does not.
        """
        self.check_writable()
        with self._writing, self._errors():
            self._writer.execute(
                f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}"
            )
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                yield self._writer
                self._writer.execute("COMMIT")
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")

    def close(self) -> None:
        """Close the file once no thread reads or writes it."""
        with self._writing, self._reading:  # in the order of a read within a write
            self._reader.close()
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect(self) -> sqlite3.Connection:
        options = "mode=ro" if self.read_only else "mode=rwc"
        if self.read_only and not os.access(self.path, os.W_OK) and not self._has_log():
            options += "&immutable=1"  # else SQLite needs to create files beside it
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?{options}",
            uri=True,
            timeout=_WAIT,
            isolation_level=None,
            check_same_thread=False,
            factory=_Connection,
        )
        connection.execute("PRAGMA cache_size=-64000")  # KB of pages kept in memory
        # Fsync on macOS leaves data in the disk's buffer.
        connection.execute("PRAGMA fullfsync=1")
        return connection

    def _has_log(self) -> bool:
        return self._log.exists() and self._log.stat().st_size > 0

    def _check_whole(self) -> None:
        """Refuse a file whose end is cut off; with a write-ahead log, pages may stand there."""
        for _ in range(10):  # another process may be extending it
            size = self.path.stat().st_size
            page = self._reader.execute("PRAGMA page_size").fetchone()[0]
            pages = self._reader.execute("PRAGMA page_count").fetchone()[0]
            is_whole = size % page == 0 and size >= page * pages
            if is_whole or not size or self._has_log():
                return
            time.sleep(0.02)
        missing = "its end is missing: take it from a backup, or move it away to begin a new one"
        raise StoreError(f"cache file {self.path} is damaged: {missing}")

    def _prepare(self) -> None:
        """Refuse a database of another program, and make tables that are missing or outdated."""
        until = time.monotonic() + _WAIT
        while True:  # another process may be making the tables
            try:
                self._check_tables()
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)
            else:
                return

    def _check_tables(self) -> None:
        theirs = tables_of(self._reader)
        if theirs:
            # Columns, not the definition: a later version may have added one.
            is_ours = _columns_of_calls(self._reader) >= _ours()[1]
        else:
            is_ours = self.path.stat().st_size == 0
        if not is_ours:
            raise StoreError(
                f"{self.path} is a file of another program: name another file"
            )
        if self.read_only:
            return
        if _to_make(theirs):
            self._make_tables()
        # Last, so that no file is without tables.
        self._reader.execute("PRAGMA journal_mode=WAL")

    def _make_tables(self) -> None:
        """Make the tables that are missing, and those of another form anew."""
        connection = self._reader
        connection.execute("PRAGMA page_size=16384")
        try:
            connection.execute("BEGIN IMMEDIATE")
            # Another process may have made them before this one could write.
            theirs = tables_of(connection)
            for name in _to_make(theirs) & theirs.keys():
                connection.execute(f"DROP TABLE {name}")
            # Not by `executescript`, which would commit first.
            for statement in re.sub(r"--.*", "", _SCHEMA).split(";"):
                connection.execute(statement)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn a failure of disk or file into one sentence; a mistake in the SQL stays as it is."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            # The code without what extends it.
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            advice = _UNUSABLE if isinstance(error, OSError) else _ADVICE.get(code)
            if not advice:
                raise
            command = (
                f"sqlite3 {shlex.quote(str(self.path))} .recover | sqlite3 NEW.sqlite"
            )
            told = advice.format(error=error, command=command)
            raise StoreError(f"cache file {self.path} {told}") from error


def _to_make(theirs: dict[str, str]) -> set[str]:
    """Return the names of our tables that a file lacks, or has in another form."""
    names = set()
    for name, definition in _ours()[0].items():
        if name not in theirs or (name not in _KEPT and theirs[name] != definition):
            names.add(name)
    return names
