"""Whether a reply says that a column is relevant: True, False, or None where it does not say."""

import re
from collections.abc import Iterator

from workbench.replies.json_values import member_name, objects
from workbench.replies.text import ANSWER_TAG, answer_text, boxed

MEMBERS = (
    "relevant",
    "is relevant",
    "is column information relevant",
    "answer",
    "verdict",
    "relevance",
    "relevante",
    "pertinent",
)
_YES = {
    "yes",
    "y",
    "true",
    "relevant",
    "1",
    "ja",
    "oui",
    "si",
    "s\u00ed",
    "\u662f",
    "\u662f\u7684",
    "\u76f8\u5173",
    "keep",
    "include",
    "\u306f\u3044",
    "yep",
    "yeah",
    "absolutely",
    "definitely",
    "certainly",
    "needed",
    "required",
    "necessary",
    "useful",
    "helpful",
    "essential",
    "important",
}
_NO = {
    "no",
    "n",
    "not",
    "false",
    "irrelevant",
    "0",
    "nein",
    "non",
    "\u5426",
    "\u4e0d",
    "\u4e0d\u662f",
    "\u4e0d\u76f8\u5173",
    "\u65e0\u5173",
    "\u4e0d\u9700\u8981",
    "drop",
    "\u3044\u3044\u3048",
    "unrelated",
    "nope",
    "remove",
    "exclude",
    "skip",
    "unnecessary",
    "unneeded",
    "useless",
}
_FORM = re.compile(
    r"^.*(?:\"yes\" or \"no\"|\byes or no\b|yes/no(?!\W{1,3}(?:yes|no)\b)).*$",
    re.MULTILINE | re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?:\b|_)(?:relevant|relevance|answer|verdict)\b[\"'`*\s]*(?:[:=>]|\bis\b)[\s\"'`*]*(\w+)\b"
    r"(?![\"'`*]*\s*[:=]|\s+(?:other|column|doubt)\b)",
    re.IGNORECASE,
)
_MEMBER = re.compile(
    r"(?:relevant|relevance|answer|verdict)[\"'`]\s{0,9}[:=][\s\"'`*]{0,9}(\w+)", re.IGNORECASE
)
_NEGATION = (
    r"(?P<no>\b(?:not|nor|never|hardly|unlikely|cannot|no longer)\s(?:(?!only)\w+\s){0,3}"
    r"|n[\u2019']t\s(?:\w+\s){0,3})?"
)
# "is" stands before what a column is called, unless "not" does.
_IS = r"(?(no)(?:(?:is|be)\s)?|(?:is|are|be|seems?|looks?|['\u2019]s)\s(?:\w+ly\s|very\s|quite\s)?)"
_NEEDED = (
    rf"(?:{_IS}(?:needed|required|necessary|useful|helpful|essential|crucial|important|kept)\b(?! to (?:note|know|mention))"
    r"|(?:(?<=not )|(?<=n['\u2019]t )|(?<=be ))used\b|(?:related|connected)\s(?:to|with)\b|helps?\b"
    r"|(?:keep|needs?|includes?|requires?)\s(?:it|this|the column)\b|what (?:we|the (?:question|query)) needs?\b"
    r"|without (?:it|this)\b[^.;\n]{0,80}\b(?:cannot|can['\u2019]t|impossible)\b)"
)
_UNNEEDED = (
    rf"(?:{_IS}(?:unnecessary|unneeded|unrelated|useless|ignored|dropped|skipped|excluded|omitted|removed)\b"
    r"|(?:skip|ignore|drop|exclude|omit|remove|discard)\s(?:it|this|the column)\b|answered without (?:it|this)\b"
    r"|nothing to do with\b|no (?:\w+ )?(?:reason|need) (?:to|for)\b|no (?:bearing|relevance|use)\b|distractor\b)"
)
_JUDGED = re.compile(
    rf"{_NEGATION}\b(?:(?:(?P<ir>ir)?relevant\b(?!\s*(?:column|table|information|if|to know)))|{_NEEDED}|(?P<un>{_UNNEEDED}))",
    re.IGNORECASE,
)

