"""How models name one of two candidates, and what they call good and bad."""

import re
from typing import Literal

Letter = Literal["A", "B", ""]

NAME = r"(?:candidate|option|response|query|answer|choice|sql|number)"
# A candidate as models name it: "A" but not the article, "candidate b", "the second query", "candidate 1".
ONE = (
    rf"(?:(?:(?:the\s+)?{NAME}s?\s*[\"'`(*_]*|#)(?P<named>[ABab12])\b"
    rf"|[\"'`(*_]*\b(?P<letter>B\b|(?-i:(?<=[a-z,;:] )A\b)|A\b(?![ ]+(?!is\b|was\b|are\b|has\b|over\b"
    rf"|rather\b|and\b|or\b|as\b|because\b|since\b|wins\b|it\b|but\b|then\b|ist\b|est\b|es\b|only\b"
    rf"|cannot\b|can\b|could\b|would\b|should\b|must\b|fails\b|works\b|uses\b|joins\b|counts\b|n\b"
    rf"|beats\b|outperforms\b|surpasses\b|loses\b|alone\b|instead\b|for\b|in\b|on\b|does\b|gets\b|returns\b|lacks\b|omits\b|misses\b"
    rf"|wins\b|answers\b|handles\b|filters\b|gives\b)[a-z]))"
    rf"|\b(?:the\s+)?(?P<ordinal>first|second|former|latter|erste|zweite)(?:\s+(?:one|{NAME}|abfrage"
    rf"|anfrage))?\b)"
)
CANDIDATE = re.compile(ONE, re.IGNORECASE)
GOOD = (
    r"(?:correct|right|better|best|closer|closest|preferable|preferred|superior|accurate|valid|winner"
    r"|richtig|besser|korrekt|correcta?|mejor|meilleure?|juste)"
)
BAD = (
    r"(?:wrong|loses|inferior|outperformed|beaten|incorrect|not\s+(?:\w+\s+)?(?:correct|right|valid)|invalid|flawed|worse|fails?|falsch"
    r"|less\s+\w+|not\s+as\s+\w+|(?:cannot|can['\u2019]t|could\s+not)\s+be\s+(?:correct|right)"
    r"|n['\u2019]est\s+pas\s+\w+|no\s+es\s+\w+|mistaken|ruled\s+out|rejected|faulty|isn['\u2019]t\s+(?:\w+\s+)?(?:correct|right))"
)


def letter_of(text: str | None) -> Letter:
    """The letter that a name of a candidate means."""
    found = (text or "").strip().lower()
    if found in {"a", "1", "first", "former", "erste"}:
        return "A"
    return "B" if found in {"b", "2", "second", "latter", "zweite"} else ""


def letter_in(text: str) -> Letter:
    """The letter that a phrase such as "candidate **B**" or "the second query" means."""
    name = CANDIDATE.search(text)
    return letter_of(name["named"] or name["letter"] or name["ordinal"]) if name else ""
