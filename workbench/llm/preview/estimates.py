"""The tokens and seconds of calls that are not made yet, and their dollars.

They come from cached calls of the same prompt and model, else of the same model, else from rules of thumb.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from workbench.llm.cache.transfer import Select, calls
from workbench.llm.parameters import output_limit
from workbench.llm.preview.rows import Range, Row
from workbench.llm.remote.batches import BatchService
from workbench.llm.remote.listed import listed
from workbench.llm.remote.prices import cost, longest, price
from workbench.store import Store
from workbench.types import Message, Request, Usage

# Rules of thumb for a model without cached calls.
TOKENS = (1 / 5, 1 / 3)  # per character of input
OUTPUT = (20, 1000)  # tokens per answer, without those of thinking
SECONDS = (1.0, 20.0)  # per call
_AROUND = (0.7, 1.3)  # the error of a number of tokens that was counted by letters


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls whose prompts depend on earlier replies: their number, and the tokens of input of each.

    limit: the most tokens that a reply may have; by default the room that steps give to an answer of
        a thousand tokens, with more for a model that thinks.
    output_tokens: the length of the shortest answer, 0 if it is not known.
    cached: the number of further such calls that our own cache answers.
    tier: the calls' `service_tier`, which may have a price of its own.
    """

    prompt: str
    model: str
    calls: int
    input_tokens: float
    limit: int | None = None
    output_tokens: float = 0.0
    cached: int = 0
    tier: str = ""

    def row(self, rates: "Rates") -> Row:
        limit = self.limit or output_limit(self.model, OUTPUT[1], {})
        parameters = {"max_tokens": limit, "service_tier": self.tier}
        request = Request(self.prompt, self.model, (), parameters)
        size = _times(_AROUND, self.input_tokens)
        output = rates.replies(request, self.output_tokens)
        return _row(request, self.calls, self.cached, size, output, rates)


def row_of(request: Request, rates: "Rates") -> Row:
    """The row of one call."""
    size = _times(rates.tokens, _letters(request.messages))
    return _row(request, 1, 0, size, rates.replies(request), rates)


def _letters(messages: Sequence[Message]) -> int:
    return sum(len(str(message.get("content"))) for message in messages)


@dataclass(frozen=True, slots=True)
class Rates:
    """Ranges of a prompt's calls with a model; `measured` says whether they are those of cached calls."""

    tokens: Range = TOKENS  # of input per character of the messages
    output: Range = OUTPUT  # tokens per call
    seconds: Range = SECONDS  # per call
    measured: bool = False

    def replies(self, request: Request, shortest: float = 0.0) -> Range:
        """The tokens of a reply. Measured ones include the tokens of thinking."""
        if listed(request.model).get("mode") == "embedding":
            return 0.0, 0.0
        limit = longest(request)
        least, most = self.output
        if not self.measured:
            least = shortest * _AROUND[0] or least
            most = max(most, shortest * _AROUND[1]) + _thought(request, limit)
        return min(least, limit), min(most, limit)


def measured(store: Store, prompt: str, model: str) -> Rates:
    """The rates of cached calls if there are at least five, else rules of thumb."""
    for select in (Select(prompt=prompt, model=model), Select(model=model)):
        found = [
            (call.usage.input / max(1, _letters(call.messages)), call.usage.output, call.seconds)
            for call in islice(calls(store, select), 200)
            if call.usage.input and "batch" not in call.reply  # it took as long as its batch
        ]
        if len(found) >= 5:
            tokens, output, seconds = map(_middle, zip(*found, strict=True))
            return Rates(tokens, output, seconds, measured=True)
    return Rates()


def _row(
    request: Request,
    count: int,
    cached: int,
    size: Range,
    output: Range,
    rates: Rates,
) -> Row:
    model, tier = request.model, request.parameters.get("service_tier")

    def dollars(*, batch: bool = False) -> Range:
        def of_one(tokens: float, reply: float) -> float:
            usage = Usage(round(tokens), round(reply))
            return cost(model, usage, batch=batch, tier=tier) or 0.0

        return _times((of_one(size[0], output[0]), of_one(size[1], output[1])), count)

    batch = not BatchService().unable(model)
    return Row(
        request.prompt,
        model,
        count,
        cached,
        0 if price(model) else count,
        _times(size, count),
        _times(output, count),
        dollars(),
        dollars(batch=batch),
        _times(rates.seconds, count),
    )


def _thought(request: Request, limit: int) -> int:
    """The most tokens that the model may think: its budget, else as many as the reply may have."""
    thinking = request.parameters.get("thinking")
    if isinstance(thinking, Mapping) and "budget_tokens" in thinking:
        return int(thinking["budget_tokens"])
    return limit if listed(request.model).get("supports_reasoning") else 0


def _middle(values: Iterable[float]) -> Range:
    """The first and the last value after a tenth is cut off at either end."""
    ordered = sorted(values)
    cut = len(ordered) // 10
    return ordered[cut], ordered[-1 - cut]


def _times(ends: Range, factor: float) -> Range:
    return ends[0] * factor, ends[1] * factor
