"""Similarity of texts in meaning: `Lexical()` (the default), `MiniLM()` or `Embedding(MODEL)`.

The three are interchangeable. A vector of an embedding model is cached like any other reply, so that it is paid once.
"""

import math
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from workbench.lab import Lab
from workbench.llm.send import EMBEDDING
from workbench.retrieve.minilm import encode
from workbench.retrieve.trigram import folded
from workbench.types import Request

Matrix = npt.NDArray[np.float32]

_LONGEST = 2000  # characters of a text that are embedded


class Similarity(Protocol):
    """The similarity of each query (row) and each text (column), from 0 to 1; NaN if the model failed.

    alike: the similarity from which two texts count as alike; it differs between measures.
    collection: the texts form a collection, in which what many texts share may count less.
    """

    @property
    def alike(self) -> float: ...

    def __call__(
        self, lab: Lab, queries: Sequence[str], texts: Sequence[str], *, collection: bool = False
    ) -> Matrix: ...


@dataclass(frozen=True)
class Lexical:
    """Similarity by letters: the cosine of two sets of words and their trigrams, without a model.

    It recognises spelling and inflection, but no meaning: "lady" and "woman" are not alike.
    """

    alike: float = 0.35

    def __call__(
        self, lab: Lab, queries: Sequence[str], texts: Sequence[str], *, collection: bool = False
    ) -> Matrix:
        del lab  # no model is asked
        asked, held = ([_features(text) for text in some] for some in (queries, texts))
        counts = Counter(feature for own in held for feature in own)

        def weigh(feature: str) -> float:
            """In a collection a rare feature tells more (inverse document frequency)."""
            return math.log1p(len(texts) / max(1, counts[feature])) if collection else 1.0

        known = sorted(frozenset[str]().union(*asked))
        weights = np.array([weigh(feature) for feature in known], np.float32)

        def vectors(sets: Sequence[frozenset[str]]) -> Matrix:
            rows = [[feature in own for feature in known] for own in sets]
            lengths = [math.sqrt(math.fsum(weigh(f) ** 2 for f in own)) or 1.0 for own in sets]
            whole = np.array(rows, np.float32).reshape(len(sets), len(known))
            unit: Matrix = whole * weights / np.array(lengths, np.float32).reshape(-1, 1)
            return unit

        return (vectors(asked) @ vectors(held).T).clip(0, 1)


@lru_cache(maxsize=50_000)
def _features(text: str) -> frozenset[str]:
    """Each word, and each trigram of a word with blanks at its ends."""
    words = [f" {word} " for word in re.findall(r"[^\W_]+", folded(text))]
    return frozenset([*words, *(word[i : i + 3] for word in words for i in range(len(word) - 2))])


@dataclass(frozen=True)
class Embedding:
    """Cosine similarity by an embedding model of LiteLLM; CHESS uses openai/text-embedding-3-small.

    dimensions: the length of the vectors, for models that let one choose.
    """

    model: str
    dimensions: int | None = None
    alike: float = 0.6

    def __call__(
        self, lab: Lab, queries: Sequence[str], texts: Sequence[str], *, collection: bool = False
    ) -> Matrix:
        del collection
        parameters = {"dimensions": self.dimensions} if self.dimensions else {}

        def request(text: str) -> Request:
            messages = [{"role": "user", "content": text}]
            return Request("retrieve/embed", self.model, messages, {EMBEDDING: True, **parameters})

        def vectors(texts: Sequence[str]) -> list[Matrix | None]:
            replies = lab.client.complete_many(list(map(request, texts)))
            return [
                None if r.fault else np.frombuffer(b64decode(r.text), np.float32) for r in replies
            ]

        return _cosines(vectors, queries, texts)


@dataclass(frozen=True)
class MiniLM:
    """Cosine similarity by all-MiniLM-L6-v2, computed in this process; needs the extra `embed`, no key, no network."""

    alike: float = 0.5

    def __call__(
        self, lab: Lab, queries: Sequence[str], texts: Sequence[str], *, collection: bool = False
    ) -> Matrix:
        del lab, collection

        def vectors(texts: Sequence[str]) -> list[Matrix | None]:
            new = [text for text in texts if text not in _ENCODED]
            _ENCODED.update(zip(new, encode(new), strict=True) if new else ())
            return [_ENCODED[text] for text in texts]

        return _cosines(vectors, queries, texts)


_ENCODED: dict[str, Matrix] = {}  # MiniLM's vectors in this process


def _cosines(
    vectors: Callable[[Sequence[str]], list[Matrix | None]],
    queries: Sequence[str],
    texts: Sequence[str],
) -> Matrix:
    """The cosine similarity of each query and text; equal texts are embedded once."""
    cut = {text: text[:_LONGEST].strip() for text in (*queries, *texts)}
    distinct = [text for text in dict.fromkeys(cut.values()) if text]
    by_text = dict(zip(distinct, vectors(distinct), strict=True))
    width = max((vector.size for vector in by_text.values() if vector is not None), default=1)
    unknown = np.full(width, np.nan, np.float32)

    def matrix(texts: Sequence[str]) -> Matrix:
        rows = [by_text.get(cut[text]) for text in texts]
        whole = np.array([unknown if row is None else row for row in rows], np.float32)
        whole = whole.reshape(-1, width)
        unit: Matrix = whole / np.linalg.norm(whole, axis=1, keepdims=True)
        return unit

    cosines: Matrix = np.clip(matrix(queries) @ matrix(texts).T, 0.0, 1.0)
    return cosines
