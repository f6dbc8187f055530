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

from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.keys import Reply
from workbench.llm.money import longest
from workbench.llm.scripted import reply_with
from workbench.llm.send import EMBEDDING, answer_here
from workbench.study.progress import report
from workbench.types import Request

EMBEDDED_PARSER = "embedded/parser"
_TOKEN_LENGTH = 4  # letters, about, for a language model


def preview_questions() -> int:
    """The number of questions of the preview; 0 if this process is no preview."""
    return int(os.environ.get("WORKBENCH_PREVIEW") or 0)


@dataclass(slots=True)
class CallCounts:
    """The calls of one prompt and model on the questions of a preview, and their tokens.

    output_limit: the most tokens that a reply may have. tier: the calls' `service_tier`.
    cached: calls that the user's cache holds; `calls` does not count them.
    """

    calls: int = 0
    input_tokens: int = 0
    output_limit: int = 0
    tier: str = ""
    cached: int = 0


class StandIn:
    """Answers calls from the user's cache or by the embedded parser. `counts` has the calls by prompt and model."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], CallCounts] = {}
        self._lock = threading.Lock()

    def __call__(self, request: Request, url: str, seconds: float) -> Reply:
        del url, seconds
        users_cache = os.environ.get("WORKBENCH_PREVIEW_CACHE", "")
        has_cache = users_cache and Path(users_cache).is_file()
        completion = _users_client(users_cache).cached(request) if has_cache else None
        if completion:
            tokens = (completion.input_tokens, completion.output_tokens)
            reply = reply_with(completion.text, completion.finish_reason, *tokens)
        else:
            reply = stand_in(request)
        with self._lock:
            counts = self.counts.setdefault((request.prompt, request.model), CallCounts())
            if completion:
                counts.cached += 1
            else:
                self._count(counts, request, reply)
        return reply

    def _count(self, counts: CallCounts, request: Request, reply: Reply) -> None:
        counts.calls += 1
        counts.input_tokens += reply["usage"]["prompt_tokens"]
        counts.output_limit = max(counts.output_limit, longest(request))
        counts.tier = str(request.parameters.get("service_tier") or "")

    def report(self, question_weight: float) -> None:
        """Report the calls, scaled to all questions: each one in the preview stands for `question_weight` of them."""
        for (prompt, model), counts in self.counts.items():
            report(
                prompt=prompt,
                model=model,
                calls=round(counts.calls * question_weight),
                input_tokens=counts.input_tokens / max(1, counts.calls),
                limit=counts.output_limit,
                tier=counts.tier,
                cached=round(counts.cached * question_weight),
            )


@lru_cache(maxsize=1)
def _users_client(path: str) -> Client:
    return Client(Cache(path), offline=True)


def stand_in(request: Request) -> Reply:
    """The embedded parser's reply in place of the requested model's; for an embedding, a text's counts of letters."""
    if request.model == EMBEDDED_PARSER:
        return answer_here(request)
    if request.parameters.get(EMBEDDING):
        text = str(request.messages[0]["content"])
        counts = Counter(text.lower().encode())
        vector = array("f", [counts[letter] for letter in range(256)])
        content = b64encode(vector.tobytes()).decode()
        return reply_with(content, "stop", len(text) // _TOKEN_LENGTH, 0)
    temperature = request.parameters.get("temperature", 1.0)
    replaced = replace(request, model=EMBEDDED_PARSER, parameters={"temperature": temperature})
    reply = answer_here(replaced)
    read = sum(len(str(message["content"])) for message in request.messages)
    written = len(reply["choices"][0]["message"]["content"])
    tokens = {"prompt_tokens": read // _TOKEN_LENGTH, "completion_tokens": written // _TOKEN_LENGTH}
    return {**reply, "usage": tokens}
