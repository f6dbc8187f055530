"""Answer requests from the cache, and else from the models' providers.

All clients of a process make their calls in one event loop, in a thread of its own, so that two of them never make the
same call; across processes, locks on the cache file see to it. A reply is on disk before anybody sees it.
"""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from weakref import WeakSet

from workbench.errors import BudgetError, CacheMissError, ProviderError, StoppedError, StoreError
from workbench.llm import keys, money
from workbench.llm.batch import Batches
from workbench.llm.cache import Cache, insert
from workbench.llm.faults import Post, Refusal, error_in, pause, refusal
from workbench.llm.keys import runs_here
from workbench.llm.limiter import Limiter
from workbench.llm.locks import Locks
from workbench.llm.money import Budget, Ledger, listed
from workbench.llm.parameters import check
from workbench.llm.preview import Preview, preview
from workbench.llm.send import (
    POST,
    Send,
    answer_here,
    asked,
    called,
    completion,
    dropped,
    hidden,
    litellm,
    send,
)  # fmt: skip
from workbench.types import Completion, Request

_loops: dict[int, asyncio.AbstractEventLoop] = {}  # by process: a forked one has no threads
_starting = threading.Lock()


def _loop() -> asyncio.AbstractEventLoop:
    with _starting:
        if os.getpid() not in _loops:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            loop.set_default_executor(ThreadPoolExecutor(64, "calls"))
            threading.Thread(target=loop.run_forever, name="calls", daemon=True).start()
        return _loops[os.getpid()]


class _Call:
    """A call without an answer yet: its client, the runs that wait for it, and its attempt under way."""

    def __init__(self, client: "Client") -> None:
        self.client, self.waiting = client, 0
        self.post: Post | None = None
        self.task: asyncio.Task[Completion]

    @property
    def posted(self) -> bool:
        return self.post is not None and self.post.posted


_Owner = tuple[int, Path, str]  # process, file and key
_under_way: dict[_Owner, _Call] = {}  # only the loop's thread uses it


def _forget(owner: _Owner, _: object) -> None:
    del _under_way[owner]


