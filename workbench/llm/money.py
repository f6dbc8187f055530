"""Money: LiteLLM's prices, a ledger of answers, a limit on what is paid, and a preview of it.

A cost or price that is not known is None, never zero: sums say how many calls they leave out.
"""

import asyncio
import functools
import gc
import importlib
import math
import operator
import os
import threading
import warnings
from collections import Counter, defaultdict
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from workbench.errors import BudgetError
from workbench.llm.calls import Reply, longest, runs_here
from workbench.store import Store
from workbench.types import Completion, Request

if TYPE_CHECKING:
    import pandas as pd

CAUTIOUS = 5.0  # dollars that may be spent where nobody says how many
LETTERS = 4  # of a token, about
_FIRST = 4  # replies of a prompt after which their costs say what to reserve for the next
_COLUMNS = "prompt, question, system, model, input, output, dollars, cached, again, fault"
_loading = threading.Lock()
Statement = tuple[str, tuple[Any, ...]]


@functools.cache
def litellm() -> Any:
    """LiteLLM, whose import takes seconds, with its bundled price list."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    with _loading, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module: Any = importlib.import_module("litellm")
    warnings.filterwarnings("ignore", message="Pydantic serializer|Items? .* on TypedDict")
    module.telemetry, module.suppress_debug_info = False, True
    gc.freeze()  # it stays loaded: collections that walk through it take five times as long
    return module


def price(request: Request, tokens_in: float, tokens_out: float) -> float | None:
    """The dollars of a call with so many tokens by LiteLLM's prices, None where it has none."""
    if runs_here(request.model):
        return 0.0
    tier = request.parameters.get("service_tier")
    counts = {"prompt_tokens": int(tokens_in), "completion_tokens": int(tokens_out)}
    try:
        return float(sum(litellm().cost_per_token(request.model, **counts, service_tier=tier)))
    except Exception:  # noqa: BLE001  of several kinds: the model has no price
        return None


def priced(request: Request, reply: Reply) -> float | None:
    """The cost of a reply by its tokens, None where its model has no price."""
    usage = reply.get("usage") or {}
    read, written = (usage.get(f"{side}_tokens") or 0 for side in ("prompt", "completion"))
    return price(request, read, written)


def dollars(amount: float, unpriced: int = 0) -> str:
    """The amount as text, with the number of calls of unknown price that it leaves out."""
    more = f" and {unpriced:,} call{'s' * (unpriced != 1)} of unknown price" if unpriced else ""
    return f"${amount:,.4f}{more}"


@dataclass(frozen=True, slots=True)
class Preview:
    """The calls that a run will make and those that are cached, and a range of dollars."""

    calls: int = 0
    cached: int = 0
    unpriced: int = 0  # calls of unknown price, which the dollars leave out
    low: float = 0.0
    high: float = 0.0
    megabytes: float = 0.0  # by which the cache grows

    def __add__(self, other: "Preview") -> "Preview":
        return Preview(*map(operator.add, astuple(self), astuple(other)))

    def __str__(self) -> str:
        asked = f"{self.calls + self.cached:,} requests: {self.cached:,} cached, {self.calls:,} to"
        cost = f"{dollars(self.low)} to {dollars(self.high, self.unpriced)}"
        return f"{asked} make; {cost}; the cache grows by {self.megabytes:,.1f} MB"


def estimate(store: Store, request: Request, tokens: float, calls: int, cached: int = 0) -> Preview:
    """The cost of so many calls like this request, each with about so many tokens of input.

    A reply is about as long as the cached ones of the prompt and model, else of 20 to 1,000 tokens.
    """
    if not calls:
        return Preview(cached=cached)
    select = "SELECT avg(output_tokens) FROM calls WHERE prompt = ? AND model = ?"
    mean = store.read(select, [request.prompt, request.model])[0][0]
    written = (0.7 * mean, 1.3 * mean) if mean else (20, 1000)
    least, most = (
        price(request, around * tokens, min(length, longest(request)))
        for around, length in zip((0.7, 1.3), written, strict=True)
    )
    size = calls * (1.3 * LETTERS * tokens + 2_000)  # bytes: its messages, and the rest of its row
    unpriced = calls * (least is None)
    return Preview(calls, cached, unpriced, calls * (least or 0), calls * (most or 0), size / 1e6)


