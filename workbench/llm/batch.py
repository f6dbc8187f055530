"""Calls in batches, at half the price and answered within a day: OpenAI's form, by LiteLLM.

A batch is a row of the cache file before it is sent, so a call that a killed run has sent joins its
old batch. Its name is in its metadata at the provider: a run that was killed between asking for a
batch and storing its id searches for the name before it asks again.
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
from workbench.llm.faults import LONGEST, Refusal, pause, refusal, sort
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
_Group = tuple[str, str, str]  # model, address, endpoint in keys


class Batches:
    """The batches of one cache file that this client follows. Only the loop's thread uses it."""

    def __init__(self, cache: Cache) -> None:
        self._cache, self._locks = cache, Locks(cache.path)
        self._gathering: dict[_Group, dict[str, Request]] = defaultdict(dict)
        self._changed = 0.0
        self._tasks: dict[str, asyncio.Task[None]] = {}  # by batch
        self._waiting: Counter[str] = Counter()  # by batch: nothing is sent that nobody waits for
        self._refused: dict[str, Refusal] = {}  # by key
        self._told: set[str] = set()

    def unable(self, request: Request) -> bool:
        """Whether a call cannot go into a batch, which is said once."""
        able = request.model.startswith(tuple(f"{name}/" for name in PROVIDERS))
        able = able and EMBEDDING not in request.parameters
        if not able and request.model not in self._told:
            self._told.add(request.model)
            told = "there are no batches of such calls in OpenAI's form; they are sent live"
            print(f"{request.model}: {told}", file=sys.stderr)
        return not able

    async def ask(self, key: str, request: Request, url: str, endpoint: str) -> Completion:
        """The answer to one call, from the batch that has it or the next one; raises Refusal."""
        group = (request.model, url, endpoint)
        while not (answer := self._cache.get_many([key]).get(key)):
            rows = self._cache.read("SELECT batch FROM batch_items WHERE key = ?", [key])
            if not rows:
                await self._gather(key, request, group)
                continue
            name = str(rows[0][0])
            if name not in self._tasks or self._tasks[name].done():
                self._tasks[name] = asyncio.create_task(self._follow(name, group))
            self._waiting[name] += 1
            try:
                await asyncio.shield(self._tasks[name])
            finally:
                self._waiting[name] -= 1
            if found := self._refused.pop(key, None):
                raise found
        return answer

    async def _gather(self, key: str, request: Request, group: _Group) -> None:
        """Wait until the call is in a batch."""
        self._gathering[group][key], self._changed = request, time.monotonic()
        try:
            while key in self._gathering[group]:
                wait = self._changed + QUIET - time.monotonic()
                if wait <= 0 or len(self._gathering[group]) >= MOST:
                    self._write(group)
                else:
                    await asyncio.sleep(wait)
        finally:
            self._gathering[group].pop(key, None)

    def _write(self, group: _Group) -> None:
        """Write the gathered calls as one batch, before anything is sent.

        Another process may have written one of them meanwhile: SQLite keeps the first.
        """
        name, calls = uuid4().hex, list(self._gathering[group].items())[:MOST]
        items = [(key, name, orjson.dumps(asdict(request)).decode()) for key, request in calls]
        with self._cache.write() as db:
            row = (name, group[0], public(group[1]), None, "", time.time())
            db.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?)", row)
            db.executemany("INSERT OR IGNORE INTO batch_items VALUES (?, ?, ?)", items)
        for key, _ in calls:
            del self._gathering[group][key]

    async def _follow(self, name: str, group: _Group) -> None:
        """Take a batch to its end, in one process at a time, while somebody waits for it."""
        failures, wait = 0, _POLL
        while not self._locks.acquire(name):  # noqa: ASYNC110  another process follows it
            await asyncio.sleep(1.0)
        try:
            select = "SELECT asked, id FROM batches WHERE name = ?"
            while self._waiting[name] and (rows := self._cache.read(select, [name])):
                asked, number = rows[0]
                try:
                    if not number:
                        await self._create(name, group, asked)
                    elif await self._look(name, group, number):
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

    async def _create(self, name: str, group: _Group, asked: float | None) -> None:
        """Ask for a batch that is on disk, unless an earlier try has made it; store its id."""
        number = ""
        if asked is not None:
            await asyncio.sleep(max(0.0, asked + SETTLING - time.time()))
            number = await self._find(name, group)
        if not number:
            lines = b"".join(_line(key, one) for key, one in self._requests(name).items())
            upload = (f"{name}.jsonl", lines, "application/jsonl")
            file = (await _call("acreate_file", group, file=upload, purpose="batch")).id
            if not self._waiting[name]:
                return
            self._set(name, "asked", time.time())
            given = {"completion_window": "24h", "endpoint": "/v1/chat/completions",
                     "input_file_id": file, "metadata": {"workbench": name}}  # fmt: skip
            number = (await _call("acreate_batch", group, **given)).id
        self._set(name, "id", number)
        calls = len(self._requests(name))
        print(f"batch {number}: {calls:,} calls of {group[0]}", file=sys.stderr)

    async def _find(self, name: str, group: _Group) -> str:
        """The id of the batch of that name at the provider; "" if there is none."""
        after = None
        while True:
            page = await _call("alist_batches", group, after=after, limit=100)
            page = page if isinstance(page, dict) else page.model_dump()
            for batch in page.get("data") or []:
                if (batch.get("metadata") or {}).get("workbench") == name:
                    return str(batch["id"])
                after = batch["id"]
            if not page.get("has_more"):
                return ""

    async def _look(self, name: str, group: _Group, number: str) -> bool:
        """Whether the batch has ended; then its answers are stored."""
        found = (await _call("aretrieve_batch", group, batch_id=number)).model_dump()
        if found["status"] == "failed":  # before it began, so nothing is paid
            errors = ((found.get("errors") or {}).get("data")) or []
            text = "; ".join(str(error.get("message")) for error in errors) or "the batch failed"
            raise sort("", 400, text)
        if found["status"] not in {"completed", "expired", "cancelled"}:
            return False
        requests = self._requests(name)
        for file in filter(None, (found.get("output_file_id"), found.get("error_file_id"))):
            content = await _call("afile_content", group, file_id=file)
            for line in content.content.splitlines():
                await self._store(requests, group[2], number, orjson.loads(line))
        text = f"batch {number} ended without an answer ({found['status']})"
        self._close(name, Refusal("server", text))
        return True

    async def _store(self, requests: Mapping[str, Request], endpoint: str, number: str,
                     line: Mapping[str, Any]) -> None:  # fmt: skip
        """Store the answer of one line of a batch's results, or note why there is none."""
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
        reply = hidden(body) | {"batch": number}
        answer = completion(request, key, reply)
        cost = price(request, answer.input_tokens, answer.output_tokens, litellm())
        answer = replace(answer, cost=None if cost is None else cost / 2)
        if answer.fault == "empty":
            self._refused[key] = Refusal("empty", answer.error, paid=True)
            return
        row = insert(request, answer, endpoint, reply, time.time())
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
        select = "SELECT key, request FROM batch_items WHERE batch = ? ORDER BY rowid"
        rows = self._cache.read(select, [name])
        return {key: Request(**orjson.loads(request)) for key, request in rows}

    def _set(self, name: str, column: str, value: object) -> None:
        with self._cache.write() as db:
            db.execute(f"UPDATE batches SET {column} = ? WHERE name = ?", [value, name])


