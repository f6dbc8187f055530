"""What recorded calls would cost at a provider: with and without its cache, marks for it, and batches.

Tokens are words and signs. Prices are those that LiteLLM lists. `llm/remote/prefix_cache.py` is the provider's cache.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.llm.remote.prefix_cache import PrefixCache, Prefixes, prefixes
from workbench.llm.remote.prices import cost
from workbench.types import Request, Usage

MARKING = "anthropic/claude-sonnet-4-5"  # a model whose provider caches up to marks
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Asked:
    """A call as its bill depends on it."""

    prompt: str
    prefixes: Prefixes
    output: int

    @property
    def filters(self) -> bool:
        return self.prompt.startswith("prune/filter_column")


def asked(request: Request, output: int) -> Asked:
    """The call that was made by this request, and answered with so many tokens."""
    marked = replace(request, model=MARKING)
    return Asked(request.prompt, prefixes(marked, _TOKEN.findall), output)


@dataclass(slots=True)
class Bill:
    """Calls, tokens, and dollars: of input and of output. `read` is the input that comes from the cache."""

    calls: int = 0
    tokens: int = 0
    read: int = 0
    output: int = 0
    input_dollars: float = 0.0
    output_dollars: float = 0.0

    @property
    def dollars(self) -> float:
        return self.input_dollars + self.output_dollars


def bills(
    calls: Sequence[Asked],
    model: str,
    filtering: str = "",
    *,
    caches: bool = True,
    marks: bool = False,
    batch: bool = False,
) -> dict[str, Bill]:
    """The bill of each prompt: with the provider's cache or without, with marks for it, live or in batches."""
    known: dict[str, PrefixCache] = {}
    found: dict[str, Bill] = {}
    for call in calls:
        name = filtering if call.filters and filtering else model
        cache = known.setdefault(name, PrefixCache(name))
        prompt = call.prefixes if marks else replace(call.prefixes, marked={})
        read, written = cache.counts(prompt) if caches else (0, 0)
        read_in = cost(name, Usage(prompt.tokens, 0, read), written, batch=batch)
        whole = cost(name, Usage(prompt.tokens, call.output, read), written, batch=batch)
        assert read_in is not None, f"LiteLLM lists no price of {name}"
        assert whole is not None
        bill = found.setdefault(call.prompt, Bill())
        bill.calls += 1
        bill.tokens += prompt.tokens
        bill.read += read
        bill.output += call.output
        bill.input_dollars += read_in
        bill.output_dollars += whole - read_in
    return found


def total(found: Mapping[str, Bill]) -> float:
    """Dollars of all prompts together."""
    return sum(bill.dollars for bill in found.values())
