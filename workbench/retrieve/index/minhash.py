"""The papers' kind of index: MinHash LSH over character n-grams, with datasketch's signatures.

CHASE-SQL (section 2.2) and CHESS (appendix A.1) build one datasketch object for each value. This index gives the
same candidates and the same similarities with less work:

- The signature of a text is the elementwise minimum of its n-grams' signatures. So datasketch signs each distinct
  n-gram once (a million values have some twenty thousand), and numpy takes the minima.
- Hashes are replaced by their ranks at each position of the signature, which are small numbers in the same order.
- The index is inverted: for each position and hash it lists the texts. Counting how often a text is listed for a
  query gives LSH's candidates and their estimated Jaccard similarity at once.

Departs from the papers' code for texts shorter than an n-gram: here such a text is an n-gram itself. There it
has no n-gram, all such texts have the same signature, and a search for "TX" finds any two letters.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from workbench.errors import BadInputError
from workbench.retrieve.index.packed import Arrays, Texts, distinct

_CHUNK = 1 << 11  # texts at a time: the ranks of their n-grams fit into the processor's cache
_FILLER = "\udfff"  # half of a surrogate pair: no text of a database holds it


@dataclass(frozen=True, slots=True)
class MinHash:
    """The parameters of the index, by default CHESS's.

    permutations: positions of a signature; more estimate the similarity better.
    ngram: characters of an n-gram.
    threshold: the Jaccard similarity from which LSH finds most texts.
    scheme: datasketch's way of hashing; "legacy" is that of releases before 2.0.
    """

    permutations: int = 100
    ngram: int = 3
    threshold: float = 0.01
    scheme: Literal["legacy", "affine32", "affine64"] = "legacy"

    def __post_init__(self) -> None:
        if not (self.permutations > 1 and self.ngram > 0 and 0 <= self.threshold <= 1):
            raise BadInputError(
                f"{self}: permutations must be above 1, ngram above 0, threshold between 0 and 1"
            )

    def build(
        self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None
    ) -> dict[str, NDArray[Any]]:
        """The sorted hashes at each position of the signatures, and the texts that have each hash."""
        ranks, hashes = ranked(texts, self, progress)
        postings = np.empty(ranks.shape, np.int32)
        used, ends = [], []
        for column, known, posted in zip(ranks, hashes, postings, strict=True):
            posted[:] = np.argsort(column, kind="stable")
            counts = np.bincount(column, minlength=len(known))
            used.append(known[counts > 0])
            ends.append(np.cumsum(counts[counts > 0]))
        return {
            "postings": postings,
            "posting_ends": np.concatenate(ends),
            "hashes": np.concatenate(used),
            "hash_ends": np.cumsum([len(known) for known in used]),
        }

    def search(
        self, arrays: Arrays, texts: Texts, text: str, limit: int
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """LSH's candidates with their estimated Jaccard similarity: the `limit` best, and those equal to the last."""
        starts = range(max(1, len(text) - self.ngram + 1))
        grams = {text[start : start + self.ngram] for start in starts}
        lists = list(_same(arrays, _signed(grams, self)))
        bands, rows = _bands(self.threshold, self.permutations)
        equal = np.zeros(len(texts), np.uint16)  # positions at which each text has the query's hash
        for found in lists:
            np.add.at(equal, found, np.uint16(1))
        # LSH's candidates agree with the query at all positions of one band. If bands are single positions
        # and cover the signature, these are exactly the texts with a count above 0.
        if rows > 1 or bands < len(lists):
            candidate = np.zeros(len(texts), bool)
            for start in range(0, bands * rows, rows):
                inside = np.zeros(len(texts), np.uint16)
                for found in lists[start : start + rows]:
                    np.add.at(inside, found, np.uint16(1))
                candidate |= inside == rows
            equal[~candidate] = 0
        numbers = np.flatnonzero(equal)
        if len(numbers) > limit:
            numbers = numbers[equal[numbers] >= np.partition(equal[numbers], -limit)[-limit]]
        return numbers, equal[numbers] / self.permutations


def _same(arrays: Arrays, signature: NDArray[Any]) -> Iterator[NDArray[np.int32]]:
    """The texts that have the signature's hash at each of its positions."""
    start = 0
    ends = arrays["hash_ends"].tolist()
    for postings, end, sought in zip(arrays["postings"], ends, signature, strict=True):
        known, until = arrays["hashes"][start:end], arrays["posting_ends"][start:end]
        at = int(np.searchsorted(known, sought))
        there = at < len(known) and known[at] == sought
        yield postings[until[at - 1] if at else 0 : until[at]] if there else postings[:0]
        start = end


