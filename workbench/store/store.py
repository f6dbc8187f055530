"""The cache: one SQLite file of everything that was expensive to make, readable by any SQLite tool.

A row's key is a hash of everything the row depends on, so rows are only added, and two processes that
write the same row agree. Each write is one `BEGIN IMMEDIATE` transaction in WAL mode, whose rows can be read
once it is committed; reads never wait for writes.

Disk failures end in one line for the user. A full disk stops the write and keeps the file. A file that
cannot be written still answers reads. A damaged file is renamed, never deleted, and its readable rows are
copied into a new one.
"""

import math
import os
import sqlite3
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self

from workbench.canonical import canonical
from workbench.errors import StoreError
from workbench.store.connection import connect_read_write, primary_code
from workbench.store.failures import DAMAGED, UNWRITABLE, as_store_error, damage_error
from workbench.store.migrations import MIGRATIONS, statements
from workbench.store.read_only import connect_read_only
from workbench.store.salvage import Salvaged, salvage, set_aside

CHECKED_BYTES = 32_000_000  # files up to this size are checked at each opening, in 20 ms at most

_WRITABLE_SECONDS = 0.1  # after a write, during which the file counts as writable
_CREATION_SECONDS = 0.1  # after which a process that creates a file has written its first page


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def home() -> Path:
    """The folder of the cache file and the indexes: `WORKBENCH_HOME`, or `~/.workbench`."""
    return Path(os.environ.get("WORKBENCH_HOME") or Path.home() / ".workbench")


