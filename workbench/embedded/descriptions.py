"""What a description says beyond its words: a column's written-out name, and what its codes mean."""

import re

from workbench.embedded.words import STOPWORDS, stem

WORD = re.compile(r"[^\W\d_]+|\d+")
_CODE = re.compile(
    r"""(?:^|[\s;,.(:])(?:(['"\u2018\u2019])([^'"\u2018\u2019]{1,30})['"\u2018\u2019]|([A-Z0-9+-]{1,4}))\s*"""
    r"""(?:=|:|\u2192|\u2013|\u2014|- |means?|stands? for|is |for |refers? to|indicates?|denotes?|if )\s*"""
    r"""['"]?([^;,.\n'"=:]{2,60})"""
)
_EMPTY = re.compile(
    r"\b(?:NULL|empty|blank)\b\s*(?:[:=\u2013-]|means?|if|when|while|for|until|as long as)\s*([^;,.\n:=]{2,60})",
    re.IGNORECASE,
)


def heading_of(description: str) -> tuple[str, ...]:
    """The stems of a column's name as its description writes it out, if it begins with that."""
    words = WORD.findall(re.split(r"[;:(,]| in ", description, maxsplit=1)[0])
    telling = [w.lower() for w in words if w.lower() not in {"of", "the", "a", "an", "in", "for"}]
    return tuple(dict.fromkeys(map(stem, telling))) if 1 <= len(telling) <= 4 else ()


def codes_of(text: str) -> list[tuple[str, frozenset[str]]]:
    """The values that a description explains, as in "K = cancelled; L: loaded"."""
    found = []
    for match in _CODE.finditer(text):
        meaning = frozenset(
            stem(w.lower()) for w in WORD.findall(match[4]) if w.lower() not in STOPWORDS
        )
        value = match[2] or match[3]
        if meaning and value not in {"-", "+"}:
            found.append((value, meaning))
    for empty in _EMPTY.finditer(text):
        meaning = frozenset(
            stem(w.lower()) for w in WORD.findall(empty[1]) if w.lower() not in STOPWORDS
        )
        if meaning:
            found.append(("", meaning))
    return found
