"""The keywords that a reply lists.

From lines and prose only words of the question count, so that a refusal gives none.
"""

import re
from collections.abc import Iterator
from typing import Any

from workbench.replies.json_values import json_values
from workbench.replies.text import answer_text, sections

_BULLET = re.compile(r"^\s*(?:[-*\u2022]|\(?\d{1,3}[.):])\s+")
_LABEL = re.compile(
    r"^[\s*#]*(?:here|key|named|entit|phrase|answer|term|important|\u5173\u952e)[\w\s/&'-]*[:\uff1a]\**\s*",
    re.IGNORECASE,
)
_LEFT_OUT = re.compile(
    r"\b(?:left out|leave out|omit\w*|exclud\w+|skipp\w+|ignor\w+)\b[^.\n]*$", re.IGNORECASE
)
_TAG = re.compile(r"</?\w+>")
_REASONS = {"reasoning", "reason", "explanation", "analysis", "thought", "note", "notes"}
_QUOTED = re.compile(r"""(?<!\w)(?:"([^"\n]+)"|'([^'\n]+)'(?!\w)|`([^`\n]+)`|\*\*([^*\n]+)\*\*)""")


def read_keywords(reply: str, question: str) -> list[str]:
    """The keywords in the reply's order; `question` is the question with its hint."""
    text = answer_text(reply)
    part = _own_part(text, question)
    values = [
        one for one in json_values(part) if not _LEFT_OUT.search(part[: one[0]].rpartition("\n")[2])
    ]
    listed = [one for _, _, value in values for one in _leaves(value)]
    if listed:
        is_cut = values[-1][1] == len(part) and part[-1] not in "]}\"'"
        return listed[:-1] if is_cut and len(listed) > 1 else listed
    heard = f" {_plain(question)} "
    found = [
        item.strip() for item in _items(part) if (plain := _plain(item)) and f" {plain} " in heard
    ]
    return list(dict.fromkeys(found))


def _own_part(text: str, question: str) -> str:
    """The part that answers: after the last heading under which the question is echoed, if it is."""
    parts = sections(text)
    asked = _plain(question)
    for index in range(len(parts) - 1, -1, -1):
        body = _plain(parts[index][1])
        if parts[index][0].endswith("question") and body and body in asked:
            later = [part for title, part in parts[index + 1 :] if title.endswith("answer")]
            if later:
                return later[0]
    if parts[0][1].strip():
        return parts[0][1]
    return next((part for title, part in parts if title == "answer"), text)


def _leaves(value: Any, *, listed: bool = False) -> list[str]:
    """The texts in the lists of a value; of an object in a list its first text. A reasoning is no keyword."""
    if isinstance(value, str):
        return [value] if listed else []
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [str(value)] if listed else []
    if isinstance(value, list):
        leaves = [leaf for item in value for leaf in _leaves(item, listed=True)]
        numbers_alone = all(re.fullmatch(r"-?[\d.]+", leaf) for leaf in leaves)
        return [] if numbers_alone and not any(isinstance(item, str) for item in value) else leaves
    if not isinstance(value, dict):
        return []
    if listed:
        return _leaves(next(iter(value.values()), None), listed=True)
    leaves = []
    for key, item in value.items():
        if _plain(key) in _REASONS:
            continue
        split = item.split(",") if isinstance(item, str) and _LABEL.match(f"{key}:") else item
        leaves += _leaves(split)
    return leaves


def _items(text: str) -> Iterator[str]:
    """The items of lines, of commas, and what stands in quotes or bold; the whole item before its parts."""
    for line in text[:20_000].splitlines():
        item = _LABEL.sub("", _BULLET.sub("", _TAG.sub("", line).strip(" []|")))
        marked = ["".join(groups) for groups in _QUOTED.findall(item)]
        if marked:
            yield from marked
            continue
        yield item
        yield from re.split(r"[,;|\uff0c\u3001\uff1b]|:\s|\s[-\u2013\u2014]\s|\s*\(", item)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