class Store:
    """An open cache file. Threads may share a Store; each process opens the file for itself.

    `path` is the file, by default `lab.sqlite` in `home()`. `read_only` is true if the file cannot be written:
    then reads work, and every write raises `StoreError`.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or home() / "lab.sqlite"
        self.read_only = False
        self._wrote_at = -math.inf
        self._writer_is_durable: bool | None = None  # whether a commit waits for the disk
        self._read_lock = threading.Lock()
        self._write_lock = threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._open()
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"cache file {self.path}: {error}; set WORKBENCH_HOME to another folder"
            ) from error

    def _open(self) -> None:
        inode = self._inode()
        effective = os.access in os.supports_effective_ids
        if inode and not os.access(self.path, os.W_OK, effective_ids=effective):
            self._open_read_only("it is read-only")
            return
        emptied = bool(inode) and self._is_empty()
        try:
            if emptied and _size(self._log_path):
                raise damage_error("it is empty and its log is not")  # SQLite would delete the log
            self._connect()
            if self._damage_marker.exists() or (inode and _size(self.path) <= CHECKED_BYTES):
                self._check()
        except sqlite3.Error as error:
            if primary_code(error) in UNWRITABLE and inode:
                self._open_read_only(error)
            elif primary_code(error) in DAMAGED:
                self._replace_damaged(error, inode)
            else:
                raise
        else:
            if emptied:
                warnings.warn(
                    f"cache file {self.path} was empty (0 bytes), so a new one is begun: if it held calls, "
                    "restore a copy of it or import an export of it",
                    stacklevel=4,
                )

    def _is_empty(self) -> bool:
        """Whether the file is empty, and stays so while another process may be creating it."""
        if not _size(self.path):
            time.sleep(_CREATION_SECONDS)
        return not _size(self.path)

    def _connect(self) -> None:
        """Open one connection for reads and one for writes, and bring the tables up to date."""
        self._writer_is_durable = None
        self._reader = connect_read_write(self.path)
        self._writer = connect_read_write(self.path)
        self._migrate()

    @property
    def _damage_marker(self) -> Path:
        """An empty file that a read creates when it finds damage: the next opening then checks the cache file."""
        return self.path.with_name(self.path.name + ".damaged")

    @property
    def _log_path(self) -> Path:
        return self.path.with_name(self.path.name + "-wal")

    def _inode(self) -> int:
        return self.path.stat().st_ino if self.path.exists() else 0

    def _check(self) -> None:
        verdict = self._reader.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise damage_error(verdict)
        if self._damage_marker.exists():
            self._damage_marker.unlink()

    def _replace_damaged(self, error: sqlite3.Error, inode: int) -> None:
        """Rename the damaged file, begin a new one, and copy the readable rows into it."""
        self.close()
        # Another inode means that another process has replaced the file meanwhile: use its new one.
        aside = set_aside(self.path) if self._inode() == inode else None
        self._damage_marker.unlink(missing_ok=True)
        self._connect()
        if aside:
            salvaged = (
                salvage(aside, self._writer) if _size(aside) else Salvaged(uncounted=["its log"])
            )
            unknown = " and ".join(salvaged.uncounted)
            warnings.warn(
                f"cache file {self.path} was damaged ({error}). It was renamed to {aside.name}, nothing "
                f"was deleted; {salvaged.copied:,} rows were copied into a new file, {salvaged.lost:,} could not be read"
                + (f", besides an unknown number in {unknown}" if unknown else ""),
                stacklevel=4,
            )

    def _open_read_only(self, error: sqlite3.Error | str) -> None:
        self.close()
        self.read_only = True
        self._reader = self._writer = connect_read_only(self.path, check_same_thread=False)
        version: int = self._reader.execute("PRAGMA user_version").fetchone()[0]
        if version != len(MIGRATIONS):
            raise StoreError(
                f"cache file {self.path} is of version {version}, this workbench uses {len(MIGRATIONS)}, "
                "and the folder cannot be written: copy the file elsewhere and set WORKBENCH_HOME"
            )
        warnings.warn(
            f"cache file {self.path} cannot be written ({error}): cached answers are served, and a new "
            "call stops before it is paid; set WORKBENCH_HOME to a folder that can be written",
            stacklevel=4,
        )

    def _migrate(self) -> None:
        writer = self._writer
        if writer.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS):
            return
        writer.execute("BEGIN IMMEDIATE")  # of two processes that open a new file, one waits here
        try:
            version: int = writer.execute("PRAGMA user_version").fetchone()[0]
            if version > len(MIGRATIONS):
                raise StoreError(
                    f"cache file {self.path} is of version {version}, written by a newer workbench; this "
                    f"one reads up to {len(MIGRATIONS)}: upgrade it, or set WORKBENCH_HOME to another folder"
                )
            for migration in MIGRATIONS[version:]:
                for statement in statements(migration):
                    writer.execute(statement)
            writer.execute(f"PRAGMA user_version={len(MIGRATIONS)}")
            writer.execute("COMMIT")
        except BaseException:
            if writer.in_transaction:  # a full disk ends it
                writer.execute("ROLLBACK")
            raise

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run a SELECT and return all its rows."""
        with self._read_lock:
            try:
                return self._reader.execute(sql, parameters).fetchall()
            except sqlite3.Error as error:
                raise self._as_store_error(error) from error

    def read_keys(self, sql: str, keys: Sequence[str | int]) -> list[Any]:
        """The rows of a SELECT that ends in `IN`, for any number of keys."""
        return self.read(f"{sql} (SELECT value FROM json_each(?))", [canonical(keys)])

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """One transaction: committed and on disk when the block ends, rolled back if it raises.

        Rows that can be recomputed (`durable=False`) skip fsync: they survive a killed process but may be
        lost in a power cut.
        """
        with self._write_lock:
            try:
                if durable is not self._writer_is_durable:
                    self._writer.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
                    self._writer_is_durable = durable
                self._writer.execute("BEGIN IMMEDIATE")
                yield self._writer
                self._writer.execute("COMMIT")
                self._wrote_at = time.monotonic()
            except BaseException as error:
                self._wrote_at = -math.inf
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise self._as_store_error(error) from error
                raise

    def check_writable(self) -> None:
        """Before a call is paid, raise `StoreError` if the file cannot be written; a recent write shows that it can."""
        if time.monotonic() - self._wrote_at > _WRITABLE_SECONDS:
            with self.write(durable=False) as connection:
                connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}")

    def _as_store_error(self, error: sqlite3.Error) -> Exception:
        if primary_code(error) in DAMAGED:
            self._damage_marker.touch()
        return as_store_error(error, self.path)

    def backup(self, target: Path) -> None:
        """Write a consistent copy, even while others write; a plain copy of the file may lack recent rows."""
        if target.exists():
            raise StoreError(f"{target} exists: name a file that does not exist yet")
        target.touch()  # if no file can be made here, its error says why, and SQLite's does not
        with closing(sqlite3.connect(target)) as copy, self._read_lock:
            self._reader.backup(copy)

    def close(self) -> None:
        """Close the file once no thread reads or writes it: closing a connection in use crashes SQLite."""
        with self._read_lock, self._write_lock:
            for name in {"_reader", "_writer"} & vars(self).keys():
                vars(self)[name].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
