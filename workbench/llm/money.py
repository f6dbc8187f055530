"""Money: LiteLLM's prices, a ledger of answers, a limit on what is paid, and a preview of it.

A cost or price that is not known is None, never zero: sums say how many calls they leave out.
"""

import asyncio
import functools
import importlib
import math
import os
import threading
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from workbench.errors import BadInputError, BudgetError, at_least
from workbench.llm.calls import FREE, Reply, is_free, longest
from workbench.store import Store
from workbench.types import Completion, Request

if TYPE_CHECKING:
    import pandas as pd

CAUTIOUS = 5.0  # dollars that may be spent where nobody says how many
LETTERS = 4  # of a token, about
# Replies of a prompt after which their costs say what to reserve for the next.
_FIRST = 4
_COLUMNS = (
    "prompt, question, system, model, input, output, dollars, cached, again, fault"
)
_loading = threading.Lock()
Statement = tuple[str, tuple[Any, ...] | dict[str, Any]]  # and its values


@functools.cache
def litellm() -> Any:
    """Import LiteLLM, which takes seconds, with its bundled price list."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    with _loading, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module: Any = importlib.import_module("litellm")
    # Of LiteLLM's types, which pydantic reads at the first call.
    warnings.filterwarnings(
        "ignore", message="Items? .* on TypedDict", module="pydantic"
    )
    module.telemetry, module.suppress_debug_info = False, True
    return module


def price(request: Request, tokens_in: float, tokens_out: float) -> float | None:
    """Return the dollars of a call with so many tokens, None where LiteLLM has no price.

    LiteLLM says zero, too, where it has none: zero is the price of free models alone.
    """
    if is_free(request.model):
        return 0.0
    tier = request.parameters.get("service_tier")
    counts = {"prompt_tokens": int(tokens_in), "completion_tokens": int(tokens_out)}
    try:
        cost = sum(litellm().cost_per_token(request.model, **counts, service_tier=tier))
    except Exception:  # noqa: BLE001  of several kinds: the model has no price
        return None
    return _above_zero(cost)


def priced(request: Request, reply: Reply, stated: object = None) -> float | None:
    """Return the cost of a reply, as stated or by its tokens; None if it is not known."""
    if is_free(request.model):
        return 0.0
    usage = reply.get("usage") or {}
    read, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
    answers = bool(reply.get("choices"))  # the vector of a text has no output
    if not read or (answers and not written):
        return None
    return _above_zero(stated) or price(request, read, written or 0)


def _above_zero(cost: object) -> float | None:
    """Return a cost, None where it is zero: of models that are not free, that is unknown."""
    known = valid_cost(cost)
    return known or None


def valid_cost(cost: object) -> float | None:
    """Return a cost that can be added to others, None for anything else."""
    if isinstance(cost, int | float) and 0 <= cost < math.inf:
        return float(cost)
    return None


def dollars(amount: float, unpriced: int = 0) -> str:
    """Return the amount as text, with the number of calls of unknown price that it leaves out."""
    if not unpriced:
        return f"${amount:,.4f}"
    calls = "call" if unpriced == 1 else "calls"
    return f"${amount:,.4f} and {unpriced:,} {calls} of unknown price"


@dataclass(frozen=True, slots=True)
class Preview:
    """The calls that a run will make and those that are cached, and a range of dollars."""

    calls: int = 0
    cached: int = 0
    unpriced: int = 0  # calls of unknown price, which the dollars leave out
    low: float = 0.0
    high: float = 0.0

    def __add__(self, other: "Preview") -> "Preview":
        return Preview(
            self.calls + other.calls,
            self.cached + other.cached,
            self.unpriced + other.unpriced,
            self.low + other.low,
            self.high + other.high,
        )

    def __str__(self) -> str:
        requests = f"{self.calls + self.cached:,} requests"
        cost = f"{dollars(self.low)} to {dollars(self.high, self.unpriced)}"
        return f"{requests}: {self.cached:,} cached, {self.calls:,} to make; {cost}"


def estimate(
    store: Store, request: Request, tokens: float, calls: int, cached: int = 0
) -> Preview:
    """Return the cost of so many calls like this request, each with about so many tokens of input.

    A reply is about as long as the cached ones of the prompt and model, else of 20 to 1,000 tokens.
    """
    if not calls:
        return Preview(cached=cached)
    select = "SELECT avg(output_tokens) FROM calls WHERE prompt = ? AND model = ?"
    mean = store.read(select, [request.prompt, request.model])[0][0]
    shorter, longer = (0.7 * mean, 1.3 * mean) if mean else (20, 1000)
    limit = longest(request)
    low = price(request, 0.7 * tokens, min(shorter, limit))
    high = price(request, 1.3 * tokens, min(longer, limit))
    if low is None or high is None:
        return Preview(calls, cached, unpriced=calls)
    return Preview(calls, cached, low=calls * low, high=calls * high)


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
        unpriced = 1 if answer.cost is None else 0
        if answer.cached:
            self.hits += 1
            self.cached_cost += answer.cost or 0.0
            self.cached_unpriced += unpriced
        else:
            self.calls += 1
            self.cost += answer.cost or 0.0
            self.unpriced += unpriced


class Ledger:
    """The answers of a client: a row for each, named by prompt, question, system and model.

    `failed` counts the faults that ended a request.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self.failed: Counter[str] = Counter()
        self.failed_by_question: Counter[str] = Counter()
        self._all = Tally()
        self._questions: dict[str, Tally] = defaultdict(Tally)
        self._lock = threading.Lock()

    def add(self, request: Request, answer: Completion) -> None:
        """Count an answer, cached or paid now, or a request that has failed."""
        asked = (request.prompt, request.question, request.system, request.model)
        tokens = (answer.input_tokens, answer.output_tokens)
        row = (*asked, *tokens, answer.cost, answer.cached, request.again, answer.fault)
        with self._lock:
            self.rows.append(row)
            if answer.fault:
                self.failed[answer.fault] += 1
                self.failed_by_question[request.question] += 1
            if not answer.fault or answer.cost is not None:
                self._all.add(answer)
                self._questions[request.question].add(answer)

    def frame(self) -> "pd.DataFrame":
        """Return a row for each answer: `client.ledger.frame().groupby("prompt").dollars.sum()`."""
        import pandas as pd  # noqa: PLC0415  takes long to import

        return pd.DataFrame(self.rows, columns=_COLUMNS.split(", ")).astype(
            {"dollars": float}
        )

    def total(self, question: str | None = None) -> Tally:
        """Return the tally of one question, by default of all."""
        with self._lock:
            tally = self._all if question is None else self._questions[question]
            return replace(tally)

    def __str__(self) -> str:
        sums = self.total()
        paid = f"{sums.calls:,} calls: {dollars(sums.cost, sums.unpriced)}"
        earlier = dollars(sums.cached_cost, sums.cached_unpriced)
        tokens = f"{sums.input_tokens:,} tokens in, {sums.output_tokens:,} out"
        failed = [
            f"{number:,} without answer: {name}" for name, number in self.failed.items()
        ]
        return "\n".join(
            [paid, f"{sums.hits:,} cached answers: {earlier}", tokens, *failed]
        )


