"""A call of a model, before it is sent: its key, its model and its parameters.

A key hashes everything that a reply depends on and nothing else: no time-out, no API key and no
version of LiteLLM. A parameter that a model does not take is not sent, but stays in the key.
"""

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit, urlunsplit

import orjson

from workbench.canonical import content_hash
from workbench.errors import HIDDEN, BadInputError, redact
from workbench.types import ROLES, Request, Role

Reply = dict[str, Any]  # a chat completion in OpenAI's form
Answer = Callable[[Request, str], Reply]
_registered: dict[str, tuple[Answer, str]] = {}

FREE = "WORKBENCH_FREE"  # models that a person calls free, as `hosted_vllm/*, ollama/llama3`
# Two names of the limit on a reply's tokens.
LIMITS = ("max_completion_tokens", "max_tokens")
_THOUGHT = 8_192  # tokens of thinking where no parameter limits them
_KNOWN = {
    "dimensions", "embedding", "encoding_format", "extra_body", "frequency_penalty", "keep_alive",
    "logit_bias", "logprobs", "max_completion_tokens", "max_tokens", "min_p", "modalities",
    "num_ctx", "prediction", "presence_penalty", "prompt_cache_key", "reasoning_effort",
    "repetition_penalty", "response_format", "safety_settings", "seed", "service_tier", "stop",
    "store", "temperature", "thinking", "tool_choice", "tools", "top_k", "top_logprobs", "top_p",
    "user", "verbosity",
}  # fmt: skip
_SECRET = ("key", "secret", "password", "credentials", "headers", "_token")
# Tokens of output assumed for a model whose longest reply is not listed.
_LONGEST = 128_000


def request_key(request: Request, endpoint: str) -> str:
    """Return the call's key: equal for two requests exactly when one reply can answer both."""
    parts = {
        "version": 1,
        "endpoint": endpoint,
        "model": request.model,
        "sample": request.sample,
        "messages": request.messages,
        "parameters": request.parameters,
    }
    return content_hash("call", parts)


def register(provider: str, answer: Answer, version: str = "") -> None:
    """Add a provider whose models run in this process: `answer` replies to a request and a seed.

    `version` takes the place of the endpoint in keys.

    >>> reply = {"choices": [{"message": {"content": "SELECT 1"}}]}
    >>> wb.register("constant", lambda request, seed: reply, "1")
    >>> wb.Client(wb.Cache()).complete(wb.Request("direct", "constant/any", [])).text
    'SELECT 1'
    """
    _registered[provider] = (answer, version)


def runs_here(model: str) -> tuple[Answer, str] | None:
    """Return the answering function and version of a model of this process, else None."""
    provider = model.partition("/")[0]
    if provider not in _registered and provider in _installed():
        module = import_module(_installed()[provider])
        register(provider, module.answer, module.version)
    return _registered.get(provider)


def is_parser(model: str) -> bool:
    """Whether the package's own parser answers, whose accuracy says nothing about a method."""
    return model.partition("/")[0] == "embedded"


def is_free(model: str) -> bool:
    """Whether a model's calls cost nothing: it runs in this process, or a person called it free."""
    if runs_here(model):
        return True
    patterns = os.environ.get(FREE, "").replace(",", " ").split()
    return any(fnmatchcase(model, pattern) for pattern in patterns)


@functools.cache
def _installed() -> Mapping[str, str]:
    """Return the modules of installed packages that answer for a provider."""
    return {
        entry.name: entry.value
        for entry in metadata.entry_points(group="workbench.models")
    }


def endpoint(model: str, url: str) -> str:
    """Return the endpoint in keys: the version of a model of this process, the server's address."""
    registered = runs_here(model)
    return registered[1] if registered else public(url)


def address(model: str) -> str:
    """Return the model's URL by PROVIDER_API_BASE or PROVIDER_BASE_URL, else ""."""
    provider = model.partition("/")[0].upper().replace("-", "_")
    return os.environ.get(f"{provider}_API_BASE") or os.environ.get(
        f"{provider}_BASE_URL", ""
    )


