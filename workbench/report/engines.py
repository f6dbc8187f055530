"""Whether a model of ours is the engine that a paper names.

The rule: every word and number of the paper's name stands in the model's, numbers in the same
order; what else stands there is the provider or maker, a date or number of a release, or a word
that names no other model (instruct, chat, hf). So anthropic/claude-3-5-sonnet-20240620 is
"Claude 3.5 Sonnet", and claude-sonnet-4-5 is not. A name that moves, such as mistral-large-latest,
is no engine of a paper.
"""

import re

# Names that papers use for a model that is served under another.
PRINTED = {"chatgpt": "gpt-3.5-turbo"}

_WORD = re.compile(r"[^\W\d_]+|\d+[^\W\d_]*")
_RELEASE = re.compile(r"[-@](?:\d{3,8}|\d{4}-\d\d-\d\d)$")
_BEDROCK = re.compile(r"-v\d+:\d+$")
# After them a model is still the same one.
_SUFFIX = re.compile(r"(?:-(?:instruct(?:-turbo)?|chat|hf))+$", re.IGNORECASE)
_MAKERS = {"anthropic", "meta", "mistralai", "google", "deepseek-ai"}


def same_engine(printed: str, model: str) -> bool:
    """Say whether a model, named as LiteLLM does, is the engine that a paper names.

    >>> same_engine("Claude 3.5 Sonnet", "anthropic/claude-3-5-sonnet-20240620")
    True
    >>> same_engine("Claude 3.5 Sonnet", "anthropic/claude-sonnet-4-5")
    False
    """
    printed = PRINTED.get(printed.casefold(), printed)
    printed_base = _RELEASE.sub("", printed)
    served = model.rpartition("/")[2]
    served = _BEDROCK.sub("", served)
    served_base = _RELEASE.sub("", served)
    served_base = _SUFFIX.sub("", served_base)
    engines = {_identity(printed), _identity(printed_base)}
    return _identity(served) in engines or _identity(served_base) in engines


def _identity(name: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the words of a name in any order, and its numbers in theirs."""
    words = set()
    numbers = []
    for part in _WORD.findall(name.casefold()):
        if part[0].isdigit():
            numbers.append(part)
        else:
            words.add(part)
    return frozenset(words - _MAKERS), tuple(numbers)
