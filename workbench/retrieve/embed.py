"""How alike texts are in meaning: `Lexical()`, `MiniLM()` or `Embedding(MODEL)`, one in place of another.

A vector is a model's reply like any other: each text's is in the lab book, paid or computed once, and
serves every question that meets the text again. It stands there as float32 in base64, the way providers
send it themselves. `Lexical` needs nothing and is what serves unless another is chosen.
"""

import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from workbench.lab import Lab
from workbench.llm.cache import Call, insert
from workbench.llm.provider import EMBEDDING
from workbench.retrieve.lexical import Matrix
from workbench.retrieve.minilm import encode
from workbench.types import Request, Usage

_PROMPT = "retrieve/embed"  # what these calls are counted under
_LENGTH = 2000  # characters of a text that are compared


class Similarity(Protocol):
    """How alike each query and each text are: a row for each query, a column for each text, from 0 to 1.

    NaN where a model gave no answer. `collection` says that the texts are a whole, in which what many of
    them share may tell little. From `alike` on, two texts count as alike: it differs from one measure to
    another.
    """

    @property
    def alike(self) -> float: ...

    def __call__(
        self, lab: Lab, queries: Sequence[str], texts: Sequence[str], *, collection: bool = False
    ) -> Matrix: ...


@dataclass(frozen=True, slots=True)
class Embedding:
    """Cosine of the vectors of a model that LiteLLM reaches; CHESS takes openai/text-embedding-3-small."""

    model: str
    dimensions: int | None = None
    alike: float = 0.6

    def __call__(
        self, lab: Lab, queries: Sequence[str], texts: Sequence[str], *, collection: bool = False
    ) -> Matrix:
        del collection

        def vectors(wanted: Sequence[str]) -> list[Matrix | None]:
            parameters = {"dimensions": self.dimensions} if self.dimensions else {}
            requests = [_request(self.model, text, **parameters) for text in wanted]
            return [
                None if reply.fault else _vector(reply.text)
                for reply in lab.client.complete_many(requests)
            ]

        return _cosines(vectors, queries, texts)


@dataclass(frozen=True, slots=True)
class MiniLM:
    """Cosine of the vectors of all-MiniLM-L6-v2, computed here: the extra `embed`, no key, no network."""

    alike: float = 0.5

    def __call__(
        self, lab: Lab, queries: Sequence[str], texts: Sequence[str], *, collection: bool = False
    ) -> Matrix:
        del collection

        def vectors(wanted: Sequence[str]) -> list[Matrix | None]:
            requests = {text: _request("minilm/all-MiniLM-L6-v2", text) for text in wanted}
            held = {text: lab.client.held(request) for text, request in requests.items()}
            found = {text: _vector(reply.text) for text, reply in held.items() if reply}
            if missing := [text for text in wanted if text not in found]:
                began = time.monotonic()
                found |= zip(missing, encode(missing), strict=True)
                each = (time.monotonic() - began) / len(missing)
                _keep(lab, [(requests[text], found[text]) for text in missing], each)
            return [found[text] for text in wanted]

        return _cosines(vectors, queries, texts)


def _request(model: str, text: str, **parameters: Any) -> Request:
    """The call for one text's vector, which `provider.send` tells by its parameter."""
    content = [{"role": "user", "content": text}]
    return Request(_PROMPT, model, content, {EMBEDDING: True, **parameters})


def _vector(text: str) -> Matrix:
    return np.frombuffer(b64decode(text), np.float32)


def _keep(lab: Lab, fresh: Sequence[tuple[Request, Matrix]], seconds: float) -> None:
    """Write computed vectors into the lab book, in one transaction."""
    store = lab.client.store
    if store.read_only:
        return
    with store.write() as book:
        for request, vector in fresh:
            insert(
                book,
                Call(
                    key=lab.client.key(request),
                    text=b64encode(vector.tobytes()).decode(),
                    finish_reason="stop",
                    usage=Usage(),
                    cost=0.0,
                    endpoint="",
                    model=request.model,
                    messages=request.messages,
                    parameters=request.parameters,
                    sample=0,
                    prompt=request.prompt,
                    reply={},
                    seconds=seconds,
                    created=time.time(),
                ),
            )


def _cosines(
    vectors: Callable[[Sequence[str]], list[Matrix | None]],
    queries: Sequence[str],
    texts: Sequence[str],
) -> Matrix:
    """The similarity of each pair by their vectors, each text's asked for once."""
    cut = {text: text[:_LENGTH].strip() for text in (*queries, *texts)}
    wanted = [text for text in dict.fromkeys(cut.values()) if text]
    found = dict(zip(wanted, vectors(wanted), strict=True))
    width = max((vector.size for vector in found.values() if vector is not None), default=1)
    nothing = np.full(width, np.nan, np.float32)

    def matrix(of: Sequence[str]) -> Matrix:
        rows = [found.get(cut[text]) for text in of]
        whole = np.array([nothing if row is None else row for row in rows], np.float32)
        whole = whole.reshape(-1, width)
        unit: Matrix = whole / np.linalg.norm(whole, axis=1, keepdims=True)
        return unit

    cosines: Matrix = np.clip(matrix(queries) @ matrix(texts).T, 0.0, 1.0)
    return cosines
