"""Send one request by LiteLLM, which is imported by the first call that is not cached.

LiteLLM is given our HTTP client, which follows no redirect, so that no key reaches another host. The
client's hooks check right before a post that the run was not stopped, and note what came back.
"""

import asyncio
import base64
import importlib
import inspect
import re
import struct
import sys
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar
from functools import cache
from typing import Any

import orjson

from workbench.canonical import canonical, content_hash
from workbench.errors import hide
from workbench.llm.calls import Reply, runs_here
from workbench.llm.faults import Refusal
from workbench.llm.money import litellm, priced
from workbench.types import Completion, Fault, Request

Send = Callable[[Request, str, float], Awaitable[Reply] | Reply]
EMBEDDING = "embedding"  # a request with this parameter asks for the vector of a text
FILTERED = "the provider's content filter withheld the answer"
dropped: dict[bytes, str] = {}  # what LiteLLM leaves out, by `asked`
_HANDLER = {  # companies that LiteLLM reaches by its own HTTP client, not by OpenAI's package
    "anthropic", "azure_ai", "bedrock", "cometapi", "databricks", "deepseek", "edenai",
    "fireworks_ai", "gemini", "groq", "heroku", "hosted_vllm", "huggingface", "minimax", "mistral",
    "ollama", "ollama_chat", "openrouter", "ovhcloud", "snowflake", "together_ai", "vertex_ai",
    "xai",
}  # fmt: skip
_answering = threading.Lock()


class Call:
    """A call without an answer yet; the hooks note whether it is posted, and the HTTP response."""

    task: "asyncio.Task[Completion]"
    posted, stopped, response = False, False, None

    def stop(self) -> None:
        """Never post it; what is posted is perhaps paid, and goes on."""
        self.stopped = True
        if not self.posted:
            self.task.cancel()


CALL: ContextVar[Call] = ContextVar("CALL")


async def _before(_: Any) -> None:
    """Post nothing after a stop, and only once an attempt: LiteLLM repeats lost connections."""
    if call := CALL.get(None):
        if call.stopped:
            raise asyncio.CancelledError
        if call.posted:
            raise Refusal("connection", "the connection was lost", again=True, paid=True)
        call.posted = True


async def _after(response: Any) -> None:
    if call := CALL.get(None):
        call.response = response


@cache
def _http() -> Any:
    """Our HTTP client, for the providers of `_HANDLER`; LiteLLM uses it for the others, too."""
    module = importlib.import_module("litellm.llms.custom_httpx.http_handler")
    hooks = {"request": [_before], "response": [_after]}
    http = module.AsyncHTTPHandler(timeout=None, event_hooks=hooks, follow_redirects=False)
    litellm().aclient_session = http.client
    return http


async def send(request: Request, url: str, seconds: float) -> Reply:
    """The provider's reply as OpenAI's chat completion, with `cost` in dollars, None if unknown."""
    if not _http.cache_info().currsize:
        await asyncio.to_thread(litellm)
    module, http, kind = litellm(), _http(), asked(request)
    given = {**request.parameters, "model": request.model, "timeout": seconds,
             "num_retries": 0, "max_retries": 0}  # fmt: skip
    given |= {"api_base": url} if url else {}
    given |= {"client": http} if request.model.partition("/")[0] in _HANDLER else {}
    try:
        if given.pop(EMBEDDING, False):
            texts = [message["content"] for message in request.messages]
            reply = await module.aembedding(input=texts, **given)
        else:
            given |= {"messages": list(map(dict, request.messages)), "drop_params": kind in dropped}
            reply = await module.acompletion(**given)
    except module.UnsupportedParamsError as error:  # LiteLLM's own refusal: nothing was sent
        if given.get("drop_params", True):
            raise
        reason = str(error).removeprefix("litellm.")
        words = set(re.findall(r"\w+", reason))
        names = ", ".join(name for name in request.parameters if name in words) or reason
        if kind not in dropped:
            print(f"{request.model} does not take {names}: left out ({reason})", file=sys.stderr)
        dropped[kind] = names
        return await send(request, url, seconds)
    cost = reply._hidden_params.get("response_cost")  # noqa: SLF001  where LiteLLM puts it
    whole: Reply = reply.model_dump(exclude_none=True)
    whole["cost"] = cost or priced(request, whole)  # 0 may mean that there is no price
    if data := whole.pop("data", None):  # a vector, as a text: float32 in base64
        floats = struct.pack(f"<{len(data[0]['embedding'])}f", *data[0]["embedding"])
        message = {"content": base64.b64encode(floats).decode()}
        whole["choices"] = [{"message": message, "finish_reason": "stop"}]
    return whole