def public(url: str) -> str:
    """Return the URL without user, query and fragment; texts hide those from now on."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    except ValueError as error:
        raise BadInputError(
            f"the address of the model's server is no URL ({redact(str(error))}): "
            "write it like http://localhost:8000/v1"
        ) from None
    _hide_secrets(parts)
    return urlunsplit((parts.scheme.lower(), host, parts.path.rstrip("/"), "", ""))


def _hide_secrets(url: SplitResult) -> None:
    """Let all texts hide the user, the password and the values of the query from now on."""
    values = dict(parse_qsl(url.query)).values()
    for secret in (url.username, url.password, *values):
        if secret:
            HIDDEN.add(unquote(secret))


def check_model(name: str) -> None:
    provider, _, model = name.partition("/")
    if not provider or not model:
        raise BadInputError(
            f"model {name!r} names no provider: write PROVIDER/MODEL, like openai/gpt-4o"
        )


def check_parameters(parameters: Mapping[str, Any]) -> None:
    for name in parameters:
        if name not in _KNOWN:
            raise BadInputError(
                f"there is no parameter {name!r} among {', '.join(sorted(_KNOWN))}; what only "
                f'one server knows goes into extra_body, as extra_body={{"{name}": ...}}'
            )
    for name in parameters.get("extra_body") or ():
        if name.endswith(_SECRET):
            raise BadInputError(
                f"{name!r} may be a secret: keys come from the environment"
            )


def check_given(parameters: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise BadInputError for parameters of neither a model nor a role, and for unknown ones."""
    for owner, settings in parameters.items():
        if "/" not in owner and owner not in ROLES:
            form = "give them by a model, like openai/gpt-4o, or by a role"
            raise BadInputError(f"parameters of {owner!r}: {form}: {', '.join(ROLES)}")
        check_parameters(settings)


@functools.cache
def _limits() -> Mapping[str, Mapping[str, Any]]:
    """Return the limits and abilities of models by name, as `limits.json` lists them."""
    content = Path(__file__).with_name("limits.json").read_bytes()
    limits: Mapping[str, Mapping[str, Any]] = orjson.loads(content)
    return limits


def listed(model: str) -> Mapping[str, Any]:
    """Return the model's limits and abilities that are part of keys; empty for a model without any.

    The list is LiteLLM's of one version, and stays as it is: a key must be the same under every
    version of LiteLLM. A model that is added to it gets other keys, and its calls are paid again.
    """
    return _limits().get(model, {})


@functools.cache
def _price_list() -> Mapping[str, Mapping[str, Any]]:
    """Return LiteLLM's list of models, without importing LiteLLM."""
    package = Path(find_spec("litellm").origin)  # type: ignore[union-attr, arg-type]
    path = package.with_name("model_prices_and_context_window_backup.json")
    entries: Mapping[str, Mapping[str, Any]] = orjson.loads(path.read_bytes())
    return entries


def longest(request: Request) -> int:
    """Return the most tokens of a reply: the request's limit, else the model's.

    The model's is in LiteLLM's list, which has every model with a price, else in `limits.json`.
    """
    provider, _, name = request.model.partition("/")
    prices = _price_list()
    entry = prices.get(request.model) or prices.get(name, {})
    if not str(entry.get("litellm_provider", "")).startswith(provider):
        entry = {}  # another provider's model of that name
    limits = [request.parameters.get(limit) for limit in LIMITS]
    limits += [entry.get("max_output_tokens"), entry.get("max_tokens")]
    limits.append(listed(request.model).get("max_output_tokens"))
    for limit in limits:
        if limit:
            return int(limit)
    return _LONGEST


def given_for(
    model: str, role: Role | None, parameters: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return a user's parameters of a call: those of its model and its role; the role's win."""
    return {**parameters.get(model, {}), **parameters.get(role or "", {})}


def call_parameters(
    model: str,
    temperature: float,
    output_limit: int | None,
    given: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the parameters of a step's call: its temperature, its output limit, a user's.

    The limit is that of the answer, to which tokens of thinking are added. A user's parameters win,
    and a None among them leaves a parameter out.
    """
    parameters: dict[str, Any] = {"temperature": temperature}
    if output_limit and not given.keys() & LIMITS:
        thought = (given.get("thinking") or {}).get("budget_tokens")
        if thought:
            output_limit += int(thought)
        elif "reasoning_effort" in given or listed(model).get("supports_reasoning"):
            output_limit += _THOUGHT
        parameters["max_tokens"] = _allowed(model, output_limit)
    parameters |= given
    return {name: value for name, value in parameters.items() if value is not None}


def with_more_room(request: Request, *, thought: bool) -> Request:
    """Return the request with twice its output limit, and room for the thought that was cut off."""
    room = 2 * request.parameters["max_tokens"]
    if thought:
        room += _THOUGHT
    limit = {"max_tokens": _allowed(request.model, room)}
    return replace(request, parameters={**request.parameters, **limit})


def _allowed(model: str, tokens: int) -> int:
    most: int = listed(model).get("max_output_tokens", tokens)
    return min(tokens, most)
