"""Correct the quotes of JSON: single or typographic ones, and ones inside a text that are not escaped.

A quote ends a text only where JSON may go on after it: before a colon after a key, before a closing bracket,
or before a comma and the next item.
"""

import json
import re

_CLOSING = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019", "`": "`"}
_SIGN = re.compile(
    r"""(?P<comment>//[^\n]*|\#[^\n]*|/\*.*?\*/)|(?P<quote>["'\u201c\u2018`])|(?P<open>[\[{])|(?P<close>[\]}])|(?P<word>\w+)|.""",
    re.DOTALL,
)
_GAP = r"(?:\s|//[^\n]*|#[^\n]*|/\*.*?\*/)*+"
_WORDS = {"True": "true", "False": "false", "None": "null"}
_AFTER_KEY = re.compile(r"\s{0,9}:")
_AFTER_ITEM = re.compile(
    rf"""{_GAP}(?:[\]}}]|,(?:{_GAP},)*{_GAP}(?:["'\u201c\u2018`\[{{\]\d-]|(?:true|false|null|True|False|None)\b)|\Z)""",
    re.DOTALL,
)
_AFTER_MEMBER = re.compile(
    rf"""{_GAP}(?:[\]}}]|,{_GAP}(?:\}}|(["'\u201c\u2018`])[^"'\u201d\u2019`\n]{{0,80}}["'\u201d\u2019`]\s{{0,9}}:)"""
    r"|\Z)",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def requoted(text: str) -> str:
    """The text with every quoted part as a JSON text, and Python's words and commas at an end as in JSON."""
    parts: list[str] = []
    opened: list[str] = []
    position = 0
    at_key = False
    while found := _SIGN.match(text, position):
        position = found.end()
        sign = found[0]
        if found["comment"]:
            continue
        if found["quote"]:
            in_object = opened[-1:] == ["{"]
            after = _AFTER_KEY if at_key else _AFTER_MEMBER if in_object else _AFTER_ITEM
            end = _end(text, position, _CLOSING[sign], after)
            if end < 0:
                return text
            parts.append(json.dumps(_ESCAPED.sub(_unescaped, text[position:end])))
            position = end + 1
            continue
        if found["open"]:
            opened.append(sign)
        elif found["close"]:
            if opened:
                opened.pop()
            while parts and parts[-1].isspace():
                parts.pop()
            if parts and parts[-1] == ",":
                parts.pop()
        if sign == "," and "".join(parts[-3:]).rstrip().endswith(","):
            continue
        at_key = opened[-1:] == ["{"] and (sign in "{," if not sign.isspace() else at_key)
        parts.append(_WORDS.get(sign, sign))
    return "".join(parts)


def _end(text: str, start: int, quote: str, after: re.Pattern[str]) -> int:
    """Where the quoted part that begins at `start` ends; -1 where it does not."""
    end = text.find(quote, start)
    while end != -1 and not (text[end - 1] != "\\" and after.match(text, end + 1)):
        end = text.find(quote, end + 1)
    return end


def _unescaped(escape: re.Match[str]) -> str:
    letter = escape[1]
    if letter[0] == "u" and len(letter) > 1:
        return chr(int(letter[1:], 16))
    return _LETTERS.get(letter, letter)
