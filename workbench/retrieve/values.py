"""An index over the text values of a database: built once, on disk, memory-mapped where it is used.

An index belongs to one file and one kind, knows the content it was built from, and answers for no other.
It is written beside the one it replaces and renamed when all of it is on disk, so a build that is killed
leaves the older one as it was. Two that want the same index build it once.
"""

import fcntl
import gc
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.canonical import content_hash
from workbench.db.fingerprint import database_fingerprints, file_state
from workbench.db.supervisor import Supervisor
from workbench.errors import BadInputError, StoreError, UnreadableDatabaseError
from workbench.retrieve import packed
from workbench.retrieve.trigram import Trigram
from workbench.store import home

Progress = Callable[[int, int], None]
_DEFAULT = Trigram()
_FORMAT = 3  # another one whenever `build` of a kind makes something else of the same values
_SETTLED = 2_000_000_000  # ns; a younger file may change again within the grain of its time stamp


@dataclass(frozen=True, slots=True)
class Found:
    """A value that looks like what was searched for; `score` is from 0 to 1, by the index's measure."""

    table: str
    column: str
    value: str
    score: float


class ValueIndex(Protocol):
    """What looks alike. `columns` are those that are indexed; `skipped` says what is not, and why."""

    def __len__(self) -> int:
        """How many distinct values it holds."""
        ...

    @property
    def columns(self) -> tuple[tuple[str, str], ...]: ...

    @property
    def skipped(self) -> tuple[str, ...]: ...

    def search(self, text: str, limit: int) -> list[Found]:
        """At most `limit` values, best first; equal scores stand by table, column and value.

        A database that has changed since the index was opened is a BadInputError.
        """
        ...


class Kind(Protocol):
    """How texts are found again: `build` makes arrays of them, `search` reads those."""

    def __hash__(self) -> int: ...

    def build(
        self, texts: list[str], progress: Progress | None = None
    ) -> dict[str, NDArray[Any]]: ...

    def search(
        self, arrays: packed.Arrays, texts: packed.Texts, text: str, limit: int
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Numbers of texts and their scores, among them the `limit` best and their equals."""
        ...


def build_index(
    database: Path,
    kind: Kind = _DEFAULT,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Path:
    """Index the values of a database anew; the file that now holds them.

    It lies in `folder`, by default "indexes" in the workbench's home, one for each database and kind.
    `progress` is told what part of the work is done. Raises `UnreadableDatabaseError`, `StoreError`.
    """
    path = _place(database, kind, folder)
    with _alone(path), _uncollected():
        _build(path, database, kind, progress)
    return path


def open_index(
    database: Path,
    kind: Kind = _DEFAULT,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> ValueIndex:
    """The index of what the database holds now: built where there is none, or one of other content."""
    path = _place(database, kind, folder)
    index = _opened(path, database, kind)
    if index is None:
        with _alone(path), _uncollected():
            index = _opened(path, database, kind)  # another may have built it
            if index is None:
                _build(path, database, kind, progress)
                index = _opened(path, database, kind)
    if index is None:
        raise UnreadableDatabaseError(f"{database.name} changed while it was indexed: try again")
    return index


class _Index:
    def __init__(
        self, database: Path, state: str, kind: Kind, header: dict[str, Any], arrays: packed.Arrays
    ) -> None:
        self.columns: tuple[tuple[str, str], ...] = tuple(map(tuple, header["columns"]))
        self.skipped: tuple[str, ...] = tuple(header["skipped"])
        self._database, self._state, self._content = database, state, header["content"]
        self._kind = kind
        self._arrays, self._texts = arrays, packed.Texts(arrays)

    def __len__(self) -> int:
        return len(self._texts)

    def search(self, text: str, limit: int) -> list[Found]:
        if limit < 1:
            raise BadInputError(f"limit is {limit}: ask for at least 1 value")
        self._check()
        numbers, scores = self._kind.search(self._arrays, self._texts, text, limit)
        numbers, columns, scores = self._everywhere(numbers, scores)
        best = np.lexsort((numbers, columns, -scores))[:limit]
        values = self._texts.many(numbers[best])
        places = [self.columns[column] for column in columns[best]]
        return [
            Found(table, column, value, score)
            for (table, column), value, score in zip(
                places, values, scores[best].tolist(), strict=True
            )
        ]

    def _everywhere(
        self, numbers: NDArray[np.intp], scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.uint32], NDArray[np.float64]]:
        """Each text once for every column that it stands in."""
        groups = self._arrays["group_of"][numbers].astype(np.intp)
        ends = self._arrays["group_ends"][groups]
        counts = np.diff(self._arrays["group_ends"], prepend=0)[groups]
        which = np.repeat(np.arange(len(numbers)), counts)
        place = np.arange(len(which)) - np.repeat(np.cumsum(counts) - ends, counts)
        return numbers[which], self._arrays["group_columns"][place], scores[which]

    def _check(self) -> None:
        """An index answers for the content it was built from, however long it has been open."""
        state, _ = file_state(self._database)
        if state != self._state:
            if _content(self._database) != self._content:
                raise BadInputError(
                    f"{self._database.name} has changed since its index was opened: open it again"
                )
            self._state = state


def _place(database: Path, kind: Kind, folder: Path | None) -> Path:
    file_state(database)  # an error where there is no such file
    key = [_FORMAT, str(database.resolve()), repr(kind)]
    digest = content_hash("index", key).removeprefix("index:")
    return (folder or home() / "indexes") / f"{database.stem[:40]}-{digest[:16]}.values"


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Only one at a time builds; the lock ends with its process."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise StoreError(
            f"{path}: no index can be built there: {error.strerror}; name another folder"
        ) from error


def _opened(path: Path, database: Path, kind: Kind) -> _Index | None:
    found = packed.read(path)
    if found is None:
        return None
    header, arrays = found
    state, _ = file_state(database)
    if header["state"] != state and header["content"] != _content(database):
        return None
    return _Index(database, state, kind, header, arrays)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without a search for cycles: nothing here makes any, and among millions of texts it takes a tenth."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _build(path: Path, database: Path, kind: Kind, progress: Progress | None) -> None:
    """Reading is told as the first half of the work, the kind's own arrays as the second."""

    def told(half: int) -> Progress | None:
        return progress and (lambda done, total: progress(half * total + done, 2 * total))

    from workbench.retrieve.columns import read_values  # noqa: PLC0415  sqlglot: a tenth of a second

    before, content = file_state(database), _content(database)
    values = read_values(database, told(0))
    state, changed = file_state(database)  # reading a write-ahead log may touch it
    if (state, changed) != before and _content(database) != content:
        raise UnreadableDatabaseError(
            f"{database.name} changed while its values were read: index it when no program writes to it"
        )
    groups = [np.array(group, np.uint32) for group in values.groups]
    arrays = packed.pack(values.texts) | kind.build(values.texts, told(1))
    arrays["group_of"] = values.group_of.astype(np.min_scalar_type(len(groups)))
    arrays["group_ends"] = np.cumsum([len(group) for group in groups], dtype=np.int64)
    arrays["group_columns"] = np.concatenate(groups or [np.zeros(0, np.uint32)])
    header = {
        "kind": repr(kind),
        "content": content,
        "state": state if changed < time.time_ns() - _SETTLED else "",
        "columns": values.columns,
        "skipped": values.skipped,
    }
    packed.write(path, header, arrays)


def _content(database: Path) -> str:
    with closing(Supervisor(1)) as workers:
        return database_fingerprints([database], workers)[database]
