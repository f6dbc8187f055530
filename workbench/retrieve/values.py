"""The text values of a database, each with its columns, and the search among them.

A value is a distinct text of a table's column, of at most 200 characters: no prompt could show a longer one. Numbers of
a question go into the query unchanged, so cells that are no text are left out.

The values and what a search builds of them are a file beside the cache. Its name is the fingerprint of the database's
content, for which alone it answers; it is renamed into place when it is complete.
"""

import os
import re
import threading
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import orjson
from numpy.typing import NDArray

from workbench.errors import StoreError, UnreadableDatabaseError
from workbench.sql.executor import Executor
from workbench.sql.schema import read_schema

Arrays = Mapping[str, NDArray[Any]]
FORMAT = 1  # of the files, and of what the searches build
LONGEST = 200
_opening: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)


class Search(Protocol):
    """A way to search, such as `LSH` or `Trigram`; its `repr` names the file."""

    def __hash__(self) -> int: ...

    def build(self, texts: Sequence[str]) -> Arrays: ...

    def find(
        self, arrays: Arrays, texts: Sequence[str], text: str, limit: int
    ) -> NDArray[np.intp]: ...


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a database: text n stands in the columns `places[ends[n]:ends[n + 1]]`."""

    by: Search
    arrays: Arrays
    columns: Sequence[Sequence[str]]
    texts: Sequence[str]

    def search(self, text: str, limit: int) -> list[tuple[str, str, str]]:
        """Table, column and value of the `limit` values most like the text, the best first."""
        numbers = self.by.find(self.arrays, self.texts, text, limit)
        ends, places = self.arrays["ends"], self.arrays["places"]
        found = [(n, self.columns[p]) for n in numbers for p in places[ends[n] : ends[n + 1]]]
        return [(table, column, self.texts[n]) for n, (table, column) in found]


def open_values(database: Path, by: Search, executor: Executor) -> Values:
    """The values of the database's present content, opened once for each content, by one of the threads that ask."""
    fingerprint = executor.fingerprints([database])[database]
    with _opening[database]:
        return _opened(database, fingerprint, by, executor)


@lru_cache(maxsize=16)
def _opened(database: Path, fingerprint: str, by: Search, executor: Executor) -> Values:
    name = re.sub(r"\W+", "-", f"{fingerprint}-{by}-{FORMAT}")
    path = executor.store.path.parent / "values" / f"{name}.npz" if executor.store else None
    arrays = _kept(path) if path else None
    if not arrays:
        arrays = _built(texts_of(database, executor), by)
        if executor.fingerprints([database])[database] != fingerprint:
            changed = f"{database.name} changed while its values were read"
            raise UnreadableDatabaseError(f"{changed}: ask when no program writes to it")
        if path:
            _keep(path, arrays)
    return Values(by, arrays, *(orjson.loads(arrays[n].tobytes()) for n in ("columns", "texts")))


def texts_of(database: Path, executor: Executor) -> dict[tuple[str, str], list[str]]:
    """The distinct texts of each column; the values of views are their tables'. An unreadable column has none."""
    found: dict[tuple[str, str], list[str]] = {}
    schema = read_schema(database)
    views = {table.name for table in schema.tables if table.kind == "view"}
    for table, column in schema.columns():
        try:
            texts = [] if table in views else executor.texts(database, table, column, LONGEST)
        except UnreadableDatabaseError as error:
            warnings.warn(f"values are not searched: {error}", stacklevel=2)
        else:
            found[table, column] = texts
    return found


def _built(found: Mapping[tuple[str, str], Sequence[str]], by: Search) -> Arrays:
    texts = sorted(set().union(*found.values()))
    number = {text: n for n, text in enumerate(texts)}
    owners = np.array([number[text] for own in found.values() for text in own], np.intp)
    columns = np.repeat(np.arange(len(found), dtype=np.int32), [len(o) for o in found.values()])
    return {
        "columns": np.frombuffer(orjson.dumps(list(found)), np.uint8),
        "texts": np.frombuffer(orjson.dumps(texts), np.uint8),
        "places": columns[np.argsort(owners, kind="stable")],
        "ends": np.cumsum([0, *np.bincount(owners, minlength=len(texts))]),
        **by.build(texts),
    }


def _kept(path: Path) -> Arrays | None:
    """The arrays of a file; None where there is none, or a damaged one."""
    try:
        with path.open("rb") as raw, np.load(raw) as file:
            return dict(file)
    except (OSError, EOFError, ValueError, zipfile.BadZipFile):
        return None


def _keep(path: Path, arrays: Arrays) -> None:
    draft = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            np.savez(file, **dict[str, Any](arrays))
        draft.replace(path)
    except OSError as error:
        wrong = f"{path}: no values can be kept there: {error.strerror}"
        raise StoreError(f"{wrong}; make space, or name another cache file") from error