class Client:
    """Answers requests from the cache, and sends the others to their providers.

        client = wb.Client(wb.Cache(), budget=wb.Budget(dollars=5))
        client.complete_many([wb.Request("direct", "openai/gpt-4o-mini", messages, {"temperature": 0}, sample=0)])

    `api_base` is an address, or one for each model; by default the environment's PROVIDER_API_BASE. With `offline`, a
    request that is not cached raises CacheMissError. With `refresh`, every request is asked once more. At most
    `at_once` calls per model are under way, and fewer where its provider takes fewer. `retries` is how many failures
    are followed by another try, and `timeout` the seconds that a reply may take. With `batch`, calls are sent in
    batches, at half the price, where LiteLLM has batches of their provider in OpenAI's form. `send` makes one call.
    """

    def __init__(
        self,
        cache: Cache,
        *,
        send: Send = send,
        api_base: str | Mapping[str, str] = "",
        offline: bool = False,
        refresh: bool = False,
        budget: Budget | None = None,
        at_once: int = 64,
        retries: int = 4,
        timeout: float = 600.0,
        batch: bool = False,
    ) -> None:
        self.cache, self.send, self.api_base = cache, send, api_base
        self.offline, self.refresh, self.batch = offline, refresh, batch
        self.budget, self.ledger = budget or Budget(), Ledger()
        self.at_once, self.retries, self.timeout = at_once, retries, timeout
        self._locks, self._batches = Locks(cache.path), Batches(cache)
        self._limiters: dict[str, Limiter] = {}
        self._urls: dict[str, tuple[str, str]] = {}
        self._refreshed: set[str] = set()
        self._runs: set[asyncio.Future[None]] = set()  # only the loop's thread uses it
        self._halted: WeakSet[threading.Thread] = WeakSet()

    def _url(self, model: str) -> tuple[str, str]:
        """The model's address, and its endpoint in keys."""
        if model not in self._urls:
            given = (
                self.api_base if isinstance(self.api_base, str) else self.api_base.get(model, "")
            )
            url = keys.address(model, given)
            self._urls[model] = url, keys.endpoint(model, url)
        return self._urls[model]

    def endpoint(self, model: str) -> str:
        return self._url(model)[1]

    def key(self, request: Request) -> str:
        return keys.request_key(request, self.endpoint(request.model))

    def cached(self, request: Request) -> Completion | None:
        """The cached answer or None; the ledger does not count it."""
        return self.cache.get_many([key := self.key(request)]).get(key)

    def preview(self, requests: Iterable[Request]) -> Preview:
        """What `complete_many(requests)` would ask and cost."""
        return preview(self, requests)

    def complete(self, request: Request) -> Completion:
        return self.complete_many([request])[0]

    def complete_many(self, requests: Sequence[Request]) -> list[Completion]:
        """The answers in the order of the requests. One that fails has a `fault`; the rest go on.

        A refused key, a reached budget and a full disk are raised. Then, and after Ctrl-C, nothing more is sent, and what
        is under way is waited for and stored: running the same again asks only for the missing answers.
        """
        if threading.current_thread() in self._halted:
            raise StoppedError("the run was stopped")
        names = [self.key(request) for request in requests]
        fresh = set(names) - self._refreshed if self.refresh else set()
        found = self.cache.get_many([name for name in names if name not in fresh]) if names else {}
        calls = {name: r for name, r in zip(names, requests, strict=True) if name not in found}
        paid: set[str] = set()
        if calls:
            found |= self._missing(calls, len(names), paid)
        answers = []
        for name, request in zip(names, requests, strict=True):
            answer = found[name]
            if name not in paid:
                if not answer.cached and answer.fault in {"", "filtered"}:
                    answer = replace(answer, cached=True)
                self.ledger.add(request, answer)
            paid.discard(name)  # the same request once more costs nothing
            answers.append(answer)
        return answers

    def _missing(
        self, calls: dict[str, Request], total: int, paid: set[str]
    ) -> dict[str, Completion]:
        """The answers that are not cached; those that this run has paid for, and counted, are added to `paid`."""
        if self.offline:
            name, first = next(iter(calls.items()))
            raise CacheMissError(
                f"offline, and {len(calls):,} of {total:,} requests have no answer in {self.cache.path}; the first: "
                f"prompt {first.prompt!r}, question {first.question!r}, {name}; ask without `offline`, or merge a cache "
                "that has them"
            )
        for request in calls.values():
            check(request)
        if self.cache.read_only:
            raise StoreError(
                f"cache file {self.cache.path} cannot be written: nothing is paid that cannot be kept"
            )
        here = {n: r for n, r in calls.items() if self.send is send and runs_here(r.model)}
        found = self._compute(here) if here else {}
        paid.update(here)
        if remote := {name: request for name, request in calls.items() if name not in here}:
            future = asyncio.run_coroutine_threadsafe(self._ask(remote, paid), _loop())
            found |= self._wait(future)
        return found

    def _compute(self, calls: dict[str, Request]) -> dict[str, Completion]:
        """The answers of models of this process, stored together."""
        found = {}
        try:
            for name, request in calls.items():
                began, reply = time.time(), answer_here(request)
                answer = found[name] = replace(completion(request, name, reply), cost=0.0)
                now = time.time()
                row = insert(
                    request,
                    answer,
                    self.endpoint(request.model),
                    reply,
                    seconds=now - began,
                    created=now,
                )
                self.cache.add(row, durable=False)
                self.ledger.add(request, answer)
        finally:
            self.cache.save()
        self._refreshed |= calls.keys()
        return found

    def _wait(self, future: "Future[dict[str, Completion]]") -> dict[str, Completion]:
        try:
            return future.result()
        except BaseException:
            if not future.done():  # Ctrl-C; a second one leaves at once
                with self.stopped(), suppress(Exception):
                    future.result()
            raise

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """While the block runs, this client sends nothing more, and its runs in other threads end.

        They end when the replies under way are stored. After a second Ctrl-C those threads send nothing ever again.
        """
        self._halted = WeakSet(threading.enumerate())
        self._halted.discard(threading.current_thread())
        count = asyncio.run_coroutine_threadsafe(self._stop(), _loop()).result()
        if count:
            replies = "1 reply" if count == 1 else f"{count:,} replies"
            print(
                f"waiting for {replies} under way; Ctrl-C again leaves them",
                file=sys.stderr,
                flush=True,
            )
        yield
        self._halted = WeakSet()

    async def _stop(self) -> int:
        for run in self._runs:
            if not run.done():
                run.set_exception(StoppedError("the run was stopped before this call was sent"))
        return sum(call.posted for call in _under_way.values() if call.client is self)

    async def _ask(self, calls: dict[str, Request], paid: set[str]) -> dict[str, Completion]:
        """The answers by key. A call that another run of this process makes is waited for."""
        left = len(calls)
        run = asyncio.get_running_loop().create_future()
        mine: dict[str, _Call] = {}

        def ended(task: asyncio.Task[Completion]) -> None:
            nonlocal left
            left -= 1
            error = StoppedError("the call was stopped") if task.cancelled() else task.exception()
            if not run.done() and (error or not left):
                run.set_exception(error) if error else run.set_result(None)

        for name, request in calls.items():
            owner = (os.getpid(), self.cache.path.resolve(), name)
            if owner not in _under_way:
                call = _under_way[owner] = _Call(self)
                call.task = asyncio.create_task(self._make(call, name, request))
                call.task.add_done_callback(partial(_forget, owner))
                paid.add(name)
            mine[name] = _under_way[owner]
            mine[name].waiting += 1
            mine[name].task.add_done_callback(ended)
        self._runs.add(run)
        try:
            await run
        except (BudgetError, ProviderError, StoreError) as error:
            await self._end(mine.values())
            raise type(error)(f"{error}. {self._kept()}") from error
        except BaseException:
            await self._end(mine.values())
            raise
        finally:
            self._runs.discard(run)
        found = {name: call.task.result() for name, call in mine.items()}
        paid -= {name for name, answer in found.items() if answer.cached}  # by another process
        return found

    async def _end(self, calls: Iterable[_Call]) -> None:
        """Send nothing more for a run, and wait for what is under way: it is perhaps paid."""
        for call in calls:
            call.waiting -= 1
            if not call.waiting and not call.posted:
                call.task.cancel()
        if posted := [call.task for call in calls if call.posted and not call.task.done()]:
            await asyncio.wait(posted)

    def _kept(self) -> str:
        """What is paid and stored, for the message of a run that ends."""
        if waits := self.cache.waits:
            return (
                f"{waits:,} paid replies wait in memory: make space and run the same again in this process; ending the "
                "process loses them"
            )
        sums = self.ledger.total()
        return (
            f"{sums.calls + sums.hits:,} answers of this run are cached ({money.dollars(sums.cost, sums.unpriced)} paid "
            "now): fix this and run the same again to ask only for the others"
        )

    async def _make(self, call: _Call, key: str, request: Request) -> Completion:
        """Make one call: limited, locked against other processes, repeated while that may help."""
        if self.batch and not self._batches.unable(request):
            return await self._in_batch(key, request)
        limiter = self._limiters.setdefault(request.model, Limiter(self.at_once))
        attempt, began, wait = 1, time.monotonic(), 0.01
        while True:
            entered = await limiter.enter()
            refused = None
            try:
                if self._locks.acquire(key):
                    try:
                        return await self._answer(call, key, request)
                    finally:
                        self._locks.release(key)
            except Refusal as found:
                refused = found
            finally:
                throttled = refused is not None and refused.fault == "rate_limit"
                limiter.leave(entered, throttled=throttled, wait=refused.wait if refused else 0.0)
                call.post = None
            if refused is None:  # another process makes this call
                wait = min(0.5, 2 * wait)
            elif refused.fatal:
                raise ProviderError(f"{request.model} refused: {refused}") from refused
            elif throttled and time.monotonic() - began < self.timeout:
                wait = 0.0
            elif refused.again and attempt <= self.retries:
                wait, attempt = pause(attempt, refused.wait), attempt + 1
            else:
                failed = Completion(
                    "", request.model, key=key, fault=refused.fault, error=str(refused)
                )
                self.ledger.add(request, failed)
                return failed
            if refused:
                self.ledger.retried[refused.fault] += 1
            await asyncio.sleep(wait)

    async def _answer(self, call: _Call, key: str, request: Request) -> Completion:
        """The answer that another process has stored meanwhile, else that of one attempt; raises Refusal."""
        if not self.refresh and (cached := self.cache.get_many([key]).get(key)):
            return cached
        if self.cache.waits:  # a full disk: nothing is paid until there is room
            await asyncio.to_thread(self.cache.save)
            return await self._answer(call, key, request)
        amount = await self._reserve(request)
        post, began, cost, paid = Post(), time.time(), None, False
        call.post = post
        POST.set((post, lambda: bool(call.waiting)))
        statements = []
        try:
            if not call.waiting:
                raise asyncio.CancelledError
            post.posted = self.send is not send  # else LiteLLM's client says so
            url, endpoint = self._url(request.model)
            wait = called(self.send, request, url, self.timeout)
            reply = hidden(await asyncio.wait_for(wait, self.timeout))
            paid, cost = True, reply.get("cost")
            reply["cost"] = cost = cost if cost or listed(request.model) else None
            answer = completion(request, key, reply)
            if answer.fault == "empty" and (found := error_in(post)):
                paid = found.paid
                raise found
            if answer.fault != "empty":
                now = time.time()
                statements.append(insert(
                    request, answer, endpoint, reply, seconds=now - began, created=now,
                    dropped=dropped.get(asked(request), ""),
                ))  # fmt: skip
        except TimeoutError as error:
            paid = post.posted
            self.ledger.perhaps_paid += paid
            text = f"no reply within {self.timeout:g} s"
            raise Refusal("timeout", text, again=not paid, paid=paid) from error
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
            if post.status != 200:
                raise
            raise Refusal("malformed", f"the reply cannot be read: {error}", paid=True) from error
        except Exception as error:
            found = refusal(error, post)
            paid = found.paid
            self.ledger.perhaps_paid += paid
            raise found from error
        finally:
            if self.budget.limited:
                statements.append(self.budget.settled(request, amount, cost, paid=paid))
            if statements:
                await self.cache.put(*statements)
            self.budget.ended(request)
        self._refreshed.add(key)
        self.ledger.add(request, answer)
        return answer

    async def _reserve(self, request: Request, *, batch: bool = False) -> float:
        """The dollars reserved for a call, once they are free."""
        most = None
        if self.budget.dollars is not None:
            most = money.most(request, await asyncio.to_thread(litellm))
            most = most / 2 if batch and most else most
        while True:
            freed = self.budget.freed
            reserve = self.budget.reserve
            found = await asyncio.to_thread(reserve, self.cache, request, most, batch=batch)
            if found is not None:
                return found
            await freed.wait()

    async def _in_batch(self, key: str, request: Request) -> Completion:
        """The answer of a call from a batch. A stop leaves it there, and a later run finds it."""
        amount, cost, paid = await self._reserve(request, batch=True), None, False
        try:
            answer = await self._batches.ask(key, request, *self._url(request.model))
            cost, paid = answer.cost, True
        except Refusal as refused:
            paid = refused.paid
            if refused.fatal:
                raise ProviderError(f"{request.model} refused: {refused}") from refused
            answer = Completion("", request.model, key=key, fault=refused.fault, error=str(refused))
        finally:
            if self.budget.limited:
                await self.cache.put(self.budget.settled(request, amount, cost, paid=paid))
            self.budget.ended(request)
        answer = replace(answer, cached=False)
        self.ledger.add(request, answer)
        return answer
