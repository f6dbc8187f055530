"""The cost of calls before they are made: one range of dollars, by LiteLLM's prices.

The length of a reply is the mean of the cached ones of its prompt and model, else a rule of thumb.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

from workbench.llm.cache import Cache
from workbench.llm.money import dollars, longest
from workbench.llm.send import price
from workbench.store import Store
from workbench.types import Request

_AROUND = (0.7, 1.3)  # the error of a mean
_REPLY = (20.0, 1000.0)  # tokens of a reply about which nothing is known
_LETTERS = 4  # of a token, about
_ROW = 2_000  # bytes that a stored call takes besides its messages


@dataclass(frozen=True, slots=True)
class Row:
    """The calls of one prompt with one model: to make and cached, tokens, and a range of dollars."""

    prompt: str
    model: str
    calls: int = 0
    cached: int = 0
    unpriced: int = 0  # calls of unknown price, which the dollars leave out
    input: float = 0.0
    low: float = 0.0
    high: float = 0.0
    megabytes: float = 0.0


@dataclass(frozen=True, slots=True)
class Preview:
    """The calls that a run will make, by prompt and model."""

    rows: tuple[Row, ...]

    @property
    def together(self) -> Row:
        counts = [field.name for field in fields(Row)[2:]]
        sums = (sum(getattr(row, name) for row in self.rows) for name in counts)
        return Row("together", "", *sums)

    def table(self) -> str:
        """A line for each prompt and model, the dearest first, and one for all."""
        import pandas as pd  # noqa: PLC0415  takes long to import

        rows = (*sorted(self.rows, key=lambda row: -row.high), self.together)
        return str(pd.DataFrame(map(asdict, rows)).round(4).to_string(index=False))

    def __str__(self) -> str:
        sums = self.together
        asked = f"{sums.calls + sums.cached:,} requests: {sums.cached:,} cached, {sums.calls:,} to"
        cost = f"{dollars(sums.low)} to {dollars(sums.high, sums.unpriced)}"
        return f"{asked} make; {cost}; the cache grows by {sums.megabytes:,.1f} MB"


def preview(cache: Cache, keyed: Sequence[tuple[str, Request]]) -> Preview:
    """The calls and dollars of requests, each given with its key; those that are cached cost nothing."""
    seen = set(cache.get_many([key for key, _ in keyed]))
    groups: dict[tuple[str, str], list[tuple[Request, bool]]] = defaultdict(list)
    for key, request in keyed:
        groups[request.prompt, request.model].append((request, key in seen))
        seen.add(key)
    rows = []
    for group in groups.values():
        new = [request for request, cached in group if not cached]
        letters = sum(len(str(part.get("content"))) for one in new for part in one.messages)
        tokens = letters / _LETTERS / max(1, len(new))
        rows.append(estimate(cache, group[0][0], tokens, len(new), len(group) - len(new)))
    return Preview(tuple(rows))


def estimate(store: Store, request: Request, tokens: float, calls: int, cached: int) -> Row:
    """The row of so many calls like this request, each with about so many tokens of input."""
    if not calls:
        return Row(request.prompt, request.model, cached=cached)
    select = "SELECT avg(output_tokens) FROM calls WHERE prompt = ? AND model = ?"
    mean = store.read(select, [request.prompt, request.model])[0][0]
    written = tuple(end * mean for end in _AROUND) if mean else _REPLY
    ends = [
        price(request, around * tokens, min(length, longest(request)))
        for around, length in zip(_AROUND, written, strict=True)
    ]
    low, high = (calls * (end or 0.0) for end in ends)
    read, unpriced = calls * _AROUND[1] * tokens, calls * (ends[0] is None)
    size = (_LETTERS * read + calls * _ROW) / 1e6
    return Row(request.prompt, request.model, calls, cached, unpriced, read, low, high, size)
