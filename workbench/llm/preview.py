"""What calls will cost before they are made: one range of dollars, by LiteLLM's prices.

The length of a reply is the mean of the cached calls of the same prompt and model, else of the same model, else a rule
of thumb. Tokens of input are counted by letters, at the rate of those calls.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cache
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

        return pd.DataFrame([asdict(row) for row in (*self.rows, self.together)])

    def __str__(self) -> str:
        sums = self.together
        return (
            f"{sums.calls + sums.cached:,} requests: {sums.cached:,} cached, {sums.calls:,} calls to make; "
            f"{dollars(sums.low)} to {dollars(sums.high, sums.unpriced)}; the cache grows by {sums.megabytes:,.1f} MB"
        )


def preview(client: "Client", requests: Iterable[Request], copies: int = 1) -> Preview:
    """The preview of these requests. `copies` counts each open one so many times, as a sample of a larger run."""
    rows: dict[tuple[str, str], Row] = {}
    seen: set[str] = set()
    rates = cache(lambda prompt, model: _rates(client.cache, prompt, model))
    requests = list(requests)
    keys = [client.key(request) for request in requests]
    known = client.cache.get_many(keys) if keys else {}
    for key, request in zip(keys, requests, strict=True):
        kind = (request.prompt, request.model)
        new = key not in seen and key not in known
        seen.add(key)
        row = _row(request, *rates(*kind), copies) if new else Row(*kind, cached=copies)
        rows[kind] = rows.get(kind, Row(*kind)) + row
    return Preview(tuple(rows.values()))


def _row(request: Request, tokens: Range, output: Range, copies: int) -> Row:
    letters = sum(len(str(message.get("content"))) for message in request.messages)
    ends = []
    for rate, reply in zip(tokens, output, strict=True):
        ends.append(price(request, letters * rate, min(reply, longest(request)), litellm()))
    low, high = ends
    return Row(
        request.prompt, request.model, copies, 0, copies * (low is None), copies * letters * tokens[1],
        copies * (low or 0.0), copies * (high or 0.0), copies * (letters + _ROW) / 1e6,
    )  # fmt: skip


def _rates(store: Store, prompt: str, model: str) -> tuple[Range, Range]:
    """The tokens per character of input, and the tokens of a reply."""
    select = "SELECT count(*), sum(input_tokens) * 1.0 / sum(length(messages)), avg(output_tokens) FROM calls WHERE "
    for where, values in (("prompt = ? AND model = ?", [prompt, model]), ("model = ?", [model])):
        ((number, rate, mean),) = store.read(f"{select}{where} AND input_tokens > 0", values)
        if number >= 5:
            low, high = _AROUND
            return (low * rate, high * rate), (low * mean, high * mean)
    return _RATES
