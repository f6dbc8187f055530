"""The text values of a database, each with its columns, and two searches among them.

A value is a distinct text of at most 200 characters in a table's column; a question's numbers go
into the query unchanged. The values, and what a search builds of them, are kept in a file beside
the cache, which has the fingerprint of the database's content in its name and is renamed into place
when it is complete.

`LSH` is the papers' search: locality-sensitive hashing of MinHash signatures (CHASE-SQL, section
2.2; CHESS, appendix A.1). CHESS's MinHashLSH has the threshold 0.01, which gives each of the 100
hashes a band of its own: a candidate is any value that shares a hash with the keyword, and the
number of equal hashes ranks the candidates. Here the keyword's signature is compared with a matrix
of all signatures, which gives the same answer. One departure from CHESS's code: a text shorter than
an n-gram is an n-gram by itself. There a search for "TX" finds any two letters.

`Spelling` (`retrieval: spelling`) compares a keyword with every value by RapidFuzz's ratio, without
letter case and accents. It finds values in another letter case, which LSH does not, and less often
a value by one of its words. It has nothing to build; a search takes 2 ms among 20,000 values and a
tenth of a second among a million.
"""

import os
import re
import threading
import unicodedata
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from workbench.errors import UnreadableDatabaseError, at_least, naming
from workbench.sql.executor import Executor
from workbench.sql.schema import read_schema

# Columns, texts and places as JSON (`_built`), and what the search builds, by name.
Arrays = Mapping[str, NDArray[Any]]
LONGEST = 200
# Of the file; raised where `_built` or a search's `build` returns something else.
_FORM = 2
_locks = defaultdict[Path, threading.Lock](threading.Lock)


@dataclass(frozen=True)
class LSH:
    """The texts whose MinHash signatures have most hashes in common with the keyword's.

    permutations: hashes of a signature, as in CHESS's code.
    ngram: characters of an n-gram, as in CHESS's code.
    """

    permutations: int = 100
    ngram: int = 3

    def __post_init__(self) -> None:
        at_least(1, permutations=self.permutations, ngram=self.ngram)

    def build(self, texts: Sequence[str]) -> Arrays:
        """Return the signatures of all texts, a row for each; each n-gram is hashed once."""
        number_of: dict[str, int] = {}  # of an n-gram
        grams_of_texts = []
        for text in texts:
            grams = [
                number_of.setdefault(gram, len(number_of)) for gram in self._grams(text)
            ]
            grams_of_texts.append(grams)
        by_gram = np.array([self._signature([gram]) for gram in number_of], np.uint32)
        signatures = np.empty((len(texts), self.permutations), np.uint32)
        for signature, grams in zip(signatures, grams_of_texts, strict=True):
            by_gram[grams].min(axis=0, out=signature)
        return {"signatures": signatures}

    def find(self, values: "Values", text: str, limit: int) -> Sequence[int]:
        """Return the numbers of the texts with the highest estimated Jaccard similarity.

        Equals stay in the order of the texts.
        """
        signature = self._signature(self._grams(text))
        is_equal = values.arrays["signatures"] == signature
        equal_hashes = is_equal.sum(axis=1, dtype=np.int16)
        return _highest(equal_hashes, limit)

    def _grams(self, text: str) -> Iterable[str]:
        number = max(1, len(text) - self.ngram + 1)
        return (text[start : start + self.ngram] for start in range(number))

    def _signature(self, grams: Iterable[str]) -> NDArray[np.uint32]:
        sketch = _empty(self.permutations).copy()
        sketch.update_batch([gram.encode("utf-8", "replace") for gram in grams])
        hashes: NDArray[np.uint32] = sketch.hashvalues.astype(np.uint32)
        return hashes


@cache
def _empty(permutations: int) -> Any:
    import datasketch  # noqa: PLC0415  a third of a second to import

    # The releases that the papers could use hash this way.
    return datasketch.MinHash(permutations, scheme="legacy")


@dataclass(frozen=True)
class Spelling:
    """The texts with the highest ratio of letters in common with the keyword, by RapidFuzz."""

    def build(self, texts: Sequence[str]) -> Arrays:  # noqa: ARG002  it needs none
        return {}

    def find(self, values: "Values", text: str, limit: int) -> Sequence[int]:
        """Return the numbers of the texts that are most like the text, an equal text first.

        Those that are equally like it stay in the order of the texts.
        """
        (ratios,) = process.cdist(
            [folded(text)], values.folded_texts, scorer=fuzz.ratio
        )
        if text in values.texts:
            ratios[values.texts.index(text)] = 101  # a ratio is at most 100
        return _highest(ratios, limit)


