"""The text values of a database, each with its columns, and two searches among them, which are interchangeable.

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
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, count
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
_COMPARED = 700  # texts that `Trigram` compares with a keyword
_opening: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)
_BUCKETS = 1 << 16  # of hashed trigrams: a language has some 2 ** 14, so few collide
_MIXERS = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D], np.uint32)  # odd, with well-mixed bits


@dataclass(frozen=True)
class LSH:
    """permutations: hashes of a signature. ngram: characters of an n-gram. Both as in CHESS's code."""

    permutations: int = 100
    ngram: int = 3

    def __post_init__(self) -> None:
        at_least(1, permutations=self.permutations, ngram=self.ngram)

    def build(self, texts: Sequence[str]) -> Arrays:
        """The signatures of all texts, a row for each hash; each n-gram is signed once."""
        number: defaultdict[str, int] = defaultdict(count().__next__)
        every_gram = chain.from_iterable(map(self._grams, texts))
        grams = np.fromiter(map(number.__getitem__, every_gram), np.int32)
        counts = np.array([max(1, len(text) - self.ngram + 1) for text in texts], np.intp)
        begins = np.cumsum(counts) - counts
        signed = [self._signature([gram]) for gram in number]
        by_gram = np.array(signed, np.uint32).reshape(-1, self.permutations)
        signatures = []
        for hashes in np.ascontiguousarray(by_gram.T):
            least = np.minimum.reduceat(hashes[grams], begins)
            signatures.append(least)
        return {"signatures": np.array(signatures, np.uint32)}

    def find(self, arrays: Arrays, texts: Sequence[str], text: str, limit: int) -> Numbers:
        """The candidates with the highest estimated Jaccard similarity; equals in the order of the texts."""
        equal = np.zeros(len(texts), np.int16)
        sought = self._signature(self._grams(text))
        for hashes, wanted in zip(arrays["signatures"], sought, strict=True):
            equal += hashes == wanted
        best = _highest(equal, limit)
        return best[equal[best] > 0]

    def _grams(self, text: str) -> Iterable[str]:
        return (text[i : i + self.ngram] for i in range(max(1, len(text) - self.ngram + 1)))

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
        """An inverted index: the numbers of the texts that have each trigram; and the length of each text."""
        keys = [folded(text) for text in texts]
        # With a blank before and after it, so that its first and last letters count, a text has
        # as many trigrams as letters.
        sizes = np.array([len(key) for key in keys], np.int32)
        buckets = _hashed(f" {'  '.join(keys)} ")
        owners = np.repeat(np.arange(len(keys), dtype=np.int32), sizes + 2)
        inside = owners[:-2] == owners[2:]  # not across two texts
        buckets, owners = buckets[inside], owners[:-2][inside]
        by_bucket = np.argsort(buckets, kind="stable")
        until = np.cumsum(np.bincount(buckets, minlength=_BUCKETS), dtype=np.int32)
        return {
            "texts_of": owners[by_bucket],
            "until": np.concatenate([np.zeros(1, np.int32), until]),
            "sizes": np.clip(sizes, 1, 1000).astype(np.uint16),
        }

    def find(self, arrays: Arrays, texts: Sequence[str], text: str, limit: int) -> Numbers:
        """The texts with the highest WRatio, an equal text first; of those alike, the one with the highest ratio."""
        query = folded(text[:LONGEST])
        near = self._near(arrays, query)
        near_texts = [texts[number] for number in near]
        keys = list(map(folded, near_texts))
        alike = process.cdist([query], keys, scorer=fuzz.WRatio)[0]
        whole = process.cdist([query], keys, scorer=fuzz.ratio)[0]
        differs = np.array([other != text for other in near_texts], bool)
        order = np.lexsort((near, -whole, -alike, differs))
        return near[order[:limit]]

    def _near(self, arrays: Arrays, query: str) -> Numbers:
        """The texts that share most trigrams with the query, relative to the shorter of the two."""
        wanted = np.unique(_hashed(f" {query} ")).astype(np.intp)
        texts_of, until, sizes = arrays["texts_of"], arrays["until"], arrays["sizes"]
        shared = np.zeros(len(sizes), np.uint16)
        for bucket in wanted:
            begin, end = until[bucket], until[bucket + 1]
            shared[texts_of[begin:end]] += 1
        shorter = np.minimum(sizes, max(1, len(wanted)))
        near = np.flatnonzero(5 * shared >= shorter)  # most texts share a trigram by chance
        if len(near) < _COMPARED:
            near = np.flatnonzero(shared)
        # Among equals, a longer text counts less. Powers differ between processors in the last bit.
        longer = np.maximum(sizes[near], len(wanted)) ** 0.2
        close = (shared[near] / shorter[near] / longer).round(4)
        return near[_highest(close, _COMPARED)]


