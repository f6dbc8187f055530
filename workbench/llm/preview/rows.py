"""A preview: a row for each prompt and model, their sums, and both as text."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from workbench.llm.budget import dollars

Range = tuple[float, float]  # a low and a high estimate


@dataclass(frozen=True, slots=True)
class Row:
    """The calls of one prompt with one model.

    calls: those to make. cached: those that our own cache answers.
    cacheable: the share of the input that the provider reads from its cache.
    live, discounted, batched: dollars of calls sent live, with the provider's cache, and in batches with it where
        they can be; None if no price is known.
    seconds: of all calls, one after another.
    """

    prompt: str
    model: str
    calls: int
    cached: int
    input: Range
    cacheable: float
    output: Range
    live: Range | None
    discounted: Range | None
    batched: Range | None
    seconds: Range


@dataclass(frozen=True, slots=True)
class Preview:
    """What a run comes to: `rows` by prompt and model.

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
    def input_tokens(self) -> Range:
        return _sum(row.input for row in self.rows)

    @property
    def output_tokens(self) -> Range:
        return _sum(row.output for row in self.rows)

    @property
    def dollars(self) -> Range:
        """Of calls sent live, without the provider's cache."""
        return _sum(row.live for row in self.rows)

    @property
    def discounted(self) -> Range:
        """Of calls sent live, with the provider's cache."""
        return _sum(row.discounted for row in self.rows)

    @property
    def batched(self) -> Range:
        """Of calls in batches where they can be, with the provider's cache."""
        return _sum(row.batched for row in self.rows)

    @property
    def unpriced(self) -> int:
        """The calls of unknown price, which the dollars leave out."""
        return sum(row.calls for row in self.rows if row.live is None)

    @property
    def seconds(self) -> Range:
        low, high = _sum(row.seconds for row in self.rows)
        return low / self.at_once, high / self.at_once

    def __str__(self) -> str:
        """The preview in a few lines."""
        tokens = " to ".join(f"{end:,.0f}" for end in self.input_tokens)
        low, high = self.dollars
        ways = [f"{dollars(low)} to {dollars(high, self.unpriced)}"]
        for title, ends in (("cached by the provider", self.discounted), ("in batches", self.batched)):  # fmt: skip
            if ends != self.dollars:
                ways.append(f"{title} {dollars(ends[0])} to {dollars(ends[1])}")
        money = ways[0] + (f" ({', '.join(ways[1:])})" if ways[1:] else "")
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

    def table(self) -> str:
        """A line for each prompt and model, and one for all, with their sums from low to high."""
        names = ("prompt", "model", "calls", "cached", "tokens in", "of them", "tokens out",
                 "$ live", "$ provider's cache", "$ in batches", "wait")  # fmt: skip
        together = Row(
            "together",
            "",
            sum(row.calls for row in self.rows),
            sum(row.cached for row in self.rows),
            self.input_tokens,
            sum(row.cacheable * row.input[1] for row in self.rows) / max(1, self.input_tokens[1]),
            self.output_tokens,
            self.dollars,
            self.discounted,
            self.batched,
            _sum(row.seconds for row in self.rows),
        )
        by_cost = sorted(self.rows, key=lambda row: -(row.discounted or (0, 0))[1])
        lines = [names, *(self._cells(row) for row in (*by_cost, together))]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if number < 2 else cell.rjust(width)
                for number, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )

    def _cells(self, row: Row) -> tuple[str, ...]:
        return (
            row.prompt,
            row.model.rpartition("/")[2],
            f"{row.calls:,}",
            f"{row.cached:,}",
            _ends(row.input, _short),
            f"{row.cacheable:.0%} cached",
            _ends(row.output, _short),
            *(
                "unknown" if way is None else _ends(way, "{:,.2f}".format)
                for way in (row.live, row.discounted, row.batched)
            ),
            _ends((row.seconds[0] / self.at_once, row.seconds[1] / self.at_once), _duration),
        )


def added(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows with those of one prompt and model as one."""
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        pair = (row.prompt, row.model)
        found[pair] = _both(found[pair], row) if pair in found else row
    return tuple(found.values())


def _both(one: Row, other: Row) -> Row:
    size = _sum((one.input, other.input))
    read = one.cacheable * one.input[1] + other.cacheable * other.input[1]
    return replace(
        one,
        calls=one.calls + other.calls,
        cached=one.cached + other.cached,
        input=size,
        cacheable=read / max(1, size[1]),
        output=_sum((one.output, other.output)),
        live=one.live and _sum((one.live, other.live)),
        discounted=one.discounted and _sum((one.discounted, other.discounted)),
        batched=one.batched and _sum((one.batched, other.batched)),
        seconds=_sum((one.seconds, other.seconds)),
    )


def _sum(ranges: Iterable[Range | None]) -> Range:
    known = [ends for ends in ranges if ends]
    return sum(low for low, _ in known), sum(high for _, high in known)


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
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
