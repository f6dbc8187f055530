"""What a run would ask, cost and take, before it is run: what is held is known, the rest is estimated.

Tokens, answers' lengths and seconds are taken from calls of the same prompt and model in the lab book, else
of the same model; else from rules of thumb, with a wide range. A call whose prompt depends on an earlier
reply cannot be written down yet: whoever plans it gives an `Estimate`, and the result says so.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import orjson

from workbench.errors import BadInputError, naming
from workbench.llm.budget import UNLIMITED, cost, dollars
from workbench.llm.client import Client
from workbench.llm.limits import START
from workbench.llm.transfer import Select, calls
from workbench.store import Store
from workbench.types import Request, Usage

Range = tuple[float, float]
TOKENS = (1 / 5, 1 / 3)  # for a character, where nothing was measured
OUTPUT = (20, 1000)
SECONDS = (1.0, 20.0)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls that cannot be written down yet: how many of them, and tokens in for each."""

    prompt: str
    model: str
    calls: int
    input_tokens: int


@dataclass(frozen=True, slots=True)
class Preview:
    """Counts are exact for requests; `expected` calls, tokens, dollars and seconds are estimates."""

    requests: int
    held: int
    new: int
    expected: int
    input_tokens: Range
    dollars: Range
    unpriced: int
    seconds: Range

    def __str__(self) -> str:
        """The preview in a few lines."""
        low, high = self.dollars
        held = _many(self.held, "answer")
        tokens = " to ".join(f"{end:,.0f}" for end in self.input_tokens)
        money = f"{dollars(low)} to {dollars(high, self.unpriced)}"
        time = " to ".join(_duration(end) for end in self.seconds)
        lines = [
            f"{_many(self.requests, 'request')}: {held} held, {_many(self.new, 'call')} to make",
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
    """What `client.complete_many(requests)` would do, and the calls that are estimated to follow."""
    keys: set[str] = set()
    total = held = 0
    lots: list[_Lot] = []
    for request in requests:
        total += 1
        key = client.key(request)
        if key in keys or client.held(request):
            held += 1
            continue
        keys.add(key)
        characters = sum(len(str(message.get("content"))) for message in request.messages)
        limit = request.parameters.get("max_tokens") or UNLIMITED
        lots.append(_Lot(request.prompt, request.model, 1, characters, None, limit))
    expected = [_Lot(e.prompt, e.model, e.calls, 0, e.input_tokens) for e in estimates]
    known: dict[tuple[str, str], _Experience] = {}
    tokens = money = seconds = (0.0, 0.0)
    unpriced = 0
    for lot in [*lots, *expected]:
        pair = (lot.prompt, lot.model)
        if pair not in known:
            known[pair] = _experience(client.store, *pair)
        size, output = lot.size(known[pair])
        costs = [
            cost(lot.model, Usage(round(read), round(written)))
            for read, written in zip(size, output, strict=True)
        ]
        tokens = _add(tokens, size, lot.calls)
        seconds = _add(seconds, known[pair].seconds, lot.calls)
        if costs[0] is None or costs[1] is None:
            unpriced += lot.calls
        else:
            money = _add(money, (costs[0], costs[1]), lot.calls)
    return Preview(
        requests=total,
        held=held,
        new=len(keys),
        expected=sum(lot.calls for lot in expected),
        input_tokens=tokens,
        dollars=money,
        unpriced=unpriced,
        seconds=(seconds[0] / client.at_once, seconds[1] / min(START, client.at_once)),
    )


def preview_file(client: Client, path: Path) -> Preview:
    """The preview of a file of JSON lines: calls as they will be sent, and estimates."""
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
class _Experience:
    tokens: Range  # for a character of the messages
    output: Range  # for a call
    seconds: Range  # for a call


@dataclass(frozen=True, slots=True)
class _Lot:
    """Calls of one kind."""

    prompt: str
    model: str
    calls: int
    characters: int
    tokens: int | None = None  # where somebody estimated them
    limit: int = UNLIMITED

    def size(self, known: _Experience) -> tuple[Range, Range]:
        """Tokens in and out of one call."""
        low, high = known.tokens
        size = (self.characters * low, self.characters * high)
        if self.tokens is not None:
            size = (self.tokens * 0.7, self.tokens * 1.3)
        return size, (min(known.output[0], self.limit), min(known.output[1], self.limit))


def _experience(store: Store, prompt: str, model: str) -> _Experience:
    for select in (Select(prompt=prompt, model=model), Select(model=model)):
        known = [
            (
                call.usage.input / max(1, sum(len(str(m.get("content"))) for m in call.messages)),
                call.usage.output,
                call.seconds,
            )
            for call, _ in zip(calls(store, select), range(200), strict=False)
            if call.usage.input
        ]
        if len(known) >= 5:
            rates, outputs, seconds = (_middle(values) for values in zip(*known, strict=True))
            return _Experience(rates, outputs, seconds)
    return _Experience(TOKENS, OUTPUT, SECONDS)


def _middle(values: Iterable[float]) -> Range:
    """Between a tenth from below and a tenth from above."""
    ordered = sorted(values)
    cut = len(ordered) // 10
    return ordered[cut], ordered[-1 - cut]


def _add(total: Range, each: Range, number: int) -> Range:
    return total[0] + each[0] * number, total[1] + each[1] * number


def _many(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