def asked(request: Request) -> bytes:
    """The model and the parameters of a request: its key in `dropped`."""
    return canonical([request.model, request.parameters])


async def called(send: Send, request: Request, url: str, seconds: float) -> Reply:
    """The reply of any `send`, without secrets; a plain function runs in a thread."""
    if inspect.iscoroutinefunction(send) or inspect.iscoroutinefunction(type(send).__call__):
        found = send(request, url, seconds)
    else:
        found = await asyncio.to_thread(send, request, url, seconds)
    return hidden(await found if inspect.isawaitable(found) else found)


def answer_here(request: Request) -> Reply:
    """The reply of a model of this process; only one thread computes at a time."""
    here = runs_here(request.model)
    assert here  # noqa: S101
    parts = [request.messages, request.parameters.get("temperature"), request.sample]
    with _answering:
        return hidden(here[0](request, content_hash("seed", parts)))


def hidden(reply: Reply) -> Reply:
    """A copy of the reply without secrets that a server repeats in it."""
    copy: Reply = orjson.loads(hide(orjson.dumps(reply, default=str).decode()))
    return copy


def completion(request: Request, key: str, reply: Reply) -> Completion:
    """The answer in a reply, which loses its text and cost; the answer has a fault if it has no text."""
    cost = reply.pop("cost", None)
    usage, choices = reply.get("usage") or {}, reply.get("choices") or [{}]
    message = choices[0].get("message") or {}
    text, reason = message.pop("content", None), choices[0].get("finish_reason") or "stop"
    if isinstance(text, list):  # parts, of which those of thinking are no answer
        text = "".join(str(part.get("text") or "") for part in text if isinstance(part, dict))
    details = message.get("provider_specific_fields") or {}
    refused = details.get("refusal") or message.get("refusal")
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)
    read, written, known = counted = [int(number or 0) for number in counts]
    if not all(0 <= number <= 10**9 for number in counted):
        raise ValueError(f"the token counts {counts} are impossible")
    fault: Fault = ""
    error = ""
    if refused or reason == "content_filter":
        reason, text, fault, error = "content_filter", text or refused, "filtered", FILTERED
    elif text is None and reason != "length":
        fault, error = "empty", f"the reply has no content (finish_reason {reason!r})"
    return Completion(text or "", request.model, reason, read, written, known, cost, key,
                      fault=fault, error=error)  # fmt: skip


class scripted:  # noqa: N801  it reads as a function: send=wb.scripted([...])
    """A `send` that gives these replies in turn, then `otherwise`; without it, a further request fails.

    A reply is a text, a whole reply as a provider sends it, or a `Refusal` to raise. `history` has
    the requests.

    >>> client = wb.Client(wb.Cache(), send=wb.scripted(["SELECT 1"]))
    >>> client.complete(wb.Request("direct", "any/model", [])).text
    'SELECT 1'
    """

    def __init__(
        self, replies: Iterable[str | Reply | Refusal] = (), otherwise: str | None = None
    ) -> None:
        self.replies, self.otherwise = deque(replies), otherwise
        self.history: list[Request] = []

    async def __call__(self, request: Request, *_: object) -> Reply:
        self.history.append(request)
        reply = self.replies.popleft() if self.replies else self.otherwise
        if reply is None:
            raise AssertionError(f"no reply is left for {request}")
        if isinstance(reply, Refusal):
            raise reply
        if isinstance(reply, dict):
            return reply
        words = sum(len(str(message["content"]).split()) for message in request.messages)
        return reply_with(reply, "stop", words, len(reply.split()))


def reply_with(text: str, reason: str, tokens_in: int, tokens_out: int) -> Reply:
    """The reply with this answer and these token counts, in the form of a provider's."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
    return {"choices": [{"message": message, "finish_reason": reason}], "usage": usage}