def _highest(scores: NDArray[Any], count: int) -> Numbers:
    """The indices of the highest scores, the highest first and equal ones in their order."""
    best = np.arange(len(scores))
    if len(scores) > count:
        least = np.partition(scores, -count)[-count]
        best = np.flatnonzero(scores >= least)
    order = np.argsort(-scores[best], kind="stable")
    return best[order[:count]]


def folded(text: str) -> str:
    """The text without case, accents and width."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def _hashed(text: str) -> NDArray[np.uint16]:
    """The bucket of each trigram of the text."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    mixed = codes[:-2] * _MIXERS[0] + codes[1:-1] * _MIXERS[1] + codes[2:] * _MIXERS[2]
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

    def search(self, text: str, limit: int) -> list[tuple[str, str, str]]:
        """Table, column and value of the `limit` values most like the text, the best first."""
        ends, places = self.arrays["ends"], self.arrays["places"]
        matches = []
        for number in self.by.find(self.arrays, self.texts, text, limit):
            value = self.texts[number]
            begin, end = ends[number], ends[number + 1]
            for place in places[begin:end]:
                table, column = self.columns[place]
                matches.append((table, column, value))
        return matches


def open_values(database: Path, by: Search, executor: Executor) -> Values:
    """The values of the database as it is now. Threads that ask at once wait for one of them to build or load them."""
    fingerprint = executor.fingerprints([database])[database]
    with _opening[database]:
        return _opened(database, fingerprint, by, executor)


@lru_cache(maxsize=16)
def _opened(database: Path, fingerprint: str, by: Search, executor: Executor) -> Values:
    path = None
    if executor.store:
        name = re.sub(r"\W+", "-", f"{fingerprint}-{by}-1")
        path = executor.store.path.parent / "values" / f"{name}.npz"
    arrays = _loaded(path)
    if not arrays:
        arrays = _built(texts_of(database, executor), by)
        if executor.fingerprints([database])[database] != fingerprint:
            changed = f"{database.name} changed while its values were read"
            raise UnreadableDatabaseError(f"{changed}: ask when no program writes to it")
        if path:
            _save(arrays, path)
    columns, texts = (orjson.loads(arrays[name].tobytes()) for name in ("columns", "texts"))
    return Values(by, arrays, columns, texts)


def _loaded(path: Path | None) -> Arrays:
    """The arrays of a file; none if it is missing or damaged, and has to be built again."""
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
    """The distinct texts of each column; a view has none of its own, and an unreadable column is left out."""
    texts: dict[tuple[str, str], list[str]] = {}
    for table in read_schema(database).tables:
        columns = () if table.kind == "view" else table.columns
        for column in columns:
            request = {"do": "texts", "table": table.name, "column": column.name}
            limits = {"longest": LONGEST, "seconds": 600.0}
            answer = executor.ask(database, request | limits)
            if error := answer.get("error"):
                place = f"{database.name}, {table.name}.{column.name}"
                warnings.warn(f"values are not searched: {place}: {error}", stacklevel=2)
            else:
                texts[table.name, column.name] = orjson.loads(answer.get("rows", "[]"))
    return texts


def _built(texts_by_column: Mapping[tuple[str, str], Sequence[str]], by: Search) -> Arrays:
    texts = sorted(set().union(*texts_by_column.values()))
    number = {text: n for n, text in enumerate(texts)}
    every = chain.from_iterable(texts_by_column.values())
    owners = np.fromiter(map(number.__getitem__, every), np.intp)
    lengths = [len(column_texts) for column_texts in texts_by_column.values()]
    columns = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    by_text = np.argsort(owners, kind="stable")
    counts = np.bincount(owners, minlength=len(texts))
    return {
        "columns": _json(list(texts_by_column)),
        "texts": _json(texts),
        "places": columns[by_text],
        "ends": np.cumsum([0, *counts]),
        **by.build(texts),
    }


def _json(value: object) -> NDArray[np.uint8]:
    return np.frombuffer(orjson.dumps(value), np.uint8)
