"""The index of a database's text values: built once, stored on disk, memory-mapped for searches.

An index file belongs to one database file and one kind of index, and records the content that it was built from:
if the database changes, searches are refused and the next `open_index` builds it anew. A build writes a
draft and renames it, so that a killed build leaves the old index intact. Processes that want the same index at
the same time build it once.
"""

import fcntl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.canonical import content_hash
from workbench.errors import BadInputError, StoreError, UnreadableDatabaseError
from workbench.retrieve.index import packed
from workbench.retrieve.index.trigram import Trigram
from workbench.sql.executor import Executor, file_state, is_settled
from workbench.store import home

Progress = Callable[[int, int], None]
Content = Callable[[Path], str]
_DEFAULT = Trigram()
_FORMAT = 3  # increase it when `build` of any kind changes


@dataclass(frozen=True, slots=True)
class Hit:
    """A value similar to the search text; `score` is the index's similarity, from 0 to 1."""

    table: str
    column: str
    value: str
    score: float


class IndexKind(Protocol):
    """A kind of index: `build` makes arrays of texts, and `search` reads these arrays."""

    def __hash__(self) -> int: ...

    def build(
        self, texts: list[str], progress: Progress | None = None
    ) -> dict[str, NDArray[Any]]: ...

    def search(
        self, arrays: packed.Arrays, texts: packed.Texts, text: str, limit: int
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Numbers of texts and their scores, the `limit` best among them, with ties of the last one."""
        ...


class ValueIndex:
    """An open index file, which finds similar values.

    columns: the indexed columns, as table and column names.
    skipped: a line for everything that is not indexed, with the reason.
    """

    def __init__(
        self,
        database: Path,
        state: str,
        kind: IndexKind,
        header: dict[str, Any],
        arrays: packed.Arrays,
    ) -> None:
        self.columns: tuple[tuple[str, str], ...] = tuple(map(tuple, header["columns"]))
        self.skipped: tuple[str, ...] = tuple(header["skipped"])
        self._database, self._state, self._content = database, state, header["content"]
        self._kind = kind
        self._arrays, self._texts = arrays, packed.Texts(arrays)
        # numpy gives up Python's lock at each operation: threads that search at once would spend most of their
        # time handing it to each other.
        self._searching = threading.Lock()

    def __len__(self) -> int:
        """The number of distinct values."""
        return len(self._texts)

    def search(self, text: str, limit: int) -> list[Hit]:
        """At most `limit` values, best first; equal scores are ordered by table, column and value.

        A database that has changed since the index was opened is a BadInputError.
        """
        if limit < 1:
            raise BadInputError(f"limit is {limit}: ask for at least 1 value")
        state = file_state(self._database)
        if state != self._state and _content(self._database) != self._content:
            raise BadInputError(
                f"{self._database.name} has changed since its index was opened: open it again"
            )
        self._state = state
        with self._searching:
            numbers, scores = self._kind.search(self._arrays, self._texts, text, limit)
            numbers, columns, scores = self._by_column(numbers, scores)
            best = np.lexsort((numbers, columns, -scores))[:limit]
        values = self._texts.many(numbers[best])
        names = [self.columns[column] for column in columns[best]]
        found = zip(names, values, scores[best].tolist(), strict=True)
        return [Hit(table, column, value, score) for (table, column), value, score in found]

    def _by_column(
        self, numbers: NDArray[np.intp], scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.uint32], NDArray[np.float64]]:
        """Each text repeated for every column that holds it."""
        # Group g of columns is group_columns[ends[g] - counts[g] : ends[g]]. The ranges of all texts' groups are
        # concatenated without a loop: position n of the result is n, moved by the start of its own range.
        groups = self._arrays["group_of"][numbers].astype(np.intp)
        ends = self._arrays["group_ends"][groups]
        counts = np.diff(self._arrays["group_ends"], prepend=0)[groups]
        which = np.repeat(np.arange(len(numbers)), counts)
        position = np.arange(len(which)) - np.repeat(np.cumsum(counts) - ends, counts)
        return numbers[which], self._arrays["group_columns"][position], scores[which]


def build_index(
    database: Path,
    kind: IndexKind = _DEFAULT,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Path:
    """Build the index of a database, even if there is one, and return its path.

    The path is in `folder`, by default "indexes" in the workbench's home, and differs for each database and
    kind. `progress` is called with the work done and the whole work. Raises `UnreadableDatabaseError`,
    `StoreError`.
    """
    path = _path(database, kind, folder)
    with _alone(path):
        _build(path, database, kind, progress, _content)
    return path


def open_index(
    database: Path,
    kind: IndexKind = _DEFAULT,
    folder: Path | None = None,
    content: Content | None = None,
) -> ValueIndex:
    """The index of the database's present content, built if there is none for it.

    `content` fingerprints the database; by default a worker is started to do so.
    """
    path, content = _path(database, kind, folder), content or _content
    index = _opened(path, database, kind, content)
    if index is None:
        with _alone(path):
            index = _opened(path, database, kind, content)  # built by another process?
            if index is None:
                _build(path, database, kind, None, content)
                index = _opened(path, database, kind, content)
    if index is None:
        raise UnreadableDatabaseError(f"{database.name} changed while it was indexed: try again")
    return index


def keep_index(database: Path, kind: IndexKind, built: bytes, folder: Path | None = None) -> Path:
    """Write an index file that was built elsewhere, of a database with the same content; returns its path."""
    path = _path(database, kind, folder)
    with _alone(path):
        state = file_state(database)
        header = {"state": state if is_settled(database) else "", "content": _content(database)}
        packed.put(path, built, header)
    return path


def _path(database: Path, kind: IndexKind, folder: Path | None) -> Path:
    file_state(database)  # raises if there is no such file
    key = [_FORMAT, str(database.resolve()), repr(kind)]
    digest = content_hash("index", key).removeprefix("index:")
    return (folder or home() / "indexes") / f"{database.stem[:40]}-{digest[:16]}.values"


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Holds a file lock, so that one process builds at a time; the lock ends with the process."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise StoreError(
            f"{path}: no index can be built there: {error.strerror}; name another folder"
        ) from error


def _opened(path: Path, database: Path, kind: IndexKind, content: Content) -> ValueIndex | None:
    if (found := packed.read(path)) is None:
        return None
    header, arrays = found
    state = file_state(database)
    if header["state"] != state and header["content"] != content(database):
        return None
    return ValueIndex(database, state, kind, header, arrays)


def _build(
    path: Path, database: Path, kind: IndexKind, progress: Progress | None, content: Content
) -> None:
    """Read the values, the first half of the progress, and build the kind's arrays, the second half."""

    def in_half(half: int) -> Progress | None:
        return progress and (lambda done, total: progress(half * total + done, 2 * total))

    from workbench.retrieve.index.columns import read_values  # noqa: PLC0415  sqlglot: a tenth of a second

    before, built = file_state(database), content(database)
    values = read_values(database, in_half(0))
    state = file_state(database)
    if state != before and content(database) != built:
        raise UnreadableDatabaseError(
            f"{database.name} changed while its values were read: index it when no program writes to it"
        )
    groups = [np.array(group, np.uint32) for group in values.groups]
    arrays = packed.pack(values.texts) | kind.build(values.texts, in_half(1))
    arrays["group_of"] = values.group_of.astype(np.min_scalar_type(len(groups)))
    arrays["group_ends"] = np.cumsum([len(group) for group in groups], dtype=np.int64)
    arrays["group_columns"] = np.concatenate(groups or [np.zeros(0, np.uint32)])
    header = {
        "kind": repr(kind),
        "content": built,
        "state": state if is_settled(database) else "",
        "columns": values.columns,
        "skipped": values.skipped,
    }
    packed.write(path, header, arrays)


def _content(database: Path) -> str:
    """The database's fingerprint, by a worker that is started for it."""
    with Executor(workers=1) as executor:
        return executor.fingerprints([database])[database]
