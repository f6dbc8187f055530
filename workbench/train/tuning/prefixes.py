"""A prefix cache: a local model does not read again the prefix of a prompt that it has just read.

Prompts about one database share their task and its schema, which are most of their tokens, and reading a prompt
takes most of a call's time on a processor. The attention keys and values of the latest prompts stay in memory; a
new prompt takes those of the longest prefix that it shares with one of them. Rounding differs by a millionth
from a prompt that is read in one piece, as it does between two batch sizes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

SHORTEST = 64  # tokens; a shorter prefix is quick to read, and all prompts share a few tokens
KEPT = 4  # prompts; the steps of a system take turns, each with its own prompt, and a long one takes 300 MB


@dataclass(slots=True)
class Prefixes:
    """The latest prompts of one model with their attention caches, the latest first."""

    kept: list[tuple[list[int], Any]] = field(default_factory=list)

    def begin(self, prompt: Sequence[int]) -> Any | None:
        """The attention cache of the longest known prefix of the prompt, if one is long enough.

        The last token is always left to read, since the first token of the reply is computed from it.
        """
        shared = [min(_shared(prompt, known), len(prompt) - 1) for known, _ in self.kept]
        longest = max(shared, default=0)
        if longest < SHORTEST:
            return None
        _, cache = self.kept.pop(shared.index(longest))
        cache.crop(longest - cache.get_seq_length())
        return cache

    def keep(self, prompt: Sequence[int], cache: Any) -> None:
        """Keep a prompt that was read; the reply's tokens in the cache are cut off by its next use.

        A cache that forgets, such as one of a sliding window, cannot be cut back and is not kept.
        """
        if getattr(cache, "is_croppable", not any(getattr(cache, "is_sliding", [True]))):
            self.kept = [(list(prompt), cache), *self.kept][:KEPT]


def _shared(prompt: Sequence[int], known: Sequence[int]) -> int:
    """How many tokens the two have in common from the beginning."""
    pairs = zip(prompt, known, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(prompt), len(known)))
