"""A call over the wire: the one place that knows LiteLLM, and what its errors mean for a run.

LiteLLM is imported with the first call that must be made: it takes seconds and 170 MB. It is told to read
its price list from its own package, to repeat nothing (we do) and to report to nobody. What it raises is
sorted by status and by cause, since it files a torn body and an HTML page under "internal server error".
"""

import base64
import gc
import importlib
import json
import os
import struct
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from workbench.errors import BadInputError, WorkbenchError, redact
from workbench.types import Fault, Request

RESERVED = {
    "api_base", "api_key", "api_version", "base_url", "cache", "caching", "client", "extra_headers",
    "fallbacks", "headers", "max_retries", "messages", "mock_response", "model", "model_list", "n",
    "num_retries", "request_timeout", "stream", "timeout",
}  # fmt: skip
_FATAL = {
    "insufficient_quota",
    "exceeded your current quota",
    "Missing credentials",
    "LLM Provider NOT provided",
    "api_key client",
}
_SECRET = ("_key", "_token", "secret", "password", "credentials")

EMBEDDING = "embedding"  # the parameter that asks a model for its vector of a text

Reply = dict[str, Any]
Send = Callable[[Request, str, str, float], Reply]


class Refusal(Exception):  # noqa: N818  a provider's no is no error of ours
    """Why there is no reply. `fatal` ends the run; otherwise `again` says whether to ask once more."""

    def __init__(
        self,
        fault: Fault,
        text: str,
        *,
        fatal: bool = False,
        again: bool = False,
        wait: float = 0.0,
    ) -> None:
        super().__init__(redact(text))
        self.fault = fault
        self.fatal = fatal
        self.again = again
        self.wait = wait


def check(request: Request) -> None:
    """A parameter that is ours to set, or that would put a secret on disk, is the caller's mistake."""
    if "/" not in request.model:
        raise BadInputError(
            f"model {request.model!r} names no provider: write PROVIDER/MODEL, like openai/gpt-4o"
        )
    for name in _names(request.parameters):
        if name in RESERVED or name.endswith(_SECRET):
            raise BadInputError(
                f"parameter {name!r} is no generation parameter: keys come from the environment, "
                "samples from Request.sample, addresses and time-outs from the client"
            )


def _names(parameters: Mapping[str, Any]) -> Iterator[str]:
    for name, value in parameters.items():
        yield name
        if isinstance(value, Mapping) and name != "response_format":  # its names are a schema's
            yield from _names(value)


def address(model: str, given: str = "") -> str:
    """The URL a model is reached at: as given, or from PROVIDER_API_BASE or PROVIDER_BASE_URL; or ""."""
    provider = model.split("/", maxsplit=1)[0].upper().replace("-", "_")
    names = (f"{provider}_API_BASE", f"{provider}_BASE_URL")
    return given or next((os.environ[name] for name in names if os.environ.get(name)), "")


def public(url: str) -> str:
    """A URL without user, query and fragment, which may hold secrets."""
    parts = urlsplit(url)
    host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    return urlunsplit((parts.scheme.lower(), host, parts.path.rstrip("/"), "", ""))


_BUNDLED = {"embedded": "workbench.embedded.provider"}  # modules that register when imported
_ours: dict[str, tuple[Callable[[], Any], str]] = {}
_handlers: dict[str, Any] = {}
_loaded: list[Any] = []
_loading = threading.Lock()
_thinking = threading.Lock()


def register(provider: str, make: Callable[[], Any], version: str = "") -> None:
    """Make a provider of our own known to LiteLLM: `make` gives its `CustomLLM`, at the first call.

    `version` stands in the keys of its calls where others have their endpoint.
    """
    _ours[provider] = (make, version)


def is_ours(model: str) -> bool:
    """Whether a model is one of our own, which runs in this process and costs nothing."""
    provider = model.split("/", maxsplit=1)[0]
    if provider in _BUNDLED and provider not in _ours:
        importlib.import_module(_BUNDLED[provider])
    return provider in _ours


def endpoint(model: str, url: str) -> str:
    """What tells servers of one model apart in the keys of calls: the address, or our model's version."""
    return _ours[model.split("/", maxsplit=1)[0]][1] if is_ours(model) else public(url)


def load() -> Any:
    """LiteLLM, set up. The first time takes seconds; what its dependencies warn of meanwhile is not ours."""
    with _loading:
        if not _loaded:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _loaded.append(_import())
            gc.freeze()  # what stays for good: going through it again and again halved our speed
        for provider in set(_ours) - set(_handlers):
            _handlers[provider] = _ours[provider][0]()
            known = {"provider": provider, "custom_handler": _handlers[provider]}
            _loaded[0].custom_provider_map.append(known)
        return _loaded[0]


