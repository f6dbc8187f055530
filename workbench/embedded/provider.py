"""`embedded/parser` as a provider: reached through the client and the cache like any model.

Its version is a hash of its code and weights, and part of every call's key: answers of another grammar or of other
weights are never taken for this one's. A token is a word or a sign.
"""

import hashlib
import importlib
import re
from pathlib import Path

from workbench.errors import BadInputError
from workbench.llm.calls import Reply
from workbench.llm.send import EMBEDDING
from workbench.types import Request

_TOKEN = re.compile(r"\w+|[^\w\s]")
_OTHER = re.compile(r"[^\x00-\x7f]")
_STARTS = re.sub(rb"\w", b"a", re.sub(rb"\W", b" ", bytes(range(256))))  # a table of bytes
_SIGNS = re.sub(r"[\w\s]", "", bytes(range(128)).decode()).encode()
MODEL = "embedded/parser"


_digest = hashlib.sha256()  # of all that the answers depend on: code, weights and English
for _path in sorted(Path(__file__).parent.glob("*.*")):
    if _path.suffix in {".py", ".json", ".txt"} and _path.stem not in {"learn", "prior"}:
        _digest.update(_path.name.encode() + b"\0" + _path.read_bytes())
version = f"{MODEL}@{_digest.hexdigest()[:16]}"


def answer(request: Request, seed: str) -> Reply:
    """The model's reply to a request; the first one loads the parser, weights and all."""
    if request.model != MODEL:
        raise BadInputError(f"there is no model {request.model}; there is {MODEL}")
    if request.parameters.get(EMBEDDING):
        raise BadInputError(f"{MODEL} gives no vectors; name an embedding model")
    write = importlib.import_module("workbench.embedded.write_reply").answer
    temperature = float(request.parameters.get("temperature", 1.0))
    text = write(request.messages, temperature=temperature, seed=seed)
    tokens = _count(text)
    limit = int(request.parameters.get("max_tokens") or tokens)
    if cut := limit < tokens:
        text = text[: [*_TOKEN.finditer(text)][limit - 1].end()]
    message = {"role": "assistant", "content": text}
    asked = sum(_count(str(m["content"])) for m in request.messages)
    return {
        "model": MODEL,
        "choices": [{"message": message, "finish_reason": "length" if cut else "stop"}],
        "usage": {"prompt_tokens": asked, "completion_tokens": min(limit, tokens)},
    }


def _count(text: str) -> int:
    """The number of tokens in a text, found much faster than by the pattern."""

    def alike(other: re.Match[str]) -> str:
        return "a" if other[0].isalnum() else " " if other[0].isspace() else "?"

    data = f" {text if text.isascii() else _OTHER.sub(alike, text)}".encode()
    return data.translate(_STARTS).count(b" a") + len(data) - len(data.translate(None, _SIGNS))
