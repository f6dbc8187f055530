"""Send one request by LiteLLM, through its own seams. It is imported with the first call that is not cached.

LiteLLM takes our HTTP client: as the argument `client`, or for companies that it reaches by OpenAI's package as
`aclient_session`. The client follows no redirect, so no key reaches another host, and its hooks ask right before a
request is posted whether it still may be, and note what came back.
"""

import asyncio
import base64
import gc
import importlib
import inspect
import os
import re
import struct
import sys
import threading
import warnings
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

import orjson

from workbench.canonical import canonical
from workbench.errors import hide
from workbench.llm.faults import Post, Refusal
from workbench.llm.keys import Reply, runs_here, seed
from workbench.types import Completion, Fault, Request

Send = Callable[[Request, str, float], Awaitable[Reply] | Reply]
EMBEDDING = "embedding"  # a request with this parameter asks for the vector of a text
POST: ContextVar[tuple[Post, Callable[[], bool]]] = ContextVar(
    "POST"
)  # of an attempt; whether it still may be posted
dropped: dict[bytes, str] = {}  # what LiteLLM leaves out, by model and parameters
_HANDLER = {  # companies that LiteLLM reaches by its own HTTP client
    "anthropic", "azure_ai", "bedrock", "cometapi", "databricks", "deepseek", "edenai", "fireworks_ai", "gemini", "groq",
    "heroku", "hosted_vllm", "huggingface", "minimax", "mistral", "ollama", "ollama_chat", "openrouter", "ovhcloud",
    "snowflake", "together_ai", "vertex_ai", "xai",
}  # fmt: skip
_loading = threading.Lock()
_loaded: list[Any] = []
_answering = threading.Lock()


def litellm() -> Any:
    """LiteLLM, set up. Its import takes seconds, and it reads its bundled price list."""
    with _loading:
        if not _loaded:
            os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                module: Any = importlib.import_module("litellm")
            warnings.filterwarnings("ignore", message="Pydantic serializer|Items? .* on TypedDict")
            module.telemetry, module.suppress_debug_info = False, True
            http = importlib.import_module("litellm.llms.custom_httpx.http_handler")
            hooks = {"request": [_before], "response": [_after]}
            handler = http.AsyncHTTPHandler(timeout=None, event_hooks=hooks, follow_redirects=False)
            module.aclient_session = handler.client
            _loaded.extend((module, handler))
            gc.freeze()  # it stays loaded: garbage collections that walk through it take a fifth of the time
        return _loaded[0]


async def _before(_: Any) -> None:
    """Right before a request is posted: never after a stop, and once an attempt (LiteLLM repeats lost connections)."""
    post, may = POST.get((Post(), lambda: True))
    if not may():
        raise asyncio.CancelledError
    if post.posted:
        raise Refusal("connection", "the connection was lost", again=True, paid=True)
    post.posted = True


async def _after(response: Any) -> None:
    post, _ = POST.get((Post(), lambda: True))
    post.response = response


async def send(request: Request, url: str, seconds: float) -> Reply:
    """The provider's reply as OpenAI's chat completion, with `cost` in dollars, None if unknown."""
    module = _loaded[0] if _loaded else await asyncio.to_thread(litellm)
    # Ollama's models are asked to chat: its older protocol loses why a reply ended.
    model = re.sub(r"^ollama/", "ollama_chat/", request.model)
    given = {
        **request.parameters,
        "model": model,
        "timeout": seconds,
        "num_retries": 0,
        "max_retries": 0,
    }
    given |= {"api_base": url} if url else {}
    given |= {"client": _loaded[1]} if model.partition("/")[0] in _HANDLER else {}
    if given.pop(EMBEDDING, False):
        reply = await module.aembedding(
            input=[message["content"] for message in request.messages], **given
        )
        return _with_vector(_whole(reply))
    messages, kind = [dict(message) for message in request.messages], asked(request)
    drops = kind in dropped
    try:
        return _whole(await module.acompletion(messages=messages, drop_params=drops, **given))
    except module.UnsupportedParamsError as error:  # LiteLLM's own refusal: nothing was sent
        if drops:
            raise
        reason = str(error).removeprefix("litellm.")
        named = [
            n for n in request.parameters if re.search(rf"(?<!\w){re.escape(n)}(?!\w)", reason)
        ]
        if kind not in dropped:
            print(
                f"{request.model} does not take {', '.join(named)}: left out ({reason})",
                file=sys.stderr,
            )
        dropped[kind] = ", ".join(named) or reason
        return await send(request, url, seconds)


def asked(request: Request) -> bytes:
    """The model and the parameters of a request, by which `dropped` knows what is left out."""
    return canonical([request.model, request.parameters])


def _whole(reply: Any) -> Reply:
    cost = reply._hidden_params.get("response_cost")  # noqa: SLF001  where LiteLLM puts it
    return {**reply.model_dump(exclude_none=True), "cost": cost}


def _with_vector(reply: Reply) -> Reply:
    """An embedding's reply with the vector as the answer's text: float32 in base64, as providers send it."""
    if data := reply.pop("data", None):
        floats = struct.pack(f"<{len(data[0]['embedding'])}f", *data[0]["embedding"])
        message = {"content": base64.b64encode(floats).decode()}
        reply["choices"] = [{"message": message, "finish_reason": "stop"}]
    return reply


async def called(send: Send, request: Request, url: str, seconds: float) -> Reply:
    """The reply of any `send`; a plain function runs in a thread."""
    if inspect.iscoroutinefunction(send) or inspect.iscoroutinefunction(type(send).__call__):
        found = send(request, url, seconds)
    else:
        found = await asyncio.to_thread(send, request, url, seconds)
    return await found if inspect.isawaitable(found) else found


def answer_here(request: Request) -> Reply:
    """The reply of a model of this process, one at a time: it only computes, so a second thread would gain nothing."""
    here = runs_here(request.model)
    assert here  # noqa: S101
    with _answering:
        return hidden(here[0](request, seed(request)))


def completion(request: Request, key: str, reply: Reply) -> Completion:
    """The answer in a reply, whose text is taken out of it; a failure for a reply without an answer."""
    cost = reply.pop("cost", None)
    usage, choices = reply.get("usage") or {}, reply.get("choices") or [{}]
    message = choices[0].get("message") or {}
    text, reason = message.pop("content", None), choices[0].get("finish_reason") or "stop"
    if isinstance(text, list):  # parts, of which those of thinking are no answer
        text = "".join(str(part.get("text") or "") for part in text if isinstance(part, dict))
    details = message.get("provider_specific_fields") or {}
    refused = details.get("refusal") or message.get("refusal")
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    tokens = [
        int(number or 0)
        for number in (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)
    ]
    if not all(0 <= number <= 10**9 for number in tokens):
        raise ValueError(f"the token counts {tokens} are impossible")
    fault: Fault = ""
    error = ""
    if refused or reason == "content_filter":
        reason, text, fault = "content_filter", text or refused or "", "filtered"
        error = "the provider's content filter withheld the answer"
    elif text is None and reason != "length":
        fault, error = "empty", f"the reply has no content (finish_reason {reason!r})"
    return Completion(
        text or "", request.model, reason, tokens[0], tokens[1], tokens[2], cost, key,
        fault=fault, error=error,
    )  # fmt: skip


def hidden(reply: Reply) -> Reply:
    """A copy of the reply without secrets that a server repeats in it."""
    copy: Reply = orjson.loads(hide(orjson.dumps(reply, default=str).decode()))
    return copy
