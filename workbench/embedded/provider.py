"""`embedded/parser` as a provider: reached through the client and the cache like any model.

`pyproject.toml` names this module as an entry point, so that nothing needs to import the model: its `answer` and
`version` are what `wb.register` takes. Its version is a hash of its code and weights, and part of every call's key:
answers of another grammar or of other weights are never taken for this one's. A token is a word or a sign.
"""

import hashlib
import importlib
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from workbench.errors import BadInputError
from workbench.types import Request

_TOKEN = re.compile(r"\w+|[^\w\s]")
MODEL = "embedded/parser"


@cache
def version(_: str) -> str:
    """A hash of all that the model's answers depend on: its code, its weights and its English."""
    wing = Path(__file__).parent
    package = wing.parent
    paths = [*wing.rglob("*.*"), *package.joinpath("english").glob("*.*")]
    kinds = {".py", ".json", ".txt"}
    digest = hashlib.sha256()
    for path in sorted(
        p for p in paths if p.suffix in kinds and wing / "training" not in p.parents
    ):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return f"{MODEL}@{digest.hexdigest()[:16]}"


def answer(request: Request, seed: str) -> dict[str, Any]:
    """The model's reply to a request; the first one loads the parser, weights and all."""
    if request.model != MODEL:
        raise BadInputError(f"there is no model {request.model}; there is {MODEL}")
    if request.parameters.get("embedding"):
        raise BadInputError(f"{MODEL} gives no vectors; name an embedding model")
    parser = importlib.import_module("workbench.embedded.answer")
    temperature = float(request.parameters.get("temperature", 1.0))
    text = parser.answer(request.messages, temperature=temperature, seed=seed)
    limit = request.parameters.get("max_tokens")
    cut = text if limit is None else _first(text, int(limit))
    lines = [line for m in request.messages for line in str(m["content"]).split("\n")]
    reason = "stop" if cut == text else "length"
    choice = {"message": {"role": "assistant", "content": cut}, "finish_reason": reason}
    written = len(_TOKEN.findall(cut))
    usage = {"prompt_tokens": sum(map(_count, lines)), "completion_tokens": written}
    return {"model": MODEL, "choices": [choice], "usage": usage}


@lru_cache(maxsize=65536)  # prompts have most of their lines in common
def _count(line: str) -> int:
    """The number of tokens in a line; no token is on two lines."""
    return len(_TOKEN.findall(line))


def _first(text: str, tokens: int) -> str:
    """The text up to the end of so many tokens, as a model's reply that reached its limit."""
    if len(text) <= tokens:  # a token has at least one character
        return text
    ends = [0, *(match.end() for match in _TOKEN.finditer(text))]
    return text if tokens >= len(ends) - 1 else text[: ends[max(0, tokens)]]
