"""Calls in batches, at half the price and answered within a day: OpenAI's form, by LiteLLM.

A batch is a row of the cache file before it is sent, so a call that a killed run has sent joins its old batch and is not
sent again. Its name is in its metadata at the provider: a run that was killed between asking for a batch and storing its
id searches for the name before it asks again.
"""

import asyncio
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any
from uuid import uuid4

import orjson

from workbench.llm.cache import Cache, insert
from workbench.llm.faults import LONGEST, Post, Refusal, pause, refusal, sort
from workbench.llm.keys import public
from workbench.llm.locks import Locks
from workbench.llm.money import price
from workbench.llm.send import EMBEDDING, completion, hidden, litellm
from workbench.types import Completion, Request

PROVIDERS = ("openai", "azure", "hosted_vllm")
QUIET = 5.0  # seconds without a new call after which the calls that wait are sent
SETTLING = 20.0  # seconds after which a new batch is in its provider's list
MOST = 50_000  # calls of a batch
_POLL = 5.0  # seconds between two looks at a batch, at first
_ENDED = {"completed", "expired", "cancelled"}


class Batches:
    """The batches of one cache file that this client follows. Only the loop's thread uses it."""

    def __init__(self, cache: Cache) -> None:
        self._cache, self._locks = cache, Locks(cache.path)
        self._gathering: dict[tuple[str, str], dict[str, Request]] = defaultdict(dict)
        self._changed = 0.0
        self._names: dict[
            str, asyncio.Future[str]
        ] = {}  # by key: the batch that a gathered call got
        self._tasks: dict[str, asyncio.Task[None]] = {}  # by batch
        self._waiting: Counter[str] = Counter()  # by batch: nothing is sent for which nobody waits
        self._refused: dict[str, Refusal] = {}  # by key
        self._told: set[str] = set()

    def unable(self, request: Request) -> str:
        """Why a call cannot go into a batch, which is said once; "" if it can."""
        provider = request.model.partition("/")[0]
        if provider in PROVIDERS and EMBEDDING not in request.parameters:
            return ""
        why = (
            f"no batches of {provider} in OpenAI's form"
            if provider not in PROVIDERS
            else "an embedding"
        )
        if request.model not in self._told:
            self._told.add(request.model)
            print(f"{request.model}: {why}; its calls are sent live", file=sys.stderr)
        return why

    async def ask(self, key: str, request: Request, url: str, endpoint: str) -> Completion:
        """The answer to one call, from the batch that has it or from the next one; raises Refusal."""
        wait = 0.05
        while True:
            if answer := self._cache.get_many([key]).get(key):
                return answer
            rows = self._cache.read("SELECT batch FROM batch_items WHERE key = ?", [key])
            if not rows and not self._locks.acquire(key):  # another process gathers it
                await asyncio.sleep(wait := min(5.0, 2 * wait))
                continue
            try:
                name = str(rows[0][0]) if rows else await self._gather(key, request, url)
                await self._followed(name, url, endpoint)
            finally:
                self._locks.release(key)
            if found := self._refused.pop(key, None):
                raise found

    async def _gather(self, key: str, request: Request, url: str) -> str:
        """Wait until the call is in a batch; returns its name."""
        group = (request.model, url)
        self._gathering[group][key] = request
        self._changed = time.monotonic()
        named = self._names[key] = asyncio.get_running_loop().create_future()
        try:
            while not named.done():
                full = len(self._gathering[group]) >= MOST
                wait = 0.0 if full else self._changed + QUIET - time.monotonic()
                if wait > 0:
                    await asyncio.wait([named], timeout=wait)
                else:
                    self._make(group)
            return str(named.result())
        finally:
            self._gathering[group].pop(key, None)
            self._names.pop(key, None)

    def _make(self, group: tuple[str, str]) -> None:
        """Write the gathered calls of a model as one batch, before anything is sent."""
        name, (model, url) = uuid4().hex, group
        calls = dict(list(self._gathering[group].items())[:MOST])
        with self._cache.write() as db:
            row = (name, model, public(url), "", None, "", time.time())
            db.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            items = [
                (key, name, orjson.dumps(asdict(request)).decode())
                for key, request in calls.items()
            ]
            db.executemany("INSERT INTO batch_items VALUES (?, ?, ?)", items)
        for key in calls:
            del self._gathering[group][key]
            self._names[key].set_result(name)

    async def _followed(self, name: str, url: str, endpoint: str) -> None:
        """Wait for the end of a batch, which one process follows."""
        if name not in self._tasks or self._tasks[name].done():
            self._tasks[name] = asyncio.create_task(self._follow(name, url, endpoint))
        self._waiting[name] += 1
        try:
            await asyncio.shield(self._tasks[name])
        finally:
            self._waiting[name] -= 1

    async def _follow(self, name: str, url: str, endpoint: str) -> None:
        failures, wait = 0, _POLL
        while not self._locks.acquire(name):  # noqa: ASYNC110  another process follows it
            await asyncio.sleep(1.0)
        try:
            while self._waiting[name] and (
                rows := self._cache.read("SELECT * FROM batches WHERE name = ?", [name])
            ):
                _, model, _, file, asked, number, _ = rows[0]
                try:
                    if not number:
                        await self._create(name, model, url, file, asked)
                    elif await self._look(name, model, url, endpoint, number):
                        return
                    else:
                        await asyncio.sleep(wait := min(LONGEST, 1.5 * wait))
                    failures = 0
                except Refusal as refused:
                    failures += 1
                    if not refused.again or failures > 8:
                        self._close(name, refused, keep=refused.again or refused.fatal)
                        return
                    await asyncio.sleep(pause(failures, refused.wait))
        finally:
            self._locks.release(name)

    async def _create(
        self, name: str, model: str, url: str, file: str, asked: float | None
    ) -> None:
        """Take a batch that is on disk one step further: uploaded, asked for, known by its id."""
        number = ""
        if asked is not None:  # an earlier try may have made it
            await asyncio.sleep(max(0.0, asked + SETTLING - time.time()))
            number = await self._find(name, model, url)
        if not number and not file:
            lines = b"".join(_line(key, request) for key, request in self._requests(name).items())
            upload = (f"{name}.jsonl", lines, "application/jsonl")
            file = (await _call("acreate_file", model, url, file=upload, purpose="batch")).id
            self._set(name, "file", file)
        if not number:
            if not self._waiting[name]:
                return
            self._set(name, "asked", time.time())
            given = {
                "completion_window": "24h",
                "endpoint": "/v1/chat/completions",
                "input_file_id": file,
            }
            number = (
                await _call("acreate_batch", model, url, metadata={"workbench": name}, **given)
            ).id
        self._set(name, "id", number)
        print(f"batch {number}: {len(self._requests(name)):,} calls of {model}", file=sys.stderr)

    async def _find(self, name: str, model: str, url: str) -> str:
        """The id of the batch of that name at the provider; "" if there is none."""
        after = None
        while True:
            page = await _call("alist_batches", model, url, after=after, limit=100)
            page = page if isinstance(page, dict) else page.model_dump()
            for batch in page.get("data") or []:
                if (batch.get("metadata") or {}).get("workbench") == name:
                    return str(batch["id"])
                after = batch["id"]
            if not page.get("has_more"):
                return ""

    async def _look(self, name: str, model: str, url: str, endpoint: str, number: str) -> bool:
        """Whether the batch has ended; then its answers are stored."""
        found = (await _call("aretrieve_batch", model, url, batch_id=number)).model_dump()
        if found["status"] == "failed":  # before it began, so nothing is paid
            errors = ((found.get("errors") or {}).get("data")) or []
            text = "; ".join(str(error.get("message")) for error in errors) or "the batch failed"
            raise sort("", 400, text)
        if found["status"] not in _ENDED:
            return False
        requests = self._requests(name)
        for file in filter(None, (found.get("output_file_id"), found.get("error_file_id"))):
            content = await _call("afile_content", model, url, file_id=file)
            for line in content.content.splitlines():
                await self._store(requests, endpoint, number, orjson.loads(line))
        self._close(
            name, Refusal("server", f"batch {number} ended without an answer ({found['status']})")
        )
        return True

    async def _store(
        self, requests: Mapping[str, Request], endpoint: str, number: str, line: Mapping[str, Any]
    ) -> None:
        key, response = f"call:{line['custom_id']}", line.get("response") or {}
        if not (request := requests.get(key)):
            return
        body = response.get("body") or {}
        if response.get("status_code") != 200:
            details = line.get("error") or body.get("error") or body
            text = str(details.get("message") if isinstance(details, dict) else details)
            refused = sort("", int(response.get("status_code") or 500), text)
            self._refused[key] = Refusal(refused.fault, str(refused))
            return
        reply = hidden(body)
        usage = reply.get("usage") or {}
        whole = price(
            request, usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0, litellm()
        )
        reply |= {"batch": number}
        answer = replace(completion(request, key, reply), cost=None if whole is None else whole / 2)
        if answer.fault == "empty":
            self._refused[key] = Refusal("empty", answer.error, paid=True)
            return
        row = insert(request, answer, endpoint, reply, seconds=0.0, created=time.time())
        await self._cache.put(row, ("DELETE FROM batch_items WHERE key = ?", (key,)))

    def _close(self, name: str, refused: Refusal, *, keep: bool = False) -> None:
        """Give the calls without an answer this refusal; `keep` leaves the batch to a later run."""
        for key in self._requests(name):
            self._refused.setdefault(key, refused)
        if not keep:
            with self._cache.write() as db:
                db.execute("DELETE FROM batch_items WHERE batch = ?", [name])
                db.execute("DELETE FROM batches WHERE name = ?", [name])

    def _requests(self, name: str) -> dict[str, Request]:
        rows = self._cache.read(
            "SELECT key, request FROM batch_items WHERE batch = ? ORDER BY rowid", [name]
        )
        return {key: Request(**orjson.loads(request)) for key, request in rows}

    def _set(self, name: str, column: str, value: object) -> None:
        with self._cache.write() as db:
            db.execute(f"UPDATE batches SET {column} = ? WHERE name = ?", [value, name])


