"""Money: a ledger of what was asked, a limit on what is paid, and LiteLLM's prices.

A cost or price that is not known is None, never zero: sums say how many calls they leave out.
"""

import asyncio
import functools
import importlib.util
import math
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import orjson

from workbench.errors import BudgetError
from workbench.store import Store
from workbench.types import Completion, Request

if TYPE_CHECKING:
    import pandas as pd

LONGEST = 128_000  # tokens of output assumed for a model whose longest reply is not listed
CAUTIOUS = 5.0  # dollars that may be spent where nobody says how many
_FIRST = 4  # replies of a prompt after which their costs say what to reserve for the next
_COLUMNS = "prompt, question, system, model, input, output, dollars, cached, again, fault"
Statement = tuple[str, tuple[Any, ...]]


@dataclass(slots=True)
class Tally:
    """Numbers of calls paid now (`calls`) and of cached answers (`hits`), and the tokens of both.

    `cost` was paid now and `cached_cost` earlier; both leave out the calls of unknown price, which
    `unpriced` and `cached_unpriced` count.
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

    `failed` counts faults that ended a request, `retried` those after which it was sent again.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self.failed: Counter[str] = Counter()
        self.retried: Counter[str] = Counter()
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
            if not answer.fault or answer.cost is not None:
                self._questions[None].add(answer)
                self._questions[request.question].add(answer)

    def frame(self) -> "pd.DataFrame":
        """A row for each answer: `client.ledger.frame().groupby("prompt").dollars.sum()`."""
        import pandas as pd  # noqa: PLC0415  takes long to import

        return pd.DataFrame(self.rows, columns=_COLUMNS.split(", ")).astype({"dollars": float})

    def total(self) -> Tally:
        return self.of(None)

    def of(self, question: str | None) -> Tally:
        """The tally of one question."""
        with self._lock:
            return replace(self._questions[question])

    def __str__(self) -> str:
        sums, lines = self.total(), []
        for kind, number, cost, unpriced in (
            ("calls", sums.calls, sums.cost, sums.unpriced),
            ("cached answers", sums.hits, sums.cached_cost, sums.cached_unpriced),
        ):
            free = ", which cost nothing" * bool(number)
            price = f": {dollars(cost, unpriced)}" if cost or unpriced else free
            lines.append(f"{number:,} {kind}{price}")
        lines.append(f"{sums.input_tokens:,} tokens in, {sums.output_tokens:,} out")
        for title, counts in (("sent again after", self.retried), ("without answer", self.failed)):
            named = ", ".join(f"{name} {number:,}" for name, number in sorted(counts.items()))
            lines += [f"{title}: {named}"] * bool(named)
        return "\n".join(lines)


def dollars(amount: float, unpriced: int = 0) -> str:
    """The amount as text, with the number of calls of unknown price that it leaves out."""
    more = f" and {unpriced:,} call{'s' * (unpriced != 1)} of unknown price" if unpriced else ""
    return f"${amount:,.4f}{more}"


class Budget:
    """A limit on what is paid from now on, in dollars, in calls, or both; None is no limit.

    Processes that give the same `name` and cache file share the budget: it is a row of that file. A
    call reserves the most it may cost before it is sent, and from the fifth reply of a prompt on
    half more than the dearest so far. What a killed process has reserved counts as spent. Calls of
    unknown price are refused where dollars are limited, but with `unpriced` they are made.
    """

    def __init__(self, dollars: float | None = None, *, calls: int | None = None, name: str = "",
                 unpriced: bool = False) -> None:  # fmt: skip
        self.dollars, self.calls, self.name = dollars, calls, name or uuid4().hex
        self._unpriced = unpriced
        self.limited = dollars is not None or calls is not None
        self._store: Store | None = None
        self._own: Counter[tuple[str, str]] = Counter()  # this process's calls under way, by prompt
        self._costs: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._lock = threading.Lock()
        self._freed = asyncio.Event()  # set when a call of this process ends

    @property
    def spent(self) -> float:
        """The dollars spent so far under a limit."""
        return float(self._row[0])

    @property
    def made(self) -> int:
        """The number of calls made so far under a limit."""
        return int(self._row[1])

    @property
    def _row(self) -> tuple[Any, ...]:
        select = "SELECT spent, made, reserved FROM budgets WHERE name = ?"
        rows = self._store.read(select, [self.name]) if self._store else []
        return rows[0] if rows else (0.0, 0, 0.0)

    async def reserve(self, store: Store, request: Request, most: float | None, *,
                      batch: bool = False) -> float:  # fmt: skip
        """Reserve for a call that costs at most `most`, None if no price is known.

        It waits while calls of this process under way may leave room; else raises BudgetError.
        """
        if self.dollars is not None and most is None and not self._unpriced:
            told = "so dollars cannot be limited: give the budget as a number of calls (--calls)"
            raise BudgetError(f"no price is known for {request.model}, {told}")
        while self.limited:
            freed = self._freed
            found = await asyncio.to_thread(self._reserve, store, request, most or 0.0, batch=batch)
            if found is not None:
                return found
            await freed.wait()
        return 0.0

    def _reserve(self, store: Store, request: Request, most: float, *, batch: bool) -> float | None:
        """The dollars reserved; None if the call has to wait."""
        with self._lock:
            self._store, kind = store, (request.model, request.prompt)
            known = self._costs[kind]
            first = max([most / 2 if batch else most, *known])
            amount = 1.5 * max(known) if len(known) >= _FIRST else first
            amount = 0.0 if self.dollars is None else amount
            if amount and not batch and len(known) < _FIRST <= self._own[kind]:
                return None
            with store.write(durable=False) as db:
                db.execute("INSERT OR IGNORE INTO budgets VALUES (?, 0, 0, 0, 0)", [self.name])
                fits = db.execute(
                    "UPDATE budgets SET reserved = reserved + ?1, under_way = under_way + 1 WHERE "
                    "name = ?2 AND spent + reserved + ?1 <= ?3 AND made + under_way < ?4",
                    [amount, self.name, math.inf if self.dollars is None else self.dollars,
                     math.inf if self.calls is None else self.calls],
                ).rowcount  # fmt: skip
            if not fits and not self._own.total():
                raise BudgetError(self._refusal(amount))
            self._own[kind] += fits
            return amount if fits else None

    def settled(self, request: Request, amount: float, cost: float | None, *,
                paid: bool) -> list[Statement]:  # fmt: skip
        """The statements that end a reservation: what was perhaps paid is spent."""
        if not self.limited:
            return []
        if paid and cost is not None:
            self._costs[request.model, request.prompt].append(cost)
        spent = (amount if cost is None else cost) if paid else 0.0
        update = ("UPDATE budgets SET reserved = max(0, reserved - ?), under_way = under_way - 1, "
                  "spent = spent + ?, made = made + ? WHERE name = ?")  # fmt: skip
        return [(update, (amount, spent, int(paid), self.name))]

    def ended(self, request: Request) -> None:
        """Let the calls that wait look again, once the end of a reservation is on disk."""
        with self._lock:
            self._own[request.model, request.prompt] -= 1
        self._freed.set()
        self._freed = asyncio.Event()

    def _refusal(self, amount: float) -> str:
        spent, made, reserved = self._row
        if self.calls is not None and made >= self.calls:
            return f"the budget of {self.calls:,} calls is used up: allow more (--calls)"
        return (f"the budget of {dollars(self.dollars or 0)} is reached: ${spent:,.4f} are spent, "
                f"${reserved:,.4f} reserved, and the next call may cost ${amount:,.4f}")  # fmt: skip


def cautious(dollars: float | None, calls: int | None = None, name: str = "") -> Budget:
    """The budget that a user set; where no dollars are given, of `CAUTIOUS` dollars."""
    free = dollars in {None, math.inf}
    return Budget(CAUTIOUS if dollars is None else dollars, calls=calls, name=name, unpriced=free)


@functools.cache
def _bundled() -> Mapping[str, Mapping[str, Any]]:
    package = importlib.util.find_spec("litellm")
    if not package or not package.origin:
        return {}
    path = Path(package.origin).with_name("model_prices_and_context_window_backup.json")
    entries: Mapping[str, Mapping[str, Any]] = orjson.loads(path.read_bytes())
    return entries


def listed(model: str) -> Mapping[str, Any]:
    """The model's limits and abilities from LiteLLM's list, without importing LiteLLM."""
    provider, _, name = model.partition("/")
    entry = _bundled().get(model) or _bundled().get(name, {})
    return entry if str(entry.get("litellm_provider", "")).startswith(provider) else {}


def longest(request: Request) -> int:
    """The most tokens that the reply may have: the request's limit, else the model's."""
    given = (request.parameters.get(name) for name in ("max_completion_tokens", "max_tokens"))
    entry = listed(request.model)
    known = (*given, entry.get("max_output_tokens"), entry.get("max_tokens"))
    return next((int(number) for number in known if number), LONGEST)