def _import() -> Any:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    litellm: Any = importlib.import_module("litellm")
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    hello = [{"role": "user", "content": "hello"}]  # answered by itself, it imports the rest
    litellm.completion(model="openai/none", messages=hello, api_key="-", mock_response="hello")
    return litellm


def send(request: Request, key: str, url: str, seconds: float) -> Reply:
    """The provider's reply as a dict, or a `Refusal`. Our own providers are told the call's key.

    What one of ours says that its caller got wrong is raised as it is: asking again would not help.
    """
    litellm = load()
    parameters = dict(request.parameters)
    messages = [dict(message) for message in request.messages]
    embeds = parameters.pop(EMBEDDING, False)
    ask: Callable[..., Any]
    if is_ours(request.model) and not embeds:  # LiteLLM's way there costs more than the answer
        provider, _, model = request.model.partition("/")
        ask = partial(
            _one_at_a_time,
            _handlers[provider].completion,
            model=model,
            messages=messages,
            optional_params=parameters | {"call_key": key},
        )
    else:
        parameters |= {"api_base": url} if url else {}
        what = {"input": [m["content"] for m in messages]} if embeds else {"messages": messages}
        ask = partial(
            litellm.embedding if embeds else litellm.completion,
            model=request.model,
            **what,
            **parameters,
            timeout=seconds,
            num_retries=0,
            max_retries=0,
        )
    try:
        reply = ask()
    except Exception as error:
        mistake = next((e for e in _chain(error) if isinstance(e, WorkbenchError)), None)
        raise mistake or refusal(error) from error
    tidy: Reply = _tidy(reply.model_dump())
    return _with_vector(tidy) if embeds else tidy


def _one_at_a_time(complete: Callable[..., Any], **given: Any) -> Any:
    """A model of ours keeps what it thought of a prompt, for one thread; a second would gain nothing."""
    with _thinking:
        return complete(**given)


def _with_vector(reply: Reply) -> Reply:
    """A reply to a text to embed, with its vector as the answer: float32 in base64, as providers send it."""
    if data := reply.pop("data", None):
        floats = struct.pack(f"<{len(data[0]['embedding'])}f", *data[0]["embedding"])
        message = {"content": base64.b64encode(floats).decode()}
        reply["choices"] = [{"message": message, "finish_reason": "stop"}]
    return reply


def _tidy(value: Any) -> Any:
    """The reply without the fields that LiteLLM adds and leaves empty."""
    if isinstance(value, Mapping):
        pairs = ((key, _tidy(item)) for key, item in value.items())
        return {key: item for key, item in pairs if item is not None and item != {}}
    return [_tidy(item) for item in value] if isinstance(value, list) else value


def refusal(error: Exception) -> Refusal:
    """What an exception of LiteLLM's means, from its status and from what caused it."""
    chain = list(_chain(error))
    names = " ".join(type(e).__name__ for e in chain)
    text = str(error).removeprefix("litellm.")
    status = next((s for e in chain if isinstance(s := getattr(e, "status_code", None), int)), 0)
    codes = {str(getattr(e, "code", "")) for e in chain}
    if status in {401, 402, 403} or codes & _FATAL or any(sign in text for sign in _FATAL):
        return Refusal("rejected", text, fatal=True)
    if status == 429:
        return Refusal("rate_limit", text, again=True, wait=_retry_after(chain))
    torn = any(isinstance(e, json.JSONDecodeError) for e in chain)
    if torn or "invalid response from LLM" in text:
        return Refusal("malformed", f"the reply is no JSON: {text}", again=True)
    if "Timeout" in names or status == 408:
        return Refusal("timeout", text, again=True)
    if "HTTPStatusError" not in names and any(map(_on_the_wire, chain)):
        return Refusal("connection", text, again=True)
    if status >= 500:
        return Refusal("server", text, again=True, wait=_retry_after(chain))
    if status:
        return Refusal("rejected", text)
    raise error


def _on_the_wire(error: BaseException) -> bool:
    return isinstance(error, OSError) or type(error).__module__.startswith(("httpx", "httpcore"))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _retry_after(chain: list[BaseException]) -> float:
    """The seconds a provider asks to wait. Dates are not read: its clock and ours may differ."""
    for error in chain:
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        with suppress(ValueError):
            if (seconds := float(headers.get("retry-after", 0))) > 0:
                return seconds
    return 0.0
