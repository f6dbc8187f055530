"""What models cost: LiteLLM's bundled price list, read without importing LiteLLM.

The cost of a model without a price is None, which means unknown and never zero. A price may have tiers: it
rises with the length of the input, as Gemini's above 200,000 tokens. Input that the provider had in its own
cache, or wrote there, and tokens of reasoning may have prices of their own, and so may calls of another
`service_tier`, such as OpenAI's "priority" and "flex". LiteLLM's cost calculator gives the same numbers
(tests/llm/providers/test_prices.py), but takes seconds to import.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.llm.provider import runs_here
from workbench.llm.remote.listed import listed
from workbench.llm.remote.replies import Reply, read_usage, tokens_apart
from workbench.types import Request, Usage

LONGEST = 128_000  # tokens of output assumed for a model whose longest reply is not listed


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per token: of input, of output, of input read from the provider's cache or written to it.

    `reasoning` is the price of the part of the output that is reasoning.
    """

    input: float
    output: float
    cached: float
    written: float
    reasoning: float


def price(model: str, tokens: int = 0, *, batch: bool = False, tier: object = None) -> Price | None:
    """The model's price for a call with this many tokens of input; None if LiteLLM lists none.

    `tier` is the call's `service_tier`; without a price of its own in LiteLLM's list, it has the ordinary price.
    `batch` is the price in a batch: half the live price where LiteLLM lists no price of its own. In a batch, cached
    input costs as much as other input unless LiteLLM lists a price for it, which gpt-4.1 lacks.
    """
    if runs_here(model):
        return Price(0.0, 0.0, 0.0, 0.0, 0.0)
    suffix = "_batches" if batch else f"_{tier}" if tier else ""
    return _price(model, -(-tokens // 1000) * 1000, suffix)  # tiers begin above whole thousands


@functools.lru_cache(maxsize=1000)
def _price(model: str, tokens: int, suffix: str) -> Price | None:
    entry = listed(model)
    batch = suffix == "_batches"

    def rate(name: str) -> float | None:
        live, own = _rate(entry, name, tokens), _rate(entry, name, tokens, suffix)
        if own is not None or live is None:
            return own
        return live / 2 if batch else live

    read, output = rate("input_cost_per_token"), rate("output_cost_per_token")
    if entry.get("mode") == "embedding":
        output = 0.0  # LiteLLM lists none where there is no output
    if read is None or output is None:
        return None
    of_cache = ("cache_read_input_token_cost", "cache_creation_input_token_cost")
    cached, written = (
        _rate(entry, name, tokens, "_batches") if batch else rate(name) for name in of_cache
    )
    reasoning = rate("output_cost_per_reasoning_token")
    if not batch and _rate(entry, "output_cost_per_token", tokens, suffix) is not None:
        reasoning = _rate(entry, "output_cost_per_reasoning_token", tokens, suffix)
    parts = ((cached, read), (written, read), (reasoning, output))
    return Price(read, output, *(whole if own is None else own for own, whole in parts))


def _rate(entry: Mapping[str, Any], name: str, tokens: int, suffix: str = "") -> float | None:
    """The rate for an input of this length; names of rates for batches or a service tier end in `suffix`."""
    tiers = (re.fullmatch(rf"{name}_above_(\d+)k_tokens", key) for key in entry if entry[key])
    reached = max(
        (int(tier[1]) for tier in tiers if tier and int(tier[1]) * 1000 < tokens), default=0
    )
    found = entry.get(f"{name}_above_{reached}k_tokens{suffix}" if reached else f"{name}{suffix}")
    return None if found is None else float(found)


def cost(
    model: str,
    usage: Usage,
    written: int = 0,
    reasoning: int = 0,
    *,
    batch: bool = False,
    tier: object = None,
) -> float | None:
    """Dollars for these tokens, or None if the model has no price.

    `written` is the part of the input that the provider wrote to its cache, and `reasoning` a part of the output.
    Some servers report more tokens of a part than of the whole; the cost is never negative.
    """
    if (rate := price(model, usage.input, batch=batch, tier=tier)) is None:
        return None
    fresh = max(0, usage.input - usage.cached - written)
    return (
        fresh * rate.input
        + usage.cached * rate.cached
        + written * rate.written
        + max(0, usage.output - reasoning) * rate.output
        + reasoning * rate.reasoning
    )


def bill(model: str, reply: Reply, tier: object = None) -> float | None:
    """Dollars for a reply; None if the model has no price, or the reply has no token counts.

    `tier` is the `service_tier` of the request, which counts if the reply names none.
    """
    if usage := read_usage(reply):
        tier = reply.get("service_tier") or tier
        return cost(model, usage, *tokens_apart(reply), batch="batch" in reply, tier=tier)
    return 0.0 if runs_here(model) else None


def longest(request: Request) -> int:
    """The most tokens that the reply may have: the request's limit, else the model's."""
    for name in ("max_completion_tokens", "max_tokens"):
        if isinstance(limit := request.parameters.get(name), int):
            return limit
    entry = listed(request.model)
    return int(entry.get("max_output_tokens") or entry.get("max_tokens") or LONGEST)


def most(request: Request, *, batch: bool = False) -> float | None:
    """The most that a call may cost: a token for every two bytes of input, and all the output that it may have."""
    size = sum(len(str(message.get("content")).encode()) for message in request.messages)
    usage, tier = Usage(size // 2 + 100, longest(request)), request.parameters.get("service_tier")
    return cost(request.model, usage, batch=batch, tier=tier)
