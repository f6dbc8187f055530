"""Send one request by LiteLLM, which is imported by the first call that is not cached.

LiteLLM is given our HTTP client for all providers. It follows no redirect, so that no key reaches
another host, and its hooks check right before a post that the run was not stopped, and note what
came back.
"""

import asyncio
import atexit
import base64
import inspect
import os
import re
import struct
import sys
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import orjson

from workbench.canonical import canonical, content_hash
from workbench.errors import ProviderError, hide
from workbench.llm.calls import Reply, runs_here
from workbench.llm.faults import Refusal
from workbench.llm.money import litellm, priced, valid_cost
from workbench.types import Completion, Fault, Request

Send = Callable[[Request, str, float], Awaitable[Reply] | Reply]
EMBEDDING = "embedding"  # a request with this parameter asks for the vector of a text
FILTERED = "the provider's content filter withheld the answer"
dropped: dict[bytes, str] = {}  # what LiteLLM leaves out, by `asked`
_answering = threading.Lock()


@dataclass(eq=False)  # a set has it by identity
class Call:
    """A call without an answer yet; the hooks note if and where it is posted, and the response."""

    posted: bool = False
    stopped: bool = False
    response: Any = None
    host: str = ""
    task: "asyncio.Task[Completion]" = field(init=False)

    def stop(self) -> None:
        """Never post it; what is posted is perhaps paid, and goes on.

        It is cancelled once: a second time would cancel what it gives back.
        """
        if not self.stopped and not self.posted:
            self.task.cancel()
        self.stopped = True


CALL: ContextVar[Call] = ContextVar("CALL")


async def _before(request: Any) -> None:
    """Post nothing after a stop, and only once an attempt: LiteLLM repeats lost connections."""
    call = CALL.get(None)
    if not call:
        return
    if call.stopped:
        raise asyncio.CancelledError
    if call.posted:
        text = "the connection was lost"
        raise Refusal("connection", text, again=True, paid=True)
    call.posted = True
    call.host = f"{request.url.scheme}://{request.url.netloc.decode()}"


async def _after(response: Any) -> None:
    call = CALL.get(None)
    if call:
        call.response = response


_clients: dict[int, Any] = {}  # by process: a forked one has no loop of its parent


def http() -> Any:
    """Return our HTTP client of this process, which LiteLLM uses for all providers."""
    process = os.getpid()
    if process not in _clients:
        _clients[process] = _installed(process)
    return _clients[process]


def _installed(process: int) -> Any:
    """Give LiteLLM our HTTP client, and return it."""
    module = litellm()
    hooks = {"request": [_before], "response": [_after]}
    ours = module.AsyncHTTPHandler(timeout=None, event_hooks=hooks)
    ours.client.follow_redirects = False
    # OpenAI's package, by which LiteLLM reaches several providers, has a client of its own.
    module.aclient_session = ours.client

    class Clients(module.LLMClientCache):  # type: ignore[misc, name-defined]
        """LiteLLM's clients by provider, of which those for plain HTTP are ours."""

        def get_cache(self, key: str, *args: Any, **kwargs: Any) -> Any:
            if key.startswith("async_httpx_client"):
                return ours
            return super().get_cache(key, *args, **kwargs)

    module.in_memory_llm_clients_cache = Clients()
    # What is registered last runs first at exit. LiteLLM, which closes clients in another loop than
    # ours, registers that when the first of its lazy names is read, as LLMClientCache above.
    atexit.register(_close, ours, asyncio.get_running_loop(), process)
    return ours


def _close(client: Any, loop: asyncio.AbstractEventLoop, process: int) -> None:
    """Close LiteLLM's HTTP sessions in the loop that opened them, before that ends."""
    if os.getpid() != process:  # a forked process has no thread that runs the loop
        return
    with suppress(TimeoutError):
        asyncio.run_coroutine_threadsafe(client.close(), loop).result(5)


def check_access(model: str, url: str) -> None:
    """Raise ProviderError if the address cannot be used, or the environment lacks the API key."""
    if "@" in urlsplit(url).netloc:
        advice = "give it without them, and the key in the environment"
        raise ProviderError(
            f"the address of {model} has a user and a password: {advice}"
        )
    needed = litellm().validate_environment(model)["missing_keys"]
    keys = [name for name in needed if name.endswith("_API_KEY")]
    # Some providers know more names of a key: TOGETHER_API_KEY for TOGETHERAI_API_KEY, or
    # AZURE_AD_TOKEN for AZURE_API_KEY.
    beginnings = tuple(name[:5] for name in keys)
    alike = [name for name in os.environ if name.startswith(beginnings)]
    known = [name for name in alike if name.endswith(("KEY", "TOKEN"))]
    if keys and not any(os.environ[name] for name in known):
        raise ProviderError(
            f"{model} needs a key, and {' or '.join(keys)} is not set: export it in the "
            f'shell or set os.environ["{keys[0]}"]; any text will do for a server without keys'
        )