# "Is it relevant? No.": a question before its answer.
_ASKED = re.compile(
    r"(?:(?<=[.!?\n\"{}])|\A)[^.!?\n\"{}]*+\?\s*(?=(?:yes|no|ja|nein)\b)", re.IGNORECASE
)
_BEGINS = re.compile(
    r"\W*(?:yes|yep|yeah|no|nope|absolutely|ja|nein|oui|non|s\u00ed|si|true|false|keep|drop"
    r"|(?:include|exclude|remove|skip)(?=\s(?:it|this)\b)"
    r"|(?:needed|required|necessary|useful|helpful|essential|unnecessary|useless)(?=\W*[.,;:!]|\s(?:for|to|in|because|since)\b)"
    r"|[\u4e00-\u9fff]{1,3}|\u306f\u3044|\u3044\u3044\u3048)\b(?!\s+(?:column|other|one|need|doubt|more)\b)",
    re.IGNORECASE,
)
_HEDGED = re.compile(r"\brelevant or (?:not|ir)|\birrelevant or relevant\b", re.IGNORECASE)


def read_relevance(reply: str) -> bool | None:
    """What the reply says of its column."""
    text = _ASKED.sub("", _FORM.sub("", answer_text(reply))).strip()
    found = [relevant for row in objects(text) for relevant in _members(row)]
    if found:
        return found[-1]
    if text[:1] == "{":
        verdicts = (_word(word) for word in _MEMBER.findall(text))
        labelled = [relevant for relevant in verdicts if relevant is not None]
        return labelled[-1] if labelled else None
    for inner in (boxed(text), *(tag["inner"] for tag in ANSWER_TAG.finditer(text))):
        if (relevant := _word(inner)) is not None:
            return relevant
    return _of_prose(text)


def _members(row: dict[str, object]) -> Iterator[bool]:
    """The verdicts of an object's members, and of the objects inside it."""
    for key, value in row.items():
        if isinstance(value, dict):
            yield from _members(value)
        elif member_name(key) in MEMBERS and (relevant := _word(value)) is not None:
            yield relevant


def relevance_of(value: object) -> bool | None:
    """What a member or a cell says: JSON's own true or false, a word, or a sentence."""
    if value is None or isinstance(value, dict | list):
        return None
    return _word(value) if len(str(value).split()) == 1 else read_relevance(str(value))


def _word(value: object) -> bool | None:
    first = re.match(r"\W*(?!n/a\b)(\w+)", str(value).lower())
    word = first[1] if first else ""
    if word in _YES:
        return True
    return False if word in _NO else None


def _of_prose(text: str) -> bool | None:
    """The verdict of running text: of a label, its last word, its first word, or what it calls relevant."""
    labelled = [relevant for word in _LABEL.findall(text) if (relevant := _word(word)) is not None]
    if labelled:
        return labelled[-1]
    if len(text.split()) == 1:
        return _word(text)
    if re.search(
        r"\b(?:is|does|definitely|certainly)(?: not|n['\u2019]t)\W*\Z", text, re.IGNORECASE
    ):
        return False  # "it could be relevant, but it is not"
    last = re.search(r"(\w+)\W*\Z", text)
    if last and last[1].lower() in {"yes", "no", "ja", "nein"} and len(text) > len(last[0]):
        return _word(last[1])
    if _BEGINS.match(text) and (relevant := _word(text)) is not None:
        return relevant
    if _HEDGED.search(text):
        return None
    if re.match(r"\W*(?:ir)?relevant\W*(?:[.;]\s|$)", text, re.IGNORECASE):
        return text.lower().lstrip("\"'`* ").startswith("relevant")
    if judged := list(_JUDGED.finditer(text)):
        return bool(judged[-1]["no"]) == bool(judged[-1]["ir"] or judged[-1]["un"])
    begun = (_word(line) for line in reversed(text.splitlines()) if _BEGINS.match(line))
    return next((relevant for relevant in begun if relevant is not None), None)
