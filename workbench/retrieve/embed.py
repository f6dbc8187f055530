"""Similarity of texts in meaning: `Lexical()` (the default), `MiniLM()` or `Embedding(MODEL)`.

The three are interchangeable. A text's vector is cached like any other model reply, so that it is paid or computed
once; it is stored as float32 in base64, as providers send it.
"""

import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from workbench.lab import Lab
from workbench.llm.cache import insert
from workbench.llm.send import EMBEDDING
from workbench.retrieve.lexical import Matrix
from workbench.retrieve.minilm import encode
from workbench.types import Completion, Request

_PROMPT = "retrieve/embed"  # the prompt name under which the cache counts these calls
_LENGTH = 2000  # characters of a text that are embedded


class Similarity(Protocol):
    """Computes the similarity of each query (row) and each text (column), from 0 to 1; NaN if the model failed.

    alike: the similarity from which two texts count as alike; it differs between measures.
    collection: the texts form a collection, in which features that many texts share may count less.
    """

    @property
    def alike(self) -> float: ...

    def __call__(
        self, lab: Lab, queries: Sequence[str], texts: Sequence[str], *, collection: bool = False
    ) -> Matrix: ...


@dataclass(frozen=True, slots=True)
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

        def vectors(texts: Sequence[str]) -> list[Matrix | None]:
            parameters = {"dimensions": self.dimensions} if self.dimensions else {}
            requests = [_request(self.model, text, **parameters) for text in texts]
            replies = lab.client.complete_many(requests)
            return [None if reply.fault else _vector(reply.text) for reply in replies]

        return _cosines(vectors, queries, texts)


@dataclass(frozen=True, slots=True)
class MiniLM:
    """Cosine similarity by all-MiniLM-L6-v2, computed locally; needs the extra `embed`, no key, no network."""

    alike: float = 0.5

    def __call__(
        self, lab: Lab, queries: Sequence[str], texts: Sequence[str], *, collection: bool = False
    ) -> Matrix:
        del collection

        def vectors(texts: Sequence[str]) -> list[Matrix | None]:
            requests = {text: _request("minilm/all-MiniLM-L6-v2", text) for text in texts}
            replies = {text: lab.client.cached(request) for text, request in requests.items()}
            known = {text: _vector(reply.text) for text, reply in replies.items() if reply}
            if missing := [text for text in texts if text not in known]:
                began = time.monotonic()
                known |= zip(missing, encode(missing), strict=True)
                seconds = (time.monotonic() - began) / len(missing)
                _cache(lab, [(requests[text], known[text]) for text in missing], seconds)
            return [known[text] for text in texts]

        return _cosines(vectors, queries, texts)


def _request(model: str, text: str, **parameters: Any) -> Request:
    """The call for one text's vector; `send` recognises it by the parameter EMBEDDING."""
    content = [{"role": "user", "content": text}]
    return Request(_PROMPT, model, content, {EMBEDDING: True, **parameters})


def _vector(text: str) -> Matrix:
    return np.frombuffer(b64decode(text), np.float32)


def _cache(lab: Lab, computed: Sequence[tuple[Request, Matrix]], seconds: float) -> None:
    """Write computed vectors into the cache, in one transaction."""
    store = lab.client.cache
    if store.read_only:
        return
    with store.write() as book:
        for request, vector in computed:
            text = b64encode(vector.tobytes()).decode()
            answer = Completion(text, request.model, "stop", cost=0.0, key=lab.client.key(request))
            book.execute(*insert(request, answer, "", {}, seconds=seconds, created=time.time()))


def _cosines(
    vectors: Callable[[Sequence[str]], list[Matrix | None]],
    queries: Sequence[str],
    texts: Sequence[str],
) -> Matrix:
    """The cosine similarity of each query and text; equal texts are embedded once."""
    cut = {text: text[:_LENGTH].strip() for text in (*queries, *texts)}
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
