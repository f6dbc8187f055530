"""A simulation of a provider's prompt cache, for previews and benchmarks: which tokens it would have cached.

A prefix that equals an earlier prompt's to the token, and has the model's shortest cached length or more, is read from
the cache: in steps of 128 tokens where the provider caches whatever repeats, and up to a mark at Anthropic, which
charges for written tokens. No entry expires here: a provider keeps a prefix for minutes after its last use, and the
questions of a database follow one another.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.llm.remote.prefixes import as_sent, caches_prompts, shortest
from workbench.types import Message, Request

STEP = 128  # tokens
_FOUR_LETTERS = re.compile(r".{1,4}", re.DOTALL)  # a token has about four


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The number of a prompt's tokens, and the hashes of its prefixes by their numbers of tokens.

    every: the prefixes that end at each step. marked: the prefixes that end at a mark.
    """

    tokens: int
    every: Mapping[int, bytes]
    marked: Mapping[int, bytes]


def prefixes(
    request: Request, tokens_of: Callable[[str], list[str]] = _FOUR_LETTERS.findall
) -> Prefixes:
    """The prefixes of a request as it is sent; `tokens_of` cuts a text into tokens."""
    tokens, marks = _tokens(as_sent(request)[0], tokens_of)
    steps = set(range(STEP, len(tokens) + 1, STEP))
    digest, hashes, start = hashlib.sha256(), {}, 0
    for end in sorted(steps.union(marks)):
        digest.update("\0".join(["", *tokens[start:end]]).encode(errors="replace"))
        hashes[end] = digest.digest()[:12]
        start = end
    every, marked = ({end: hashes[end] for end in ends} for ends in (steps, marks))
    return Prefixes(len(tokens), every, marked)


def _tokens(
    messages: Sequence[Message], tokens_of: Callable[[str], list[str]]
) -> tuple[list[str], list[int]]:
    """The tokens of the messages, and the positions of the marks among them."""
    tokens: list[str] = []
    marks: list[int] = []
    for message in messages:
        content = message.get("content")
        for block in content if isinstance(content, list) else [{"text": str(content)}]:
            tokens += tokens_of(str(block.get("text", "")))
            marks += [len(tokens)] if "cache_control" in block else []
    return tokens, marks


@dataclass(slots=True)
class PrefixCache:
    """The prefixes of prompts that a model's provider has in its cache."""

    model: str
    known: set[bytes] = field(default_factory=set)

    @property
    def marking(self) -> bool:
        """Whether the provider caches up to marks, and charges for tokens that are written to its cache."""
        return "claude" in self.model

    def counts(self, prompt: Prefixes) -> tuple[int, int]:
        """The tokens of a prompt that are read from the cache, and those that are written to it at a price."""
        if not caches_prompts(self.model):
            return 0, 0
        least = shortest(self.model)
        found = prompt.marked if self.marking else prompt.every
        ends = {end: key for end, key in found.items() if end >= least}
        read = max((end for end, key in ends.items() if key in self.known), default=0)
        self.known.update(ends.values())
        return read, max(ends, default=0) - read if self.marking else 0
