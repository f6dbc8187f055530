"""Databases on a worker: the file at the driver's path if it has the driver's content, else a copy of that content.

The workers of a machine share their copies. A copy lies in a folder named by its content, with the descriptions of
its columns. The copies together stay below a limit: to make space, the copy that was used least recently is
deleted, unless a worker has locked it for use.
"""

import fcntl
import hashlib
import os
import shutil
import socket
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from workbench.canonical import content_hash
from workbench.errors import ClusterError
from workbench.sql.executor import Executor

LIMIT = "WORKBENCH_WORKER_GB"  # the environment variable with the limit
_DEFAULT = 50.0
_DRAFT = "draft-"
# Reads a piece of one of the driver's files, by the file's name and the piece's first byte.
Read = Callable[[str, int], bytes]


@dataclass(frozen=True, slots=True)
class DatabaseFiles:
    """The driver's database: its path there, a hash of its content, and the sizes of its files by name."""

    path: str
    content: str
    files: Mapping[str, int]


def database_files(path: Path, executor: Executor) -> DatabaseFiles:
    """The database with its write-ahead log and the tables that describe its columns."""
    path = path.absolute()
    described = sorted((path.parent / "database_description").glob("*"))
    texts = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in described}
    log = path.with_name(f"{path.name}-wal")
    files = [path, *([log] if log.is_file() else []), *described]
    sizes = {str(file.relative_to(path.parent)): file.stat().st_size for file in files}
    content = content_hash("content", [executor.fingerprints([path])[path], texts])
    return DatabaseFiles(str(path), content, sizes)


@dataclass(slots=True)
class Databases:
    """The databases of one worker; `warn` is called with a line if a shared file has another content."""

    folder: Path
    executor: Executor
    warn: Callable[[str], object]
    _locks: dict[str, IO[Any]] = field(default_factory=dict)  # of the copies in use

    def local(self, wanted: DatabaseFiles, read: Read) -> Path:
        """The path on this machine of a database with the driver's content; `read` reads the driver's files."""
        shared = Path(wanted.path)
        if shared.is_file() and os.access(shared, os.R_OK):
            if database_files(shared, self.executor).content == wanted.content:
                return shared
            self.warn(f"{shared} differs from the driver's file: the driver's file is copied")
        name = wanted.content.removeprefix("content:")[:32]
        copy = self.folder / name / shared.parent.name / shared.name
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            while not (name in self._locks and copy.is_file()):
                self._release(name)
                with ExitStack() as opened:
                    lock = opened.enter_context(self._lock_file(name))
                    fcntl.flock(lock, fcntl.LOCK_SH)  # waits while another worker makes the copy
                    if copy.is_file():
                        self._locks[name] = lock
                        opened.pop_all()
                        break
                    fcntl.flock(lock, fcntl.LOCK_EX)
                    if not copy.is_file():
                        self._make_room(sum(wanted.files.values()))
                        self._copy(wanted, copy, read)
            os.utime(self.folder / name)
        except OSError as error:
            raise ClusterError(
                f"{shared.name} cannot be copied to {self.folder} on {socket.gethostname()}: {error.strerror};"
                " make space there, or start the workers with another --local-directory, and run the same again"
            ) from error
        return copy

    def _copy(self, wanted: DatabaseFiles, copy: Path, read: Read) -> None:
        """Write a draft beside the copy's folder, check its content, and rename it."""
        draft = self.folder / f"{_DRAFT}{copy.parents[1].name}"
        shutil.rmtree(draft, ignore_errors=True)  # the draft of a worker that was killed
        for name, size in wanted.files.items():
            target = draft / copy.parent.name / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                while file.tell() < size and (piece := read(name, file.tell())):
                    file.write(piece)
        copied = database_files(draft / copy.parent.name / copy.name, self.executor)
        if copied.content != wanted.content:
            raise ClusterError(f"{copy.name} changed while it was copied: run the same again")
        draft.rename(copy.parents[1])

    def _make_room(self, size: int) -> None:
        """Delete copies that no worker uses, until another `size` bytes fit below the limit."""
        limit = float(os.environ.get(LIMIT) or _DEFAULT) * 1e9
        sizes = {path: _size(path) for path in self.folder.iterdir() if path.is_dir()}
        # `local` sets the time of a copy whenever it is used, so the one unused for longest goes first.
        for path in sorted(sizes, key=lambda path: path.stat().st_mtime):
            if sum(sizes.values()) + size <= limit:
                return
            with self._lock_file(path.name.removeprefix(_DRAFT)) as lock, suppress(BlockingIOError):
                # Workers hold a shared lock on the copies that they use, so this fails for those.
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path)
                del sizes[path]
        if sum(sizes.values()) + size > limit:
            raise ClusterError(
                f"a copy of {size / 1e9:,.3f} GB does not fit into {self.folder} on {socket.gethostname()}, whose"
                f" limit is {limit / 1e9:,.3f} GB: set {LIMIT} to more gigabytes before you start the workers"
            )

    def _lock_file(self, name: str) -> IO[Any]:
        return (self.folder / f"{name}.lock").open("w")

    def close(self) -> None:
        """Unlock all copies, so that any worker may delete them."""
        for name in list(self._locks):
            self._release(name)

    def _release(self, name: str) -> None:
        if lock := self._locks.pop(name, None):
            lock.close()


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
