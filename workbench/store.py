"""The lab book: one SQLite file that holds everything expensive, readable by any SQLite tool.

Rows are content-addressed: a row's key is made of all that it depends on, so rows are only ever added
and a second process writing the same row changes nothing. Writes are one `BEGIN IMMEDIATE` transaction
each, committed in WAL mode before anybody sees them, what was paid for with `synchronous=FULL`; reads
never wait for them.

What a disk can do to it ends in one line for the reader: a full disk stops the write and keeps the book;
a book that cannot be written serves what it holds; a damaged one is set aside, never deleted, and what
can still be read of it is carried into a new one.
"""

import os
import sqlite3
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from workbench.canonical import canonical
from workbench.errors import StoreError
from workbench.migrations import MIGRATIONS
from workbench.salvage import salvage, set_aside

if TYPE_CHECKING:
    import sqlite_utils

WAIT = 60.0  # seconds that a write waits for another program's
CHECKED = 32_000_000  # bytes up to which a book is checked whenever it is opened: 20 ms at most

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_UNWRITABLE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}


def _code(error: sqlite3.Error) -> int:
    """SQLite's primary result code; its extended codes say more than anybody acts on."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _use_wal(connection: sqlite3.Connection) -> None:
    """Turn on write-ahead logging. Two who turn it on in a new book at once do not wait by themselves."""
    until = time.monotonic() + WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def home() -> Path:
    """Where lab book and indexes live: `WORKBENCH_HOME`, or `.workbench` in the user's home."""
    return Path(os.environ.get("WORKBENCH_HOME") or Path.home() / ".workbench")


class Store:
    """An open lab book, safe to share between threads; processes open the same file each for itself."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or home() / "lab.sqlite"
        self.read_only = False
        self._reading = threading.Lock()
        self._writing = threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._open()
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"lab book {self.path}: {error}; set WORKBENCH_HOME to another folder"
            ) from error

    def _open(self) -> None:
        opened = self._identity()
        try:
            self._reader = self._connect()
            self._writer = self._connect()
            self._migrate()
            if self._marker.exists() or (opened and self.path.stat().st_size <= CHECKED):
                self._check()
        except sqlite3.Error as error:
            if _code(error) in _UNWRITABLE and opened:
                self._open_read_only(error)
            elif _code(error) in _DAMAGED:
                self._replace(error, opened)
            else:
                raise

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=WAIT, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA page_size=16384")  # rows of 2 KB fill a page of 4 KB badly
            _use_wal(connection)
            connection.execute("PRAGMA wal_autocheckpoint=250")
            connection.execute("PRAGMA cache_size=-64000")  # KB: what was read is not read again
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    @property
    def _marker(self) -> Path:
        """Beside a book in which a read met damage: the next to open it checks all of it."""
        return self.path.with_name(self.path.name + ".damaged")

    def _identity(self) -> int:
        return self.path.stat().st_ino if self.path.exists() else 0

    def _check(self) -> None:
        found = self._reader.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            error = sqlite3.DatabaseError(found)
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error
        self._marker.unlink(missing_ok=True)

    def _replace(self, error: sqlite3.Error, opened: int) -> None:
        """Set the damaged book aside, begin a new one, and carry over what can be read."""
        self.close()
        aside = set_aside(self.path) if self._identity() == opened else None  # or another did it
        self._marker.unlink(missing_ok=True)
        self._reader = self._connect()
        self._writer = self._connect()
        self._migrate()
        if aside:
            kept, lost = salvage(aside, self._writer)
            warnings.warn(
                f"lab book {self.path} was damaged ({error}). It was set aside as {aside.name}, nothing "
                f"was deleted; {kept:,} rows were carried into a new book, {lost} could not be read",
                stacklevel=4,
            )

    def _open_read_only(self, error: sqlite3.Error) -> None:
        self.close()
        self.read_only = True
        wal = self.path.with_name(self.path.name + "-wal")
        uri = f"{self.path.absolute().as_uri()}?mode=ro"
        if not wal.exists() or not wal.stat().st_size:
            uri += "&immutable=1"  # nobody can write here, and SQLite need not lock
        self._reader = self._writer = sqlite3.connect(
            uri, uri=True, isolation_level=None, check_same_thread=False
        )
        try:
            version: int = self._reader.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.OperationalError as unreadable:
            raise StoreError(
                f"lab book {self.path} has changes in {wal.name} that cannot be read where nothing can "
                "be written: copy both files to another folder and set WORKBENCH_HOME"
            ) from unreadable
        if version != len(MIGRATIONS):
            raise StoreError(
                f"lab book {self.path} is of version {version}, this workbench uses {len(MIGRATIONS)}, "
                "and the folder cannot be written: copy it elsewhere and set WORKBENCH_HOME"
            ) from error
        warnings.warn(
            f"lab book {self.path} cannot be written ({error}): what it holds is served, and anything "
            "new stops before it is paid; set WORKBENCH_HOME to a folder that can be written",
            stacklevel=4,
        )

    def _migrate(self) -> None:
        writer = self._writer
        if writer.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS):
            return
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
            try:
                return self._reader.execute(sql, parameters).fetchall()
            except sqlite3.Error as error:
                raise self._told(error) from error

    def read_keys(self, sql: str, keys: Sequence[str]) -> list[Any]:
        """The rows of a SELECT that ends in `IN`, for any number of keys."""
        return self.read(f"{sql} (SELECT value FROM json_each(?))", [canonical(keys)])

    @contextmanager
    def write(self, *, paid: bool = True) -> Iterator[sqlite3.Connection]:
        """One transaction: committed and on disk when the block ends, rolled back if it raises.

        What can be had again for nothing is not `paid`, and nobody waits for the disk: a process that is
        killed does not lose it, a power cut may.
        """
        with self._writing:
            try:
                self._writer.execute(f"PRAGMA synchronous={'FULL' if paid else 'NORMAL'}")
                self._writer.execute("BEGIN IMMEDIATE")
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException as error:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise self._told(error) from error
                raise

    def _told(self, error: sqlite3.Error) -> Exception:
        """What the disk did, as a line to act on; any other error of SQLite's is the caller's own."""
        code = _code(error)
        if code in _DAMAGED:
            self._marker.touch()
            return StoreError(
                f"lab book {self.path} is damaged ({error}): open it again, and it is set aside and what "
                "can be read of it is carried into a new one"
            )
        if code == sqlite3.SQLITE_FULL:
            return StoreError(
                f"disk full: {self.path}: what was stored before is safe; make space and run this again"
            )
        if code in _UNWRITABLE or code == sqlite3.SQLITE_IOERR:
            return StoreError(f"lab book {self.path} cannot be written: {error}")
        if code == sqlite3.SQLITE_BUSY:
            return StoreError(f"lab book {self.path} is locked by another program: close it there")
        return error

    def backup(self, target: Path) -> None:
        """A copy of the book as it is at one moment, while others write: a copied file may lack rows."""
        if target.exists():
            raise StoreError(f"{target} exists: name a file that does not")
        with closing(sqlite3.connect(target)) as copy, self._reading:
            self._reader.backup(copy)

    def browse(self) -> "sqlite_utils.Database":
        """The book through sqlite-utils, for looking around in a notebook."""
        import sqlite_utils  # noqa: PLC0415  a quarter of a second, paid by those who browse

        return sqlite_utils.Database(self._reader)

    def close(self) -> None:
        for connection in (self.__dict__.get("_reader"), self.__dict__.get("_writer")):
            if connection:
                connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
