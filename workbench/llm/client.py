"""Answer requests from the cache, and else from the models' providers.

All clients of a process make their calls in one event loop, in a thread of its own. Locks in a file
beside the cache keep two runs, in this process or another, from making the same call.
"""

import asyncio
import atexit
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from weakref import WeakSet

from workbench.errors import (
    BadInputError,
    BudgetError,
    CacheMissError,
    ProviderError,
    StoppedError,
    StoreError,
    at_least,
)
from workbench.llm import calls
from workbench.llm import send as http
from workbench.llm.batch import Batches, takes
from workbench.llm.cache import Cache, insert
from workbench.llm.faults import Refusal, error_in, error_of, pause, refusal
from workbench.llm.money import (
    LETTERS,
    Budget,
    Ledger,
    Preview,
    Statement,
    dollars,
    estimate,
)
from workbench.llm.send import EMBEDDING, Call, Send, send
from workbench.llm.turns import Limiter, Locks
from workbench.types import Completion, Request

# By process: a forked one has no threads.
_loops: dict[int, asyncio.AbstractEventLoop] = {}
_starting = threading.Lock()
_LONGEST_TIMEOUT = 7 * 86_400  # seconds


def _loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of this process's calls, started at first."""
    with _starting:
        if os.getpid() not in _loops:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            loop.set_default_executor(futures.ThreadPoolExecutor(64, "calls"))
            thread = threading.Thread(
                target=loop.run_forever, name="calls", daemon=True
            )
            thread.start()
            atexit.register(_end, loop, thread)
        return _loops[os.getpid()]


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """End the loop before Python does: within an import, it would keep a lock that Python needs."""
    loop.call_soon_threadsafe(loop.stop)
    thread.join(5)