def _highest(scores: NDArray[Any], limit: int) -> list[int]:
    """Return the places of the highest scores from 1 on; equals stay in their order."""
    best = np.argsort(-scores, kind="stable")[:limit]
    return list(best[scores[best] >= 1])


def folded(text: str) -> str:
    """Return the text without case, accents and width."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


Search = LSH | Spelling


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a database.

    columns: the table and the name of each column with texts.
    places: for each text, the numbers of the columns in which it stands.
    """

    by: Search
    arrays: Arrays
    columns: Sequence[Sequence[str]]
    texts: Sequence[str]
    places: Sequence[Sequence[int]]

    @cached_property
    def folded_texts(self) -> list[str]:
        return [folded(text) for text in self.texts]

    @lru_cache(maxsize=20_000)  # noqa: B019  systems ask for the same words of a question
    def search(self, text: str, limit: int) -> list[tuple[str, str, str]]:
        """Return table, column and value of the `limit` values most like the text, best first."""
        matches = []
        for number in self.by.find(self, text, limit):
            for place in self.places[number]:
                table, column = self.columns[place]
                matches.append((table, column, self.texts[number]))
        return matches


def open_values(database: Path, by: Search, executor: Executor) -> Values:
    """Return the values of the database as it is now.

    Of threads that ask at once, one builds or loads them and the others wait.
    """
    fingerprint = executor.fingerprints([database])[database]
    with _locks[database]:
        return _opened(database, fingerprint, by, executor)


@lru_cache(maxsize=16)
def _opened(database: Path, fingerprint: str, by: Search, executor: Executor) -> Values:
    path = None
    if executor.store:
        # The search's repr has its settings.
        name = re.sub(r"\W+", "-", f"{fingerprint}-{by!r}-{_FORM}")
        path = executor.store.path.parent / "values" / f"{name}.npz"
    arrays = _loaded(path)
    if not arrays:
        arrays = _built(texts_of(database, executor), by)
        if executor.fingerprints([database])[database] != fingerprint:
            changed = f"{database.name} changed while its values were read"
            raise UnreadableDatabaseError(
                f"{changed}: ask when no program writes to it"
            )
        if path:
            _save(arrays, path)
    columns, texts, places = (
        orjson.loads(arrays[name].tobytes()) for name in ("columns", "texts", "places")
    )
    return Values(by, arrays, columns, texts, places)


def _loaded(path: Path | None) -> Arrays:
    """Return the arrays of a file; none if it is missing or damaged, and has to be built again."""
    with suppress(OSError, EOFError, ValueError, zipfile.BadZipFile):
        if path:
            with path.open("rb") as raw, np.load(raw) as file:
                return dict(file)
    return {}


def _save(arrays: Arrays, path: Path) -> None:
    draft = path.with_suffix(f".{os.getpid()}")
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            np.savez(file, **dict[str, Any](arrays))
        draft.replace(path)


def texts_of(database: Path, executor: Executor) -> dict[tuple[str, str], list[str]]:
    """Return the distinct texts of each column.

    A view has none of its own, and an unreadable column is left out with a warning.
    """
    texts: dict[tuple[str, str], list[str]] = {}
    for table in read_schema(database).tables:
        if table.kind == "view":
            continue
        for column in table.columns:
            request = {
                "do": "texts",
                "table": table.name,
                "column": column.name,
                "longest": LONGEST,
                "seconds": 600.0,
            }
            answer = executor.ask(database, request)
            if answer["error"]:
                place = f"{database.name}, {table.name}.{column.name}"
                message = f"values are not searched: {place}: {answer['error']}"
                warnings.warn(message, stacklevel=2)
            else:
                texts[table.name, column.name] = orjson.loads(answer["rows"])
    return texts


def _built(
    texts_by_column: Mapping[tuple[str, str], Sequence[str]], by: Search
) -> Arrays:
    places = defaultdict[str, list[int]](list)
    for number, texts in enumerate(texts_by_column.values()):
        for text in texts:
            places[text].append(number)
    texts = sorted(places)
    return {
        "columns": _json(list(texts_by_column)),
        "texts": _json(texts),
        "places": _json([places[text] for text in texts]),
        **by.build(texts),
    }


def _json(value: object) -> NDArray[np.uint8]:
    return np.frombuffer(orjson.dumps(value), np.uint8)
