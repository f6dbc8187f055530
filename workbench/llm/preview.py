"""What calls will cost before they are made: one range of dollars, by LiteLLM's prices.

The length of a reply is the mean of the cached calls of the same prompt and model, else of the same model, else a rule
of thumb. Tokens of input are counted by letters, at the rate of those calls.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from workbench.llm.money import dollars, longest, price
from workbench.llm.send import litellm
from workbench.store import Store
from workbench.types import Request

if TYPE_CHECKING:
    import pandas as pd

    from workbench.llm.client import Client

Range = tuple[float, float]
_AROUND = (0.7, 1.3)  # the error of a mean of cached calls
_RATES = (
    (1 / 5, 1 / 3),
    (20.0, 1000.0),
)  # without any: tokens per character of input, and tokens of a reply
_LETTERS = 4  # of a token, about
_ROW = 2_000  # bytes that a stored call takes besides its messages


@dataclass(frozen=True, slots=True)
class Row:
    """The calls of one prompt with one model: calls to make and cached ones, tokens, and dollars from `low` to `high`.

    `unpriced` counts calls of unknown price, which the dollars leave out.
    """

    prompt: str
    model: str
    calls: int = 0
    cached: int = 0
    unpriced: int = 0
    input: float = 0.0
    low: float = 0.0
    high: float = 0.0
    megabytes: float = 0.0

    def __add__(self, other: "Row") -> "Row":
        names = ("calls", "cached", "unpriced", "input", "low", "high", "megabytes")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True, slots=True)
class Preview:
    """The calls that a run will make, by prompt and model."""

    rows: tuple[Row, ...]

    @property
    def together(self) -> Row:
        return sum(self.rows, Row("together", ""))

    def frame(self) -> "pd.DataFrame":
        import pandas as pd  # noqa: PLC0415  takes long to import

        return pd.DataFrame(
            [asdict(row) for row in (*sorted(self.rows, key=lambda row: -row.high), self.together)]
        )

    def table(self) -> str:
        """A line for each prompt and model, the dearest first, and one for all."""
        return str(self.frame().round(4).to_string(index=False))

    def __str__(self) -> str:
        sums = self.together
        asked, calls = sums.calls + sums.cached, sums.calls
        return (
            f"{asked:,} request{'s' * (asked != 1)}: {sums.cached:,} cached, {calls:,} call{'s' * (calls != 1)} to make; "
            f"{dollars(sums.low)} to {dollars(sums.high, sums.unpriced)}; the cache grows by {sums.megabytes:,.1f} MB"
        )


def preview(client: "Client", requests: Iterable[Request]) -> Preview:
    """What these requests would ask and cost; those that are cached cost nothing."""
    rows: list[Row] = []
    requests, seen = list(requests), set()
    keys = [client.key(request) for request in requests]
    known = client.cache.get_many(keys) if keys else {}
    rates = cache(partial(_rates, client.cache))  # asked once for each prompt and model
    for key, request in zip(keys, requests, strict=True):
        new = key not in seen and key not in known
        seen.add(key)
        letters = sum(len(str(message.get("content"))) for message in request.messages)
        low, high = rates(request.prompt, request.model)[0]
        tokens, replies = (letters * low, letters * high), rates(request.prompt, request.model)[1]
        rows.append(row_of(request, tokens, replies, new, not new))
    return together(rows)


def estimate(store: Store, request: Request, tokens: float, calls: int, cached: int) -> Row:
    """The row of so many calls like this request, each with about so many tokens of input."""
    around = (_AROUND[0] * tokens, _AROUND[1] * tokens)
    replies = _rates(store, request.prompt, request.model)[1]
    return row_of(request, around, replies, calls, cached)


def row_of(request: Request, tokens: Range, replies: Range, calls: int, cached: int) -> Row:
    longest_reply = longest(request)
    ends = [
        price(request, read, min(written, longest_reply), litellm()) if calls else 0.0
        for read, written in zip(tokens, replies, strict=True)
    ]
    low, high = (calls * (end or 0.0) for end in ends)
    return Row(
        request.prompt, request.model, int(calls), int(cached), calls * (ends[0] is None),
        calls * tokens[1], low, high, calls * (_LETTERS * tokens[1] + _ROW) / 1e6,
    )  # fmt: skip


def together(rows: Iterable[Row]) -> Preview:
    """The preview with these rows, added up for each prompt and model."""
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        kind = (row.prompt, row.model)
        found[kind] = found[kind] + row if kind in found else row
    return Preview(tuple(found.values()))


def _rates(store: Store, prompt: str, model: str) -> tuple[Range, Range]:
    """The tokens per character of input, and the tokens of a reply."""
    select = "SELECT count(*), sum(input_tokens) * 1.0 / sum(length(messages)), avg(output_tokens) FROM calls WHERE "
    for where, values in (("prompt = ? AND model = ?", [prompt, model]), ("model = ?", [model])):
        ((number, rate, mean),) = store.read(f"{select}{where} AND input_tokens > 0", values)
        if number >= 5:
            low, high = _AROUND
            return (low * rate, high * rate), (low * mean, high * mean)
    return _RATES
