"""`embedded/parser` as a provider: reached through the client and the cache like any model.

Its version is a hash of its code and weights, and part of every call's key: answers of another grammar or of other
weights are never taken for this one's. A token is a word or a sign.
"""

import hashlib
import importlib
import re
from functools import lru_cache
from pathlib import Path

from workbench.errors import BadInputError
from workbench.llm.keys import Reply
from workbench.llm.send import EMBEDDING
from workbench.types import Request

_TOKEN = re.compile(r"\w+|[^\w\s]")
MODEL = "embedded/parser"


def _version() -> str:
    """A hash of all that the answers depend on: code, weights and English."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.*")):
        if path.suffix in {".py", ".json", ".txt"} and path.stem not in {"learn", "prior"}:
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return f"{MODEL}@{digest.hexdigest()[:16]}"


version = _version()


def answer(request: Request, seed: str) -> Reply:
    """The model's reply to a request; the first one loads the parser, weights and all."""
    if request.model != MODEL:
        raise BadInputError(f"there is no model {request.model}; there is {MODEL}")
    if request.parameters.get(EMBEDDING):
        raise BadInputError(f"{MODEL} gives no vectors; name an embedding model")
    write = importlib.import_module("workbench.embedded.replies").answer
    temperature = float(request.parameters.get("temperature", 1.0))
    text = write(request.messages, temperature=temperature, seed=seed)
    tokens = list(_TOKEN.finditer(text))
    limit = request.parameters.get("max_tokens")
    cut = limit is not None and int(limit) < len(tokens)
    if limit is not None and cut:
        tokens = tokens[: int(limit)]
        text = text[: tokens[-1].end() if tokens else 0]
    message = {"role": "assistant", "content": text}
    asked = sum(_count(line) for m in request.messages for line in str(m["content"]).split("\n"))
    return {
        "model": MODEL,
        "choices": [{"message": message, "finish_reason": "length" if cut else "stop"}],
        "usage": {"prompt_tokens": asked, "completion_tokens": len(tokens)},
    }


@lru_cache(maxsize=65536)  # prompts have most of their lines in common
def _count(line: str) -> int:
    """The number of tokens in a line; no token is on two lines."""
    return len(_TOKEN.findall(line))
