"""Send one request to its provider. Only this module and the folder `remote` use LiteLLM.

A model is one that LiteLLM reaches, or one that runs in this process. LiteLLM repeats nothing:
`CallRunner` does.
"""

import os
import re
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from difflib import get_close_matches
from functools import cache, partial
from importlib import metadata
from types import NoneType
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from workbench.canonical import canonical, content_hash
from workbench.errors import BadInputError, redact, secrets
from workbench.llm.remote.refusals import Refusal as Refusal  # noqa: PLC0414
from workbench.llm.remote.refusals import refusal
from workbench.llm.remote.replies import Reply as Reply  # noqa: PLC0414
from workbench.llm.remote.replies import tidy, with_vector
from workbench.llm.remote.sending.load import load as load  # noqa: PLC0414  others import it from here
from workbench.llm.remote.sending.posting import complete
from workbench.types import Request

# Parameters that a request may not have, since the client sets them.
RESERVED = {
    "api_base", "api_key", "api_version", "base_url", "cache", "caching", "client", "extra_headers",
    "fallbacks", "headers", "max_retries", "messages", "mock_response", "model", "model_list", "n",
    "num_retries", "request_timeout", "stream", "timeout",
}  # fmt: skip
# Parameters that a request may have. What only one server knows goes into `extra_body`.
_NUMBERS = {
    "temperature", "top_p", "top_k", "min_p", "max_tokens", "max_completion_tokens", "seed",
    "frequency_penalty", "presence_penalty", "repetition_penalty", "top_logprobs", "dimensions", "num_ctx",
}  # fmt: skip
_KNOWN = _NUMBERS | {
    "embedding", "encoding_format", "extra_body", "keep_alive", "logit_bias", "logprobs", "modalities",
    "prediction", "prompt_cache_key", "reasoning_effort", "response_format", "safety_settings",
    "service_tier", "stop", "store", "thinking", "tool_choice", "tools", "user", "verbosity",
}  # fmt: skip
_SECRET = ("_key", "_token", "secret", "password", "credentials")

_NUMBER = (int, float, NoneType)  # None leaves a parameter out

EMBEDDING = "embedding"  # a request with this parameter asks for the vector of a text

Send = Callable[[Request, str, str, float], Reply]


def check(request: Request) -> None:
    """Raise `BadInputError` for a parameter that the client sets, or that would store a secret."""
    check_model(request.model)
    check_parameters(request.parameters)


def check_model(name: str) -> None:
    """Raise `BadInputError` for the name of a model without its provider."""
    provider, _, model = name.partition("/")
    if not provider or not model:
        raise BadInputError(
            f"model {name!r} names no provider: write PROVIDER/MODEL, like openai/gpt-4o"
        )


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise `BadInputError` for a parameter that is unknown, that the client sets, or that would store a secret."""
    for name in _names(parameters):
        if name in RESERVED or (name.endswith(_SECRET) and name not in _KNOWN):
            raise BadInputError(
                f"parameter {name!r} is not a generation parameter: keys come from the environment, "
                "samples from Request.sample, addresses and time-outs from the client"
            )
    for name, value in parameters.items():
        if name not in _KNOWN:
            near = get_close_matches(name, _KNOWN, 1)
            listed = ", ".join(sorted(_KNOWN - {EMBEDDING}))
            known = f"perhaps {near[0]}" if near else f"there are {listed}"
            raise BadInputError(
                f"there is no parameter {name!r}; {known}: what only one "
                f'server knows goes into extra_body, as extra_body={{"{name}": ...}}'
            )
        if name in _NUMBERS and (isinstance(value, bool) or not isinstance(value, _NUMBER)):
            raise BadInputError(
                f"parameter {name} is {value!r}, and should be a number; null leaves it out"
            )


def _names(parameters: Mapping[str, Any]) -> Iterator[str]:
    for name, value in parameters.items():
        yield name
        if isinstance(value, Mapping) and name != "response_format":  # a schema has its own names
            yield from _names(value)


def address(model: str, given: str = "") -> str:
    """The model's URL: the given one, else PROVIDER_API_BASE, else PROVIDER_BASE_URL, else ""."""
    provider = model.split("/", maxsplit=1)[0].upper().replace("-", "_")
    names = (f"{provider}_API_BASE", f"{provider}_BASE_URL")
    return given or next((os.environ[name] for name in names if os.environ.get(name)), "")


