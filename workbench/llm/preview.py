"""Say before a run how many calls it makes, what they cost and how long they take.

The numbers of requests and cached answers are exact. Tokens and seconds are estimated from cached calls of
the same prompt and model, else of the same model, else from wide rules of thumb. The prompt of a call that
depends on an earlier reply is not known yet: the planner of such calls gives an `Estimate` of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from workbench.errors import BadInputError, naming
from workbench.llm.budget import dollars
from workbench.llm.cache.transfer import Select, calls
from workbench.llm.client import Client
from workbench.llm.parameters import output_limit
from workbench.llm.remote.batches import LiteLLMBatches
from workbench.llm.remote.prices import cost, listed, longest
from workbench.store import Store
from workbench.types import Request, Usage

Range = tuple[float, float]
# Rules of thumb for a model without cached calls.
TOKENS = (1 / 5, 1 / 3)  # per character of input
OUTPUT = (20, 1000)  # tokens per answer, without those of thinking
SECONDS = (1.0, 20.0)  # per call


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls whose prompts depend on earlier replies: their number, and the tokens of input of each.

    `limit` is the most tokens that a reply may have; by default the room that steps give to an answer of
    a thousand tokens, with more for a model that thinks.
    """

    prompt: str
    model: str
    calls: int
    input_tokens: int
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """`requests`, `cached` and `new` (calls to make) are exact counts; the rest are estimates.

    `expected` is the number of calls given as `Estimate`s. A `Range` is a low and a high estimate.
    `unpriced` counts calls of unknown price, which `dollars` leaves out. `batched` is what the calls cost with
    those in batches that can be.
    """

    requests: int
    cached: int
    new: int
    expected: int
    input_tokens: Range
    dollars: Range
    batched: Range
    unpriced: int
    seconds: Range

    def __str__(self) -> str:
        """The preview in a few lines."""
        low, high = self.dollars
        tokens = " to ".join(f"{end:,.0f}" for end in self.input_tokens)
        money = f"{dollars(low)} to {dollars(high, self.unpriced)}"
        if self.batched != self.dollars:
            money += f" (in batches {dollars(self.batched[0])} to {dollars(self.batched[1])})"
        time = " to ".join(_duration(end) for end in self.seconds)
        lines = [
            f"{_count(self.requests, 'request')}: {self.cached:,} cached, {_count(self.new, 'call')} to make",
            f"estimated: {tokens} tokens in, {money}, {time}",
        ]
        if self.expected:
            lines.insert(
                1, f"about {self.expected:,} more, whose prompts depend on replies: an estimate"
            )
        return "\n".join(lines)


def preview(
    client: Client, requests: Iterable[Request], estimates: Iterable[Estimate] = ()
) -> Preview:
    """Preview `client.complete_many(requests)` and the calls that are estimated to follow it."""
    keys: set[str] = set()
    total = cached = 0
    groups: list[_Group] = []
    for request in requests:
        total += 1
        key = client.key(request)
        if key in keys or client.cached(request):
            cached += 1
            continue
        keys.add(key)
        characters = sum(len(str(message.get("content"))) for message in request.messages)
        limit = longest(request)
        thought = _thought(request, limit)
        groups.append(_Group(request.prompt, request.model, 1, characters, None, limit, thought))
    expected = [_expected(estimate) for estimate in estimates]
    rates: dict[tuple[str, str], _Rates] = {}
    tokens = money = batched = seconds = (0.0, 0.0)
    unpriced = 0
    for group in [*groups, *expected]:
        pair = (group.prompt, group.model)
        if pair not in rates:
            rates[pair] = _measured(client.store, *pair)
        size, output = group.size(rates[pair])
        costs = [
            cost(group.model, Usage(round(read), round(written)))
            for read, written in zip(size, output, strict=True)
        ]
        tokens = _add(tokens, size, group.calls)
        seconds = _add(seconds, rates[pair].seconds, group.calls)
        if costs[0] is None or costs[1] is None:
            unpriced += group.calls
        else:
            money = _add(money, (costs[0], costs[1]), group.calls)
            batch = not LiteLLMBatches().unable(group.model)
            less = [
                cost(group.model, Usage(round(read), round(written)), batch=batch) or 0.0
                for read, written in zip(size, output, strict=True)
            ]
            batched = _add(batched, (less[0], less[1]), group.calls)
    return Preview(
        requests=total,
        cached=cached,
        new=len(keys),
        expected=sum(group.calls for group in expected),
        input_tokens=tokens,
        dollars=money,
        batched=batched,
        unpriced=unpriced,
        seconds=(seconds[0] / client.at_once, seconds[1] / client.at_once),
    )


