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

`Trigram` (`retrieval: trigram`) finds more and is faster. It compares by RapidFuzz's WRatio, which
forgives typos, missing words and other orders.
"""

import os
import re
import threading
import unicodedata
import warnings
import zipfile
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from workbench.errors import UnreadableDatabaseError, at_least, naming
from workbench.sql.executor import Executor
from workbench.sql.schema import read_schema

Arrays = Mapping[str, NDArray[Any]]
Numbers = NDArray[np.intp]  # of texts
LONGEST = 200
_FORM = 1  # of the file; raised where `build` returns something else
_COMPARED = 700  # texts that `Trigram` compares with a keyword
_locks = defaultdict[Path, threading.Lock](threading.Lock)
_BUCKETS = 1 << 16  # of hashed trigrams: a language has some 2 ** 14, so few collide
# Odd, with well-mixed bits.
_MIXERS = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D], np.uint32)


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
        """Return the signatures of all texts, a row for each hash; each n-gram is signed once."""
        number = defaultdict[str, int](count().__next__)
        occurrences = array("i")  # the numbers of the n-grams, text after text
        begins = array("q")
        for text in texts:
            begins.append(len(occurrences))
            occurrences.extend(number[gram] for gram in self._grams(text))
        by_gram = np.array([self._signature([gram]) for gram in number], np.uint32)
        by_hash = np.ascontiguousarray(by_gram.reshape(-1, self.permutations).T)
        signatures = []
        for hashes in by_hash:
            # Of a text's n-grams.
            least = np.minimum.reduceat(hashes[occurrences], begins)
            signatures.append(least)
        return {"signatures": np.array(signatures, np.uint32)}

    def find(
        self, arrays: Arrays, texts: Sequence[str], text: str, limit: int
    ) -> Numbers:
        """Return the candidates with the highest estimated Jaccard similarity.

        Equals stay in the order of the texts.
        """
        equal_hashes = np.zeros(len(texts), np.int16)
        signature = self._signature(self._grams(text))
        for hashes, wanted in zip(arrays["signatures"], signature, strict=True):
            equal_hashes += hashes == wanted
        best = _highest(equal_hashes, limit)
        return best[equal_hashes[best] > 0]

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
class Trigram:
    """The texts that share most trigrams with a keyword are compared with it letter by letter."""

    def build(self, texts: Sequence[str]) -> Arrays:
        """Return an inverted index: the numbers of the texts that have each trigram.

        The numbers for a bucket of trigrams are `texts_of[until[bucket]:until[bucket + 1]]`. All
        texts are hashed as one, and the trigrams that lie across two of them are left out.
        """
        keys = [folded(text) for text in texts]
        # With a blank before and after it, so that its first and last letters count, a text has
        # as many trigrams as letters.
        sizes = np.array([len(key) for key in keys], np.int32)
        buckets = _hashed(f" {'  '.join(keys)} ")
        text_of_letter = np.repeat(np.arange(len(keys), dtype=np.int32), sizes + 2)
        first = text_of_letter[:-2]
        last = text_of_letter[2:]
        is_inside = first == last
        by_bucket, until = _grouped(buckets[is_inside], _BUCKETS)
        return {
            "texts_of": first[is_inside][by_bucket],
            "until": until,
            "sizes": np.clip(sizes, 1, 1000).astype(np.uint16),
        }

    def find(
        self, arrays: Arrays, texts: Sequence[str], text: str, limit: int
    ) -> Numbers:
        """Return the texts with the highest WRatio, an equal text first.

        Of those alike, the one with the highest ratio comes first.
        """
        query = folded(text[:LONGEST])
        near = self._near(arrays, query)
        near_texts = [texts[number] for number in near]
        keys = [folded(other) for other in near_texts]
        (alike,) = process.cdist([query], keys, scorer=fuzz.WRatio)
        (whole,) = process.cdist([query], keys, scorer=fuzz.ratio)
        differs = [other != text for other in near_texts]
        # By the last key first.
        order = np.lexsort((near, -whole, -alike, differs))
        return near[order[:limit]]

    def _near(self, arrays: Arrays, query: str) -> Numbers:
        """Return the texts that share most trigrams with the query.

        The number is relative to the shorter of the two.
        """
        wanted = np.unique(_hashed(f" {query} ")).astype(np.intp)  # its buckets
        texts_of = arrays["texts_of"]
        until = arrays["until"]
        sizes = arrays["sizes"]
        shared = np.zeros(len(sizes), np.uint16)
        for begin, end in zip(until[wanted], until[wanted + 1], strict=True):
            shared[texts_of[begin:end]] += 1
        shorter = np.minimum(sizes, max(1, len(wanted)))
        # Most texts share a trigram by chance.
        near = np.flatnonzero(5 * shared >= shorter)
        if len(near) < _COMPARED:
            near = np.flatnonzero(shared)
        share = shared[near] / shorter[near]
        # Among equals, a longer text counts less. Powers differ between processors in the last bit.
        longer = np.maximum(sizes[near], len(wanted)) ** 0.2
        close = (share / longer).round(4)
        return near[_highest(close, _COMPARED)]


def _highest(scores: NDArray[Any], count: int) -> Numbers:
    """Return the indices of the highest scores, the highest first and equals in their order."""
    best = np.arange(len(scores))
    if len(scores) > count:
        least = np.partition(scores, -count)[-count]
        best = np.flatnonzero(scores >= least)
    order = np.argsort(-scores[best], kind="stable")
    return best[order[:count]]


def _grouped(groups: NDArray[Any], count: int) -> tuple[Numbers, Numbers]:
    """Return the order that puts the members of a group together, and where each group ends."""
    sizes = np.bincount(groups, minlength=count)
    return np.argsort(groups, kind="stable"), np.cumsum([0, *sizes])


def folded(text: str) -> str:
    """Return the text without case, accents and width."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def _hashed(text: str) -> NDArray[np.uint16]:
    """Return the bucket of each trigram of the text."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    first, second, third = _MIXERS
    mixed = codes[:-2] * first
    mixed += codes[1:-1] * second
    mixed += codes[2:] * third
    buckets: NDArray[np.uint16] = np.right_shift(mixed, 16).astype(np.uint16)
    return buckets


Search = LSH | Trigram


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a database: text n stands in the columns `places[ends[n]:ends[n + 1]]`."""

    by: Search
    arrays: Arrays
    columns: Sequence[Sequence[str]]
    texts: Sequence[str]

    @lru_cache(maxsize=20_000)  # noqa: B019  systems ask for the same words of a question
    def search(self, text: str, limit: int) -> list[tuple[str, str, str]]:
        """Return table, column and value of the `limit` values most like the text, best first."""
        ends = self.arrays["ends"]
        matches = []
        for number in self.by.find(self.arrays, self.texts, text, limit):
            value = self.texts[number]
            places = self.arrays["places"][ends[number] : ends[number + 1]]
            for place in places:
                table, column = self.columns[place]
                matches.append((table, column, value))
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
        name = re.sub(r"\W+", "-", f"{fingerprint}-{by}-{_FORM}")
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
    columns = orjson.loads(arrays["columns"].tobytes())
    texts = orjson.loads(arrays["texts"].tobytes())
    return Values(by, arrays, columns, texts)


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
    texts = sorted(set().union(*texts_by_column.values()))
    number = {text: n for n, text in enumerate(texts)}
    column_of: list[int] = []  # for every text of every column
    number_of: list[int] = []
    for column, column_texts in enumerate(texts_by_column.values()):
        column_of += [column] * len(column_texts)
        number_of += [number[text] for text in column_texts]
    by_text, ends = _grouped(np.array(number_of, np.intp), len(texts))
    return {
        "columns": _json(list(texts_by_column)),
        "texts": _json(texts),
        "places": np.array(column_of, np.int32)[by_text],
        "ends": ends,
        **by.build(texts),
    }


def _json(value: object) -> NDArray[np.uint8]:
    return np.frombuffer(orjson.dumps(value), np.uint8)
