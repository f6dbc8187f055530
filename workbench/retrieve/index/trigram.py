"""The default kind of index: an inverted index of trigrams, and RapidFuzz on the texts that share most of them.

A trigram is three characters in a row. A search counts how many of the query's trigrams each text holds, and
compares the few hundred texts with the highest counts by RapidFuzz's WRatio, which tolerates typos, missing words
and other word orders. Comparing all texts takes far longer and finds little more (tests/benchmarks/README.md).

Case, accents and width are ignored (see `search_form`). A text that equals the query exactly comes first.
"""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from workbench.retrieve.index.packed import Arrays, Texts, distinct

# Trigrams are hashed to 16 bits: numpy sorts such numbers by radix, several times as fast as longer ones. A
# language has some 2 ** 14 trigrams, so few of them collide, and a collision only adds a text to compare.
_BUCKETS = 1 << 16
_CHUNK = 1 << 14  # texts indexed at a time: their numbers within the chunk fit into 16 bits, too
_MIXERS = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D], np.uint32)  # odd, with well-mixed bits
_MOST = 250  # characters of a query that are read; indexed texts are shorter
_SHORT = 8  # trigrams: shorter texts may share only one or two of them with a long query
_ALIKE = 0.8  # a plain ratio: two typos in ten letters
_BLANK = ord(" ")
_DROPPED, _UNSEEN = 0x110000, 0x110001  # marks beyond the last code point