def preview_file(client: Client, path: Path) -> Preview:
    """Preview a file of JSON lines, each a call as it will be sent or an estimate."""
    requests: list[Request] = []
    estimates: list[Estimate] = []
    with naming(path):
        lines = path.read_bytes().splitlines()
    for number, line in enumerate(lines, 1):
        try:
            fields = orjson.loads(line)
            if "calls" in fields:
                estimates.append(Estimate(**fields))
            else:
                requests.append(Request(**fields))
        except (ValueError, TypeError) as error:
            raise BadInputError(
                f"{path}, line {number}: {error}; expected a call (prompt, model, messages, parameters,"
                " sample) or an estimate (prompt, model, calls, input_tokens)"
            ) from error
    return preview(client, requests, estimates)


@dataclass(frozen=True, slots=True)
class _Rates:
    tokens: Range  # of input per character of the messages
    output: Range  # tokens per call
    seconds: Range  # per call


@dataclass(frozen=True, slots=True)
class _Group:
    """Equal calls, `characters` long; an estimate gives their `tokens` instead."""

    prompt: str
    model: str
    calls: int
    characters: int
    tokens: int | None
    limit: int
    thought: int

    def size(self, rates: _Rates) -> tuple[Range, Range]:
        """The tokens of input and of output of one call. Measured output has the tokens of thinking in it."""
        low, high = rates.tokens
        size = (self.characters * low, self.characters * high)
        if self.tokens is not None:
            size = (self.tokens * 0.7, self.tokens * 1.3)
        least, most = rates.output
        if rates.output is OUTPUT:
            most += self.thought
        return size, (min(least, self.limit), min(most, self.limit))


def _expected(estimate: Estimate) -> _Group:
    limit = estimate.limit or output_limit(estimate.model, OUTPUT[1], {})
    request = Request(estimate.prompt, estimate.model, (), {"max_tokens": limit})
    most = longest(request)
    return _Group(
        estimate.prompt,
        estimate.model,
        estimate.calls,
        0,
        estimate.input_tokens,
        most,
        _thought(request, most),
    )


def _thought(request: Request, limit: int) -> int:
    """The most tokens that the model may think: its budget, else as many as the reply may have."""
    thinking = request.parameters.get("thinking")
    if isinstance(thinking, Mapping) and "budget_tokens" in thinking:
        return int(thinking["budget_tokens"])
    return limit if listed(request.model).get("supports_reasoning") else 0


def _measured(store: Store, prompt: str, model: str) -> _Rates:
    for select in (Select(prompt=prompt, model=model), Select(model=model)):
        measured = [
            (
                call.usage.input / max(1, sum(len(str(m.get("content"))) for m in call.messages)),
                call.usage.output,
                call.seconds,
            )
            for call, _ in zip(calls(store, select), range(200), strict=False)
            if call.usage.input and "batch" not in call.reply  # its time is the batch's
        ]
        if len(measured) >= 5:
            return _Rates(*(_middle(values) for values in zip(*measured, strict=True)))
    return _Rates(TOKENS, OUTPUT, SECONDS)


def _middle(values: Iterable[float]) -> Range:
    """The first and the last value after a tenth is cut off at either end."""
    ordered = sorted(values)
    cut = len(ordered) // 10
    return ordered[cut], ordered[-1 - cut]


def _add(total: Range, single: Range, number: int) -> Range:
    return total[0] + single[0] * number, total[1] + single[1] * number


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
