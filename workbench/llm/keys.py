"""The keys of model calls, and the models that run in this process.

A key hashes everything that a reply depends on and nothing else: no time-out and no API key.
"""

import os
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module, metadata
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from workbench.canonical import content_hash
from workbench.errors import HIDDEN, BadInputError, redact
from workbench.types import Request

Reply = dict[str, Any]  # a chat completion in OpenAI's form
Answer = Callable[[Request, str], Reply]
Version = str | Callable[[str], str]
_registered: dict[str, tuple[Answer, Version]] = {}


def request_key(request: Request, endpoint: str) -> str:
    """The call's key: equal for two requests exactly when one reply can answer both."""
    parts = {"version": 1, "endpoint": endpoint, "model": request.model, "sample": request.sample}
    parts |= {"messages": request.messages, "parameters": request.parameters}
    return content_hash("call", parts)


def seed(request: Request) -> str:
    """The seed of a model of this process: a hash of messages, temperature and sample."""
    temperature = request.parameters.get("temperature")
    return content_hash("seed", [request.messages, temperature, request.sample])


def register(provider: str, answer: Answer, version: Version = "") -> None:
    """Add a provider whose models run in this process: `answer` replies to a request and a seed.

    `version`, or what it returns for a model's name, takes the place of the endpoint in keys.

    >>> reply = {"choices": [{"message": {"content": "SELECT 1"}}]}
    >>> wb.register("constant", lambda request, seed: reply, "1")
    >>> wb.Client(wb.Cache()).complete(wb.Request("direct", "constant/any", [])).text
    'SELECT 1'
    """
    _registered[provider] = (answer, version)


def runs_here(model: str) -> tuple[Answer, Version] | None:
    """The answering function and version of a model of this process; None for any other model."""
    provider = model.partition("/")[0]
    if provider not in _registered and provider in _installed():
        module = import_module(_installed()[provider])
        register(provider, module.answer, module.version)
    return _registered.get(provider)


@cache
def _installed() -> Mapping[str, str]:
    """The modules of installed packages that answer for a provider."""
    return {one.name: one.value for one in metadata.entry_points(group="workbench.models")}


def endpoint(model: str, url: str) -> str:
    """The endpoint in keys: the server's address, or the version of a model of this process.

    A version that a function returns is followed by the address.
    """
    here = runs_here(model)
    version: Version = here[1] if here else lambda _: ""
    return version if isinstance(version, str) else f"{version(model)} {public(url)}".strip()


def address(model: str, given: str = "") -> str:
    """The model's URL: the given one, else PROVIDER_API_BASE or PROVIDER_BASE_URL, else ""."""
    provider = model.partition("/")[0].upper().replace("-", "_")
    named = os.environ.get(f"{provider}_API_BASE") or os.environ.get(f"{provider}_BASE_URL")
    return given or named or ""


def public(url: str) -> str:
    """The URL without user, query and fragment; texts hide its user, password and query from now on."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    except ValueError as error:
        raise BadInputError(
            f"the address of the model's server is no URL ({redact(str(error))}): "
            "write it like http://localhost:8000/v1"
        ) from None
    given = (parts.username, parts.password, *dict(parse_qsl(parts.query)).values())
    HIDDEN.update(unquote(part) for part in given if part)
    return urlunsplit((parts.scheme.lower(), host, parts.path.rstrip("/"), "", ""))
