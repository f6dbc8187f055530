"""A ledger of what was paid, and a limit on spending.

An unknown cost of a call is None, never zero; sums say how many calls of unknown cost they leave out.
The ledger counts calls that were paid now apart from cached answers, which were paid earlier.
"""

import threading
from collections import Counter
from dataclasses import dataclass, replace
from typing import Literal

from workbench.errors import BudgetError
from workbench.types import Completion, Request


@dataclass(slots=True)
class Tally:
    """Numbers of calls paid now (`calls`) and of cached answers (`hits`), with their tokens and dollars.

    `cost` was paid now and `cached_cost` earlier. `unpriced` and `cached_unpriced` count calls of unknown price,
    which the dollars leave out.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    hits: int = 0
    cached_input_tokens: int = 0
    cached_output_tokens: int = 0
    cached_cost: float = 0.0
    cached_unpriced: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


Tag = Literal["prompt", "question", "system", "model"]


class Ledger:
    """A client's calls and cached answers by prompt, question, system and model; and its faults.

    `retried` counts faults after which a request was sent again, and `failed` faults that ended a request
    or the run. `perhaps_paid` counts requests that were sent and got no whole reply, so that the provider may
    have charged for them. `flagged` counts answers that were cut off or filtered, by finish reason. `left_out`
    has a line for each model and parameter that the model refuses.
    """

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, str, str, str], Tally] = {}
        self._questions: dict[str, list[Tally]] = {}  # the same tallies by question, for `of`
        self._total = Tally()  # kept up to date: a display asks for it several times a second
        self._lock = threading.Lock()
        self.retried: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.flagged: Counter[str] = Counter()
        self.perhaps_paid = 0
        self.left_out: dict[tuple[str, str], str] = {}

    def hit(self, request: Request, answer: Completion) -> None:
        """Count an answer that came from the cache."""
        with self._lock:
            for tally in (self._tally(request), self._total):
                tally.hits += 1
                tally.cached_input_tokens += answer.usage.input
                tally.cached_output_tokens += answer.usage.output
                tally.cached_cost += answer.cost or 0.0
                tally.cached_unpriced += answer.cost is None
            self._flag(answer)

    def paid(self, request: Request, answer: Completion) -> None:
        """Count an answer that was paid for now."""
        with self._lock:
            for tally in (self._tally(request), self._total):
                tally.calls += 1
                tally.input_tokens += answer.usage.input
                tally.output_tokens += answer.usage.output
                tally.cost += answer.cost or 0.0
                tally.unpriced += answer.cost is None
            self._flag(answer)

    def fault(self, name: str, *, again: bool) -> None:
        """Count a failed attempt; `again` says that the request is sent once more."""
        with self._lock:
            (self.retried if again else self.failed)[name] += 1

    def doubt(self, change: int) -> None:
        """Add 1 to `perhaps_paid` for a request without a whole reply, or -1 when its reply arrives late."""
        with self._lock:
            self.perhaps_paid += change

    def leave_out(self, model: str, parameter: str, value: object) -> str:
        """Record that requests to a model leave out a parameter; returns the line, "" if it is recorded already."""
        if (model, parameter) in self.left_out:
            return ""
        line = f"{model} takes no {parameter} {value}: left out"
        if parameter == "temperature":
            line += "; its samples differ only by its own randomness and the order of the schema"
        self.left_out[model, parameter] = line
        return line

    def by(self, tag: Tag) -> dict[str, Tally]:
        """The tallies of each prompt, question, system or model."""
        position = ("prompt", "question", "system", "model").index(tag)
        sums: dict[str, Tally] = {}
        for tags, tally in list(self._tallies.items()):
            sums[tags[position]] = sums.get(tags[position], Tally()) + tally
        return sums

    def of(self, question: str) -> Tally:
        """The tally of one question, without a search through the others."""
        return sum(self._questions.get(question, []), Tally())

    def total(self) -> Tally:
        with self._lock:
            return replace(self._total)

    def __str__(self) -> str:
        sums = self.total()
        paid, origin = ", which cost nothing" if sums.calls else "", ""
        if sums.cost or sums.unpriced:
            paid = f" paid: {dollars(sums.cost, sums.unpriced)}"
        if sums.cached_cost or sums.cached_unpriced:
            origin = f" (originally {dollars(sums.cached_cost, sums.cached_unpriced)})"
        tokens = f"{sums.input_tokens:,} tokens in, {sums.output_tokens:,} out"
        lines = [f"{sums.calls:,} calls{paid}", tokens, f"{sums.hits:,} cached answers{origin}"]
        counters = {"sent again after": self.retried, "without an answer": self.failed}
        for title, counts in (counters | {"flagged answers": self.flagged}).items():
            if counts:
                listed = ", ".join(f"{name} {number:,}" for name, number in sorted(counts.items()))
                lines.append(f"{title}: {listed}")
        if self.perhaps_paid:
            lines.append(f"sent without a whole reply, perhaps paid: {self.perhaps_paid:,}")
        lines += self.left_out.values()
        return "\n".join(lines)

    def _tally(self, request: Request) -> Tally:
        tags = (request.prompt, request.question, request.system, request.model)
        if tags not in self._tallies:
            self._tallies[tags] = Tally()
            self._questions.setdefault(request.question, []).append(self._tallies[tags])
        return self._tallies[tags]

    def _flag(self, answer: Completion) -> None:
        if answer.finish_reason not in {"stop", ""}:
            self.flagged[answer.finish_reason] += 1


def dollars(amount: float, unpriced: int = 0) -> str:
    """The amount as text, with the number of calls of unknown price that it leaves out."""
    if not unpriced:
        return f"${amount:,.4f}"
    return f"${amount:,.4f} and {unpriced:,} call{'' if unpriced == 1 else 's'} of unknown price"


class Budget:
    """A limit on what is paid from now on, in dollars, in calls, or both; None is no limit.

    Each call reserves the most it may cost before it is sent, so the limit holds with many calls under way.
    `spent` is what calls have cost so far in dollars, and `made` their number. A call of unknown cost counts as
    the most it may have cost, and a budget in dollars then allows no further call.
    """

    def __init__(self, dollars: float | None = None, *, calls: int | None = None) -> None:
        self.dollars = dollars
        self.calls = calls
        self.spent = 0.0
        self.made = 0
        self._uncounted = False  # a reply came without token counts
        self._reserved = 0.0  # dollars of calls under way
        self._under_way = 0
        self._lock = threading.Lock()

    def reserve(self, amount: float | None, model: str) -> bool:
        """Reserve `amount` for a call; False if the call has to wait for the end of calls under way."""
        with self._lock:
            if self.dollars is not None and (amount is None or self._uncounted):
                why = "no price is known for" if amount is None else "no token counts come from"
                raise BudgetError(
                    f"{why} {model}, so a budget of ${self.dollars:,.2f} cannot be kept: "
                    "give the budget as a number of calls (--calls)"
                )
            amount = amount or 0.0
            fits = (
                self.dollars is None or self.spent + self._reserved + amount <= self.dollars
            ) and (self.calls is None or self.made + self._under_way < self.calls)
            if fits:
                self._reserved += amount
                self._under_way += 1
            elif not self._under_way:
                raise BudgetError(self._refusal(amount))
            return fits

    def settle(self, amount: float | None, cost: float | None, *, paid: bool) -> None:
        """End the reservation of a call: `paid` says whether the provider was paid, and `cost` how much."""
        with self._lock:
            amount = amount or 0.0
            self._under_way -= 1
            self._reserved = self._reserved - amount if self._under_way else 0.0
            self.made += paid
            if paid and cost is None and self.dollars is not None:
                self._uncounted = True
                cost = amount
            self.spent += (cost or 0.0) if paid else 0.0

    def _refusal(self, amount: float) -> str:
        if self.calls is not None and self.made >= self.calls:
            return f"the budget of {self.calls:,} calls is used up: allow more (--calls)"
        return (
            f"the budget of ${self.dollars or 0:,.4f} is reached: ${self.spent:,.4f} are spent, and the "
            f"next call may cost ${amount:,.4f}; a lower max_tokens (--parameter) lets it cost less"
        )
