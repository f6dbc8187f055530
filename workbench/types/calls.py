"""A call of a model: the request, and the completion that answers it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Message = Mapping[str, Any]  # {"role": "user", "content": "..."}


@dataclass(frozen=True, slots=True)
class Request:
    """One model call.

    `model` begins with its provider, as in LiteLLM: "openai/gpt-4o". `parameters` are the generation
    parameters. Samples 0, 1, 2... of the same messages are separate calls. `prompt`, `question` and
    `system` name what the call is for: the ledger counts by them, and the cache key leaves them out.
    """

    prompt: str
    model: str
    messages: Sequence[Message]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sample: int = 0
    question: str = ""
    system: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them; `cached` is the part of `input` that it had in its own cache."""

    input: int = 0
    output: int = 0
    cached: int = 0


Fault = Literal[
    "rate_limit",
    "server",
    "connection",
    "timeout",
    "malformed",
    "empty",
    "filtered",
    "rejected",
    "",
]


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer to a request, or its failure: a `fault`, and an `error` that describes it.

    A `finish_reason` of "length" marks an answer that was cut off by the limit on its tokens. `cost` is what
    the call cost in dollars when it was made, None if its price is unknown. `key` is its cache key. `cached`
    says that the answer came from the cache, so nothing was paid now.
    """

    text: str
    model: str
    finish_reason: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    key: str = ""
    cached: bool = False
    fault: Fault = ""
    error: str = ""
