"""Similarity of texts, by letters or by meaning: `Lexical()`, the default, and `Embedding(MODEL)` are interchangeable.

The vectors of an embedding model are cached like replies, so that each is paid once.
"""

import math
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Protocol

import numpy as np
import numpy.typing as npt

from workbench.lab import Lab
from workbench.llm.send import EMBEDDING
from workbench.retrieve.values import folded
from workbench.types import Request

Matrix = npt.NDArray[np.float32]

_LONGEST = 2000  # characters of a text that are embedded


class Similarity(Protocol):
    """The similarity of each query (row) and each text (column), from 0 to 1; NaN if the model failed.

    alike: the similarity from which two texts count as alike; it differs between measures.
    collection: whether words that many of the texts have count less.
    """

    @property
    def alike(self) -> float: ...

    def __call__(
        self, lab: Lab, queries: Sequence[str], texts: Sequence[str], *, collection: bool = False
    ) -> Matrix: ...


@dataclass(frozen=True)
class Lexical:
    """Similarity by letters: the cosine of two sets of words and their trigrams. No model is asked.

    It recognises spelling and inflection, but no meaning: "lady" and "woman" are not alike.
    """

    alike: float = 0.35

    def __call__(
        self, lab: Lab, queries: Sequence[str], texts: Sequence[str], *, collection: bool = False
    ) -> Matrix:
        del lab
        asked, held = ([_features(text) for text in some] for some in (queries, texts))
        counts = Counter(chain.from_iterable(held))

        def weigh(feature: str) -> float:
            """In a collection a rare feature tells more (inverse document frequency)."""
            return math.log1p(len(texts) / max(1, counts[feature])) if collection else 1.0

        known = {feature: weigh(feature) for feature in sorted(frozenset[str]().union(*asked))}

        def vectors(sets: Sequence[frozenset[str]]) -> Matrix:
            rows = [[weight * (f in own) for f, weight in known.items()] for own in sets]
            lengths = [math.sqrt(math.fsum(weigh(f) ** 2 for f in own)) or 1.0 for own in sets]
            whole = np.array(rows, np.float32).reshape(len(sets), len(known))
            unit: Matrix = whole / np.array(lengths, np.float32).reshape(-1, 1)
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

    A model on this machine needs no key: ollama/all-minilm.
    """

    model: str
    alike: float = 0.6

    def __call__(
        self, lab: Lab, queries: Sequence[str], texts: Sequence[str], *, collection: bool = False
    ) -> Matrix:
        del collection
        cut = {text: text[:_LONGEST].strip() for text in (*queries, *texts)}
        once = list(dict.fromkeys(filter(None, cut.values())))
        contents = [[{"role": "user", "content": text}] for text in once]
        asked = [Request("retrieve/embed", self.model, c, {EMBEDDING: True}) for c in contents]
        vectors = {
            text: np.frombuffer(b64decode(reply.text), np.float32)
            for text, reply in zip(once, lab.client.complete_many(asked), strict=True)
            if not reply.fault
        }
        width = max((vector.size for vector in vectors.values()), default=1)
        unknown = np.full(width, np.nan, np.float32)

        def matrix(texts: Sequence[str]) -> Matrix:
            rows = [vectors.get(cut[text], unknown) for text in texts]
            whole = np.array(rows, np.float32).reshape(-1, width)
            unit: Matrix = whole / np.linalg.norm(whole, axis=1, keepdims=True)
            return unit

        return (matrix(queries) @ matrix(texts).T).clip(0, 1)