def ranked(
    texts: Sequence[str], kind: MinHash, progress: Callable[[int, int], None] | None = None
) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """The rank of each text's hash at each position, and the sorted hashes that the ranks refer to."""
    size = kind.ngram
    # Letters are renumbered from 0, so that an n-gram packs into one 64-bit number: numpy sorts and searches
    # numbers, and a database has few distinct letters.
    alphabet = np.zeros(0x110000, bool)
    for chunk in _chunks(texts, size):
        alphabet[_codes(chunk)] = True
    letters = np.flatnonzero(alphabet)
    bits = len(letters).bit_length()
    if bits * size > 64:
        raise BadInputError(
            f"ngram is {size}: with the {len(letters):,} letters of this database it is at most {64 // bits}"
        )
    letter_of = np.cumsum(alphabet, dtype=np.uint64) - np.uint64(1)

    def keys(chunk: list[str]) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
        """Every n-gram of the texts as one number, and the index of each text's first n-gram."""
        codes = letter_of[_codes(chunk)]
        lengths = np.fromiter(map(len, chunk), np.intp, len(chunk))
        packed = codes[: len(codes) - size + 1].copy()
        for shift in range(1, size):
            packed = packed << np.uint64(bits) | codes[shift : len(packed) + shift]
        counts = lengths - size + 1
        ends = np.cumsum(counts)
        skipped = np.repeat(np.arange(len(chunk)) * (size - 1), counts)  # n-grams across two texts
        return packed[np.arange(ends[-1]) + skipped], ends - counts

    known = np.zeros(0, np.uint64)  # the distinct n-grams
    for chunk in _chunks(texts, size):
        known = distinct(np.append(known, distinct(keys(chunk)[0])))
    spelled = [
        "".join(chr(letters[key >> bits * at & (1 << bits) - 1]) for at in range(size - 1, -1, -1))
        for key in known.tolist()
    ]
    signed = np.empty(
        (len(known), kind.permutations), _empty(kind.permutations, kind.scheme).hashvalues.dtype
    )
    for row, gram in enumerate(spelled):
        signed[row] = _signed([gram.rstrip(_FILLER)], kind)
    hashes, ranks = [], np.empty(signed.shape, np.min_scalar_type(len(known)))
    for position in range(kind.permutations):
        values, ranks[:, position] = np.unique(signed[:, position], return_inverse=True)
        hashes.append(values)
    least = np.empty((kind.permutations, len(texts)), ranks.dtype)
    done = 0
    for chunk in _chunks(texts, size):
        grams, begins = keys(chunk)
        part = _least(ranks, np.searchsorted(known, grams), begins)
        least[:, done : done + len(chunk)] = part.T
        done += len(chunk)
        if progress:
            progress(done, len(texts))
    return least, hashes


def _least(ranks: NDArray[Any], grams: NDArray[np.intp], begins: NDArray[np.intp]) -> NDArray[Any]:
    """The minimum over the n-grams of each text: over all first n-grams, then all second ones, and so on.

    Going through the texts one by one would be a loop in Python; this one has as many rounds as the longest
    text has n-grams.
    """
    counts = np.diff(begins, append=len(grams))
    order = np.argsort(-counts, kind="stable")  # texts with a further n-gram become a prefix
    begins, counts = begins[order], counts[order]
    least = ranks[grams[begins]]
    for n in range(1, int(counts[0])):
        longer = int(np.count_nonzero(counts > n))
        others = ranks.take(grams[begins[:longer] + n], axis=0)
        np.minimum(least[:longer], others, out=least[:longer])
    unsorted = np.empty_like(least)
    unsorted[order] = least
    return unsorted


def _chunks(texts: Sequence[str], size: int) -> Iterator[list[str]]:
    """The texts in chunks; texts shorter than an n-gram are filled up to one."""
    for start in range(0, len(texts), _CHUNK):
        yield [text.ljust(size, _FILLER) for text in texts[start : start + _CHUNK]]


def _codes(chunk: list[str]) -> NDArray[np.uint32]:
    return np.frombuffer("".join(chunk).encode("utf-32-le", "surrogatepass"), np.uint32)


def _signed(grams: Iterable[str], kind: MinHash) -> NDArray[Any]:
    """Datasketch's signature of a set of n-grams."""
    signature = _empty(kind.permutations, kind.scheme).copy()
    for gram in grams:
        signature.update(gram.encode("utf-8", "surrogatepass"))
    hashes: NDArray[Any] = signature.hashvalues
    return hashes


@cache
def _empty(permutations: int, scheme: str) -> Any:
    import datasketch  # noqa: PLC0415  a third of a second to import

    return datasketch.MinHash(permutations, scheme=scheme)


@cache
def _bands(threshold: float, permutations: int) -> tuple[int, int]:
    """The number of bands, and of positions in a band, that datasketch derives from the threshold."""
    import datasketch  # noqa: PLC0415

    lsh = datasketch.MinHashLSH(threshold, permutations)
    return lsh.b, lsh.r
