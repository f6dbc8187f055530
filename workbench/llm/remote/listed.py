"""LiteLLM's bundled list of models with their prices, limits and abilities, read without importing LiteLLM."""

import functools
import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

_FAMILIES = {"vertex_ai", "bedrock", "fireworks_ai"}  # the list has several providers of these


@functools.cache
def _bundled() -> dict[str, dict[str, Any]]:
    package = importlib.util.find_spec("litellm")
    if not package or not package.origin:
        return {}
    path = Path(package.origin).with_name("model_prices_and_context_window_backup.json")
    entries: dict[str, dict[str, Any]] = orjson.loads(path.read_bytes())
    return entries


@functools.cache
def listed_names() -> Mapping[str, set[str]]:
    """The names of the listed models by their provider, without its prefix."""
    names: dict[str, set[str]] = {}
    for name, entry in _bundled().items():
        provider = str(entry.get("litellm_provider", ""))
        names.setdefault(provider, set()).add(name.removeprefix(f"{provider}/"))
    return names


@functools.lru_cache(maxsize=1000)
def listed(model: str) -> Mapping[str, Any]:
    """LiteLLM's entry of the model with its prices, limits and abilities; empty if the model is not listed.

    The list has some models under PROVIDER/NAME, some under their name alone, and Amazon's under a name
    without region and route. A name of another provider does not count.
    """
    provider, _, name = model.partition("/")
    names = [name, name.removeprefix("responses/")]
    if provider == "bedrock":
        short = re.sub(r"^(?:(?:converse|invoke)/)?(?:[a-z]{2}-[a-z-]+-\d/)?", "", name)
        names += [short, re.sub(r"^(?:us|us-gov|eu|apac|jp|au|ca|global)\.", "", short)]
    if match := re.match(r"ft:[^:]+", name):  # ft:gpt-4o-mini-2024-07-18:my-company::id
        names.append(match[0])
    for known in dict.fromkeys(names):
        if entry := _bundled().get(f"{provider}/{known}"):
            return entry
        entry = _bundled().get(known, {})
        maker = str(entry.get("litellm_provider", ""))
        if maker == provider or (provider in _FAMILIES and maker.startswith(provider)):
            return entry
    return {}