def unread(cache: Cache) -> list[str]:
    """A line for each batch whose answers nobody reads until its command runs again."""
    select = (
        "SELECT (SELECT count(*) FROM batch_items WHERE batch = name) || ' calls of ' || model || "
        "', batch ' || coalesce(nullif(id, ''), 'not sent') || ' of ' || "
        "strftime('%Y-%m-%d %H:%M', created, 'unixepoch', 'localtime') "
        "FROM batches ORDER BY created"
    )
    return [line for (line,) in cache.read(select)]


def _line(key: str, request: Request) -> bytes:
    provider, _, name = request.model.partition("/")
    given = litellm().utils.get_optional_params(
        model=name, custom_llm_provider=provider, drop_params=True, **request.parameters
    )
    body = {"model": name, "messages": request.messages, **given.pop("extra_body", {}), **given}
    line = {"custom_id": key.removeprefix("call:"), "method": "POST",
            "url": "/v1/chat/completions", "body": body}  # fmt: skip
    return orjson.dumps(line) + b"\n"


async def _call(function: str, group: _Group, **given: Any) -> Any:
    """Call a function of LiteLLM for files or batches of the model's provider."""
    (model, url, _), module = group, await asyncio.to_thread(litellm)
    provider = model.partition("/")[0]
    given |= {"api_base": url} if url else {}
    given |= {"api_key": "none"} if provider == "hosted_vllm" else {}
    given |= {"custom_llm_provider": provider, "timeout": 600.0, "max_retries": 0}
    try:
        return await getattr(module, function)(**given)
    except Exception as error:
        raise refusal(error, False, None) from error
