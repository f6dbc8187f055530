"""Calls in batches, at half the price and answered within a day: OpenAI's form, by LiteLLM.

A stopped or killed run leaves its batches at the provider. The next run finds them in the
provider's list by their metadata, and their calls by our keys, so no call is sent twice. A batch is
noted in the cache before it is made, since it comes into that list a while after.
"""

import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import orjson

from workbench.llm import send as http
from workbench.llm.calls import Reply, public
from workbench.llm.faults import LONGEST, Refusal, pause, refusal, sort
from workbench.llm.money import litellm, priced
from workbench.llm.send import hidden, reading
from workbench.store import Store
from workbench.types import Request

# Seconds: when no new call has come for so long, the gathered calls are sent.
QUIET = 5.0
SETTLING = 60.0  # seconds until a new batch is in its provider's list
MOST = 4_000  # calls of a batch, whose file may have 200 MB
_POLL = 5.0  # seconds between two looks at a batch, at first
_ATTEMPTS = 9  # of a request about a batch: minutes, as a batch takes hours
_RECENT = 3 * 86_400  # seconds: older batches of earlier runs are not looked at
_Group = tuple[str, str]  # model and address
_Calls = dict[str, Request]


@cache
def takes(model: str) -> bool:
    """Whether a model's calls can go into a batch; where not, that is said once."""
    if model.startswith(("openai/", "azure/")):
        return True
    told = "there are no batches of such calls in OpenAI's form; they are sent live"
    print(f"{model}: {told}", file=sys.stderr)
    return False


class Batches:
    """The batches that this client follows. Only the loop's thread uses it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._searches: dict[_Group, asyncio.Task[None]] = {}
        # These gather calls.
        self._open: dict[_Group, tuple[_Calls, asyncio.Task[None]]] = {}
        self._changed = 0.0
        # By key: the task that follows its batch.
        self._sent: dict[str, asyncio.Task[None]] = {}
        self._answers: dict[str, Reply | Refusal] = {}  # by key

    async def ask(self, key: str, request: Request, url: str) -> Reply:
        """Return the reply to one call, from the batch that has it or the next one."""
        group = (request.model, url)
        await self._searched(group)
        if not await self._answered_earlier(key):
            await self._in_next_batch(group, key, request)
        answer = self._answers.pop(key, None)
        if not answer:
            raise Refusal("server", "its batch ended without an answer")
        if isinstance(answer, Refusal):
            raise answer
        with reading():
            cost = priced(request, answer)
        return hidden(answer) | {"cost": None if cost is None else cost / 2}

    async def _searched(self, group: _Group) -> None:
        """Wait for the search of earlier batches: the first one, or another if that failed."""
        search = self._searches.get(group)
        if not search or (search.done() and search.exception()):
            search = asyncio.create_task(self._search(group))
            self._searches[group] = search
        await asyncio.shield(search)

    async def _answered_earlier(self, key: str) -> bool:
        """Wait for the batch that has the call, if there is one; False if it gives no reply."""
        earlier = self._sent.get(key)
        if earlier:
            with suppress(Refusal):
                await asyncio.shield(earlier)
        return isinstance(self._answers.get(key), dict)

    async def _in_next_batch(self, group: _Group, key: str, request: Request) -> None:
        self._changed = time.monotonic()
        if group not in self._open or len(self._open[group][0]) >= MOST:
            gathered: _Calls = {}
            sending = asyncio.create_task(self._send(group, gathered))
            self._open[group] = (gathered, sending)
        calls, task = self._open[group]
        calls[key] = request
        try:
            await asyncio.shield(task)
        finally:
            calls.pop(key, None)

    async def _search(self, group: _Group) -> None:
        """Follow the recent batches of earlier runs and tries, of those with one call the last."""
        while True:
            ours = await self._listed(group)
            listed = {batch["input_file_id"] for batch in ours}
            noted = await asyncio.to_thread(self._noted, group)
            if noted <= listed:
                break
            await asyncio.sleep(min(_POLL, SETTLING / 4))
        for batch in reversed(ours):
            content = await _call(
                "afile_content", group, file_id=batch["input_file_id"]
            )
            task = asyncio.create_task(self._follow(group, batch["id"]))
            for line in _lines(content):
                self._sent[f"call:{line.get('custom_id')}"] = task

    async def _listed(self, group: _Group) -> list[dict[str, Any]]:
        """Return our recent batches in the provider's list, the newest first.

        The list has the whole account's, so ours may stand on any of its pages.
        """
        oldest = time.time() - _RECENT
        ours = []
        last = None
        while True:
            page = await _call("alist_batches", group, after=last, limit=100)
            page = page if isinstance(page, dict) else page.model_dump()
            batches = page.get("data") or []
            recent = [batch for batch in batches if batch["created_at"] > oldest]
            for batch in recent:
                metadata = batch.get("metadata") or {}
                if metadata.get("workbench"):
                    ours.append(batch)
            if not page.get("has_more") or not batches or recent != batches:
                return ours
            last = batches[-1]["id"]

    def _noted(self, group: _Group) -> set[str]:
        """Return the files of batches that are perhaps made and may not be in the list yet."""
        model, url = group
        select = (
            "SELECT file FROM batches WHERE (model, address) = (?, ?) AND created > ?"
        )
        values = [model, public(url), time.time() - SETTLING]
        return {file for (file,) in self._store.read(select, values)}

    def _note(self, group: _Group, file: str) -> None:
        model, url = group
        row = [file, model, public(url), time.time()]
        with self._store.write() as db:
            db.execute("INSERT OR REPLACE INTO batches VALUES (?, ?, ?, ?)", row)

    async def _send(self, group: _Group, calls: _Calls) -> None:
        """Send the gathered calls once no other comes, without those that nobody waits for."""
        while len(calls) < MOST:
            wait = self._changed + QUIET - time.monotonic()
            if wait <= 0:
                break
            await asyncio.sleep(wait)
        # Else they are full, and others gather already.
        if self._open[group][0] is calls:
            del self._open[group]
        lines = b"".join(_line(*call) for call in calls.items())
        upload = ("calls.jsonl", lines, "application/jsonl")
        file = (await _call("acreate_file", group, file=upload, purpose="batch")).id
        task = asyncio.current_task()  # it will follow the batch
        if not calls or not task:
            return
        self._sent |= dict.fromkeys(calls, task)
        settings = {
            "completion_window": "24h",
            "endpoint": "/v1/chat/completions",
            "input_file_id": file,
            "metadata": {"workbench": "calls"},
        }
        await asyncio.to_thread(self._note, group, file)
        try:
            batch = await _called_once("acreate_batch", group, **settings)
        except Refusal as refused:
            # Perhaps only its reply is lost: the next try searches for it.
            self._searches.pop(group, None)
            refused.wait = max(pause(0, 0.0), refused.wait)
            raise
        print(f"batch {batch.id}: {len(calls):,} calls of {group[0]}", file=sys.stderr)
        await self._follow(group, batch.id)

    async def _follow(self, group: _Group, number: str) -> None:
        """Wait for the end of a batch, and read its results."""
        wait = _POLL
        while True:
            reply = await _call("aretrieve_batch", group, batch_id=number)
            batch = reply.model_dump()
            if batch["status"] in {"failed", "completed", "expired", "cancelled"}:
                break
            wait = min(LONGEST, 1.5 * wait)
            await asyncio.sleep(wait)
        if batch["status"] == "failed":  # before it began, so nothing is paid
            raise sort("", 400, str(batch.get("errors") or "the batch failed"))
        files = [batch.get("output_file_id"), batch.get("error_file_id")]
        for file in filter(None, files):
            content = await _call("afile_content", group, file_id=file)
            for line in _lines(content):
                self._answers[f"call:{line.get('custom_id')}"] = _result(line)


def _lines(content: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects in a file's lines, without damaged ones: their calls are asked again."""
    for text in content.content.splitlines():
        with suppress(ValueError):
            line = orjson.loads(text)
            if isinstance(line, dict):
                yield line