@dataclass(slots=True)
class Tally:
    """Sums over answers: `calls` were paid now and `hits` were cached; the tokens are of both.

    `cost` was paid now and `cached_cost` earlier. The calls of unknown price, which both leave out,
    are counted in `unpriced` and `cached_unpriced`.
    """

    calls: int = 0
    hits: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    cached_cost: float = 0.0
    cached_unpriced: int = 0

    def add(self, answer: Completion) -> None:
        self.input_tokens += answer.input_tokens
        self.output_tokens += answer.output_tokens
        if answer.cached:
            self.hits += 1
            self.cached_cost += answer.cost or 0.0
            self.cached_unpriced += answer.cost is None
        else:
            self.calls += 1
            self.cost += answer.cost or 0.0
            self.unpriced += answer.cost is None


class Ledger:
    """The answers of a client: a row for each, named by prompt, question, system and model.

    `failed` counts the faults that ended a request.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self.failed: Counter[str] = Counter()
        self.failed_by_question: Counter[str] = Counter()
        self._questions: dict[str | None, Tally] = defaultdict(Tally)  # None: all together
        self._lock = threading.Lock()

    def add(self, request: Request, answer: Completion) -> None:
        """Count an answer, cached or paid now, or a request that has failed."""
        row = (request.prompt, request.question, request.system, request.model, answer.input_tokens,
               answer.output_tokens, answer.cost, answer.cached, request.again, answer.fault)  # fmt: skip
        with self._lock:
            self.rows.append(row)
            if answer.fault:
                self.failed[answer.fault] += 1
                self.failed_by_question[request.question] += 1
            if not answer.fault or answer.cost is not None:
                self._questions[None].add(answer)
                self._questions[request.question].add(answer)

    def frame(self) -> "pd.DataFrame":
        """A row for each answer: `client.ledger.frame().groupby("prompt").dollars.sum()`."""
        import pandas as pd  # noqa: PLC0415  takes long to import

        return pd.DataFrame(self.rows, columns=_COLUMNS.split(", ")).astype({"dollars": float})

    def total(self, question: str | None = None) -> Tally:
        """The tally of one question, by default of all."""
        with self._lock:
            return replace(self._questions[question])

    def __str__(self) -> str:
        sums = self.total()
        paid = f"{sums.calls:,} calls: {dollars(sums.cost, sums.unpriced)}"
        earlier = dollars(sums.cached_cost, sums.cached_unpriced)
        tokens = f"{sums.input_tokens:,} tokens in, {sums.output_tokens:,} out"
        failed = [f"{number:,} without answer: {name}" for name, number in self.failed.items()]
        return "\n".join([paid, f"{sums.hits:,} cached answers: {earlier}", tokens, *failed])


class Budget:
    """A limit on what is paid from now on, in dollars, in calls, or both; None is no limit.

    Processes that give the same `name` and cache file share the budget: it is a row of that file.
    Before a call is sent, it reserves the most that it may cost, or, once its prompt has had four
    replies, 1.5 times the dearest. What a killed process has reserved counts as spent. Under a limit
    of dollars calls of unknown price are refused, unless `unpriced` allows them.

    >>> budget = wb.Budget(calls=1)
    >>> client = wb.Client(wb.Cache(), send=wb.scripted(["SELECT 1"]), budget=budget)
    >>> client.complete(wb.Request("direct", "any/model", [])).text, budget.made
    ('SELECT 1', 1)
    """

    def __init__(self, dollars: float | None = None, *, calls: int | None = None, name: str = "",
                 unpriced: bool = False) -> None:  # fmt: skip
        self.dollars, self.calls, self.name = dollars, calls, name or uuid4().hex
        self._limits = [math.inf if limit is None else limit for limit in (dollars, calls)]
        self._limited, self._unpriced = self._limits != [math.inf] * 2, unpriced
        self._store: Store | None = None
        self._own: Counter[tuple[str, str]] = Counter()  # this process's calls under way, by prompt
        self._costs: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._lock = threading.Lock()
        self._freed = asyncio.Event()  # set when a call of this process ends

    @property
    def spent(self) -> float:
        """The dollars spent so far; without a limit nothing is counted."""
        return float(self._row[0])

    @property
    def made(self) -> int:
        """The number of calls made so far; without a limit nothing is counted."""
        return int(self._row[1])

    @property
    def _row(self) -> tuple[Any, ...]:
        select = "SELECT spent, made, reserved FROM budgets WHERE name = ?"
        rows = self._store.read(select, [self.name]) if self._store else []
        return rows[0] if rows else (0.0, 0, 0.0)

    async def reserve(self, store: Store, request: Request, *, batch: bool = False) -> float:
        """The dollars reserved for a call, once there is room for it.

        Raises BudgetError where no call of this process is under way that could make room.
        """
        while self._limited:
            freed = self._freed
            amount = await asyncio.to_thread(self._reserve, store, request, batch=batch)
            if amount is not None:
                return amount
            await freed.wait()
        return 0.0

    def _reserve(self, store: Store, request: Request, *, batch: bool) -> float | None:
        """The dollars reserved; None if the call has to wait."""
        with self._lock:
            self._store, kind = store, (request.model, request.prompt)
            known, amount = self._costs[kind], 0.0
            if self._limits[0] < math.inf and len(known) >= _FIRST:
                amount = 1.5 * max(known)
            elif self._limits[0] < math.inf:
                amount = max([self._most(request) / (1 + batch), *known])
                if amount and not batch and self._own[kind] >= _FIRST:
                    return None
            with store.write(durable=False) as db:
                db.execute("INSERT OR IGNORE INTO budgets VALUES (?, 0, 0, 0, 0)", [self.name])
                fits = db.execute(
                    "UPDATE budgets SET reserved = reserved + ?1, under_way = under_way + 1 WHERE "
                    "name = ?2 AND spent + reserved + ?1 <= ?3 AND made + under_way < ?4",
                    [amount, self.name, *self._limits],
                ).rowcount
                spent, _, reserved = self._row
            if not fits and not self._own.total():
                if spent + reserved + amount <= self._limits[0]:  # other processes' calls count too
                    told = "calls is used up: allow more (--calls)"
                    raise BudgetError(f"the budget of {self.calls:,} {told}")
                raise BudgetError(
                    f"the budget of {dollars(self._limits[0])} is reached: ${spent:,.4f} are spent, "
                    f"${reserved:,.4f} reserved, and the next call may cost ${amount:,.4f}"
                )
            self._own[kind] += fits
            return amount if fits else None

    def _most(self, request: Request) -> float:
        """The most that a call may cost: a token for every two bytes, and the longest reply."""
        size = sum(len(str(message.get("content")).encode()) for message in request.messages)
        found = price(request, size // 2 + 100, longest(request))
        if found is None and not self._unpriced:
            told = "so dollars cannot be limited: give the budget as a number of calls (--calls)"
            raise BudgetError(f"no price is known for {request.model}, {told}")
        return found or 0.0

    def settled(self, request: Request, amount: float, cost: float | None, *,
                paid: bool) -> list[Statement]:  # fmt: skip
        """The statements that end a reservation; a call that is perhaps paid counts as spent."""
        if not self._limited:
            return []
        if paid and cost is not None:
            self._costs[request.model, request.prompt].append(cost)
        spent = (amount if cost is None else cost) if paid else 0.0
        update = ("UPDATE budgets SET reserved = max(0, reserved - ?), under_way = under_way - 1, "
                  "spent = spent + ?, made = made + ? WHERE name = ?")  # fmt: skip
        return [(update, (amount, spent, int(paid), self.name))]

    def ended(self, request: Request) -> None:
        """Wake the calls that wait for room; the end of a reservation is on disk."""
        with self._lock:
            self._own[request.model, request.prompt] -= 1
        self._freed.set()
        self._freed = asyncio.Event()


def cautious(dollars: float | None, calls: int | None = None, name: str = "") -> Budget:
    """The budget that a user set, by default of `CAUTIOUS` dollars and open to unknown prices."""
    free = dollars in {None, math.inf}
    return Budget(CAUTIOUS if dollars is None else dollars, calls=calls, name=name, unpriced=free)
