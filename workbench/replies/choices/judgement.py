"""Whether a phrase about one item says that it passed, that it failed, or neither."""

import re

Judgement = int | None  # 1 passed, 0 failed, None: not judged

PASSED = (
    r"bestanden|r\u00e9ussie?|aprobad[oa]|pass(?:e[sd]|ing)?|satisf(?:y|ies|ied)|correct|succeed(?:s|ed)?"
    r"|meets?|fulfil(?:ls?|led)?|\u901a\u8fc7"
)
FAILED = (
    r"\u672a\u901a\u8fc7|\u4e0d\u901a\u8fc7|\u5931\u8d25|durchgefallen|\u00e9chou\u00e9e?|suspendid[oa]|fail(?:s|ed|ing|ure)?|violat(?:es?|ed)"
    r"|incorrect|wrong"
)
_WORD = re.compile(
    r"(?P<no>(?:\b(?:can)?not|\bnicht|n['\u2019]t|\bnever|\bno longer)\W(?:\w+ly\W)?(?:be\s)?"
    r"|\b(?:fail\w*|unable)\sto\W)?"
    rf"\b(?:(?P<pass>{PASSED})|(?P<fail>{FAILED}))\b"
    r"(?P<none>[\"'`*]{0,3}\s?[:=?]\s?[\"'`*]{0,3}(?:no|false|0)\b)?",
    re.IGNORECASE,
)
_OPEN = re.compile(
    rf"\b(?:(?:{PASSED})(?:\W+or\W+|\s*/\s*)(?:{FAILED})|partial\w*\s(?:{PASSED})|(?:{FAILED})\W+or\W+(?:{PASSED}))\b",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"^[\s\"'*`|:=.\-\u2013\u2014>#()\[\]{}]*(yes|no|true|false|1|0)\b(?!\s+\w)", re.IGNORECASE
)
_LAST = re.compile(r"\b(yes|no|true|false)\W*$", re.IGNORECASE)
_BARE_WORDS = {"yes": 1, "true": 1, "1": 1, "no": 0, "false": 0, "0": 0}


def judgement(text: str) -> Judgement:
    """The judgement of a phrase about one item: by its first words, or by its last word on the item."""
    if bare := _BARE.match(text):
        return _BARE_WORDS[bare[1].lower()]
    if re.fullmatch(
        r"[\W_]*(?:is|does|do|did|was|has)(?:\s+not|n['\u2019]t)\W*", text, re.IGNORECASE
    ):
        return 0  # "candidate 1 is correct, candidate 2 is not"
    if re.fullmatch(r"[\W_]*(?:does|do|did)\W*", text, re.IGNORECASE):
        return 1  # "candidate 1 does not pass, candidate 2 does"
    if _OPEN.search(text):
        return None  # "passed or failed", "partially passed"
    words = list(_WORD.finditer(text))
    if words:
        lead = text[: words[0].start()].strip(" \t\"'*`|:=.-\u2013\u2014>#()[]{}")
        summed_up = re.search(
            r"\b(?:overall|ultimately|finally|in the end|verdict)\b", text, re.IGNORECASE
        )
        word = words[-1] if lead or summed_up else words[0]
        negated = bool(word["no"]) != bool(word["none"])
        return int(bool(word["pass"]) != negated)
    last = _LAST.search(text)
    return _BARE_WORDS[last[1].lower()] if last else None
