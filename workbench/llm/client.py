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
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from weakref import WeakSet

from workbench.errors import BudgetError, CacheMissError, ProviderError, StoppedError, StoreError
from workbench.llm import calls
from workbench.llm import send as http
from workbench.llm.batch import Batches, takes
from workbench.llm.cache import Cache, insert
from workbench.llm.faults import Refusal, error_in, pause, refusal
from workbench.llm.money import LETTERS, Budget, Ledger, Preview, dollars, estimate
from workbench.llm.send import EMBEDDING, Call, Send, send
from workbench.llm.turns import Limiter, Locks
from workbench.types import Completion, Request

_loops: dict[int, asyncio.AbstractEventLoop] = {}  # by process: a forked one has no threads
_starting = threading.Lock()


def _loop() -> asyncio.AbstractEventLoop:
    with _starting:
        if os.getpid() not in _loops:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            loop.set_default_executor(futures.ThreadPoolExecutor(64, "calls"))
            thread = threading.Thread(target=loop.run_forever, name="calls", daemon=True)
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
    environment's PROVIDER_API_BASE. `offline` refuses what is not cached, `refresh` asks every
    request once more, and `batch` sends calls in batches at half the price, where the provider has
    batches in OpenAI's form. `at_once` limits the calls of a model under way, `retries` the tries
    after the first one, and `timeout` the seconds until a reply.

    >>> client = wb.Client(wb.Cache(), budget=wb.Budget(dollars=5))
    >>> ask = [{"role": "user", "content": "How many rows has t?"}]
    >>> print(client.preview([wb.Request("direct", "embedded/parser", ask, sample=n) for n in (0, 1)]))
    2 requests: 0 cached, 2 to make; $0.0000 to $0.0000; the cache grows by 0.0 MB
    """

    def __init__(
        self, cache: Cache, *, send: Send = send, api_base: str | Mapping[str, str] = "",
        offline: bool = False, refresh: bool = False, budget: Budget | None = None,
        at_once: int = 64, retries: int = 4, timeout: float = 600.0, batch: bool = False,
    ) -> None:  # fmt: skip
        self.cache, self.send, self.api_base = cache, send, api_base
        self.offline, self.refresh, self.batch = offline, refresh, batch
        self.budget, self.ledger = budget or Budget(), Ledger()
        self.at_once, self.retries, self.timeout = at_once, retries, timeout
        self._locks, self._batches = Locks(cache.path), Batches()
        self._limiters: dict[str, Limiter] = {}
        self._urls: dict[str, str] = {}  # by model, as the next one
        self._endpoints: dict[str, str] = {}
        self._refreshed: set[str] = set()
        self._calls: set[Call] = set()  # under way; only the loop's thread uses it
        self._halted: WeakSet[threading.Thread] = WeakSet()

    def endpoint(self, model: str) -> str:
        """The endpoint in the keys of the model's calls."""
        if model not in self._endpoints:
            given = self.api_base
            given = given if isinstance(given, str) else given.get(model, "")
            self._urls[model] = url = given or calls.address(model)
            self._endpoints[model] = calls.endpoint(model, url)
        return self._endpoints[model]

    def key(self, request: Request) -> str:
        return calls.request_key(request, self.endpoint(request.model))

    def cached(self, request: Request) -> Completion | None:
        """The cached answer or None; the ledger does not count it."""
        return self.cache.get_many([key := self.key(request)]).get(key)

    def preview(self, requests: Iterable[Request]) -> Preview:
        """The calls and dollars of `complete_many(requests)`, before it is run."""
        asked = {self.key(request): request for request in requests}
        seen, groups = self.cache.get_many(list(asked)), defaultdict(list)
        for key, request in asked.items():
            if key not in seen:
                groups[request.prompt, request.model].append(request)
        sums = Preview(cached=len(seen))
        for group in groups.values():
            letters = sum(len(str(part.get("content"))) for one in group for part in one.messages)
            sums += estimate(self.cache, group[0], letters / LETTERS / len(group), len(group))
        return sums

    def complete(self, request: Request) -> Completion:
        return self.complete_many([request])[0]

    def complete_many(self, requests: Sequence[Request]) -> list[Completion]:
        """The answers in the order of the requests. One that fails has a `fault`; the rest go on.

        A refused key, a reached budget and a full disk are raised. Then, and after Ctrl-C, nothing
        more is sent, and what is under way is waited for and stored: running the same again asks
        only for the missing answers.
        """
        if threading.current_thread() in self._halted:
            raise StoppedError("the run was stopped")
        names = [self.key(request) for request in requests]
        known = self._refreshed.intersection(names) if self.refresh else names
        found = self.cache.get_many(list(known)) if known else {}
        missing = {name: r for name, r in zip(names, requests, strict=True) if name not in found}
        if missing:
            found |= self._find(missing, len(names))
        answers = []
        for name, request in zip(names, requests, strict=True):
            answers.append(answer := found[name])
            if answer.cached:
                self.ledger.add(request, answer)  # any other was counted when it was paid
            found[name] = replace(answer, cached=True)  # the same request once more costs nothing
        return answers

    def _find(self, missing: dict[str, Request], total: int) -> dict[str, Completion]:
        """The answers that are not cached, by key; the ledger counts them."""
        if self.offline:
            name, first = next(iter(missing.items()))
            raise CacheMissError(
                f"offline, and {len(missing):,} of {total:,} requests are not in {self.cache.path}; the "
                f"first: prompt {first.prompt!r}, question {first.question!r}, {name}; merge a cache that has them"
            )
        for request in missing.values():
            calls.check_model(request.model)
            calls.check_parameters(request.parameters)
        self.cache.check_writable()  # nothing is paid that cannot be kept
        here = {n: r for n, r in missing.items() if self.send is send and calls.runs_here(r.model)}
        found = self._compute(here) if here else {}
        if remote := {name: request for name, request in missing.items() if name not in here}:
            run = asyncio.run_coroutine_threadsafe(self._ask(remote), _loop())
            try:
                found |= run.result()
            except futures.CancelledError:
                raise StoppedError("the run was stopped before this call was sent") from None
            except BaseException:
                if not run.done():  # Ctrl-C; a second one leaves at once
                    with self.stopped():
                        futures.wait([run])
                raise
        return found

    def _compute(self, missing: dict[str, Request]) -> dict[str, Completion]:
        """The answers of models of this process, which are stored together."""
        found, rows = {}, []
        try:
            for name, request in missing.items():
                began, reply = time.time(), http.answer_here(request)
                answer = found[name] = replace(http.completion(request, name, reply), cost=0.0)
                rows.append(insert(request, answer, self.endpoint(request.model), reply, began))
                self.ledger.add(request, answer)
        finally:
            with self.cache.write(durable=False) as db:
                for row in rows:
                    db.execute(*row)
        self._refreshed |= missing.keys()
        return found

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """While the block runs, this client sends nothing, and its runs in other threads end.

        They end when the replies under way are stored. If a second Ctrl-C leaves the block, those
        threads can never send again.
        """
        self._halted = WeakSet(threading.enumerate())
        self._halted.discard(threading.current_thread())
        if count := asyncio.run_coroutine_threadsafe(self._stop(), _loop()).result():
            replies = "1 reply" if count == 1 else f"{count:,} replies"
            print(f"waiting for {replies} under way; Ctrl-C again leaves them", file=sys.stderr)
        yield
        self._halted = WeakSet()

    async def _stop(self) -> int:
        for call in self._calls:
            call.stop()
        return sum(call.posted for call in self._calls)

    async def _ask(self, missing: dict[str, Request]) -> dict[str, Completion]:
        """The answers by key. After an error or a stop, calls that are posted are waited for."""
        mine = {name: Call() for name in missing}
        for name, call in mine.items():
            call.task = asyncio.create_task(self._make(call, name, missing[name]))
        self._calls |= (own := set(mine.values()))
        tasks = [call.task for call in mine.values()]
        try:
            return dict(zip(mine, await asyncio.gather(*tasks), strict=True))
        except BaseException as error:
            for call in own:
                call.stop()
            await asyncio.wait(tasks)
            if isinstance(error, (BudgetError, ProviderError, StoreError)):
                raise type(error)(f"{error}. {self._kept()}") from error
            raise
        finally:
            self._calls -= own

    def _kept(self) -> str:
        """The calls and dollars paid and stored so far, for the message of a run that ends."""
        if waits := self.cache.waits:
            told = "make space and run the same again in this process; ending it loses them"
            return f"{waits:,} paid replies wait in memory: {told}"
        sums = self.ledger.total()
        paid = f"{sums.calls + sums.hits:,} answers of this run are cached ({dollars(sums.cost, sums.unpriced)} paid now)"
        return f"{paid}: run the same again to ask only for the others"

    async def _make(self, call: Call, key: str, request: Request) -> Completion:
        """The answer to one call: limited, locked against other runs, repeated while that may help."""
        batch = self.batch and EMBEDDING not in request.parameters and takes(request.model)
        limiter = self._limiters.setdefault(request.model, Limiter(self.at_once))
        attempt, end, wait = 1, time.monotonic() + self.timeout, 0.01
        while True:
            try:
                async with nullcontext() if batch else limiter.place():
                    if self._locks.acquire(key):
                        try:
                            return await self._answer(call, key, request, batch=batch)
                        finally:
                            self._locks.release(key)
                wait = min(0.5, 0.01 + 2 * wait)  # another run or process makes this call
            except Refusal as refused:
                if refused.fatal:
                    raise ProviderError(f"{request.model} refused: {refused}") from refused
                limited = refused.fault == "rate_limit" and not batch and time.monotonic() < end
                again = limited or (refused.again and attempt <= self.retries)
                if call.stopped or not again:
                    failed = Completion(
                        "", request.model, key=key, fault=refused.fault, error=str(refused)
                    )
                    self.ledger.add(request, failed)
                    return failed
                wait = 0.0 if limited else pause(attempt, refused.wait)  # 0: the limiter waits
                attempt += not limited
            await asyncio.sleep(wait)

    async def _answer(self, call: Call, key: str, request: Request, *, batch: bool) -> Completion:
        """The answer that another run has stored meanwhile, else that of one attempt."""
        while self.cache.waits:  # a full disk: nothing is paid until there is room
            await self.cache.put()
        if not self.refresh and (cached := self.cache.get_many([key]).get(key)):
            return cached
        amount = await self.budget.reserve(self.cache, request, batch=batch)
        call.posted, call.response = False, None
        began, cost, paid, statements = time.time(), None, False, []
        try:
            url, endpoint = self._urls[request.model], self.endpoint(request.model)
            if batch:
                reply = await self._batches.ask(key, request, url)
            else:
                http.CALL.set(call)
                call.posted = self.send is not send  # else LiteLLM's HTTP client says so
                async with asyncio.timeout(self.timeout):
                    reply = await http.called(self.send, request, url, self.timeout)
            paid, cost = True, reply.get("cost")
            answer = http.completion(request, key, reply)
            if answer.fault != "empty":
                statements.append(insert(request, answer, endpoint, reply, began))
            elif call.response and (found := error_in(call.response)):
                raise found
        except Exception as error:
            refused = refusal(error, posted=call.posted, response=call.response)
            paid = refused.paid
            raise refused from error
        finally:  # what was paid is stored with the end of its reservation
            statements += self.budget.settled(request, amount, cost, paid=paid)
            if statements:
                await self.cache.put(*statements)
            self.budget.ended(request)
            call.posted = False
        self._refreshed.add(key)
        self.ledger.add(request, answer)
        return answer
