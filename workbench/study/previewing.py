"""A preview: the embedded parser answers for every model, on a few questions and in a cache that is thrown away.

A call that the user's own cache holds gets its reply from there, and counts as cached. The number of other calls is
scaled up to all questions of the benchmark. It is an estimate: a parser's queries fail and differ more or less often
than a model's, and calls that the questions of a database share, such as examples by feature, are counted for each
question.
"""

import os
import threading
from array import array
from base64 import b64encode
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from workbench.llm.client import Client
from workbench.llm.provider import EMBEDDING, Reply, send
from workbench.llm.remote.prefix_cache import PrefixCache, prefixes
from workbench.llm.remote.prefixes import caches_prompts, shortest
from workbench.llm.remote.prices import longest
from workbench.prompts.order import shared_ends
from workbench.store import Store
from workbench.study.progress import tell
from workbench.types import Completion, Request

STAND_IN = "embedded/parser"
_LETTERS = 4  # about the length of a language model's token


def previewed() -> int:
    """The number of questions of the preview; 0 if this process is no preview."""
    return int(os.environ.get("WORKBENCH_PREVIEW") or 0)


@dataclass(slots=True)
class Seen:
    """The calls of one prompt and model on the questions of a preview, and their tokens."""

    calls: int = 0
    input: int = 0
    output: int = 0
    read: int = 0
    """Tokens that the provider's prompt cache would hold after an earlier question of the same database."""
    written: int = 0
    """Tokens charged for writing to that cache, if an earlier question of the same database was asked before."""
    first: int = 0
    """The tokens of `read` that this preview is the first to send."""
    limit: int = 0
    """The most tokens that a reply may have."""
    tier: str = ""
    """The calls' `service_tier`."""
    cached: int = 0
    """Calls that the user's cache holds; `calls` does not count them."""


class StandIn:
    """Answers calls from the user's cache or by the embedded parser. `seen` counts calls by prompt and model."""

    def __init__(self) -> None:
        self.seen: dict[tuple[str, str], Seen] = {}
        self._lock = threading.Lock()

    def __call__(self, request: Request, key: str, url: str, seconds: float) -> Reply:
        cached = _cached(request)
        reply = _as_reply(cached) if cached else stand_in(request, key, url, seconds)
        with self._lock:
            seen = self.seen.setdefault((request.prompt, request.model), Seen())
            if cached:
                seen.cached += 1
            else:
                self._count(seen, request, reply)
        return reply

    def _count(self, seen: Seen, request: Request, reply: Reply) -> None:
        prompt = prefixes(request)
        read, written = _prefix_cache(request.model).counts(prompt)
        before = sum(len(str(message["content"])) for message in request.messages[:-1])
        ends = [(before + end) // _LETTERS for end in shared_ends(request.messages)]
        again = max((end for end in ends if end >= shortest(request.model)), default=0)
        first = max(0, again - read) if caches_prompts(request.model) else 0
        seen.calls += 1
        seen.input += reply["usage"]["prompt_tokens"]
        seen.output += reply["usage"]["completion_tokens"]
        seen.read += read + first
        seen.written += max(0, written - first)
        seen.first += first
        seen.limit = max(seen.limit, longest(request))
        seen.tier = str(request.parameters.get("service_tier") or "")

    def tell(self, weight: float, databases: float) -> None:
        """Report the calls, scaled to all questions.

        `weight` is the number of questions, and `databases` that of databases, for each one in the preview.
        """
        for (prompt, model), seen in self.seen.items():
            calls = max(1, round(seen.calls * weight))
            first = seen.first * min(weight, databases)
            written = first if _prefix_cache(model).marking else 0.0
            tell(
                prompt=prompt,
                model=model,
                calls=round(seen.calls * weight),
                input_tokens=seen.input / max(1, seen.calls),
                limit=seen.limit,
                tier=seen.tier,
                cacheable=max(0.0, seen.read * weight - first) / calls,
                written=(seen.written * weight + written) / calls,
                output_tokens=seen.output / max(1, seen.calls),
                cached=round(seen.cached * weight),
            )


def _cached(request: Request) -> Completion | None:
    """The reply from the user's own cache; None if the cache lacks the call."""
    path = os.environ.get("WORKBENCH_PREVIEW_CACHE", "")
    return _users_client(path).cached(request) if path and Path(path).is_file() else None


@lru_cache(maxsize=1)
def _users_client(path: str) -> Client:
    return Client(Store(Path(path)), offline=True)


@lru_cache(maxsize=64)
def _prefix_cache(model: str) -> PrefixCache:
    """The estimate of a provider's prompt cache, which all runs of a notebook share."""
    return PrefixCache(model)


def _as_reply(cached: Completion) -> Reply:
    message = {"role": "assistant", "content": cached.text}
    return {
        "choices": [{"message": message, "finish_reason": cached.finish_reason}],
        "usage": {"prompt_tokens": cached.usage.input, "completion_tokens": cached.usage.output},
    }


def stand_in(request: Request, key: str, url: str, seconds: float) -> Reply:
    """The embedded parser's reply in place of the requested model's; for an embedding, a text's counts of letters."""
    if request.model == STAND_IN:
        return send(request, key, url, seconds)
    if request.parameters.get(EMBEDDING):
        text = str(request.messages[0]["content"])
        counts = Counter(text.lower().encode())
        vector = array("f", [counts[letter] for letter in range(256)])
        message = {"role": "assistant", "content": b64encode(vector.tobytes()).decode()}
        return {
            "choices": [{"message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": len(text) // _LETTERS, "completion_tokens": 0},
        }
    temperature = request.parameters.get("temperature", 1.0)
    asked = replace(request, model=STAND_IN, parameters={"temperature": temperature})
    reply = send(asked, "", "", seconds)
    reply["usage"] = {
        "prompt_tokens": sum(len(str(m["content"])) for m in request.messages) // _LETTERS,
        "completion_tokens": len(reply["choices"][0]["message"]["content"]) // _LETTERS,
    }
    return reply
