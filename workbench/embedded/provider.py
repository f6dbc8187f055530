"""`embedded/parser` as a provider: reached through the client and the cache like any model.

Its version is a hash of its code and weights, and part of every call's key: answers of another
grammar or of other weights are never taken for this one's. A token is four characters.
"""

import hashlib
import importlib
import math
from pathlib import Path

from workbench.errors import BadInputError
from workbench.llm.calls import Reply
from workbench.llm.send import EMBEDDING
from workbench.types import Request

_TOKEN = 4  # characters
MODEL = "embedded/parser"


_digest = hashlib.sha256()  # of all that the answers depend on: code, weights, English
for _path in sorted(Path(__file__).parent.glob("*.[pjt]*")):
    _digest.update(_path.name.encode() + b"\0" + _path.read_bytes())
version = f"{MODEL}@{_digest.hexdigest()[:16]}"


def answer(request: Request, seed: str) -> Reply:
    """Return the model's reply; the first one loads the parser, weights and all."""
    if request.model != MODEL:
        raise BadInputError(f"there is no model {request.model}; there is {MODEL}")
    if request.parameters.get(EMBEDDING):
        raise BadInputError(f"{MODEL} gives no vectors; name an embedding model")
    write = importlib.import_module("workbench.embedded.write_reply").answer
    temperature = float(request.parameters.get("temperature", 1.0))
    text = write(request.messages, temperature=temperature, seed=seed)
    limit = int(request.parameters.get("max_tokens") or len(text))
    content = text[: limit * _TOKEN]
    prompt = sum(len(str(message["content"])) for message in request.messages)
    return {
        "model": MODEL,
        "choices": [
            {
                "message": {"role": "assistant", "content": content},
                "finish_reason": "stop" if content == text else "length",
            }
        ],
        "usage": {
            "prompt_tokens": math.ceil(prompt / _TOKEN),
            "completion_tokens": math.ceil(len(content) / _TOKEN),
        },
    }
