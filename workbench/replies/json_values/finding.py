"""Where JSON begins and ends in a text, and its value.

`json-repair` reads broken JSON once its beginning is known; most of it is read without, once its quotes are
right.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from workbench.replies.json_values.quotes import requoted

_TRIES = 32  # brackets at which no value could be read
_OPENING = re.compile(r"[\[{]")
_BEGINS = re.compile(
    r"""\{\s*(?:["'\u201c\u2018`}\w]|//|/\*|\#\s)|\[\s*(?:["'\u201c\u2018`{\[\]]|-?\d|[A-Za-z_]|//)"""
)
_SIGNS = re.compile(r'\\.|"|[\[\]{}]|`{3}', re.DOTALL)
_LONGEST = 20_000  # characters of broken JSON that are repaired, whose time grows with their square
_DEEPEST = 20  # brackets in brackets of broken JSON
_DEEPEST_WHOLE = 100  # of whole JSON, through which the readers go recursively
_CLOSING = {"{": "}", "[": "]"}
_CALL = {"arguments", "parameters", "function", "tool_calls"}
_DECODER = json.JSONDecoder(strict=False)
_PYTHON_TRIPLE = re.compile(r'"""(.*?)"""', re.DOTALL)
# Between two texts that Python joins: 'SELECT name '\n'FROM ferry'.
_JOINT = re.compile(
    r"""(?<=[^\s:,\[{(]\s)(['"])[ \t]*\n[ \t]*\1(?=[^\s:,\]})])"""
    r"""|(?<=[^\s:,\[{(])(['"])[ \t]*\n[ \t]*\2(?=[ ]\w)"""
)


def json_values(text: str, *, whole: bool = False) -> list[tuple[int, int, Any]]:
    """The objects and lists that stand in no other, in order: where each begins and ends, and its value.

    With `whole`, one that has no end is left out, and those in it count in its place.
    """
    return list(_found(text, whole=whole))


@lru_cache(maxsize=4)
def _found(text: str, *, whole: bool) -> tuple[tuple[int, int, Any], ...]:
    """The values of a text, which a reader asks for several times; none of them is ever changed."""
    return tuple(_values(text, whole=whole))


def objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects of the text that stand in no other value, in order."""
    return [value for _, _, value in json_values(text) if isinstance(value, dict)]


def member_name(key: object) -> str:
    """The name of an object's member in small letters, with a space for any other marks."""
    return re.sub(r"[\W_]+", " ", str(key)).strip().lower()


def is_cut_off(text: str) -> bool:
    """Whether the last JSON value of the text has no end, so that a part of the answer is missing."""
    values = json_values(text)
    return bool(values) and text[values[-1][1] - 1] not in "]}"


def _values(text: str, *, whole: bool) -> Iterator[tuple[int, int, Any]]:
    position, tries, repaired = 0, _TRIES, 0
    while tries and (bracket := _OPENING.search(text, position)):
        start = bracket.start()
        position = start + 1
        if not _BEGINS.match(text, start):
            continue
        found = _strict(text, start)
        if not found and repaired < _LONGEST:
            end = _end(text, start)
            if whole and text[end - 1] != _CLOSING[text[start]]:
                tries -= 1
                continue
            repaired += end - start
            found = _repaired(text, start, end)
        if found:
            value, position = found
            yield start, position, _without_call(value)
        else:
            tries -= 1


def _without_call(value: Any) -> Any:
    """The value; a call of a tool is replaced by its arguments, which may be JSON in a text."""
    if isinstance(value, list) and all(
        isinstance(one, dict) and _CALL & one.keys() for one in value
    ):
        value = [_without_call(one) for one in value]
        return value[0] if len(value) == 1 else value
    if not isinstance(value, dict) or not _CALL & value.keys():
        return value
    if calls := value.get("tool_calls"):
        return _without_call(calls)
    if isinstance(value.get("function"), dict):
        return _without_call(value["function"])
    given = value.get("arguments") or value.get("parameters")
    if "name" not in value or not given:
        return value
    inner = _strict(given, 0) if isinstance(given, str) else (given, 0)
    return inner[0] if inner and isinstance(inner[0], dict | list) else value


def _strict(text: str, start: int) -> tuple[Any, int] | None:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return None if _depth(text[start:end]) > _DEEPEST_WHOLE else (value, end)


def _repaired(text: str, start: int, end: int) -> tuple[Any, int] | None:
    """The value that begins here, with the usual slips corrected; None where the text is no JSON."""
    chunk = _PYTHON_TRIPLE.sub(lambda m: json.dumps(m[1]), text[start:end])
    chunk = _JOINT.sub("", chunk)
    if text[start] == "[" and not re.search(r"""["'\u201c\d]""", chunk):
        return None  # [a remark]
    if text[start] == "{" and ":" not in chunk:
        return None
    if _depth(chunk) > _DEEPEST:
        return None
    if requoted_value := _strict(requoted(chunk), 0):
        return requoted_value[0], end
    from json_repair import loads  # noqa: PLC0415  a fifth of a second, paid for broken JSON alone

    try:
        value = loads(chunk)
    except (ValueError, RecursionError, IndexError, TypeError):
        return None
    wanted = dict if text[start] == "{" else list
    return (value, end) if isinstance(value, wanted) and value else None


def _depth(text: str) -> int:
    """How many brackets are open at once, those in quotes counted too."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[{(\]})]", text):
        depth = depth + 1 if bracket in "[{(" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def _end(text: str, start: int) -> int:
    """Where the bracket at `start` is closed, brackets in quotes aside; else the end of its fence or text."""
    closing = _CLOSING[text[start]]
    depth, quoted, last, stop = 0, False, 0, min(len(text), start + _LONGEST)
    brackets: list[tuple[int, int]] = []
    for sign in _SIGNS.finditer(text, start, stop):
        if sign[0] == '"':
            quoted = not quoted
        elif sign[0] == "```":
            stop = sign.start()
            break
        elif sign[0] in {text[start], closing}:
            step = 1 if sign[0] == text[start] else -1
            brackets.append((sign.end(), step))
            depth += 0 if quoted else step
            if not quoted and not depth:
                return sign.end()
    # A quote is missing or too many: count every bracket, or take all up to the last one.
    depth = 0
    for position, step in brackets:
        depth += step
        last = position if step < 0 else last
        if not depth:
            return position
    return (last if depth <= 0 else 0) or stop