class Client:
    """Answers requests from the cache, and sends the others to their providers.

    `send` replaces LiteLLM. `api_base` is an address, or one for each model; by default the
    environment's PROVIDER_API_BASE. `offline` refuses what is not cached, and `batch` sends calls
    in batches at half the price, where the provider has batches in OpenAI's form. `at_once` limits
    the calls of a model under way: none is sent, either, while as many replies wait for the disk.
    `retries` are the tries after the first one, and `timeout` the seconds until a reply.
    `request_log` is a file to which the keys of all requests are added.

    >>> client = wb.Client(wb.Cache(), budget=wb.Budget(dollars=5))
    >>> ask = [{"role": "user", "content": "How many rows has t?"}]
    >>> requests = [wb.Request("direct", "embedded/parser", ask, sample=n) for n in (0, 1)]
    >>> print(client.preview(requests))
    2 requests: 0 cached, 2 to make; $0.0000 to $0.0000
    """

    def __init__(
        self,
        cache: Cache,
        *,
        send: Send = send,
        api_base: str | Mapping[str, str] = "",
        offline: bool = False,
        budget: Budget | None = None,
        at_once: int = 64,
        retries: int = 4,
        timeout: float = 600.0,
        batch: bool = False,
        request_log: Path | None = None,
    ) -> None:
        at_least(1, at_once=at_once)
        at_least(0, retries=retries)
        if not (isinstance(timeout, int | float) and 0 < timeout <= _LONGEST_TIMEOUT):
            raise BadInputError(
                f"timeout is {timeout!r}: it must be a number of seconds above 0, at most a week"
            )
        self.cache = cache
        self.send = send
        self.api_base = api_base
        self.offline = offline
        self.budget = budget or Budget()
        self.ledger = Ledger()
        self.at_once = at_once
        self.retries = retries
        self.timeout = timeout
        self.batch = batch
        self.request_log = request_log
        self._locks = Locks(cache.path)
        self._batches = Batches(cache)
        # By model, as the next two.
        self._limiters: dict[str, Limiter] = defaultdict(lambda: Limiter(at_once))
        self._urls: dict[str, str] = {}
        self._endpoints: dict[str, str] = {}
        self._checked: set[str] = set()  # models whose key and address are there
        self._checking = asyncio.Lock()
        # Hosts that could not be reached, which is said once.
        self._unreached: set[str] = set()
        # Only the loop's thread uses these two.
        self._calls: set[Call] = set()  # under way
        self._storing = 0  # replies on their way to the disk
        self._halted: WeakSet[threading.Thread] = WeakSet()

    def endpoint(self, model: str) -> str:
        """Return the endpoint in the keys of the model's calls."""
        if model not in self._endpoints:
            given = self.api_base
            url = given if isinstance(given, str) else given.get(model, "")
            self._urls[model] = url or calls.address(model)
            self._endpoints[model] = calls.endpoint(model, self._urls[model])
        return self._endpoints[model]

    def key(self, request: Request) -> str:
        return calls.request_key(request, self.endpoint(request.model))

    def cached(self, request: Request) -> Completion | None:
        """Return the cached answer or None; the ledger does not count it."""
        key = self.key(request)
        return self.cache.get_many([key]).get(key)

    def preview(self, requests: Iterable[Request]) -> Preview:
        """Return the calls and dollars of `complete_many(requests)`, before it is run."""
        by_key = {self.key(request): request for request in requests}
        known = self.cache.get_many(list(by_key))
        groups = defaultdict(list)
        for key, request in by_key.items():
            if key not in known:
                groups[request.prompt, request.model].append(request)
        sums = Preview(cached=len(known))
        for group in groups.values():
            letters = 0
            for request in group:
                for message in request.messages:
                    letters += len(str(message.get("content")))
            tokens = letters / LETTERS / len(group)
            sums += estimate(self.cache, group[0], tokens, len(group))
        return sums

    def complete(self, request: Request) -> Completion:
        return self.complete_many([request])[0]

    def complete_many(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the answers in the order of the requests; one that fails has a `fault`.

        A refused key, a reached budget and a full disk are raised. Then, and after Ctrl-C, nothing
        more is sent, and what is under way is waited for and stored: running the same again asks
        only for the missing answers.
        """
        if threading.current_thread() in self._halted:
            raise StoppedError("the run was stopped")
        if not requests:
            return []
        keys = [self.key(request) for request in requests]
        if self.request_log:
            # In one write, since other processes write between two.
            with self.request_log.open("ab", buffering=0) as file:
                file.write("".join(f"{key}\n" for key in keys).encode())
        by_key = dict(zip(keys, requests, strict=True))
        answers = self.cache.get_many(keys)
        missing = {key: by_key[key] for key in by_key if key not in answers}
        if missing:
            answers |= self._find(missing, len(keys))
        ordered = []
        seen: set[str] = set()
        for key, request in zip(keys, requests, strict=True):
            answer = answers[key]
            if key in seen:  # the same request once more costs nothing
                answer = replace(answer, cached=True)
            seen.add(key)
            ordered.append(answer)
            if answer.cached:  # any other was counted when it was paid
                self.ledger.add(request, answer)
        return ordered

    def _find(self, missing: dict[str, Request], total: int) -> dict[str, Completion]:
        """Return the answers that are not cached, by key; the ledger counts them."""
        if self.offline:
            key, first = next(iter(missing.items()))
            raise CacheMissError(
                f"offline, and {len(missing):,} of {total:,} requests are not in "
                f"{self.cache.path}; "
                f"the first: prompt {first.prompt!r}, question {first.question!r}, {key}; "
                "merge a cache that has them"
            )
        for request in missing.values():
            calls.check_model(request.model)
            calls.check_parameters(request.parameters)
        self.cache.check_writable()  # nothing is paid that cannot be kept
        local: dict[str, Request] = {}
        remote: dict[str, Request] = {}
        for key, request in missing.items():
            if self.send is send and calls.runs_here(request.model):
                local[key] = request
            else:
                remote[key] = request
        try:
            answers = self._compute(local) if local else {}
            if remote:
                answers |= self._wait_for(remote)
        except (BudgetError, ProviderError, StoreError) as error:
            raise type(error)(f"{error}. {self._kept()}") from error
        return answers

    def _wait_for(self, missing: dict[str, Request]) -> dict[str, Completion]:
        """Return the answers of providers, which are asked in the loop."""
        asker = threading.current_thread()
        run = asyncio.run_coroutine_threadsafe(self._ask(missing, asker), _loop())
        try:
            return run.result()
        except futures.CancelledError:
            raise StoppedError(
                "the run was stopped before this call was sent"
            ) from None
        except BaseException:
            if not run.done():  # Ctrl-C; a second one leaves at once
                with self.stopped():
                    futures.wait([run])
            raise

    def _compute(self, missing: dict[str, Request]) -> dict[str, Completion]:
        """Return the answers of models of this process, which are stored together."""
        answers = {}
        rows = []
        try:
            for key, request in missing.items():
                self.budget.count(self.cache)
                began = time.time()
                reply = http.answer_here(request)
                answer = replace(http.completion(request, key, reply), cost=0.0)
                if answer.fault != "empty":
                    endpoint = self.endpoint(request.model)
                    rows.append(insert(request, answer, endpoint, reply, began))
                self.ledger.add(request, answer)
                answers[key] = answer
        finally:
            with self.cache.write(durable=False) as db:
                for row in rows:
                    db.execute(*row)
        return answers

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """While the block runs, this client sends nothing, and its runs in other threads end.

        They end when the replies under way are stored. If a second Ctrl-C leaves the block, those
        threads can never send again.
        """
        self._halted = WeakSet(threading.enumerate())
        self._halted.discard(threading.current_thread())
        count = asyncio.run_coroutine_threadsafe(self._stop(), _loop()).result()
        if count:
            replies = "1 reply" if count == 1 else f"{count:,} replies"
            print(
                f"waiting for {replies} under way; Ctrl-C again leaves them",
                file=sys.stderr,
            )
        yield
        self._halted = WeakSet()  # not in a `finally`, see above

    async def _stop(self) -> int:
        for call in self._calls:
            call.stop()
        return sum(call.posted for call in self._calls)

    async def _ask(
        self, missing: dict[str, Request], asker: threading.Thread
    ) -> dict[str, Completion]:
        """Return the answers by key. After an error or a stop, posted calls are waited for."""
        if asker in self._halted:  # while it looked into the cache
            raise StoppedError("the run was stopped")
        started = {key: Call() for key in missing}
        for key, call in started.items():
            call.task = asyncio.create_task(self._make(call, key, missing[key]))
        tasks = [call.task for call in started.values()]
        self._calls.update(started.values())
        try:
            return dict(zip(started, await asyncio.gather(*tasks), strict=True))
        except BaseException:
            for call in started.values():
                call.stop()
            await asyncio.wait(tasks)
            raise
        finally:
            self._calls.difference_update(started.values())

    async def _check_access(self, model: str) -> None:
        async with self._checking:
            if self.send is send and model not in self._checked:
                await asyncio.to_thread(http.check_access, model, self._urls[model])
                self._checked.add(model)

    def _kept(self) -> str:
        """Return what is paid and stored so far, for the message of a run that ends."""
        waits = self.cache.waits
        if waits:
            advice = "make space and run the same again in this process; ending it loses them"
            return f"{waits:,} paid replies wait in memory: {advice}"
        sums = self.ledger.total()
        paid = dollars(sums.cost, sums.unpriced)
        return (
            f"{sums.calls + sums.hits:,} answers of this run are cached ({paid} paid now): "
            "run the same again to ask only for the others"
        )

    async def _make(self, call: Call, key: str, request: Request) -> Completion:
        """Return the answer to a call: limited, locked, and repeated while that may help."""
        await self._check_access(request.model)
        takes_batches = EMBEDDING not in request.parameters and self.batch
        batch = takes_batches and takes(request.model)
        end = time.monotonic() + self.timeout
        failures = 0
        look = 0.0  # seconds until the next look at another run's call
        while True:
            try:
                answer = await self._attempt(call, key, request, batch=batch)
            except Refusal as refused:
                if refused.fatal:
                    raise ProviderError(f"{request.model} refused: {refused}") from None
                is_in_time = time.monotonic() < end
                limited = refused.fault == "rate_limit" and is_in_time and not batch
                again = limited or (refused.again and failures < self.retries)
                if call.stopped or not again:
                    return self._failed(key, request, refused)
                self._tell(call.host, refused)
                wait = 0.0  # after a rate limit, the limiter waits
                if not limited:
                    failures += 1
                    wait = pause(failures, refused.wait)
            else:
                if answer:
                    return answer
                look = min(0.5, 0.01 + 2 * look)
                wait = look
            await asyncio.sleep(wait)

    async def _attempt(
        self, call: Call, key: str, request: Request, *, batch: bool
    ) -> Completion | None:
        """Return the answer of one attempt; None while another run or process makes the call."""
        async with AsyncExitStack() as place:
            if not batch:  # a batch is one request, however many calls it has
                limiter = self._limiters[request.model]
                await place.enter_async_context(limiter.place())
            if not self._locks.acquire(key):
                return None
            try:
                return await self._answer(call, key, request, place, batch=batch)
            finally:
                self._locks.release(key)

    def _failed(self, key: str, request: Request, refused: Refusal) -> Completion:
        failed = Completion(
            "", request.model, key=key, fault=refused.fault, error=str(refused)
        )
        self.ledger.add(request, failed)
        return failed

    def _tell(self, host: str, refused: Refusal) -> None:
        """Say once that a host cannot be reached: the tries that follow take a while."""
        is_unreached = refused.fault == "connection" and not refused.paid
        if is_unreached and host not in self._unreached:
            self._unreached.add(host)
            print(f"{refused}; trying again", file=sys.stderr)

    async def _answer(
        self,
        call: Call,
        key: str,
        request: Request,
        place: AsyncExitStack,
        *,
        batch: bool,
    ) -> Completion:
        """Return the answer that another run has stored meanwhile, else ask for it and pay."""
        # On a full disk or a slow one nothing more is paid: this waits for the next commit.
        while self.cache.waits or self._storing >= self.at_once:
            await self.cache.put()
        cached = self.cache.get_many([key]).get(key)
        if cached:
            return cached
        reservation = await self.budget.reserve(self.cache, request, batch=batch)
        bill = _Bill()
        try:
            answer = await self._pay(call, key, request, bill, batch=batch)
            # The next call is sent while this reply is stored. A refusal has to reach the limiter.
            await place.aclose()
        finally:  # what was paid is stored with the end of its reservation
            settled = self.budget.settled(reservation, bill.cost, paid=bill.is_paid)
            self._storing += 1
            try:
                if bill.replies or settled:
                    await self.cache.put(*bill.replies, *settled)
            finally:
                self._storing -= 1
                self.budget.ended(reservation)
                call.posted = False
        self.ledger.add(request, answer)
        return answer

    async def _pay(
        self, call: Call, key: str, request: Request, bill: "_Bill", *, batch: bool
    ) -> Completion:
        """Return the answer of the model, and note in the bill what is paid, also on an error."""
        call.posted = False
        call.response = None
        began = time.time()
        try:
            reply = await self._reply(call, key, request, batch=batch)
            bill.is_paid = True
            with http.reading():
                answer = http.completion(request, key, reply)
            bill.cost = answer.cost
            behind = None if answer.text else _error_behind(reply, call)
            if behind:
                raise behind
            if answer.fault != "empty":
                endpoint = self.endpoint(request.model)
                bill.replies.append(insert(request, answer, endpoint, reply, began))
        except Exception as error:  # noqa: BLE001  `refusal` raises again what is no provider's
            refused = refusal(
                error, posted=call.posted, response=call.response, host=call.host
            )
            bill.is_paid = refused.paid
            raise refused from None  # LiteLLM's text may repeat a key
        return answer

    async def _reply(
        self, call: Call, key: str, request: Request, *, batch: bool
    ) -> calls.Reply:
        url = self._urls[request.model]
        if batch:
            return await self._batches.ask(key, request, url)
        http.CALL.set(call)
        call.posted = self.send is not send  # else LiteLLM's HTTP client says so
        async with asyncio.timeout(self.timeout):
            return await http.called(self.send, request, url, self.timeout)


@dataclass
class _Bill:
    """What one attempt costs: whether it is paid, or perhaps, its cost if known, and its reply."""

    is_paid: bool = False
    cost: float | None = None
    replies: list[Statement] = field(default_factory=list)  # one or none, to be stored


def _error_behind(reply: calls.Reply, call: Call) -> Refusal | None:
    """Return the error object that came in place of an answer; LiteLLM drops some."""
    refused = error_of(reply)
    if not refused and call.response:
        refused = error_in(call.response)
    return refused
