"""How a request is sent so that its provider reads its beginning from a cache, where LiteLLM lists that it has one.

`Request.shared` says where the parts end that other calls begin with, too. Anthropic's models cache up to a mark,
`cache_control`. OpenAI's cache whatever repeats, and `prompt_cache_key` leads calls with one beginning to one
machine. Gemini's cache whatever repeats and take neither. Answers do not depend on any of this, so no key knows it.

LiteLLM can set marks itself (`cache_control_injection_points`), but only behind whole messages; these stand within
one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.canonical import content_hash
from workbench.llm.remote.listed import listed
from workbench.types import Message, Request

# Characters of a token, about. What is a little too short is sent with a mark that has no effect.
_CHARACTERS = 4
_SHORTEST = (  # tokens of the shortest beginning that a model caches, by a pattern of its name
    (r"claude-(?:haiku-4-5|opus-4-[5-9])", 4096),
    (r"claude.*haiku", 2048),
    (r"gemini-3", 4096),
    (r"gemini-2\.5", 2048),
    (r"", 1024),
)
_SECTION = re.compile(r"^## ", re.MULTILINE)


def with_common_part(requests: Sequence[Request]) -> list[Request]:
    """Requests that are sent together, each with the sections that all of one prompt and model begin with."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for request in requests:
        groups.setdefault(_group(request), []).append(_content(request))
    ends = {group: _common_end(contents) for group, contents in groups.items() if contents[1:]}
    return [_extended(request, ends.get(_group(request), 0)) for request in requests]


def _group(request: Request) -> tuple[str, str, str]:
    return request.prompt, request.model, str(request.messages[0].get("content"))


def _common_end(contents: Sequence[str]) -> int:
    """Where the last section begins that not all texts begin with; the texts' length if they are equal."""
    first, *others = contents
    if all(other == first for other in others):
        return len(first)
    # Sections are compared as a whole, the last first: `os.path.commonprefix` goes letter by letter and takes longer.
    for found in reversed(list(_SECTION.finditer(first))):
        if all(other.startswith(first[: found.end()]) for other in others):
            return found.start()
    return 0


def _extended(request: Request, end: int) -> Request:
    if end <= max(request.shared, default=0):
        return request
    return replace(request, shared=(*request.shared, end))


def caches_prompts(model: str) -> bool:
    """Whether LiteLLM lists that the model's provider caches the beginnings of prompts."""
    return bool(listed(model).get("supports_prompt_caching"))


def shortest(model: str) -> int:
    """The tokens of the shortest beginning that the model's provider caches."""
    return next(tokens for pattern, tokens in _SHORTEST if re.search(pattern, model))


def cached_ends(request: Request) -> list[int]:
    """Those of `shared` up to which the provider caches: the parts are long enough for the model."""
    if not request.shared or not caches_prompts(request.model):
        return []
    least = shortest(request.model)
    before = sum(len(str(message.get("content"))) for message in request.messages[:-1])
    return [end for end in request.shared if (before + end) / _CHARACTERS >= least]


def beginning(request: Request) -> str:
    """A hash of the longest beginning that calls of other questions share and the provider caches; "" without one."""
    ends = cached_ends(request)
    return content_hash("prefix", [request.model, *_parts(request, ends[:2])[:-1]]) if ends else ""


def as_sent(request: Request, url: str = "") -> tuple[Sequence[Message], Mapping[str, Any]]:
    """The messages and parameters with what the provider's cache asks for.

    A server at another address than OpenAI's own is sent no key: it may refuse a parameter that it does not know.
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
    """The messages with the last one in parts, each of which but the last has a mark."""
    *others, last = request.messages
    *parts, rest = _parts(request, ends)[len(others) :]
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": part, "cache_control": {"type": "ephemeral"}} for part in parts
    ]
    blocks += [{"type": "text", "text": rest}] if rest else []
    return (*others, {**last, "content": blocks})


def _parts(request: Request, ends: Sequence[int]) -> list[str]:
    """The texts of the messages before the last, and the last one's cut at these places."""
    *others, _ = request.messages
    content, starts = _content(request), [0, *ends]
    cut = [content[start:end] for start, end in zip(starts, [*ends, len(content)], strict=True)]
    return [*(str(message.get("content")) for message in others), *cut]


def _content(request: Request) -> str:
    return str(request.messages[-1].get("content"))
