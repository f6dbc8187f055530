"""What the three readers of names share: the JSON values that may name something, and the items of lines."""

import re
from typing import Any

from workbench.replies.json_values import is_cut_off, json_values
from workbench.replies.names.spelling import Names, plain

REASONS = {
    "reasoning", "reason", "explanation", "analysis", "thought", "note", "why", "chain of thought reasoning",
    "chain of thought",
}  # fmt: skip

_LEFT_OUT = {
    "irrelevant", "excluded", "unused", "unneeded", "unnecessary", "dropped", "rejected", "omitted", "removed",
    "not",
}  # fmt: skip
_NO = {"no", "false", "irrelevant", "not needed", "not relevant", "unnecessary", "drop", "drop all"}
_CALLED_NEEDED = {
    "relevant",
    "is relevant",
    "needed",
    "is needed",
    "required",
    "keep",
    "used",
    "use",
}
_BULLET = re.compile(r"\s*(?:[-*\u2022]|\(?\d{1,3}[.)])\s+(?:\[[xX]\]\s+)?(.*)")
# A cross, or a box that is not ticked.
_DENIED = re.compile("\u274c|\u2717|\u2718|^\\s*[-*\u2022]\\s+\\[ \\]")
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
    return {
        key: item
        for key, item in value.items()
        if names.table(key) or (plain(key) not in REASONS and not _LEFT_OUT & {*plain(key).split()})
    }


def denied(value: object) -> bool:
    """Whether a value says of the name beside it that it is not needed; of an object, a member that says so."""
    if isinstance(value, dict):
        return any(denied(item) for key, item in value.items() if plain(key) in _CALLED_NEEDED)
    return (isinstance(value, int) and value == 0) or (
        isinstance(value, str) and plain(value.strip(". ")) in _NO
    )


def line_denies(line: str) -> bool:
    """Whether an item of a list, or a row of a table, says that what it names is not needed."""
    if _DENIED.search(line):
        return True
    if row := cells(line):
        return any(map(denied, row[1:]))
    head, separator, rest = without_bullet(line).partition(":")
    return (
        bool(separator) and head != line and denied(re.split(r"[,.(]|\s[-\u2013\u2014]\s", rest)[0])
    )


def items(line: str, *, bulleted_only: bool) -> list[str]:
    """The names that a line may give: the head of a list's item, what is in backticks, or all its parts."""
    if bulleted := _BULLET.match(line):
        head = re.split(r":|\(|\s[-\u2013\u2014]\s", bulleted[1])[0]
        return [head, *_QUOTED.findall(head)]
    if bulleted_only:
        return []
    bare = re.sub(r"^[^:]*:\s*", "", line) if ":" in line else line
    parts = [part.strip(" .") for part in re.split(r",|\band\b", bare) if part.strip(" .")]
    few_words = all(len(part.split()) <= 3 for part in parts)
    return [*_QUOTED.findall(line), *(parts if few_words else [])]


def parts(text: object) -> list[str]:
    """The parts of a text that lists names: "a, b and c"."""
    return [part for part in re.split(r",|\n|\band\b", str(text)) if plain(part)]


def is_bulleted(line: str) -> bool:
    return bool(_BULLET.match(line))


def without_bullet(line: str) -> str:
    found = _BULLET.match(line)
    return found[1] if found else line


def cells(line: str) -> list[str]:
    """The cells of a row of a Markdown table; none for another line."""
    row = line.strip()
    return [cell.strip() for cell in row.strip("|").split("|")] if row.startswith("|") else []