def unread(cache: Cache) -> list[str]:
    """A line for each unread batch, the oldest first: nobody reads its answers until its command runs again."""
    select = "SELECT model, id, created, (SELECT count(*) FROM batch_items WHERE batch = name) FROM batches ORDER BY created"
    return [
        f"{calls:,} calls of {model}, batch {number or 'not sent'} of {time.strftime('%Y-%m-%d %H:%M', time.localtime(at))}"
        for model, number, at, calls in cache.read(select)
    ]


def _line(key: str, request: Request) -> bytes:
    module, name = litellm(), request.model.partition("/")[2]
    provider = request.model.partition("/")[0]
    given = module.utils.get_optional_params(
        model=name, custom_llm_provider=provider, drop_params=True, **request.parameters
    )
    body = {"model": name, "messages": request.messages, **given.pop("extra_body", {}), **given}
    line = {
        "custom_id": key.removeprefix("call:"),
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": body,
    }
    return orjson.dumps(line) + b"\n"


async def _call(function: str, model: str, url: str, **given: Any) -> Any:
    """Call a function of LiteLLM for files or batches of the model's provider."""
    module = await asyncio.to_thread(litellm)
    provider = model.partition("/")[0]
    given |= {"api_base": url} if url else {}
    given |= {"api_key": "none"} if provider == "hosted_vllm" else {}
    try:
        return await getattr(module, function)(
            custom_llm_provider=provider, timeout=600.0, max_retries=0, **given
        )
    except Exception as error:
        raise refusal(error, Post()) from error
