"""The papers' search: locality-sensitive hashing of MinHash signatures (CHASE-SQL, section 2.2; CHESS, appendix A.1).

The signatures are datasketch's. CHESS puts them into a MinHashLSH with the threshold 0.01, which gives each of the 100
hashes a band of its own: a candidate is any value that shares a hash with the keyword, and the share of equal hashes
ranks the candidates. One comparison of a matrix of all signatures answers the same, and the signature of a text is the
least of its n-grams' signatures at each place, so each n-gram is signed once.

Departs from CHESS's code where a text is shorter than an n-gram: here it is an n-gram by itself. There all such texts
have one signature, and a search for "TX" finds any two letters.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import at_least
from workbench.retrieve.values import Arrays


@dataclass(frozen=True)
class LSH:
    """permutations: hashes of a signature. ngram: characters of an n-gram. Both as in CHESS's code."""

    permutations: int = 100
    ngram: int = 3

    def __post_init__(self) -> None:
        at_least(1, permutations=self.permutations, ngram=self.ngram)

    def build(self, texts: Sequence[str]) -> Arrays:
        """The signatures of all texts, a row for each hash."""
        number: defaultdict[str, int] = defaultdict(count().__next__)
        grams = np.fromiter((number[g] for text in texts for g in self._grams(text)), np.int32)
        counts = np.array([max(1, len(text) - self.ngram + 1) for text in texts], np.intp)
        begins = np.cumsum(counts) - counts
        signed = np.array([self._signature([gram]) for gram in number], np.uint32)
        signed = np.ascontiguousarray(signed.reshape(-1, self.permutations).T)
        least = [np.minimum.reduceat(hashes[grams], begins) for hashes in signed]
        return {"signatures": np.array(least, np.uint32)}

    def find(self, arrays: Arrays, texts: Sequence[str], text: str, limit: int) -> NDArray[np.intp]:
        """The candidates with the highest estimated Jaccard similarity; equals in the order of the texts."""
        equal = np.zeros(len(texts), np.uint16)
        for hashes, sought in zip(
            arrays["signatures"], self._signature(self._grams(text)), strict=True
        ):
            equal += hashes == sought
        least = np.partition(equal, -limit)[-limit] if len(equal) > limit else 0
        near = np.flatnonzero(equal >= max(1, least))
        return near[np.argsort(-equal[near].astype(int), kind="stable")[:limit]]

    def _grams(self, text: str) -> Iterable[str]:
        return (text[i : i + self.ngram] for i in range(max(1, len(text) - self.ngram + 1)))

    def _signature(self, grams: Iterable[str]) -> NDArray[np.uint32]:
        made = _empty(self.permutations).copy()
        made.update_batch([gram.encode("utf-8", "replace") for gram in grams])
        hashes: NDArray[np.uint32] = made.hashvalues.astype(np.uint32)
        return hashes


@cache
def _empty(permutations: int) -> Any:
    import datasketch  # noqa: PLC0415  a third of a second to import

    # The releases that the papers could use hash this way.
    return datasketch.MinHash(permutations, scheme="legacy")
