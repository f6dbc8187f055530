"""The JSON in a model's reply, which is seldom alone and seldom quite JSON.

It stands in prose, in fences, after a think tag; it has a comma too many, Python's quotes and words, quotes
inside its texts that nobody escaped, or no end. What can be read is read; nothing here raises.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

_READ = 100_000  # characters of a reply that are looked at: the last ones, where answers stand
_TRIES = 32  # places where a value seems to begin and cannot be read
_REPAIRS = (
    (re.compile("[“”]"), '"'),
    (re.compile(r",(\s*[\]}])"), r"\1"),  # a comma too many
    (re.compile(r"(?<=[\[{,:(\s])True\b"), "true"),
    (re.compile(r"(?<=[\[{,:(\s])False\b"), "false"),
    (re.compile(r"(?<=[\[{,:(\s])None\b"), "null"),
)
_SINGLE_QUOTED = re.compile(r"(?<=[\[{,:\s])'((?:[^'\\\n]|\\.|'(?!\s*[\]},:]))*)'(?=\s*[\]},:])")
_QUOTED = re.compile(r"""(["'`])([^"'`\n]*)\1""")
_CLOSING = {"{": "}", "[": "]"}
_BEGUN = re.compile(r"""[\[{]\s*["'“\[{]""")  # JSON's bracket rather than prose's
_QUOTES = " \t\"'`“”*"
_DECODER = json.JSONDecoder(strict=False)


def read_object(reply: str) -> dict[str, Any]:
    """The largest JSON object in the reply; an empty one where there is none."""
    return max((v for v in _values(reply, "{") if isinstance(v, dict)), key=_size, default={})


def read_values(reply: str) -> list[Any]:
    """The JSON objects and lists of the reply that stand in no other, in order.

    For one that cannot be read, such as one without an end, the text from its bracket on, and after that
    what can be read in it.
    """
    text = answer_of(reply)
    return [
        text[start:] if value is None else value
        for start, value in _places(text, "{[")
        if value is not None or _BEGUN.match(text, start)
    ]


def read_list(reply: str) -> list[Any]:
    """The longest JSON list in the reply; an empty one where there is none."""
    return max((v for v in _values(reply, "[") if isinstance(v, list)), key=_size, default=[])


def read_member(reply: str, name: str) -> Any:
    """The value of a member of that name, in any case; None where there is none.

    Where no whole object has it, what follows the name and a colon counts, the last time it stands so: a
    list or an object that is whole, what stands in quotes, or the rest of the line.
    """
    for value in sorted(_values(reply, "{"), key=_size, reverse=True):
        for key, member in value.items():
            if key.strip(_QUOTES).lower() == name.lower():
                return member
    text = answer_of(reply)
    key_pattern = rf"(?<!\w)[\"'`*“]{{0,4}}{re.escape(name)}[\"'`*”]{{0,4}}\s{{0,9}}[:=][ \t*]*"
    for found in [*re.finditer(key_pattern, text, re.IGNORECASE)][: -_TRIES - 1 : -1]:
        start = found.end()
        if (opening := text[start : start + 1]) in _CLOSING:
            ends = _ends(text, opening)
            if read := _read_at(text, start, ends):
                return read[0]
            if opening == "[" and start in ends:  # [a, b]
                return text[start + 1 : ends[start] - 1]
        elif quoted := _QUOTED.match(text, start):
            return quoted[2]
        elif line := text[start:].partition("\n")[0].rstrip(" ,;.}`"):
            return line.strip(_QUOTES)
    return None


def answer_of(reply: str) -> str:
    """The reply without what the model only thought."""
    return re.sub(r"<think>.*?(?:</think>|\Z)", "", reply, flags=re.DOTALL)[-_READ:]


def _size(value: Any) -> int:
    return len(str(value))


def _values(reply: str, opening: str) -> Iterator[Any]:
    """The values that begin at an opening bracket, those in others left out."""
    return (value for _, value in _places(answer_of(reply), opening) if value is not None)


def _places(text: str, openings: str) -> Iterator[tuple[int, Any]]:
    """Where a value begins at one of the brackets, in no other, and the value: None where unreadable."""
    ends = {start: end for opening in openings for start, end in _ends(text, opening).items()}
    past = 0
    tries = _TRIES
    for bracket in re.finditer(f"[{re.escape(openings)}]", text):
        start = bracket.start()
        if start < past or not tries:
            continue
        read = _read_at(text, start, ends)
        value, past = read or (None, past)
        tries -= read is None
        yield start, value


def _ends(text: str, opening: str) -> dict[int, int]:
    """Where each opening bracket is closed, whatever stands in quotes."""
    ends: dict[int, int] = {}
    unclosed: list[int] = []
    for bracket in re.finditer(f"[{re.escape(opening + _CLOSING[opening])}]", text):
        if bracket[0] == opening:
            unclosed.append(bracket.start())
        elif unclosed:
            ends[unclosed.pop()] = bracket.end()
    return ends


def _read_at(text: str, start: int, ends: dict[int, int]) -> tuple[Any, int] | None:
    """The value that begins here and where it ends: as JSON, with its usual slips, or as Python."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        pass
    if start not in ends:
        return None
    chunk = text[start : ends[start]]
    for slip, right in _REPAIRS:
        chunk = slip.sub(right, chunk)
    for source in (chunk, _SINGLE_QUOTED.sub(_double_quoted, chunk)):
        try:
            return _DECODER.decode(source), ends[start]
        except (ValueError, RecursionError):
            pass
    return None


def _double_quoted(text: re.Match[str]) -> str:
    return json.dumps(re.sub(r"\\(.)", r"\1", text[1]))
