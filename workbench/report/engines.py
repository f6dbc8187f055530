"""Whether a model of ours is the engine that a paper names.

The rule: both names have the same words and numbers, but for what stands beside the model's: its
provider and maker before it, and after it a release or a word that names no other model (instruct,
chat, hf). So anthropic/claude-3-5-sonnet-20240620 is "Claude 3.5 Sonnet", and claude-sonnet-4-5 is
not. A name that moves, such as mistral-large-latest, is no engine of a paper.
"""

import re

# "bedrock/anthropic." and "-20240620-v1:0", "together_ai/meta-llama/Meta-" and "-Instruct-Turbo".
_BESIDE = re.compile(
    r"^(?:.*/)?(?:anthropic\.|meta-)?"
    r"|(?:[-@](?:\d{3,8}|\d{4}-\d\d-\d\d|v\d+:\d+|instruct(?:-turbo)?|chat|hf))+$",
    re.IGNORECASE,
)


def same_engine(printed: str, model: str) -> bool:
    """Say whether a model, named as LiteLLM does, is the engine that a paper names.

    >>> same_engine("Claude 3.5 Sonnet", "anthropic/claude-3-5-sonnet-20240620")
    True
    >>> same_engine("Claude 3.5 Sonnet", "anthropic/claude-sonnet-4-5")
    False
    """
    if printed == "ChatGPT":  # the papers' name for it
        printed = "gpt-3.5-turbo"
    return _parts(printed) == _parts(_BESIDE.sub("", model))


def _parts(name: str) -> list[str]:
    """Return the words and numbers of a name, sorted."""
    return sorted(re.findall(r"\d+[a-z]*|[a-z]+", name.casefold()))
