"""Send one request to its provider. This is the only module that uses LiteLLM.

LiteLLM is imported with the first call of a remote model, as that takes seconds and 170 MB. It is set to
read its bundled price list, to retry nothing (`CallRunner` does) and to send no telemetry. Its errors are
sorted by status and cause, since it reports a torn body and an HTML page as "internal server error".
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
from functools import cache
from importlib import metadata
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from workbench.canonical import content_hash
from workbench.errors import BadInputError, redact
from workbench.types import Fault, Request

# Parameters that a request may not have, since the client sets them.
RESERVED = {
    "api_base", "api_key", "api_version", "base_url", "cache", "caching", "client", "extra_headers",
    "fallbacks", "headers", "max_retries", "messages", "mock_response", "model", "model_list", "n",
    "num_retries", "request_timeout", "stream", "timeout",
}  # fmt: skip
# Codes and texts of errors that every further call would meet too.
_FATAL = {
    "insufficient_quota",
    "exceeded your current quota",
    "Missing credentials",
    "LLM Provider NOT provided",
    "api_key client",
}
_SECRET = ("_key", "_token", "secret", "password", "credentials")

EMBEDDING = "embedding"  # a request with this parameter asks for the vector of a text

Reply = dict[str, Any]
Send = Callable[[Request, str, str, float], Reply]


class Refusal(Exception):  # noqa: N818  not an error of ours
    """Why a provider gave no reply.

    `fault` is its kind. `fatal` ends the run. `again` says that another attempt may succeed, after `wait`
    seconds if the provider asked to wait.
    """

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
    """Raise `BadInputError` for a parameter that the client sets, or that would store a secret."""
    if "/" not in request.model:
        raise BadInputError(
            f"model {request.model!r} names no provider: write PROVIDER/MODEL, like openai/gpt-4o"
        )
    for name in _names(request.parameters):
        if name in RESERVED or name.endswith(_SECRET):
            raise BadInputError(
                f"parameter {name!r} is not a generation parameter: keys come from the environment, "
                "samples from Request.sample, addresses and time-outs from the client"
            )


def _names(parameters: Mapping[str, Any]) -> Iterator[str]:
    for name, value in parameters.items():
        yield name
        if (
            isinstance(value, Mapping) and name != "response_format"
        ):  # a JSON schema with names of its own
            yield from _names(value)


def address(model: str, given: str = "") -> str:
    """The model's URL: the given one, else PROVIDER_API_BASE, else PROVIDER_BASE_URL, else ""."""
    provider = model.split("/", maxsplit=1)[0].upper().replace("-", "_")
    names = (f"{provider}_API_BASE", f"{provider}_BASE_URL")
    return given or next((os.environ[name] for name in names if os.environ.get(name)), "")


def public(url: str) -> str:
    """The URL without user, query and fragment, which may contain secrets."""
    parts = urlsplit(url)
    host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    return urlunsplit((parts.scheme.lower(), host, parts.path.rstrip("/"), "", ""))


Answer = Callable[[Request, str], Reply]
_ours: dict[str, tuple[Answer, str]] = {}
_loaded: list[Any] = []
_loading = threading.Lock()
_answering = threading.Lock()


def register(provider: str, answer: Answer, version: str = "") -> None:
    """Add a provider that runs in this process: `answer` gives the reply to a request and a seed.

    `version` takes the place of the endpoint in the keys of its calls.
    """
    _ours[provider] = (answer, version)


def is_ours(model: str) -> bool:
    """Whether a model is registered here: it runs in this process and costs nothing."""
    provider = model.split("/", maxsplit=1)[0]
    if provider not in _ours and provider in _installed():
        _installed()[provider].load()
    return provider in _ours


@cache
def _installed() -> Mapping[str, metadata.EntryPoint]:
    """The modules of this package that register a provider when they are imported.

    Every call's key asks for them, so only our own metadata are read: those of all packages take 10 ms.
    """
    own = metadata.distribution("workbench").entry_points
    return {entry.name: entry for entry in own.select(group="workbench.models")}


def endpoint(model: str, url: str) -> str:
    """What distinguishes servers of one model in keys: the address, or the version of a model of ours."""
    return _ours[model.split("/", maxsplit=1)[0]][1] if is_ours(model) else public(url)


