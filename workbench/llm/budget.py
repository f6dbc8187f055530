"""What calls cost: LiteLLM's bundled prices, read without importing it; a ledger; a limit on spending.

A model without a price costs None, which is unknown and never zero. Sums say how many such calls they
leave out. What a run paid is kept apart from what its answers cost when they were first asked for.
"""

import functools
import importlib.util
import threading
from collections import Counter
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Literal

import orjson

from workbench.errors import BudgetError
from workbench.llm.provider import is_ours
from workbench.types import Completion, Request, Usage

UNLIMITED = 4096  # tokens of output reckoned with where a request names no limit


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a token of input, of output, and of input that the provider had cached."""

    input: float
    output: float
    cached: float


@functools.cache
def _bundled() -> dict[str, dict[str, Any]]:
    found = importlib.util.find_spec("litellm")
    if not found or not found.origin:
        return {}
    path = Path(found.origin).with_name("model_prices_and_context_window_backup.json")
    entries: dict[str, dict[str, Any]] = orjson.loads(path.read_bytes())
    return entries


def price(model: str) -> Price | None:
    """What LiteLLM's list says of a model, with its provider's name or without it."""
    return Price(0.0, 0.0, 0.0) if is_ours(model) else _listed(model)


@functools.cache
def _listed(model: str) -> Price | None:
    provider, _, name = model.partition("/")
    entry = _bundled().get(model)
    if (
        entry is None
        and (bare := _bundled().get(name))
        and bare.get("litellm_provider") == provider
    ):
        entry = bare
    if not entry or "input_cost_per_token" not in entry or "output_cost_per_token" not in entry:
        return None
    read = float(entry["input_cost_per_token"])
    cached = float(entry.get("cache_read_input_token_cost") or read)
    return Price(read, float(entry["output_cost_per_token"]), cached)


def cost(model: str, usage: Usage) -> float | None:
    """Dollars for these tokens, or None where no price is known."""
    if (found := price(model)) is None:
        return None
    fresh = usage.input - usage.cached
    return fresh * found.input + usage.cached * found.cached + usage.output * found.output


def most(request: Request) -> float | None:
    """The most that a call may cost: a token for two characters in, and all the output it allows."""
    characters = sum(len(str(message.get("content"))) for message in request.messages)
    limits = (request.parameters.get(name) for name in ("max_completion_tokens", "max_tokens"))
    output = next((limit for limit in limits if limit), UNLIMITED)
    return cost(request.model, Usage(characters // 2 + 100, output))


@dataclass(slots=True)
class Tally:
    """Calls paid now, and answers that the cache held, each with tokens and dollars."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    hits: int = 0
    held_input_tokens: int = 0
    held_output_tokens: int = 0
    held_cost: float = 0.0
    held_unpriced: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*map(sum, zip(astuple(self), astuple(other), strict=True)))


Tag = Literal["prompt", "question", "system", "model"]


