"""Calls in batches, at half the price and answered within a day: OpenAI's form, by LiteLLM.

A stopped or killed run leaves its batches at the provider. The next run finds them in the provider's
list by their metadata, and their calls by our keys, so no call is sent twice.
"""

import asyncio
import sys
import time
from contextlib import suppress
from functools import cache
from typing import Any

import orjson

from workbench.llm.calls import Reply
from workbench.llm.faults import LONGEST, Refusal, pause, refusal, sort
from workbench.llm.money import litellm, priced
from workbench.llm.send import hidden
from workbench.types import Request

QUIET = 5.0  # seconds: when no new call has come for so long, the gathered calls are sent
SETTLING = 20.0  # seconds until a new batch is in its provider's list
MOST = 4_000  # calls of a batch, whose file may have 200 MB
_POLL = 5.0  # seconds between two looks at a batch, at first
_RECENT = 3 * 86_400  # seconds: older batches of earlier runs are not looked at
_Group = tuple[str, str]  # model and address
_Calls = dict[str, Request]


@cache
def takes(model: str) -> bool:
    """Whether a model's calls can go into a batch; where not, that is said once."""
    if able := model.startswith(("openai/", "azure/")):
        return able
    told = "there are no batches of such calls in OpenAI's form; they are sent live"
    print(f"{model}: {told}", file=sys.stderr)
    return False


class Batches:
    """The batches that this client follows. Only the loop's thread uses it."""

    def __init__(self) -> None:
        self._searches: dict[_Group, asyncio.Task[None]] = {}
        self._open: dict[_Group, tuple[_Calls, asyncio.Task[None]]] = {}  # these gather calls
        self._changed = 0.0
        self._sent: dict[str, asyncio.Task[None]] = {}  # by key: the task that follows its batch
        self._found: dict[str, Reply | Refusal] = {}  # by key

    async def ask(self, key: str, request: Request, url: str) -> Reply:
        """The reply to one call, from the batch that has it or the next one; raises Refusal."""
        group = (request.model, url)
        search = self._searches.get(group)
        if not search or (search.done() and search.exception()):
            search = self._searches[group] = asyncio.create_task(self._search(group))
        await asyncio.shield(search)
        if earlier := self._sent.get(key):
            with suppress(Refusal):
                await asyncio.shield(earlier)
        if not isinstance(self._found.get(key), dict):  # no batch has its answer
            self._changed = time.monotonic()
            if group not in self._open or len(self._open[group][0]) >= MOST:
                calls: _Calls = {}
                self._open[group] = calls, asyncio.create_task(self._send(group, calls))
            calls, task = self._open[group]
            calls[key] = request
            try:
                await asyncio.shield(task)
            finally:
                calls.pop(key, None)
        found = self._found.pop(key, None) or Refusal("server", "its batch ended without an answer")
        if isinstance(found, Refusal):
            raise found
        cost = priced(request, found)
        return hidden(found) | {"cost": None if cost is None else cost / 2}

    async def _search(self, group: _Group) -> None:
        """Follow the recent batches of earlier runs and tries, of those with one call the last."""
        ours: list[dict[str, Any]] = []
        after = None
        while True:
            page = await _call("alist_batches", group, after=after, limit=100)
            page = page if isinstance(page, dict) else page.model_dump()
            batches = page.get("data") or []
            recent = [one for one in batches if one["created_at"] > time.time() - _RECENT]
            ours += [one for one in recent if (one.get("metadata") or {}).get("workbench")]
            if not page.get("has_more") or len(recent) < len(batches):
                break
            after = batches[-1]["id"]
        for batch in reversed(ours):
            content = await _call("afile_content", group, file_id=batch["input_file_id"])
            task = asyncio.create_task(self._follow(group, batch["id"]))
            for line in content.content.splitlines():
                self._sent[f"call:{orjson.loads(line)['custom_id']}"] = task

    async def _send(self, group: _Group, calls: _Calls) -> None:
        """Send the gathered calls once no other comes, without those that nobody waits for."""
        while (wait := self._changed + QUIET - time.monotonic()) > 0 and len(calls) < MOST:  # noqa: ASYNC110
            await asyncio.sleep(wait)
        if self._open[group][0] is calls:
            del self._open[group]
        lines = b"".join(_line(*call) for call in calls.items())
        upload = ("calls.jsonl", lines, "application/jsonl")
        file = (await _call("acreate_file", group, file=upload, purpose="batch")).id
        task = asyncio.current_task()
        if not calls or not task:
            return
        self._sent |= dict.fromkeys(calls, task)
        given = {"completion_window": "24h", "endpoint": "/v1/chat/completions",
                 "input_file_id": file, "metadata": {"workbench": "calls"}}  # fmt: skip
        try:
            batch = await _call("acreate_batch", group, **given)
        except Refusal as refused:  # perhaps only its reply is lost: the next try searches for it
            self._searches.pop(group, None)
            refused.wait = max(SETTLING, refused.wait)
            raise
        print(f"batch {batch.id}: {len(calls):,} calls of {group[0]}", file=sys.stderr)
        await self._follow(group, batch.id)

    async def _follow(self, group: _Group, number: str) -> None:
        """Wait for the end of a batch, and read its results."""
        wait = _POLL
        while True:
            batch = (await _call("aretrieve_batch", group, batch_id=number)).model_dump()
            if batch["status"] in {"failed", "completed", "expired", "cancelled"}:
                break
            await asyncio.sleep(wait := min(LONGEST, 1.5 * wait))
        if batch["status"] == "failed":  # before it began, so nothing is paid
            raise sort("", 400, str(batch.get("errors") or "the batch failed"))
        for file in filter(None, (batch.get("output_file_id"), batch.get("error_file_id"))):
            content = await _call("afile_content", group, file_id=file)
            for line in map(orjson.loads, content.content.splitlines()):
                response = line.get("response") or {}
                status, body = response.get("status_code") or 500, response.get("body") or {}
                text = str(line.get("error") or body.get("error"))
                failed = Refusal(sort("", status, text).fault, text)  # of this call alone
                self._found[f"call:{line['custom_id']}"] = body if status == 200 else failed


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
    """The result of LiteLLM's function for files or batches, called again where that may help."""
    (model, url), module = group, await asyncio.to_thread(litellm)
    given |= {"api_base": url} if url else {}
    given |= {"custom_llm_provider": model.partition("/")[0], "timeout": 600.0, "max_retries": 0}
    making, attempt = function == "acreate_batch", 0
    while True:
        try:
            return await getattr(module, function)(**given)
        except Exception as error:
            refused, attempt = refusal(error, posted=False, response=None), attempt + 1
            if making or attempt == 9 or not refused.again:
                refused.again &= making  # the next `ask` first searches for what was made
                raise refused from error
            await asyncio.sleep(pause(attempt, refused.wait))
