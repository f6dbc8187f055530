"""Similarity of texts by their letters, for use without embeddings.

It recognises spelling and inflection but no meaning: "translation" and "translations" are similar, "lady" and
"woman" are not. A text is represented by the set of its words and their trigrams; the similarity is the cosine of
two sets.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from workbench.lab import Lab
from workbench.parallel import cached_once
from workbench.retrieve.index.trigram import search_form

Matrix = npt.NDArray[np.float32]

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Lexical:
    """Similarity by words and trigrams. In a collection, features that many texts share count less.

    alike: the similarity from which two texts count as alike.
    """

    alike: float = 0.35

    def __call__(
        self, lab: Lab, queries: Sequence[str], texts: Sequence[str], *, collection: bool = False
    ) -> Matrix:
        """A row for each query and a column for each text, from 0 to 1. The lab is not used."""
        del lab
        if collection:
            scores = _collected(tuple(texts)).scores
            rows = [scores(_features(query)).tolist() for query in queries]
        else:
            sets = [_features(text) for text in texts]
            rows = [_cosines(_features(query), sets) for query in queries]
        return np.array(rows, np.float32).reshape(len(queries), len(texts))


def words(text: str) -> list[str]:
    """The words of a text, letters and digits only, without case and accents."""
    return _WORD.findall(search_form(text))


@lru_cache(maxsize=50_000)
def _features(text: str) -> frozenset[str]:
    """Each word, and each trigram of a word with blanks at its ends."""
    marked = [f" {word} " for word in words(text)]
    trigrams = [word[i : i + 3] for word in marked for i in range(len(word) - 2)]
    return frozenset([*marked, *trigrams])


def _cosines(query: frozenset[str], texts: Sequence[frozenset[str]]) -> list[float]:
    return [len(query & text) / math.sqrt(len(query) * len(text) or 1) for text in texts]


class _Collection:
    """An inverted index of features with their rarity (inverse document frequency).

    A query visits only the texts that share a feature with it.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        postings: dict[str, list[int]] = {}
        for index, text in enumerate(texts):
            for feature in _features(text):
                postings.setdefault(feature, []).append(index)
        self._postings = {f: np.array(indices, np.int32) for f, indices in postings.items()}
        self._unseen = math.log1p(len(texts)) ** 2
        self._rarity = {f: math.log1p(len(texts) / len(i)) ** 2 for f, i in postings.items()}
        self._lengths = np.array([self._length(_features(text)) for text in texts], np.float32)

    def _length(self, features: frozenset[str]) -> float:
        return math.sqrt(sum(self._rarity.get(f, self._unseen) for f in features)) or 1.0

    def scores(self, query: frozenset[str]) -> Matrix:
        """The weighted cosine of the query with each text."""
        sums = np.zeros(len(self._lengths), np.float32)
        # Sorted, because the order of a set differs between processes and float sums depend on it.
        for feature in sorted(query & self._postings.keys()):
            sums[self._postings[feature]] += self._rarity[feature]
        return np.minimum(sums / (self._lengths * self._length(query)), np.float32(1))


_collected = cached_once(maxsize=16)(_Collection)
