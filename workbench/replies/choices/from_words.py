"""The judgements of numbered lines, or of as many bare words as there are items."""

import re

from workbench.replies.choices.judgement import FAILED, PASSED, Judgement, judgement

# A number and what begins or ends its line with a verdict: "1. Passed", "2) joins both tables - failed".
_NUMBERED = re.compile(
    rf"(?:^\W{{0,6}}(?:no\.?\s*)?|\s(?=\d{{1,4}}[).:]))(?P<n>\d{{1,4}})\W{{1,8}}"
    rf"(?P<verdict>(?:(?:does|do|did)(?:\s+not|n['\u2019]t)\s+)?(?:{PASSED}|{FAILED}|(?:yes|no|true"
    rf"|false|1|0)(?!\s+\w))\b(?<!ing)"
    r"|[^\n]{1,400}(?:[:\u2013\u2014-]|->)[ *]{0,4}(?:passe[sd]|fail(?:s|ed)|yes|no|true|false)[^\w\n]*$)",
    re.IGNORECASE | re.MULTILINE,
)
# "1=Passed" or "2: F".
_PAIR = re.compile(
    r"\W{0,6}(?P<n>\d{1,4})\s*[:=]\s*(?P<verdict>p|f|pass(?:ed)?|fail(?:ed)?)\W*\Z", re.IGNORECASE
)


def read_words(text: str, count: int) -> list[Judgement]:
    """The judgements of numbered or bare lines, if there are as many as items."""
    numbered: list[Judgement] = [None] * count
    parts = re.split(r"[\n,;|]", text)
    if len(pairs := [one for part in parts if (one := _PAIR.match(part))]) == len(parts) > 1:
        for pair in pairs:
            if 1 <= int(pair["n"]) <= count:
                numbered[int(pair["n"]) - 1] = int(pair["verdict"][0].lower() == "p")
        return numbered
    for found in _NUMBERED.finditer(text):
        value = judgement(found["verdict"])
        if value is not None and 1 <= int(found["n"]) <= count:
            numbered[int(found["n"]) - 1] = value
    if any(one is not None for one in numbered):
        return numbered
    if any(len(part.split()) > 3 for part in parts):
        return []  # sentences
    words = [judgement(part) for part in parts if part.strip(" -*`\"'[]().:")]
    return words if len(words) == count and None not in words else []
