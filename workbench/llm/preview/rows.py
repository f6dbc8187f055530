"""A preview: a row for each prompt and model, their sums, and both as text."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from workbench.llm.budget import dollars

Range = tuple[float, float]  # a low and a high estimate
NOTHING: Range = (0.0, 0.0)
_COUNTS = ("calls", "cached", "unpriced")  # fields of a row
_RANGES = ("input", "output", "live", "batched", "seconds")


@dataclass(frozen=True, slots=True)
class Row:
    """The calls of one prompt with one model, or of several together.

    calls: calls to make. cached: calls that our own cache answers.
    live: dollars of calls sent live. batched: in batches, if the provider has batches. Neither counts what the
        provider has in a cache of its own. unpriced: calls of unknown price, which the dollars leave out.
    seconds: of all calls, one after another.
    """

    prompt: str
    model: str
    calls: int = 0
    cached: int = 0
    unpriced: int = 0
    input: Range = NOTHING
    output: Range = NOTHING
    live: Range = NOTHING
    batched: Range = NOTHING
    seconds: Range = NOTHING

    def __add__(self, other: "Row") -> "Row":
        """Both rows as one, under the names of the first."""
        sums: dict[str, Any] = {n: getattr(self, n) + getattr(other, n) for n in _COUNTS}
        sums |= {n: _sum(getattr(self, n), getattr(other, n)) for n in _RANGES}
        return replace(self, **sums)


@dataclass(frozen=True, slots=True)
class Preview:
    """The estimated calls, tokens, dollars and seconds of a run: `rows` by prompt and model.

    `requests`, `cached` and `new` (calls to make) are exact counts of requests that are known; `expected` is the
    number of calls given as `Estimate`s. The rest are estimates. `at_once` is how many calls are under way at a time.
    """

    rows: tuple[Row, ...]
    requests: int = 0
    cached: int = 0
    new: int = 0
    expected: int = 0
    at_once: int = 1

    @property
    def together(self) -> Row:
        return sum(self.rows, Row("together", ""))

    @property
    def seconds(self) -> Range:
        """From the first call to the last answer: the prompts' calls overlap at best, and follow one another at worst."""
        waits = [self._wait(row) for row in self.rows]
        shortest = max(self.together.seconds[0] / self.at_once, *(low for low, _ in waits), 0.0)
        return shortest, sum(high for _, high in waits)

    def __str__(self) -> str:
        together = self.together
        tokens = " to ".join(f"{end:,.0f}" for end in together.input)
        low, high = together.live
        money = f"{dollars(low)} to {dollars(high, together.unpriced)}"
        if (ends := together.batched) != together.live:
            money += f" (in batches {dollars(ends[0])} to {dollars(ends[1])})"
        time = _ends(self.seconds, _duration)
        lines = [
            f"{_count(self.requests, 'request')}: {self.cached:,} cached, {_count(self.new, 'call')} to make",
            f"estimated: {tokens} tokens in, {money}, {time}",
        ]
        if self.expected:
            lines.insert(
                1, f"about {self.expected:,} more, whose prompts depend on replies: an estimate"
            )
        return "\n".join(lines)

    def table(self) -> str:
        """A line for each prompt and model, and one for all, with their sums from low to high."""
        names = ("prompt", "model", "calls", "cached", "tokens in", "tokens out",
                 "$ live", "$ in batches", "wait")  # fmt: skip
        by_cost = sorted(self.rows, key=lambda row: -row.live[1])
        lines = [names, *(self._cells(row) for row in (*by_cost, self.together))]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if number < 2 else cell.rjust(width)
                for number, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )

    def _cells(self, row: Row) -> tuple[str, ...]:
        unknown = 0 < row.calls == row.unpriced
        calls = (row.prompt, row.model.rpartition("/")[2], f"{row.calls:,}", f"{row.cached:,}")
        tokens = (_ends(row.input, _short), _ends(row.output, _short))
        ways = (row.live, row.batched)
        prices = ("unknown" if unknown else _ends(way, "{:,.2f}".format) for way in ways)
        wait = self._wait(row) if row.model else self.seconds
        return (*calls, *tokens, *prices, _ends(wait, _duration))

    def _wait(self, row: Row) -> Range:
        """The seconds of one prompt's calls: at least those of a single call."""
        at_once = min(self.at_once, max(1, row.calls))
        return row.seconds[0] / at_once, row.seconds[1] / at_once


def added(rows: Iterable[Row]) -> tuple[Row, ...]:
    """The rows, added up for each prompt and model."""
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        pair = (row.prompt, row.model)
        found[pair] = found[pair] + row if pair in found else row
    return tuple(found.values())


def _sum(one: Range, other: Range) -> Range:
    return one[0] + other[0], one[1] + other[1]


def _ends(ends: Range, text: Callable[[float], str]) -> str:
    low, high = map(text, ends)
    return low if low == high else f"{low} to {high}"


def _short(number: float) -> str:
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return f"{number:.0f}"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _duration(seconds: float) -> str:
    if 0 < seconds < 1:
        return "under 1 s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
