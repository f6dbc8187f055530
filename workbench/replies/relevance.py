"""Whether a reply says that a column is relevant: True, False, or None where it does not say."""

import re

from workbench.replies.json_values import member_name, objects
from workbench.replies.text import ANSWER_TAG, answer_text, boxed

MEMBERS = (
    "relevant",
    "is relevant",
    "is column information relevant",
    "answer",
    "verdict",
    "relevance",
)
_YES = {"yes", "y", "true", "relevant", "1", "ja", "oui", "si", "s\u00ed", "\u662f", "keep"}
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
    "drop",
    "unrelated",
}
_FORM = re.compile(
    r"^.*(?:\"yes\" or \"no\"|\byes or no\b|yes/no).*$", re.MULTILINE | re.IGNORECASE
)
_LABEL = re.compile(
    r"\b(?:relevant|relevance|answer|verdict)\b[\"'`*\s]*(?:[:=]|\bis\b)[\s\"'`*]*(\w+)",
    re.IGNORECASE,
)
_MEMBER = re.compile(
    r"(?:relevant|relevance|answer|verdict)[\"'`]\s{0,9}[:=][\s\"'`*]{0,9}(\w+)", re.IGNORECASE
)
_JUDGED = re.compile(
    r"((?:\bnot|n[\u2019']t)\s(?:(?!only)\w+\s){0,2}|\bhardly\s)?\b(ir)?relevant\b(?!\s*(?:column"
    r"|table|information|if|to know))",
    re.IGNORECASE,
)

_NEEDED = re.compile(
    r"\b(?:is|are)?\s*(not |n['\u2019]t )(?:needed|required|necessary|used|useful)\b|\b(?:is"
    r"|are) (?:needed|required|necessary)\b",
    re.IGNORECASE,
)


def read_relevance(reply: str) -> bool | None:
    """What the reply says of its column."""
    text = _FORM.sub("", answer_text(reply)).strip()
    found = [
        said
        for row in objects(text)
        for key, value in row.items()
        if member_name(key) in MEMBERS and (said := _word(value)) is not None
    ]
    if found:
        return found[-1]
    if text[:1] == "{":
        labelled = [said for word in _MEMBER.findall(text) if (said := _word(word)) is not None]
        return labelled[-1] if labelled else None
    for inner in (boxed(text), *(tag["inner"] for tag in ANSWER_TAG.finditer(text))):
        if (said := _word(inner)) is not None:
            return said
    return _of_prose(text)


def relevance_of(value: object) -> bool | None:
    """What a member or a cell says: JSON's own true or false, a word, or a sentence."""
    if value is None or isinstance(value, dict | list):
        return None
    return _word(value) if len(str(value).split()) == 1 else read_relevance(str(value))


def _word(value: object) -> bool | None:
    first = re.match(r"\W*(\w+)", str(value).lower())
    word = first[1] if first else ""
    if word in _YES:
        return True
    return False if word in _NO else None


def _of_prose(text: str) -> bool | None:
    """The verdict of running text: of a label, its last word, its first word, or what it calls relevant."""
    labelled = [said for word in _LABEL.findall(text) if (said := _word(word)) is not None]
    if labelled:
        return labelled[-1]
    last = re.search(r"(\w+)\W*\Z", text)
    if last and last[1].lower() in {"yes", "no", "ja", "nein"} and len(text) > len(last[0]):
        return _word(last[1])
    if re.match(
        r"\W*(?:yes|no|ja|nein|oui|non|true|false)\b(?!\s+(?:column|other|one|need|doubt|more)\b)",
        text,
        re.IGNORECASE,
    ):
        return _word(text)
    if re.match(r"\W*(?:ir)?relevant\W*(?:[.;]\s|$)", text, re.IGNORECASE):
        return text.lower().lstrip("\"'`* ").startswith("relevant")
    if needed := _NEEDED.findall(text):
        return not needed[-1]
    judged = _JUDGED.findall(text)
    return bool(judged[-1][0]) == bool(judged[-1][1]) if judged else None
