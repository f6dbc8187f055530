"""Send a request so that its provider reads the prompt's prefix from a cache, if LiteLLM lists that it has one.

`Request.shared` has the ends of the prefixes that other calls share. Anthropic's models cache up to a mark,
`cache_control`. OpenAI's models cache whatever repeats, and `prompt_cache_key` leads calls with one prefix to one
machine. Gemini's models cache whatever repeats and take neither. Answers do not depend on marks and cache keys, so
they are no part of a call's key.

LiteLLM can set marks itself (`cache_control_injection_points`), but only after whole messages; ours stand within one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.canonical import content_hash
from workbench.llm.remote.listed import listed
from workbench.types import Message, Request

# Characters of a token, about. On a prefix that is a little too short, a mark has no effect.
_CHARACTERS = 4
_SHORTEST = (  # tokens of the shortest prefix that a model caches, by a pattern of its name
    (r"claude-(?:haiku-4-5|opus-4-[5-9])", 4096),
    (r"claude.*haiku", 2048),
    (r"gemini-3", 4096),
    (r"gemini-2\.5", 2048),
    (r"", 1024),
)
_SECTION = re.compile(r"^## ", re.MULTILINE)


def with_common_part(requests: Sequence[Request]) -> list[Request]:
    """Requests that are sent together; `shared` of each also has the sections that its prompt and model share."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for request in requests:
        groups.setdefault(_group(request), []).append(_content(request))
    ends = {group: _common_end(contents) for group, contents in groups.items() if contents[1:]}
    return [
        replace(request, shared=(*request.shared, end))
        if (end := ends.get(_group(request), 0)) > max(request.shared, default=0)
        else request
        for request in requests
    ]


def _group(request: Request) -> tuple[str, str, str]:
    return request.prompt, request.model, str(request.messages[0].get("content"))


def _common_end(contents: Sequence[str]) -> int:
    """The end of the sections that all texts have in common at their start; the texts' length if they are equal."""
    first, *others = contents
    if all(other == first for other in others):
        return len(first)
    # Sections are compared as a whole, the last first: `os.path.commonprefix` goes letter by letter and takes longer.
    for found in reversed(list(_SECTION.finditer(first))):
        if all(other.startswith(first[: found.end()]) for other in others):
            return found.start()
    return 0


def caches_prompts(model: str) -> bool:
    """Whether LiteLLM lists that the model's provider caches the prefixes of prompts."""
    return bool(listed(model).get("supports_prompt_caching"))


def shortest(model: str) -> int:
    """The tokens of the shortest prefix that the model's provider caches."""
    return next(tokens for pattern, tokens in _SHORTEST if re.search(pattern, model))


def cached_ends(request: Request) -> list[int]:
    """The ends in `shared` of the prefixes that are long enough for the model's provider to cache."""
    if not request.shared or not caches_prompts(request.model):
        return []
    least = shortest(request.model)
    before = sum(len(str(message.get("content"))) for message in request.messages[:-1])
    return [end for end in request.shared if (before + end) / _CHARACTERS >= least]


def prefix_hash(request: Request) -> str:
    """A hash of the longest prefix that calls of other questions share and the provider caches; "" without one."""
    ends = cached_ends(request)
    return content_hash("prefix", [request.model, *_parts(request, ends[:2])[:-1]]) if ends else ""


def as_sent(request: Request, url: str = "") -> tuple[Sequence[Message], Mapping[str, Any]]:
    """The messages and parameters with the marks or the cache key that the provider's cache needs.

    Servers at other addresses than OpenAI's get no cache key: they may refuse an unknown parameter.
    """
    ends = cached_ends(request)
    if not ends:
        return request.messages, request.parameters
    if "claude" in request.model:
        return _marked(request, ends), request.parameters
    if request.model.startswith("openai/") and not url:
        key = content_hash("prefix", [request.model, *_parts(request, ends[:1])[:-1]])[-32:]
        return request.messages, {"prompt_cache_key": key, **request.parameters}
    return request.messages, request.parameters


def _marked(request: Request, ends: Sequence[int]) -> Sequence[Message]:
    """The messages; the last one is cut into parts, and each part except the last has a mark."""
    *others, last = request.messages
    *parts, rest = _parts(request, ends)[len(others) :]
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": part, "cache_control": {"type": "ephemeral"}} for part in parts
    ]
    blocks += [{"type": "text", "text": rest}] if rest else []
    return (*others, {**last, "content": blocks})


def _parts(request: Request, ends: Sequence[int]) -> list[str]:
    """The texts of the messages before the last one, and the last one's text, cut at these positions."""
    *others, _ = request.messages
    content, starts = _content(request), [0, *ends]
    cut = [content[start:end] for start, end in zip(starts, [*ends, len(content)], strict=True)]
    return [*(str(message.get("content")) for message in others), *cut]


def _content(request: Request) -> str:
    return str(request.messages[-1].get("content"))
