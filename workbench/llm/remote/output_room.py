"""Read the longest possible reply from a provider's refusal of an output limit.

vLLM and others refuse a request whose prompt and output limit are longer together than the model's context; the
prompt alone would fit. Providers also have a longest reply for each model. Their refusals name the numbers, and the
same request is sent again with the limit that fits. This belongs to one request: a shorter prompt leaves more room.
"""

import re
from dataclasses import replace

from workbench.types import Request

LIMITS = ("max_tokens", "max_completion_tokens")  # two names of the limit on a reply's tokens

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_CONTEXT = re.compile(r"maximum context length (?:is|of) (\d+)")
_PROMPT = re.compile(
    r"(at least )?(\d+) (?:(?:text )?input tokens|prompt tokens|in the (?:messages|prompt))"
)
_SUM = re.compile(r"context limit: (\d+) \+ \d+ > (\d+)")  # Anthropic: prompt + output > context
_LONGEST = re.compile(
    r"(?:at most|less than or equal to|valid range of \w+ is \[\d+,|max_tokens: \d+ >) ?`?(\d+)"
)


def with_less_room(request: Request, reason: str) -> Request | None:
    """The request with an output limit that the refusal's numbers allow; None if they allow no shorter one."""
    name = next((limit for limit in LIMITS if limit in request.parameters), None)
    found = _room(_THOUSANDS.sub("", reason))
    if name is None or found is None:
        return None
    sent = request.parameters[name]
    room, exact = found
    if not exact:  # "at least 1 input token": the prompt was not counted to its end
        room = min(room, sent // 2)
    if not 0 < room < sent:
        return None
    return replace(request, parameters={**request.parameters, name: room})


def _room(reason: str) -> tuple[int, bool] | None:
    """The tokens that are left for a reply, and whether the number is exact."""
    if found := _SUM.search(reason):
        return int(found[2]) - int(found[1]), True
    context, prompt = _CONTEXT.search(reason), _PROMPT.search(reason)
    if context and prompt:
        return int(context[1]) - int(prompt[2]), not prompt[1]
    longest = None if context else _LONGEST.search(reason)
    return (int(longest[1]), True) if longest else None