def load() -> Any:
    """LiteLLM, set up. Its import takes seconds, and warnings of its dependencies are silenced."""
    with _loading:
        if not _loaded:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _loaded.append(_import())
            gc.freeze()  # LiteLLM stays loaded: garbage collections that walk through it halve our speed
        return _loaded[0]


def _import() -> Any:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    litellm: Any = importlib.import_module("litellm")
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    hello = [
        {"role": "user", "content": "hello"}
    ]  # LiteLLM answers it itself, and imports its other modules
    litellm.completion(model="openai/none", messages=hello, api_key="-", mock_response="hello")
    return litellm


def send(request: Request, key: str, url: str, seconds: float) -> Reply:  # noqa: ARG001  tests replace `send` and use the key
    """The provider's reply as a dict; raises `Refusal` if there is none.

    A model of our own gets a seed for its samples, and one request at a time: it only computes, so a second
    thread would gain nothing, and its memory of recent prompts needs no lock.
    """
    if is_ours(request.model):
        answer, _ = _ours[request.model.split("/", maxsplit=1)[0]]
        with _answering:
            return answer(request, _seed(request))
    litellm = load()
    parameters = dict(request.parameters) | ({"api_base": url} if url else {})
    messages = [dict(message) for message in request.messages]
    embeds = parameters.pop(EMBEDDING, False)
    function = litellm.embedding if embeds else litellm.completion
    data = {"input": [m["content"] for m in messages]} if embeds else {"messages": messages}
    try:
        reply = function(
            model=request.model,
            **data,
            **parameters,
            timeout=seconds,
            num_retries=0,
            max_retries=0,
        )
    except Exception as error:
        raise refusal(error) from error
    tidy: Reply = _tidy(reply.model_dump())
    return _with_vector(tidy) if embeds else tidy


def unsupported(request: Request, url: str) -> str:
    """Why LiteLLM would refuse to send the request's parameters to its model, or "". Nothing is sent."""
    if request.parameters.get(EMBEDDING):
        return ""
    litellm = load()
    try:
        name, company, _, _ = litellm.get_llm_provider(request.model, api_base=url or None)
        litellm.utils.get_optional_params(
            model=name, custom_llm_provider=company, **request.parameters
        )
    except litellm.exceptions.UnsupportedParamsError as error:
        return redact(str(error).removeprefix("litellm."))
    except Exception:  # noqa: BLE001  not about the parameters: sending the request reports it
        return ""
    return ""


def _seed(request: Request) -> str:
    """A hash of the request alone: a change of our code does not change its sample."""
    return content_hash("seed", [request.messages, request.parameters, request.sample])


def _with_vector(reply: Reply) -> Reply:
    """An embedding's reply with the vector as the answer's text: float32 in base64, as providers send it."""
    if data := reply.pop("data", None):
        floats = struct.pack(f"<{len(data[0]['embedding'])}f", *data[0]["embedding"])
        message = {"content": base64.b64encode(floats).decode()}
        reply["choices"] = [{"message": message, "finish_reason": "stop"}]
    return reply


def _tidy(value: Any) -> Any:
    """The reply without the empty fields that LiteLLM adds."""
    if isinstance(value, Mapping):
        pairs = ((key, _tidy(item)) for key, item in value.items())
        return {key: item for key, item in pairs if item is not None and item != {}}
    return [_tidy(item) for item in value] if isinstance(value, list) else value


def refusal(error: Exception) -> Refusal:
    """An exception of LiteLLM as a `Refusal`, by its status and its causes. Others are raised again."""
    chain = list(_chain(error))
    names = " ".join(type(e).__name__ for e in chain)
    text = str(error).removeprefix("litellm.")
    status = next((s for e in chain if isinstance(s := getattr(e, "status_code", None), int)), 0)
    codes = {str(getattr(e, "code", "")) for e in chain}
    if status in {401, 402, 403} or codes & _FATAL or any(phrase in text for phrase in _FATAL):
        return Refusal("rejected", text, fatal=True)
    if status == 429:
        return Refusal("rate_limit", text, again=True, wait=_retry_after(chain))
    torn = any(isinstance(e, json.JSONDecodeError) for e in chain)
    if torn or "invalid response from LLM" in text:
        return Refusal("malformed", f"the reply is not JSON: {text}", again=True)
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
    """The Retry-After header in seconds, else 0. Dates are ignored: the provider's clock may differ."""
    for error in chain:
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        with suppress(ValueError):
            if (seconds := float(headers.get("retry-after", 0))) > 0:
                return seconds
    return 0.0