@dataclass(frozen=True)
class Reservation:
    """The dollars that a call may cost, kept until it ends."""

    request: Request
    dollars: float = 0.0
    is_guess: bool = False  # no reply has shown yet what calls of its prompt cost


class Budget:
    """A limit on what is paid from now on, in dollars, in calls, or both; None is no limit.

    Processes that give the same `name` and cache file share the budget: it is a row of that file.
    Before a call is sent, it reserves the most that it may cost, or, once its prompt has had four
    replies, 1.5 times the dearest. A call of unknown cost costs what was reserved, and what a
    killed process has reserved counts as spent. Under a limit of dollars calls of unknown price are
    refused, unless `unpriced` allows them. A limit of calls holds for models of this process, too.

    >>> budget = wb.Budget(calls=1)
    >>> client = wb.Client(wb.Cache(), send=wb.scripted(["SELECT 1"]), budget=budget)
    >>> client.complete(wb.Request("direct", "any/model", [])).text, budget.made
    ('SELECT 1', 1)
    """

    def __init__(
        self,
        dollars: float | None = None,
        *,
        calls: int | None = None,
        name: str = "",
        unpriced: bool = False,
    ) -> None:
        if calls is not None:
            at_least(0, calls=calls)
        if dollars is not None and valid_cost(dollars) is None and dollars != math.inf:
            raise BadInputError(
                f"dollars is {dollars!r}: it must be a number, 0 or more"
            )
        self.dollars = dollars
        self.calls = calls
        self.name = name or uuid4().hex
        self._most_dollars = math.inf if dollars is None else dollars
        self._most_calls = math.inf if calls is None else calls
        self._limited = min(self._most_dollars, self._most_calls) < math.inf
        self._unpriced = unpriced
        self._store: Store | None = None
        self._under_way = 0  # calls of this process
        self._guesses: Counter[str] = Counter()  # those with a guessed cost, by model
        # By model and prompt.
        self._costs: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._dearest: dict[str, float] = defaultdict(float)  # reply, by model
        self._lock = threading.Lock()
        self._freed = asyncio.Event()  # set when a call of this process ends

    @property
    def spent(self) -> float:
        """The dollars spent so far; without a limit nothing is counted."""
        return float(self._row["spent"])

    @property
    def made(self) -> int:
        """The number of calls made so far; without a limit nothing is counted."""
        return int(self._row["made"])

    @property
    def _row(self) -> dict[str, Any]:
        names = ("spent", "made", "reserved", "under_way")
        select = f"SELECT {', '.join(names)} FROM budgets WHERE name = ?"
        rows = self._store.read(select, [self.name]) if self._store else []
        row = rows[0] if rows else (0.0, 0, 0.0, 0)
        return dict(zip(names, row, strict=True))

    def count(self, store: Store) -> None:
        """Count a call of a model of this process; raises BudgetError if no more are allowed."""
        if self._most_calls == math.inf:
            return
        with self._lock:
            self._store = store
            refused = self._take(store, "made", 0.0)
            if refused:
                raise refused

    async def reserve(
        self, store: Store, request: Request, *, batch: bool = False
    ) -> Reservation:
        """Return the reservation of a call, once there is room for it.

        Raises BudgetError where no call of this process is under way that could make room.
        """
        while self._limited:
            freed = self._freed
            reserve = asyncio.to_thread(self._reserve, store, request, batch=batch)
            reserving = asyncio.create_task(reserve)
            try:
                reservation = await asyncio.shield(reserving)
            except asyncio.CancelledError:  # its thread goes on
                reservation = await reserving
                if reservation:
                    await asyncio.to_thread(self._give_back, store, reservation)
                    self.ended(reservation)
                raise
            if reservation:
                return reservation
            await freed.wait()
        return Reservation(request)

    def _reserve(
        self, store: Store, request: Request, *, batch: bool
    ) -> Reservation | None:
        """Return the reservation; None if the call has to wait."""
        with self._lock:
            self._store = store
            reservation = self._reservation(request, batch=batch)
            if reservation.is_guess and self._guesses[request.model] >= _FIRST:
                return None
            refused = self._take(store, "under_way", reservation.dollars)
            if not refused:
                self._under_way += 1
                if reservation.is_guess:
                    self._guesses[request.model] += 1
                return reservation
            if not self._under_way:
                raise refused
            return None

    def _reservation(self, request: Request, *, batch: bool) -> Reservation:
        if self._most_dollars == math.inf:
            return Reservation(request)
        costs = self._costs[request.model, request.prompt]
        if len(costs) >= _FIRST:
            return Reservation(request, 1.5 * max(costs))
        most = self._most(request)
        if batch:
            return Reservation(request, max(most / 2, *costs, 0.0))
        # A model that ignores the limit on its reply's tokens does so under every prompt.
        most = max(most, self._dearest[request.model])
        return Reservation(request, most, is_guess=most > 0)

    def _take(self, store: Store, counter: str, dollars: float) -> BudgetError | None:
        """Count a call in the row if it fits; else return the error that says why it does not."""
        with store.write(durable=False) as db:
            db.execute(
                "INSERT OR IGNORE INTO budgets VALUES (?, 0, 0, 0, 0)", [self.name]
            )
            update = (
                f"UPDATE budgets SET reserved = reserved + :dollars, {counter} = {counter} + 1 "
                "WHERE name = :name AND spent + reserved + :dollars <= :most_dollars "
                "AND made + under_way < :most_calls"
            )
            values = {
                "dollars": dollars,
                "name": self.name,
                "most_dollars": self._most_dollars,
                "most_calls": self._most_calls,
            }
            if db.execute(update, values).rowcount == 1:
                return None
            # Within the transaction, so that no other process changes the row meanwhile.
            return self._reached(dollars)

    def _reached(self, needed: float) -> BudgetError:
        row = self._row  # other processes' calls count too
        if self.calls is not None and row["made"] + row["under_way"] >= self.calls:
            return BudgetError(
                f"the budget of {self.calls:,} calls is used up: allow more (--calls)"
            )
        return BudgetError(
            f"the budget of {dollars(self._most_dollars)} is reached: "
            f"${row['spent']:,.4f} are spent, ${row['reserved']:,.4f} reserved, "
            f"and the next call may cost ${needed:,.4f}"
        )

    def _most(self, request: Request) -> float:
        """Return the most that a call may cost: a token for two bytes, and the longest reply."""
        size = sum(
            len(str(message.get("content")).encode()) for message in request.messages
        )
        most = price(request, size // 2 + 100, longest(request))
        if most is None and not self._unpriced:
            advice = (
                "so dollars cannot be limited: give the budget as a number of calls (--calls), or "
                f"name the model in the environment's {FREE} if its calls cost nothing"
            )
            raise BudgetError(f"no price is known for {request.model}, {advice}")
        return most or 0.0

    def settled(
        self, reservation: Reservation, cost: float | None, *, paid: bool
    ) -> list[Statement]:
        """Return the statements that end a reservation; what is perhaps paid counts as spent."""
        if not self._limited:
            return []
        if not paid:
            spent = 0.0
        elif cost is None:
            spent = reservation.dollars
        else:
            spent = cost
            request = reservation.request
            self._costs[request.model, request.prompt].append(cost)
            self._dearest[request.model] = max(cost, self._dearest[request.model])
        update = (
            "UPDATE budgets SET reserved = max(0, reserved - ?), under_way = under_way - 1, "
            "spent = spent + ?, made = made + ? WHERE name = ?"
        )
        return [(update, (reservation.dollars, spent, int(paid), self.name))]

    def _give_back(self, store: Store, unused: Reservation) -> None:
        with store.write(durable=False) as db:
            db.execute(*self.settled(unused, None, paid=False)[0])

    def ended(self, reservation: Reservation) -> None:
        """Wake the calls that wait for room; the end of a reservation is on disk."""
        if not self._limited:
            return
        with self._lock:
            self._under_way -= 1
            if reservation.is_guess:
                self._guesses[reservation.request.model] -= 1
        self._freed.set()
        self._freed = asyncio.Event()


def cautious(dollars: float | None, calls: int | None = None, name: str = "") -> Budget:
    """Return the budget that a user set, else `CAUTIOUS` dollars, open to unknown prices."""
    is_unlimited = dollars in {None, math.inf}
    limit = CAUTIOUS if dollars is None else dollars
    return Budget(limit, calls=calls, name=name, unpriced=is_unlimited)
