"""The default kind of index: which texts hold each three letters in a row, and then how alike they are.

A query counts, text by text, how many of its trigrams occur there. The texts that share the most are
compared with it by RapidFuzz's WRatio, which finds typos, parts and other orders of words alike. What
that misses of what comparing everything would find, and what it saves, is in tests/benchmarks/README.md.

Letter case, accents and width count for nothing (see `fold`); the very text searched for comes first.
"""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from workbench.retrieve.packed import Arrays, Texts, distinct

_BUCKETS = 1 << 16  # that trigrams are hashed to: a language has some 2 ** 14; 16 bits sort fast
_CHUNK = 1 << 14  # texts at a time
_MIXERS = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D], np.uint32)
_MOST = 250  # characters of a query that count; indexed texts have less
_SHORT = 8  # letters of a text of which a long query may hold no more than one or two trigrams
_ALIKE = 0.8  # by plain ratio: two typos in ten letters
_BLANK = ord(" ")
_DROPPED, _UNSEEN = 0x110000, 0x110001  # past the last code point


@dataclass(frozen=True, slots=True)
class Trigram:
    """Of all texts, `candidates` are compared with the query letter by letter."""

    candidates: int = 700

    def build(
        self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None
    ) -> dict[str, NDArray[Any]]:
        """For each trigram the numbers of the texts that hold it; for each text how many it holds."""
        folding = np.full(_DROPPED + 2, _UNSEEN, np.uint32)
        chunks = []
        totals = np.zeros(_BUCKETS, np.int64)
        for start in range(0, len(texts), _CHUNK):
            chunks.append(_trigrams(texts[start : start + _CHUNK], folding))
            totals += np.bincount(chunks[-1][0], minlength=_BUCKETS)
            if progress:
                progress(min(start + _CHUNK, len(texts)), len(texts))
        ends = np.cumsum(totals)
        free = ends - totals  # where the next text of each trigram goes
        postings = np.empty(ends[-1], np.int32)
        held = np.zeros(len(texts), np.uint8)
        for number, (buckets, local) in enumerate(chunks):
            counts = np.bincount(buckets, minlength=_BUCKETS)
            shift = free - (np.cumsum(counts) - counts)
            postings[shift[buckets] + np.arange(len(local))] = local + np.int32(number * _CHUNK)
            free += counts
            part = held[number * _CHUNK : (number + 1) * _CHUNK]
            part[:] = np.minimum(np.bincount(local, minlength=len(part)), 255)
        return {
            "postings": postings,
            "posting_ends": ends.astype(np.min_scalar_type(int(ends[-1]))),
            "held": held,
            "short": np.flatnonzero(held <= _SHORT).astype(np.int32),
        }

    def search(
        self, arrays: Arrays, texts: Texts, text: str, limit: int
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Numbers of texts and their scores, at least of the `limit` best.

        The score is WRatio, with a little of the plain ratio for what WRatio finds equally alike.
        WRatio puts any long text that shares a word before the one with two typos in another word, so
        the text that is most alike as a whole is put first. Only the very text has 1.
        """
        query = fold(text[:_MOST])
        near = _sharing(arrays, query, max(self.candidates, limit))
        same = texts.find(text)
        if same is not None and same not in near:
            near = np.append(near, same)
        keys = [fold(other) for other in texts.many(near)]
        whole, parts = (
            process.cdist([query], keys, scorer=scorer, dtype=np.float64)[0] / 100
            for scorer in (fuzz.ratio, fuzz.WRatio)
        )
        scores = 0.998 * parts + 0.0005 * whole
        scores[whole == whole.max(initial=_ALIKE)] = scores.max(initial=0.0) + 0.0005
        scores[near == (-1 if same is None else same)] = 1.0
        return near, scores


class _Fold(dict[int, int | None]):
    """For `str.translate`: each letter without case, accent and width, as long as it stays one letter."""

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


def fold(text: str) -> str:
    """The text as it is compared: "S\u00e3o Paulo" and "sao paulo" are one.

    Scripts whose marks are letters of their own (Thai, Hindi, Korean, Japanese) stay as they are.
    """
    return text.lower() if text.isascii() else text.translate(_FOLD)


def _trigrams(
    texts: Sequence[str], folding: NDArray[np.uint32]
) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """The bucket of each trigram and the text that holds it, sorted and once each.

    A text stands between two blanks, so that it has as many trigrams as letters. `folding` is what
    `_FOLD` says of the letters seen so far: looking up an array takes a twentieth of translating text.
    """
    joined = f" {'  '.join(texts)} ".encode("utf-32-le")
    codes = np.frombuffer(joined, np.uint32)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
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
    buckets, owners = _hashed(folded)[within], owners[:-2][within]
    order = np.argsort(buckets, kind="stable")
    buckets, owners = buckets[order], owners[order]
    first = np.ones(len(order), bool)
    first[1:] = (buckets[1:] != buckets[:-1]) | (owners[1:] != owners[:-1])
    return buckets[first], owners[first]


def _hashed(codes: NDArray[np.uint32]) -> NDArray[np.uint16]:
    """The bucket of each three letters in a row."""
    mixed: NDArray[np.uint32]
    mixed = codes[:-2] * _MIXERS[0] + codes[1:-1] * _MIXERS[1] + codes[2:] * _MIXERS[2]
    return np.right_shift(mixed, 16).astype(np.uint16)


def _sharing(arrays: Arrays, query: str, count: int) -> NDArray[np.intp]:
    """The `count` texts that share most trigrams with the query, for the length of the shorter of both.

    So a text that contains the query counts as much as one that the query contains; among equals the
    longer of both should be short.
    """
    held, ends, postings = arrays["held"], arrays["posting_ends"], arrays["postings"]
    codes = np.array([_BLANK, *map(ord, query), _BLANK], np.uint32)
    buckets = distinct(_hashed(codes)).astype(np.intp)
    shared = np.zeros(len(held), np.uint8)
    starts = np.where(buckets > 0, ends[buckets - 1], 0)
    for start, end in zip(starts.tolist(), ends[buckets].tolist(), strict=True):
        np.add.at(shared, postings[start:end], np.uint8(1))
    some = max(2, len(buckets) // 5)
    near = np.flatnonzero(shared >= some)  # a tenth of those that share any
    if len(near) < count:
        near = np.flatnonzero(shared)
    else:
        short = arrays["short"]
        near = np.append(near, short[(shared[short] > 0) & (shared[short] < some)])
    if len(near) <= count:
        return near
    ours, theirs = np.ogrid[: len(buckets) + 1, :256]
    theirs = np.maximum(theirs, 1)
    longer = np.maximum(theirs, len(buckets))
    closeness = (ours / np.minimum(theirs, len(buckets)) / longer**0.2).astype(np.float32)
    close = closeness.ravel().take(shared.take(near).astype(np.intp) * 256 + held.take(near))
    bar = np.partition(close, -count)[-count]
    above, level = np.flatnonzero(close > bar), np.flatnonzero(close == bar)
    return near[np.append(above, level[: count - len(above)])]