def public(url: str) -> str:
    """The URL without user, query and fragment, which may contain secrets."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    except ValueError as error:
        raise BadInputError(
            f"the address of the model's server is no URL ({redact(str(error))}): "
            "write it like http://localhost:8000/v1"
        ) from None
    return urlunsplit((parts.scheme.lower(), host, parts.path.rstrip("/"), "", ""))


Answer = Callable[[Request, str], Reply]
Version = str | Callable[[str], str]
_registered: dict[str, tuple[Answer, Version]] = {}
_answering = threading.Lock()


def register(provider: str, answer: Answer, version: Version = "") -> None:
    """Add a provider that runs in this process: `answer` gives the reply to a request and a seed.

    `version`, or what it returns for a model's name, takes the place of the endpoint in the keys of its calls.
    """
    _registered[provider] = (answer, version)


def runs_here(model: str) -> bool:
    """Whether a model is registered here: it runs in this process and costs nothing."""
    provider = model.split("/", maxsplit=1)[0]
    if provider not in _registered and provider in _installed():
        _installed()[provider].load()
    return provider in _registered


@cache
def _installed() -> Mapping[str, metadata.EntryPoint]:
    """The modules of this package that register a provider when they are imported.

    Every call's key asks for them, so only our own metadata are read: those of all packages take 10 ms.
    """
    own = metadata.distribution("workbench").entry_points
    return {entry.name: entry for entry in own.select(group="workbench.models")}


def endpoint(model: str, url: str) -> str:
    """The endpoint in the keys of a model's calls: its server's address, or the version of a model that runs here."""
    if not runs_here(model):
        return public(url)
    _, version = _registered[model.split("/", maxsplit=1)[0]]
    if isinstance(version, str):
        return version
    return f"{version(model)} {public(url)}".strip()  # a preview's stand-in has an address


def send(request: Request, key: str, url: str, seconds: float) -> Reply:  # noqa: ARG001  tests replace `send` and use the key
    """The provider's reply as a dict; raises `Refusal` if there is none.

    A model of our own gets a seed for its samples, and one request at a time: it only computes, so a second
    thread would gain nothing, and its memory of recent prompts needs no lock.
    """
    if runs_here(request.model):
        answer, _ = _registered[request.model.split("/", maxsplit=1)[0]]
        with _answering:
            return answer(request, _seed(request))
    litellm = load()
    parameters = dict(request.parameters) | ({"api_base": url} if url else {})
    kind_key = (request.model, url, canonical(request.parameters))
    embeds = parameters.pop(EMBEDDING, False)
    parameters |= {"timeout": seconds, "num_retries": 0, "max_retries": 0}
    function = litellm.embedding if embeds else litellm.completion
    # Ollama's models are asked to chat: its older protocol loses why a reply ended.
    parameters["model"] = re.sub(r"^ollama/", "ollama_chat/", request.model)
    call = partial(function, **parameters)
    try:
        if embeds:
            reply = call(input=[message["content"] for message in request.messages]).model_dump()
        else:
            reply = complete(litellm, call, request.messages, kind_key, seconds)
    except Refusal:
        raise
    except Exception as error:
        raise refusal(error) from error
    found = tidy(without_secrets(secrets(url), reply))
    return with_vector(found) if embeds else found


def without_secrets(hidden: Collection[str], value: Any) -> Any:
    """A reply without the secrets that a server repeats in it."""
    if isinstance(value, str):
        for secret in hidden:
            value = value.replace(secret, "***")
        return value
    if isinstance(value, Mapping):
        pairs = ((without_secrets(hidden, key), item) for key, item in value.items())
        return {key: without_secrets(hidden, item) for key, item in pairs}
    if isinstance(value, list | tuple):
        return [without_secrets(hidden, item) for item in value]
    return value


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
    """A hash of what a sample depends on: neither our code nor a limit on the output changes it."""
    temperature = request.parameters.get("temperature")
    return content_hash("seed", [request.messages, temperature, request.sample])
