"""Send one request by LiteLLM, through its own seams; the first call not cached imports it.

LiteLLM takes our HTTP client, which follows no redirect, so that no key reaches another host. Its
hooks ask right before a request is posted whether it still may be, and note what came back.
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
from workbench.llm.faults import Refusal
from workbench.llm.keys import Reply, runs_here, seed
from workbench.llm.money import longest
from workbench.types import Completion, Fault, Request

Send = Callable[[Request, str, float], Awaitable[Reply] | Reply]
EMBEDDING = "embedding"  # a request with this parameter asks for the vector of a text
dropped: dict[bytes, str] = {}  # what LiteLLM leaves out, by `asked`
_HANDLER = {  # companies that LiteLLM reaches by its own HTTP client, not by OpenAI's package
    "anthropic", "azure_ai", "bedrock", "cometapi", "databricks", "deepseek", "edenai",
    "fireworks_ai", "gemini", "groq", "heroku", "hosted_vllm", "huggingface", "minimax", "mistral",
    "ollama", "ollama_chat", "openrouter", "ovhcloud", "snowflake", "together_ai", "vertex_ai",
    "xai",
}  # fmt: skip
_loading, _answering = threading.Lock(), threading.Lock()
_loaded: list[Any] = []  # LiteLLM and our HTTP client


class Call:
    """A call without an answer yet: its task, its client, and the number of runs that wait for it.

    The hooks note of an attempt whether it was posted, and what came back.
    """

    task: "asyncio.Task[Completion]"
    posted, response = False, None

    def __init__(self, client: object) -> None:
        self.client, self.waiting = client, 0


CALL: ContextVar[Call] = ContextVar("CALL")


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
            gc.freeze()  # it stays loaded: collections that walk through it take five times as long
        return _loaded[0]


async def _before(_: Any) -> None:
    """Never post after a stop, and once an attempt: LiteLLM repeats lost connections."""
    if call := CALL.get(None):
        if not call.waiting:
            raise asyncio.CancelledError
        if call.posted:
            raise Refusal("connection", "the connection was lost", again=True, paid=True)
        call.posted = True


async def _after(response: Any) -> None:
    if call := CALL.get(None):
        call.response = response


async def send(request: Request, url: str, seconds: float) -> Reply:
    """The provider's reply as OpenAI's chat completion, with `cost` in dollars, None if unknown."""
    module = _loaded[0] if _loaded else await asyncio.to_thread(litellm)
    model = request.model
    if EMBEDDING not in request.parameters:
        # Ollama's models are asked to chat: its older protocol loses why a reply ended.
        model = re.sub(r"^ollama/", "ollama_chat/", model)
    given = {**request.parameters, "model": model, "timeout": seconds,
             "num_retries": 0, "max_retries": 0}  # fmt: skip
    given |= {"api_base": url} if url else {}
    given |= {"client": _loaded[1]} if model.partition("/")[0] in _HANDLER else {}
    if given.pop(EMBEDDING, False):
        texts = [message["content"] for message in request.messages]
        return _with_vector(_whole(request, await module.aembedding(input=texts, **given)))
    messages, kind = [dict(message) for message in request.messages], asked(request)
    drops = kind in dropped
    try:
        reply = await module.acompletion(messages=messages, drop_params=drops, **given)
        return _whole(request, reply)
    except module.UnsupportedParamsError as error:  # LiteLLM's own refusal: nothing was sent
        if drops:
            raise
        reason = str(error).removeprefix("litellm.")
        words = set(re.findall(r"\w+", reason))
        names = ", ".join(name for name in request.parameters if name in words) or reason
        if kind not in dropped:
            print(f"{request.model} does not take {names}: left out ({reason})", file=sys.stderr)
        dropped[kind] = names
        return await send(request, url, seconds)


def asked(request: Request) -> bytes:
    """The model and the parameters of a request, by which `dropped` knows what is left out."""
    return canonical([request.model, request.parameters])


def _whole(request: Request, reply: Any) -> Reply:
    cost = reply._hidden_params.get("response_cost")  # noqa: SLF001  where LiteLLM puts it
    whole: Reply = reply.model_dump(exclude_none=True)
    return whole | {"cost": cost or priced(request, whole)}  # 0 may mean that there is no price


def priced(request: Request, reply: Reply) -> float | None:
    """The cost of a reply by its tokens, None where its model has no price."""
    usage = reply.get("usage") or {}
    read, written = (usage.get(f"{side}_tokens") or 0 for side in ("prompt", "completion"))
    return price(request, read, written)


def price(request: Request, tokens_in: float, tokens_out: float) -> float | None:
    """The dollars of a call with so many tokens by LiteLLM's prices, None where it has none."""
    if runs_here(request.model):
        return 0.0
    tier = request.parameters.get("service_tier")
    counts = {"prompt_tokens": int(tokens_in), "completion_tokens": int(tokens_out)}
    try:
        return float(sum(litellm().cost_per_token(request.model, **counts, service_tier=tier)))
    except Exception:  # noqa: BLE001  of several kinds: the model has no price
        return None


def most(request: Request) -> float | None:
    """The most that a call may cost: a token for every two bytes of input, and a whole output."""
    size = sum(len(str(message.get("content")).encode()) for message in request.messages)
    return price(request, size // 2 + 100, longest(request))


def _with_vector(reply: Reply) -> Reply:
    """An embedding's reply with the vector as the answer's text: float32 in base64."""
    if data := reply.pop("data", None):
        floats = struct.pack(f"<{len(data[0]['embedding'])}f", *data[0]["embedding"])
        message = {"content": base64.b64encode(floats).decode()}
        reply["choices"] = [{"message": message, "finish_reason": "stop"}]
    return reply


async def called(send: Send, request: Request, url: str, seconds: float) -> Reply:
    """The reply of any `send`, without secrets; a plain function runs in a thread."""
    if inspect.iscoroutinefunction(send) or inspect.iscoroutinefunction(type(send).__call__):
        found = send(request, url, seconds)
    else:
        found = await asyncio.to_thread(send, request, url, seconds)
    return hidden(await found if inspect.isawaitable(found) else found)


def answer_here(request: Request) -> Reply:
    """The reply of a model of this process, one at a time: it only computes."""
    here = runs_here(request.model)
    assert here  # noqa: S101
    with _answering:
        return hidden(here[0](request, seed(request)))


def hidden(reply: Reply) -> Reply:
    """A copy of the reply without secrets that a server repeats in it."""
    copy: Reply = orjson.loads(hide(orjson.dumps(reply, default=str).decode()))
    return copy


def completion(request: Request, key: str, reply: Reply) -> Completion:
    """The answer in a reply, whose text is taken out of it; a fault where it has none."""
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
    read, written, known = (int(number or 0) for number in counts)
    if not all(0 <= number <= 10**9 for number in (read, written, known)):
        raise ValueError(f"the token counts {counts} are impossible")
    fault: Fault = ""
    error = ""
    if refused or reason == "content_filter":
        reason, text, fault, error = "content_filter", text or refused, "filtered", FILTERED
    elif text is None and reason != "length":
        fault, error = "empty", f"the reply has no content (finish_reason {reason!r})"
    return Completion(text or "", request.model, reason, read, written, known, cost, key,
                      fault=fault, error=error)  # fmt: skip


FILTERED = "the provider's content filter withheld the answer"