@dataclass(frozen=True, slots=True)
class Trigram:
    """candidates: how many texts are compared with the query letter by letter."""

    candidates: int = 700

    def build(
        self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None
    ) -> dict[str, NDArray[Any]]:
        """The inverted index.

        postings: the numbers of the texts that hold each trigram, one trigram after the other.
        posting_ends: where each trigram's numbers end in `postings`.
        sizes: how many trigrams each text holds, at most 255.
        short: the numbers of the texts with few trigrams.
        """
        from scipy import sparse  # noqa: PLC0415  a third of a second to import

        folding = np.full(_DROPPED + 2, _UNSEEN, np.uint32)
        chunks = []
        for start in range(0, len(texts), _CHUNK):
            chunk = texts[start : start + _CHUNK]
            buckets, numbers = _trigrams(chunk, folding)
            # A row for each trigram and a column for each text; equal pairs become one.
            pairs = (np.ones(len(buckets), np.uint8), (buckets, numbers))
            chunks.append(sparse.csr_array(pairs, (_BUCKETS, len(chunk))))
            if progress:
                progress(start + len(chunk), len(texts))
        index = sparse.hstack(chunks, "csr") if chunks else sparse.csr_array((_BUCKETS, 0))
        sizes = np.minimum(np.bincount(index.indices, minlength=len(texts)), 255).astype(np.uint8)
        return {
            "postings": index.indices.astype(np.int32, copy=False),
            "posting_ends": index.indptr[1:].astype(np.min_scalar_type(index.nnz)),
            "sizes": sizes,
            "short": np.flatnonzero(sizes <= _SHORT).astype(np.int32),
        }

    def search(
        self, arrays: Arrays, texts: Texts, text: str, limit: int
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Numbers of texts and their scores, the `limit` best among them.

        The score is WRatio, plus a little of the plain ratio to order texts that WRatio scores equally. Only
        the exact text has score 1.
        """
        query = search_form(text[:_MOST])
        near = _sharing(arrays, query, max(self.candidates, limit))
        same = texts.find(text)
        if same is not None and same not in near:
            near = np.append(near, same)
        keys = [search_form(other) for other in texts.many(near)]
        whole, parts = (
            process.cdist([query], keys, scorer=scorer, dtype=np.float64)[0] / 100
            for scorer in (fuzz.ratio, fuzz.WRatio)
        )
        scores = 0.998 * parts + 0.0005 * whole
        # WRatio prefers a long text that shares one word to a text of two words with two typos. So the text
        # with the best plain ratio, if it is good at all, goes to the top.
        scores[whole == whole.max(initial=_ALIKE)] = scores.max(initial=0.0) + 0.0005
        scores[near == (-1 if same is None else same)] = 1.0
        return near, scores


class _Fold(dict[int, int | None]):
    """A table for `str.translate`: each letter without case, accent and width, if a single letter remains."""

    def __missing__(self, code: int) -> int | None:
        letter = chr(code)
        plain = unicodedata.normalize("NFKD", letter).casefold()
        kept = [
            part
            for part in unicodedata.normalize("NFKD", plain)
            if not "\u0300" <= part <= "\u036f"
        ]
        self[code] = ord(kept[0]) if len(kept) == 1 else ord(letter.lower()[0]) if kept else None
        return self[code]


_FOLD = _Fold()


def search_form(text: str) -> str:
    """The text without case, accents and width: "S\u00e3o Paulo" becomes "sao paulo".

    Scripts whose marks are letters of their own (Thai, Hindi, Korean, Japanese) stay unchanged.
    """
    return text.lower() if text.isascii() else text.translate(_FOLD)


def _trigrams(
    texts: Sequence[str], folding: NDArray[np.uint32]
) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """The bucket of every trigram of the texts, and the number of its text.

    A blank before and after each text gives it as many trigrams as letters, and lets the first and last
    letters count. `folding` caches `_FOLD` as an array, which is twenty times as fast as `str.translate`.
    """
    # All texts become one array of code points, so that numpy handles them at once.
    joined = f" {'  '.join(texts)} ".encode("utf-32-le")
    codes = np.frombuffer(joined, np.uint32)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    # The number of the text that each letter belongs to: it shows which trigrams would span two texts.
    owners = np.repeat(np.arange(len(texts), dtype=np.uint16), lengths + 2)
    folded = folding[codes]
    if (unseen := folded == _UNSEEN).any():
        for code in np.unique(codes[unseen]).tolist():
            letter = _FOLD[code]
            folding[code] = _DROPPED if letter is None else letter
        folded = folding[codes]
    if not (kept := folded != _DROPPED).all():
        folded, owners = folded[kept], owners[kept]
    within = owners[:-2] == owners[2:]
    return _hashed(folded)[within], owners[:-2][within]


def _hashed(codes: NDArray[np.uint32]) -> NDArray[np.uint16]:
    """The bucket of each trigram: the upper 16 bits of a multiplicative hash, which depend on all letters."""
    mixed: NDArray[np.uint32]
    mixed = codes[:-2] * _MIXERS[0] + codes[1:-1] * _MIXERS[1] + codes[2:] * _MIXERS[2]
    return np.right_shift(mixed, 16).astype(np.uint16)


def _sharing(arrays: Arrays, query: str, count: int) -> NDArray[np.intp]:
    """The `count` texts that share most trigrams with the query, relative to the shorter of text and query.

    So a text that contains the query counts as much as a text that the query contains. Among equals, a
    longer text counts less.
    """
    sizes, ends, postings = arrays["sizes"], arrays["posting_ends"], arrays["postings"]
    codes = np.array([_BLANK, *map(ord, query), _BLANK], np.uint32)
    buckets = distinct(_hashed(codes)).astype(np.intp)
    shared = np.zeros(len(sizes), np.uint8)
    starts = np.where(buckets > 0, ends[buckets - 1], 0)
    for start, end in zip(starts.tolist(), ends[buckets].tolist(), strict=True):
        np.add.at(shared, postings[start:end], np.uint8(1))
    # Most texts that share a trigram share a single one by chance. Leaving these out leaves a tenth to rank.
    some = max(2, len(buckets) // 5)
    near = np.flatnonzero(shared >= some)
    if len(near) < count:
        near = np.flatnonzero(shared)
    else:  # a short text has too few trigrams to share `some`
        short = arrays["short"]
        near = np.append(near, short[(shared[short] > 0) & (shared[short] < some)])
    if len(near) <= count:
        return near
    # The closeness depends on two small numbers, so a table of all pairs replaces arithmetic on every text.
    both, theirs = np.ogrid[: len(buckets) + 1, :256]
    theirs = np.maximum(theirs, 1)
    longer = np.maximum(theirs, len(buckets))
    table = (both / np.minimum(theirs, len(buckets)) / longer**0.2).astype(np.float32)
    closeness = table.ravel().take(shared.take(near).astype(np.intp) * 256 + sizes.take(near))
    # Of texts as close as the last one, the first by number are taken: the same in every run.
    bar = np.partition(closeness, -count)[-count]
    above, level = np.flatnonzero(closeness > bar), np.flatnonzero(closeness == bar)
    return near[np.append(above, level[: count - len(above)])]
