"""The unit tests that a reply writes: what a right query should do, one text for each test."""

import re
from typing import Any

from workbench.replies.json_values import is_cut_off, json_values
from workbench.replies.text import answer_text

_TEST = re.compile(
    r"""
    [\W\d]{0,10}                      # a bullet, a number, a bracket and quotes
    (?:(?i:unit[ _-])?(?i:test))?     # what it is called,
    [\W\d_]{0,10}                     # with its number
    (The\b.*\bshould\b\s+\w.*)
    """,
    re.VERBOSE,
)
# Line breaks, sentences and commas separate the tests of a list.
_ITEMS = re.compile(
    r"""\n|(?<=[.!])[ ]+(?=\d{1,2}[.)][ ]+The\b)|(?<=["']),\s*(?=["'](?:The\b|(?i:unit|test)))"""
)
_TAG = re.compile(r"</\w+>\s*\Z")
_CLOSED = re.compile(r"""["'}\]`.]\s*\Z""")


def read_tests(reply: str) -> list[str]:
    """The tests in a reply: the texts of its JSON, or the lines that say what a query should do."""
    text = answer_text(reply)
    cut_off = is_cut_off(text)
    read = [value for _, _, value in json_values(text, whole=True)]
    rows = [value for value in read if isinstance(value, dict)]
    listed = max(map(_tests, [*read, rows]), key=_worth)
    found = (
        listed
        if any(map(_demands, listed)) and not cut_off
        else _items(text, cut_off=cut_off) or listed
    )
    return list(dict.fromkeys(filter(None, found)))


def _tests(value: Any) -> list[str]:
    """The tests in a value: of an object the members called tests, else the texts with "should", else the longest."""
    if isinstance(value, str):
        return [value.strip()]
    if isinstance(value, list):
        return [test for item in value for test in _tests(item)]
    if not isinstance(value, dict):
        return []
    called = [item for key, item in value.items() if "test" in key.lower()]
    for items in (called, [*value.values()]):
        if nested := [item for item in items if isinstance(item, list | dict)]:
            return _tests(nested)
        if demands := list(filter(_demands, _tests(items))):
            return demands
    return [max(_tests([*value.values()]), key=len, default="")]


def _items(text: str, *, cut_off: bool) -> list[str]:
    """The tests on lines, or in a list that is no JSON; a last one that is `cut_off` is left out."""
    items = _ITEMS.split(text)
    if cut_off and not _CLOSED.search(items[-1]):
        items.pop()
    tests = []
    for found in filter(None, map(_TEST.match, items)):
        quote, test = found.string[: found.start(1)][-1:], _TAG.sub("", found[1]).rstrip(" *|,")
        tests.append(test.rstrip("]}").removesuffix(quote) if quote and quote in "\"'" else test)
    return tests


def _demands(test: str) -> bool:
    return "should" in test


def _worth(tests: list[str]) -> tuple[int, int]:
    return sum(map(_demands, tests)), sum(map(len, tests))