async def send(request: Request, url: str, seconds: float) -> Reply:
    """Return the reply as OpenAI's chat completion, with `cost` in dollars, None if unknown."""
    if os.getpid() not in _clients:
        await asyncio.to_thread(litellm)  # the import takes seconds
        http()
    module = litellm()
    arguments = {**request.parameters, "model": request.model, "timeout": seconds}
    arguments |= {"num_retries": 0, "max_retries": 0}
    if url:
        arguments["api_base"] = url
    is_embedding = arguments.pop(EMBEDDING, False)
    leaves_out = asked(request) in dropped
    try:
        if is_embedding:
            texts = [message["content"] for message in request.messages]
            reply = await module.aembedding(input=texts, **arguments)
        else:
            messages = [dict(message) for message in request.messages]
            reply = await module.acompletion(
                messages=messages, drop_params=leaves_out, **arguments
            )
    # LiteLLM's own refusal: nothing was sent.
    except module.UnsupportedParamsError as error:
        if is_embedding or leaves_out:
            raise
        _leave_out(request, str(error).removeprefix("litellm."))
        return await send(request, url, seconds)
    call = CALL.get(None)
    passed_by_no_hook = call and not call.response
    if passed_by_no_hook:
        text = (
            "LiteLLM reaches this provider by another HTTP client than ours, which obeys no stop "
            "and no limit: ask it through a server in OpenAI's form, as openai/MODEL with its "
            "address"
        )
        raise Refusal("rejected", text, fatal=True, paid=True)
    whole: Reply = reply.model_dump(exclude_none=True, warnings=False)
    stated = reply._hidden_params.get("response_cost")  # noqa: SLF001  where LiteLLM puts it
    whole["cost"] = priced(request, whole, stated)
    data = whole.pop("data", None)
    if data:  # a vector, as a text: float32 in base64
        vector = data[0]["embedding"]
        floats = struct.pack(f"<{len(vector)}f", *vector)
        message = {"content": base64.b64encode(floats).decode()}
        whole["choices"] = [{"message": message, "finish_reason": "stop"}]
    return whole


def _leave_out(request: Request, reason: str) -> None:
    """Leave out what the model does not take from now on, and say so once."""
    words = set(re.findall(r"\w+", reason))
    names = ", ".join(name for name in request.parameters if name in words) or reason
    if asked(request) not in dropped:
        print(
            f"{request.model} does not take {names}: left out ({reason})",
            file=sys.stderr,
        )
    dropped[asked(request)] = names


def asked(request: Request) -> bytes:
    """Return the model and the parameters of a request: its key in `dropped`."""
    return canonical([request.model, request.parameters])


async def called(send: Send, request: Request, url: str, seconds: float) -> Reply:
    """Return the reply of any `send`, without secrets; a plain function runs in a thread."""
    method = type(send).__call__  # of an object such as `scripted`
    if inspect.iscoroutinefunction(send) or inspect.iscoroutinefunction(method):
        reply = send(request, url, seconds)
    else:
        reply = await asyncio.to_thread(send, request, url, seconds)
    return hidden(await reply if inspect.isawaitable(reply) else reply)


def answer_here(request: Request) -> Reply:
    """Return the reply of a model of this process; only one thread computes at a time."""
    registered = runs_here(request.model)
    assert registered  # noqa: S101
    parts = [request.messages, request.parameters.get("temperature"), request.sample]
    with _answering:
        return hidden(registered[0](request, content_hash("seed", parts)))


def hidden(reply: Reply) -> Reply:
    """Return a copy of the reply without secrets that a server repeats in it."""
    copy: Reply = orjson.loads(hide(orjson.dumps(reply, default=str).decode()))
    return copy


@contextmanager
def reading() -> Iterator[None]:
    """Turn an error of reading a reply in another form than OpenAI's into a Refusal."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        text = f"the reply cannot be read: {error}"
        raise Refusal("malformed", text, paid=True) from None


def completion(request: Request, key: str, reply: Reply) -> Completion:
    """Return the answer in a reply, which loses its text and cost; a fault if it has no text."""
    cost = valid_cost(reply.pop("cost", None))
    choice = (reply.get("choices") or [{}])[0]
    message = choice.get("message") or {}
    reason = choice.get("finish_reason") or "stop"
    text = message.pop("content", None)
    if isinstance(text, list):  # parts, of which those of thinking are no answer
        parts = [part for part in text if isinstance(part, dict)]
        text = "".join(str(part.get("text") or "") for part in parts)
    details = message.get("provider_specific_fields") or {}
    refused = details.get("refusal") or message.get("refusal")
    fault: Fault = ""
    error = ""
    if refused or reason == "content_filter":
        reason = "content_filter"
        text = text or refused
        fault = "filtered"
        error = FILTERED
    elif text is None and reason != "length":
        fault = "empty"
        error = f"the reply has no content (finish_reason {reason!r})"
    counts = _token_counts(reply.get("usage") or {})
    return Completion(
        text or "", request.model, reason, *counts, cost, key, fault=fault, error=error
    )


def _token_counts(usage: Reply) -> tuple[int, int, int]:
    """Return the tokens of input, of output, and those of the input that were cached there."""
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
    stated = (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)
    read, written, known = (int(number or 0) for number in stated)
    if min(read, written, known) < 0 or max(read, written, known) > 10**9:
        raise ValueError(f"the token counts {stated} are impossible")
    return read, written, known


class scripted:  # noqa: N801  it reads as a function: send=wb.scripted([...])
    """A `send` that gives these replies in turn, then `otherwise`; without it, it fails.

    A reply is a text, a whole reply as a provider sends it, or a `Refusal` to raise. `history` has
    the requests.

    >>> client = wb.Client(wb.Cache(), send=wb.scripted(["SELECT 1"]))
    >>> client.complete(wb.Request("direct", "any/model", [])).text
    'SELECT 1'
    """

    def __init__(
        self,
        replies: Iterable[str | Reply | Refusal] = (),
        otherwise: str | None = None,
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
        words = sum(
            len(str(message["content"]).split()) for message in request.messages
        )
        return reply_with(reply, "stop", words, len(reply.split()))


def reply_with(text: str, reason: str, tokens_in: int, tokens_out: int) -> Reply:
    """The reply with this answer and these token counts, in the form of a provider's."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
    return {"choices": [{"message": message, "finish_reason": reason}], "usage": usage}