def _result(line: dict[str, Any]) -> Reply | Refusal:
    """Return what became of one call of a batch; its parts may be of any kind."""
    response = _object(line.get("response"))
    body = _object(response.get("body"))
    status = response.get("status_code")
    if status == 200 and body:
        return body
    error = line.get("error") or body.get("error")
    if status == 200 and not error:
        text = f"the reply cannot be read: {response.get('body')}"
        return Refusal("malformed", text, paid=True)
    text = str(error or response.get("body") or line.get("response"))
    code = status if isinstance(status, int) else 500
    return Refusal(sort("", code, text).fault, text)  # of this call alone


def _object(value: Any) -> dict[str, Any]:
    """Return a value of JSON if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def _line(key: str, request: Request) -> bytes:
    provider, _, name = request.model.partition("/")
    parameters = litellm().utils.get_optional_params(
        model=name, custom_llm_provider=provider, drop_params=True, **request.parameters
    )
    extra = parameters.pop("extra_body", {})
    body = {"model": name, "messages": request.messages, **extra, **parameters}
    line = {"custom_id": key.removeprefix("call:"), "method": "POST"}
    return orjson.dumps(line | {"url": "/v1/chat/completions", "body": body}) + b"\n"


async def _call(function: str, group: _Group, **arguments: Any) -> Any:
    """Return the result of LiteLLM's function, which is called again where that may help."""
    attempt = 1
    while True:
        try:
            return await _called_once(function, group, **arguments)
        except Refusal as refused:
            if attempt == _ATTEMPTS or not refused.again:
                refused.again = False
                raise
            wait = pause(attempt, refused.wait)
        attempt += 1
        await asyncio.sleep(wait)


async def _called_once(function: str, group: _Group, **arguments: Any) -> Any:
    model, url = group
    module = await asyncio.to_thread(litellm)
    http.http()  # it follows no redirect
    if url:
        arguments["api_base"] = url
    arguments["custom_llm_provider"] = model.partition("/")[0]
    arguments |= {"timeout": 600.0, "max_retries": 0}
    try:
        return await getattr(module, function)(**arguments)
    except Exception as error:  # noqa: BLE001  `refusal` raises again what is no provider's
        # LiteLLM's text may repeat a key.
        raise refusal(error, posted=False, response=None) from None