class Ledger:
    """What was asked and paid in one run, by prompt, question, system and model; and what went wrong."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, str, str, str], Tally] = {}
        self._questions: dict[str, list[Tally]] = {}  # the same tallies, for `of`
        self._lock = threading.Lock()
        self.retried: Counter[str] = Counter()  # faults after which a request was sent again
        self.failed: Counter[str] = Counter()  # faults that requests, or the run, ended with
        self.flagged: Counter[str] = Counter()  # answers cut off or filtered, by finish reason

    def hit(self, request: Request, found: Completion) -> None:
        """An answer came from the cache."""
        with self._lock:
            tally = self._tally(request)
            tally.hits += 1
            tally.held_input_tokens += found.usage.input
            tally.held_output_tokens += found.usage.output
            if found.cost is None:
                tally.held_unpriced += 1
            else:
                tally.held_cost += found.cost
            self._flag(found)

    def paid(self, request: Request, answer: Completion) -> None:
        """An answer was paid for."""
        with self._lock:
            tally = self._tally(request)
            tally.calls += 1
            tally.input_tokens += answer.usage.input
            tally.output_tokens += answer.usage.output
            if answer.cost is None:
                tally.unpriced += 1
            else:
                tally.cost += answer.cost
            self._flag(answer)

    def fault(self, name: str, *, again: bool) -> None:
        """An attempt failed; `again` when it is repeated, else its request has ended with it."""
        with self._lock:
            (self.retried if again else self.failed)[name] += 1

    def by(self, tag: Tag) -> dict[str, Tally]:
        """The tallies of each prompt, question, system or model."""
        place = ("prompt", "question", "system", "model").index(tag)
        sums: dict[str, Tally] = {}
        for tags, tally in list(self._tallies.items()):
            sums[tags[place]] = sums.get(tags[place], Tally()) + tally
        return sums

    def of(self, question: str) -> Tally:
        """The tally of one question, however many there are."""
        return sum(self._questions.get(question, []), Tally())

    def pairs(self) -> dict[tuple[str, str], Tally]:
        """The tallies of each prompt with each model."""
        sums: dict[tuple[str, str], Tally] = {}
        for (prompt, _, _, model), tally in list(self._tallies.items()):
            sums[prompt, model] = sums.get((prompt, model), Tally()) + tally
        return sums

    def total(self) -> Tally:
        """The whole run."""
        return sum(list(self._tallies.values()), Tally())

    def __str__(self) -> str:
        """The run in a few lines."""
        sums = self.total()
        lines = [
            f"{sums.calls:,} calls paid: {dollars(sums.cost, sums.unpriced)}",
            f"{sums.input_tokens:,} tokens in, {sums.output_tokens:,} out",
            f"{sums.hits:,} answers held: {dollars(sums.held_cost, sums.held_unpriced)} in their time",
        ]
        for title, counts in (
            ("sent again after", self.retried),
            ("without an answer", self.failed),
            ("flagged answers", self.flagged),
        ):
            if counts:
                each = ", ".join(f"{name} {number:,}" for name, number in sorted(counts.items()))
                lines.append(f"{title}: {each}")
        return "\n".join(lines)

    def _tally(self, request: Request) -> Tally:
        tags = (request.prompt, request.question, request.system, request.model)
        found = self._tallies.get(tags)
        if found is None:
            found = self._tallies[tags] = Tally()
            self._questions.setdefault(request.question, []).append(found)
        return found

    def _flag(self, answer: Completion) -> None:
        if answer.finish_reason not in {"stop", ""}:
            self.flagged[answer.finish_reason] += 1


def dollars(amount: float, unpriced: int = 0) -> str:
    """An amount, and how many calls of unknown price it leaves out."""
    if not unpriced:
        return f"${amount:,.4f}"
    return f"${amount:,.4f} and {unpriced:,} call{'' if unpriced == 1 else 's'} of unknown price"


class Budget:
    """A limit on what is paid from now on. Each call reserves the most it may cost before it is sent."""

    def __init__(self, dollars: float | None = None, *, calls: int | None = None) -> None:
        self.dollars = dollars
        self.calls = calls
        self.spent = 0.0
        self.made = 0
        self._reserved: list[float] = []
        self._lock = threading.Lock()

    def reserve(self, amount: float | None, model: str) -> bool:
        """Whether a call of at most `amount` may be sent; False asks to wait for those under way."""
        with self._lock:
            if self.dollars is not None and amount is None:
                raise BudgetError(
                    f"no price is known for {model}, so ${self.dollars:,.2f} cannot be kept to: "
                    "give the budget as a number of calls"
                )
            amount = amount or 0.0
            fits = (
                self.dollars is None or self.spent + sum(self._reserved) + amount <= self.dollars
            ) and (self.calls is None or self.made + len(self._reserved) < self.calls)
            if fits:
                self._reserved.append(amount)
            elif not self._reserved:
                raise BudgetError(self._told(amount))
            return fits

    def settle(self, amount: float | None, cost: float | None, *, paid: bool) -> None:
        """A call that reserved `amount` is over and cost that much."""
        with self._lock:
            self._reserved.remove(amount or 0.0)
            self.spent += (cost or 0.0) if paid else 0.0
            self.made += paid

    def _told(self, amount: float) -> str:
        if self.calls is not None and self.made >= self.calls:
            return f"the budget of {self.calls:,} calls is used up"
        return (
            f"the budget of ${self.dollars or 0:,.4f} is reached: ${self.spent:,.4f} are spent, and the "
            f"next call may cost ${amount:,.4f}"
        )
