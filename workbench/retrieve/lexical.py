"""How alike two texts are by their letters: what serves where there are no embeddings.

It knows spelling and inflection and nothing of meaning: "translation" and "translations" are alike, "lady"
and "woman" are not. A text is the set of its words and of the trigrams of those words, and the measure is
the cosine of two sets.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from workbench.lab import Lab
from workbench.retrieve.trigram import fold

Matrix = npt.NDArray[np.float32]

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Lexical:
    """Similarity by words and trigrams. In a collection, what many of its texts share counts less."""

    alike: float = 0.35

    def __call__(
        self, lab: Lab, queries: Sequence[str], texts: Sequence[str], *, collection: bool = False
    ) -> Matrix:
        """A row for each query and a column for each text, from 0 to 1. Nothing is asked of the lab."""
        del lab
        if collection:
            scores = _collected(tuple(texts)).scores
            rows = [scores(_features(query)).tolist() for query in queries]
        else:
            sets = [_features(text) for text in texts]
            rows = [_cosines(_features(query), sets) for query in queries]
        return np.array(rows, np.float32).reshape(len(queries), len(texts))


def words(text: str) -> list[str]:
    """The folded words of a text: letters and digits, without what stands between them."""
    return _WORD.findall(fold(text))


@lru_cache(maxsize=50_000)
def _features(text: str) -> frozenset[str]:
    """Each word, and each trigram of a word with a mark at its ends."""
    marked = [f" {word} " for word in words(text)]
    trigrams = [word[i : i + 3] for word in marked for i in range(len(word) - 2)]
    return frozenset([*marked, *trigrams])


def _cosines(query: frozenset[str], texts: Sequence[frozenset[str]]) -> list[float]:
    return [len(query & text) / math.sqrt(len(query) * len(text) or 1) for text in texts]


class _Collection:
    """Which texts have each feature, and how rare it is: a query looks at the texts alone that share one."""

    def __init__(self, texts: Sequence[str]) -> None:
        places: dict[str, list[int]] = {}
        for place, text in enumerate(texts):
            for feature in _features(text):
                places.setdefault(feature, []).append(place)
        self._places = {f: np.array(held, np.int32) for f, held in places.items()}
        self._unseen = math.log1p(len(texts)) ** 2
        self._rarity = {f: math.log1p(len(texts) / len(held)) ** 2 for f, held in places.items()}
        self._lengths = np.array([self._length(_features(text)) for text in texts], np.float32)

    def _length(self, features: frozenset[str]) -> float:
        return math.sqrt(sum(self._rarity.get(f, self._unseen) for f in features)) or 1.0

    def scores(self, query: frozenset[str]) -> Matrix:
        """The weighted cosine of the query with each text."""
        sums = np.zeros(len(self._lengths), np.float32)
        for feature in sorted(
            query & self._places.keys()
        ):  # in one order: sums of floats depend on it
            sums[self._places[feature]] += self._rarity[feature]
        return np.minimum(sums / (self._lengths * self._length(query)), np.float32(1))


_collected = lru_cache(maxsize=16)(_Collection)
