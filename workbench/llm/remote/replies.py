"""A reply as LiteLLM gives it: an OpenAI chat completion, whoever sent it.

LiteLLM translates the providers' protocols. This module corrects what LiteLLM leaves: answers in parts, token counts
without reasoning, and counts of zero from servers that do not count.
"""

import base64
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.llm.remote.refusals import Refusal
from workbench.types import Usage

Reply = dict[str, Any]

_LARGEST = 10**9  # tokens: no call has more


def reply_with(text: str, reason: str, tokens_in: int, tokens_out: int) -> Reply:
    """The reply with this answer and these token counts, in the form of a provider's."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
    return {"choices": [{"message": message, "finish_reason": reason}], "usage": usage}


def tidy(reply: Mapping[str, Any]) -> Reply:
    """The reply in the form in which it is stored."""
    found: Reply = _filled(reply)
    _count_tokens(found)
    # An answer without text gets the empty text: it is paid, and reasoning may have used the whole output limit.
    for choice in found.get("choices") or []:
        message = choice.setdefault("message", {})
        refused = (message.get("provider_specific_fields") or {}).get("refusal")
        message.setdefault("content", refused or "")
    return found


def _filled(value: Any) -> Any:
    """The value without the empty fields that LiteLLM adds.

    What the cache cannot store is replaced: whole numbers beyond 64 bits, and halves of characters.
    """
    if isinstance(value, Mapping):
        pairs = ((key, _filled(item)) for key, item in value.items())
        return {key: item for key, item in pairs if item is not None and item != {}}
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, int) and abs(value) >= 2**63:
        return str(value)
    return [_filled(item) for item in value] if isinstance(value, list) else value


def _count_tokens(reply: Reply) -> None:
    """Count reasoning as output, and drop counts of zero and impossible counts, which would make costs negative.

    Grok counts reasoning in the total alone, and LiteLLM does so for text that Gemini's filter withholds. A reply
    with zero tokens of input and of output comes from a server that does not count.
    """
    usage = reply.get("usage") or {}
    read, written = (usage.get(f"{kind}_tokens") or 0 for kind in ("prompt", "completion"))
    details = (usage.get(f"{kind}_tokens_details") or {} for kind in ("prompt", "completion"))
    counts = [row[name] for row in (usage, *details) for name in row if name.endswith("_tokens")]
    possible = all(isinstance(count, int | float) and 0 <= count < _LARGEST for count in counts)
    if not (read or written) or not possible:
        reply.pop("usage", None)
    elif "total_tokens" in usage:
        usage["completion_tokens"] = max(written, usage["total_tokens"] - read)


def answer_of(reply: Reply) -> tuple[str, str]:
    """The answer's text, removed from the reply, and the finish reason. Raises `Refusal` if there is none."""
    if not reply.get("choices"):
        raise Refusal("empty", "the reply has no choices")
    choice = reply["choices"][0]
    message = choice.get("message") or {}
    reason = choice.get("finish_reason") or "stop"
    details = choice.get("provider_specific_fields") or {}
    if details.get("error") or details.get("native_finish_reason") == "error":
        cause = details.get("error") or ""
        raise Refusal(
            "server", f"the provider failed in the middle of its answer {cause}", again=True
        )
    text = message.pop("content", None)
    refused = (message.get("provider_specific_fields") or {}).get("refusal")
    if reason == "content_filter" or refused:
        return text or refused or "", "content_filter"
    if text is None:
        raise Refusal("empty", f"the reply has no content (finish_reason {reason!r})")
    return text, reason


def read_usage(reply: Reply) -> Usage | None:
    """The token counts of a reply; None if it has none."""
    if not (usage := reply.get("usage")):
        return None
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return Usage(usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0, cached)


def tokens_apart(reply: Reply) -> tuple[int, int]:
    """The tokens of input that the provider wrote to its cache, and those of output that are reasoning."""
    usage = reply.get("usage") or {}
    reasoning = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
    return usage.get("cache_creation_input_tokens") or 0, reasoning


def split_parts(parts: Sequence[Any]) -> tuple[str, str]:
    """The answer and the reasoning of a content that is a list of parts, as Mistral's models send it."""
    text = "".join(_texts(part) for part in parts if not _thinks(part))
    return text, "".join(_texts(part) for part in parts if _thinks(part))


def _thinks(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") in {"thinking", "reasoning"}


def _texts(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, list):
        return "".join(map(_texts, part))
    if isinstance(part, Mapping):
        names = ("text", "thinking", "reasoning", "content")
        return _texts(next((part[name] for name in names if part.get(name)), ""))
    return ""


def with_vector(reply: Reply) -> Reply:
    """An embedding's reply with the vector as the answer's text: float32 in base64, as providers send it."""
    if data := reply.pop("data", None):
        floats = struct.pack(f"<{len(data[0]['embedding'])}f", *data[0]["embedding"])
        message = {"content": base64.b64encode(floats).decode()}
        reply["choices"] = [{"message": message, "finish_reason": "stop"}]
    return reply
