"""What the three readers of names share: the JSON values that may name something, and the items of lines."""

import re
from typing import Any

from workbench.replies.json_values import is_cut_off, json_values
from workbench.replies.names.spelling import Names, plain

REASONS = {
    "reasoning", "reason", "explanation", "analysis", "thought", "note", "why", "chain of thought reasoning",
    "chain of thought",
}  # fmt: skip

_BULLET = re.compile(r"\s*(?:[-*\u2022]|\(?\d{1,3}[.)])\s+(.*)")
_QUOTED = re.compile(r"`([^`]+)`")


def named_values(text: str, names: Names, *members: str) -> list[Any]:
    """The JSON values that may name something, the last first: an object's member of that name, or itself.

    Where the last value is cut off, its member counts if it is complete; else nothing does.
    """
    spans = json_values(text)
    found = []
    for _, _, value in reversed(spans):
        rows = {plain(key): item for key, item in value.items()} if isinstance(value, dict) else {}
        named = [rows[member] for member in members if member in rows]
        found.append(named[0] if named else _without_reasons(value, names))
    if is_cut_off(text):
        complete = _complete_member(text, members[0])
        return [complete, *found[1:]] if complete else []
    return found


def _complete_member(text: str, name: str) -> Any:
    """The value of the last member of that name, if it is complete in a cut-off object; else None."""
    member = rf"""["'](?:selected[ _])?{name}["']\s{{0,9}}:\s{{0,9}}(?=[{{\[])"""
    found = [*re.finditer(member, text, re.IGNORECASE)]
    whole = json_values(text[found[-1].end() :], whole=True) if found else []
    return whole[0][2] if whole and not whole[0][0] else None


def _without_reasons(value: Any, names: Names) -> Any:
    if not isinstance(value, dict):
        return value
    return {k: v for k, v in value.items() if names.table(k) or plain(k) not in REASONS}


def items(line: str, *, bulleted_only: bool) -> list[str]:
    """The names that a line may give: the head of a list's item, what is in backticks, or all its parts."""
    if bulleted := _BULLET.match(line):
        head = re.split(r":|\(|\s[-\u2013\u2014]\s", bulleted[1])[0]
        return [head, *_QUOTED.findall(head)]
    if bulleted_only:
        return []
    bare = re.sub(r"^[^:]*:\s*", "", line) if ":" in line else line
    parts = [part for part in re.split(r",|\band\b", bare) if part.strip()]
    few_words = all(len(part.split()) <= 3 for part in parts)
    return [*_QUOTED.findall(line), *(parts if few_words else [])]


def parts(text: object) -> list[str]:
    """The parts of a text that lists names: "a, b and c"."""
    return [part for part in re.split(r",|\n|\band\b", str(text)) if plain(part)]


def without_bullet(line: str) -> str:
    found = _BULLET.match(line)
    return found[1] if found else line


def cells(line: str) -> list[str]:
    """The cells of a row of a Markdown table; none for another line."""
    row = line.strip()
    return [cell.strip() for cell in row.strip("|").split("|")] if row.startswith("|") else []
