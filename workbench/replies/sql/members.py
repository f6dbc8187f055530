"""The queries in a reply's JSON: of each object its member `sql`, or the one that is named most like it."""

import re
from collections.abc import Callable, Iterator

from workbench.replies.json_values import json_values, member_name
from workbench.replies.sql.statement import MOST, START, statement

_CALLED = {"sql", "final sql", "sql query", "final query", "query", "answer", "final answer"}
_CORRECTED = {"final", "corrected", "revised", "fixed", "repaired", "improved"}
_LIKE = {"sql", "query", "answer"}
_OTHERS = {
    "reasoning", "explanation", "thought", "analysis", "draft", "wrong", "old", "original", "avoid",
    "alternative", "previous", "incorrect", "rejected", "error",
}  # fmt: skip

# A member of an object whose bracket is missing.
_MEMBER = re.compile(
    r"""["'\u201c](?P<name>[\w ]{0,30}?(?:sql|query|answer)[\w ]{0,30})["'\u201d]"""
    r"""\s{0,20}:\s{0,20}\[?\s{0,20}(?P<quote>["'\u201c])""",
    re.IGNORECASE,
)
_MEMBER_ENDS = re.compile(
    r"""\s*+(?:[}\]]|,\s*+(?:[}\]]|["'][^"'\n]{1,60}["']\s{0,20}:)|\Z|`{3})"""
)
_ESCAPED = re.compile(r"""\\(["'\\/nrt]|\n)""")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\n": "\n"}


def members(text: str, read: Callable[[str], str]) -> Iterator[tuple[int, int, str]]:
    """Where each object with a query begins and ends, and the query; `read` finds it in a member's text."""
    for start, end, value in json_values(text):
        for row in value if isinstance(value, list) else [value]:
            if isinstance(row, dict) and (sql := _query(row, read)):
                yield start, end, sql
        if isinstance(value, list) and (sql := _query({"sql": value}, read)):
            yield start, end, sql
    if "{" not in text:
        yield from _without_object(text)


def quoted_in_object(text: str, start: int, sql: str) -> bool:
    """Whether the query that starts here is quoted in an object's member that explains, such as its reasoning."""
    rows = [value for begin, end, value in json_values(text) if begin <= start < end]
    return any(
        isinstance(value, str) and sql[:20] in value and set(member_name(key).split()) & _OTHERS
        for row in rows
        if isinstance(row, dict)
        for key, value in row.items()
    )


def _query(row: dict[str, object], read: Callable[[str], str]) -> str:
    """The query of an object: of its member `sql`, else of one named like a query but for drafts."""
    ranked: list[tuple[int, str]] = []
    for key, value in row.items():
        name = member_name(key)
        words = set(name.split())
        if isinstance(value, dict):
            if sql := _query(value, read):
                ranked.append((1, sql))
            continue
        if words & _OTHERS or not words & _LIKE:
            continue
        listed = value if isinstance(value, list) else [value]
        texts = [one for one in listed if isinstance(one, str)]
        if [bool(START.match(one)) for one in texts[:2]] == [True, False]:
            texts = ["\n".join(texts)]  # the lines of one query
        if sql := next((found for one in reversed(texts) if (found := read(one))), ""):
            ranked.append((4 if words & _CORRECTED else 3 if name in _CALLED else 2, sql))
    return max(ranked, key=lambda one: one[0])[1] if ranked else ""


def _without_object(text: str) -> Iterator[tuple[int, int, str]]:
    for member in list(_MEMBER.finditer(text))[-MOST:]:
        start, quote = member.end(), member["quote"]
        end = text.find(quote, start)
        while end != -1 and (text[end - 1] == "\\" or not _MEMBER_ENDS.match(text, end + 1)):
            end = text.find(quote, end + 1)
        body = text[start : end if end != -1 else None]
        body = _ESCAPED.sub(lambda m: _ESCAPES.get(m[1], m[1]), body)
        if START.match(body):
            yield member.start(), end + 1 if end != -1 else len(text), statement(body)
