"""What models say about unit tests: the tests that one writes, and the verdicts of one that judges by them."""

import re
from typing import Any

from workbench.llm.replies import answer_of, read_list, read_values

_UNTOLD = 0.5
_LINE = 1000  # characters of a line that are looked at: the last ones, where verdicts stand

# Tests.

_TEST = re.compile(
    r"""
    [\W\d]{0,10}                      # a bullet, a number, a bracket and quotes
    (?:(?i:unit[ _-])?(?i:test))?     # what it is called,
    [\W\d_]{0,10}                     # with its number
    (The\b.*\bshould\b.*)
    """,
    re.VERBOSE,
)
_ITEMS = re.compile(r"""\n|(?<=["']),\s*(?=["'](?:The\b|(?i:unit|test)))""")  # what parts them
_CLOSED = re.compile(r"""["'}\]`.]\s*\Z""")


def read_tests(reply: str) -> list[str]:
    """The tests in a reply: texts of its JSON, or what lines and items say that a query should do."""
    values = read_values(reply)
    read = [value for value in values if not isinstance(value, str)]
    rows = [value for value in read if isinstance(value, dict)]
    listed = max(map(_tests, [*read, rows]), key=_worth)
    found = listed if any(map(_demands, listed)) else _items(reply, cut=read != values) or listed
    return list(dict.fromkeys(filter(None, found)))


def _tests(value: Any) -> list[str]:
    """The tests in a value: of an object what it calls so, or what demands something, or its longest text."""
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


def _items(reply: str, *, cut: bool) -> list[str]:
    """The tests on lines, or in a list that is no JSON; where it is `cut` short, not an unfinished last one."""
    items = _ITEMS.split(answer_of(reply))
    if cut and not _CLOSED.search(items[-1]):
        items.pop()
    tests = []
    for found in filter(None, map(_TEST.match, items)):
        quote, test = found.string[: found.start(1)][-1:], found[1].rstrip(" *|,")
        tests.append(test.rstrip("]}").removesuffix(quote) if quote and quote in "\"'" else test)
    return tests


def _demands(test: str) -> bool:
    return "should" in test


def _worth(tests: list[str]) -> tuple[int, int]:
    return sum(map(_demands, tests)), sum(map(len, tests))


# Verdicts.

_SIGNS = " \t\"'*`|:=.-\u2013\u2014>#()[]{}0123456789"
_MARKS = str.maketrans(
    dict.fromkeys("\u2705\u2714\u2713\u2611", " passed ")
    | dict.fromkeys("\u274c\u2717\u2718\u2716\u2715", " failed ")
    | {"\ufe0f": ""}  # which only says that a mark is a picture
)
_ALONE = dict.fromkeys(("pass", "passes", "passed", "yes", "true"), 1.0) | dict.fromkeys(
    ("fail", "fails", "failed", "no", "false"), 0.0
)
_BETWEEN = re.compile(r"[\n,:;{}\[\]|]|\s[-\u2013\u2014]\s")
_FIRST = re.compile(rf"[{re.escape(_SIGNS)}]*(yes|no|true|false)\b(?!\s+\w)", re.IGNORECASE)
_LAST = re.compile(r"\b(yes|no|true|false)\W*$", re.IGNORECASE)
_WORD = re.compile(
    r"""
    (?P<no>(?:\b(?:can)?not|n['\u2019]t)\W(?:\w+ly\W)?|\bfail\w*\sto\W)?
    \b(?P<said>pass|fail)(?:e[sd]|s|ing)?\b
    (?P<none>["'`*]{0,3}\s?[:=?]\s?["'`*]{0,3}(?:no|false)\b)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER = re.compile(
    rf"(?:(?:^|[{{,;|])\W{{0,6}}|\s(?=\d+[).:]))(\d{{1,4}})(?=\W{{1,8}}(?:{'|'.join(_ALONE)})\b)",
    re.IGNORECASE,
)


def read_verdicts(reply: str, label: str, count: int) -> list[float]:
    """For each of so many things, which the reply labels and numbers, 1 if it passed, 0 if it failed.

    The last word on each counts, for models reason first; half where there is none. A reply that labels
    nothing is read by its numbers, its list, or its lines and commas, the latter two if there are as many
    verdicts as things.
    """
    text = answer_of(reply).translate(_MARKS)
    labelled = re.compile(
        rf"(?:\b{label}s?|(?:^|[,;])\W{{0,6}}(?:response|query))[\W_]{{0,6}}"
        r"(?:(?:response|query)[\W_]{1,6})?(\d{1,4})\b",
        re.IGNORECASE,
    )
    for number in (labelled, _NUMBER):
        verdicts = [_UNTOLD] * count
        for line in text.splitlines():
            parts = number.split(line[-_LINE:])
            for found, said in zip(parts[1::2], parts[2::2], strict=True):
                verdict = _verdict(said)
                if verdict is not None and 1 <= int(found) <= count:
                    verdicts[int(found) - 1] = verdict
        if set(verdicts) - {_UNTOLD}:
            return verdicts
    words = [item.strip(_SIGNS).lower() for item in _BETWEEN.split(text)]
    listed = [_verdict(str(item)) for item in read_list(text)]
    for told in (listed, [_ALONE[word] for word in words if word in _ALONE]):
        alone = [verdict for verdict in told if verdict is not None]
        if len(alone) == len(told) == count:
            return alone
    return [_UNTOLD] * count


def _verdict(said: str) -> float | None:
    """What is said of one thing: at once, or in the last word on it."""
    plain = _FIRST.match(said)
    words = [] if plain else list(_WORD.finditer(said))
    if words:
        word = words[-1] if said[: words[0].start()].strip(_SIGNS) else words[0]
        negated = bool(word["no"]) != bool(word["none"])
        return float((word["said"].lower() == "pass") != negated)
    plain = plain or _LAST.search(said)
    return _ALONE[plain[1].lower()] if plain else None
