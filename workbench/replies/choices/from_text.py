"""The judgements of lines and sentences that name the items they judge: all, all but some, lists, or one by one."""

import re
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from workbench.replies.choices.judgement import FAILED, PASSED, Judgement, judgement

Statement = tuple[Sequence[int], Judgement]  # the numbers that are judged, and how

_NUMBERS = r"\d{1,4}(?:\s*(?:,|;|&|and|or|to|-|\u2013|through)+\s*(?:and\s+)?\d{1,4})*"
_LABELLED = re.compile(
    r"\W*(?:verdict|result|status|answer|judge?ment|conclusion)\W*[:=]", re.IGNORECASE
)
_ALONE = re.compile(rf"[\W_]*(?:{PASSED}|{FAILED})[\W_]*", re.IGNORECASE)
_EXCEPT = (
    r"\b(?:except(?:\s+for)?|but(?!\s+(?:also|the|it|this))|apart\s+from|other\s+than|save\s+for)\b"
)

_OTHERS = re.compile(
    r"\b(?:(?:all|both)(?:\s+of)?\s+)?the\s+(?:others?|rest|remaining)\b", re.IGNORECASE
)
# "#1 PASS", "(1) pass", "1=pass"
_BARE = re.compile(
    rf"(?<![\w.])(?:#(\d{{1,4}})|\((\d{{1,4}})\)|(\d{{1,4}})\s?=)\s?(?={PASSED}|{FAILED})",
    re.IGNORECASE,
)
_PLACES = ("first", "second", "third", "fourth", "fifth")
_SEVERAL = ("one", "two", "three", "four")


class _Patterns(NamedTuple):
    """The forms of a statement on items that a reply calls by one label.

    listed: "Passed: 1, 3".
    only: "Only candidate 1 fails".
    every: "All candidates pass except 2", "neither passes".
    named: "Candidate 2", before or after its judgement.
    ordinal: "The first two candidates", "the last one", before their judgement.
    """

    listed: re.Pattern[str]
    only: re.Pattern[str]
    every: re.Pattern[str]
    named: re.Pattern[str]
    ordinal: re.Pattern[str]


@lru_cache
def _patterns(label: str, count: int) -> _Patterns:
    noun = rf"(?:unit\s+)?(?:{label}s?|\u5019\u9009|kandidat|candidat[eo]?|response|query|queries)"
    return _Patterns(
        listed=re.compile(
            rf"(?:^|\b)(?:{noun}\s+)?(?:that\s+|which\s+)?(?P<word>{PASSED}|{FAILED})\w*"
            rf"(?:\s+{noun})?[\s*_]*[:=][\s*_\[]*(?P<n>{_NUMBERS}|none|all)\b",
            re.IGNORECASE,
        ),
        only=re.compile(
            rf"\bonly\s+(?:{noun}\s*)?#?(?P<n>{_NUMBERS})\s+(?P<rest>.*)", re.IGNORECASE
        ),
        every=re.compile(
            r"\b(?P<all>all|every|each|both|none|no|neither)\b(?:\s+of)?(?:\s+the(?:m|se)?)?"
            rf"(?:\s+{count})?(?:\s+(?!pass|fail|satisf|meet|correct|except|but)\w+)?"
            rf"(?:\s+{noun})?(?P<rest>.*)",
            re.IGNORECASE,
        ),
        named=re.compile(
            # "candidate 1 and candidate 2", too
            rf"\b{noun}[\W_]{{0,6}}(?:(?:response|query)[\W_]{{1,6}})?(?P<n>{_NUMBERS}"
            rf"(?:(?:,|\s+and|\s+n?or)+\s+{noun}\s*#?\d{{1,4}})*)(?!\s*%)\b",
            re.IGNORECASE,
        ),
        ordinal=re.compile(
            rf"\bthe\s+(?P<place>{'|'.join(_PLACES)}|last)(?:\s+(?P<several>two|three|four))?"
            rf"(?:\s+(?:{noun}|ones?))?(?=\s+(?:(?:all|both|also)\s+)?(?:{PASSED}|{FAILED}|do|does|is|are)\b)",
            re.IGNORECASE,
        ),
    )


def read_text(text: str, label: str, count: int) -> list[Judgement]:
    """The judgement, 1, 0 or None, of each of `count` items; an empty list if none is judged."""
    patterns = _patterns(label, count)
    text = patterns.ordinal.sub(partial(_numbered, label, count), text)
    text = _BARE.sub(rf"{label} \1\2\3 ", text)
    judged: list[Judgement] = [None] * count
    # The numbers that the last line named, for a verdict on a line of its own.
    heading: list[int] = []
    above: Judgement = None  # of the items that are listed below the word
    lines = text.splitlines()
    alone = next((i for i, line in enumerate(lines) if _ALONE.fullmatch(line)), len(lines))
    leads = not any(map(patterns.named.search, lines[:alone]))  # the words stand above the items
    for line in lines:
        if leads and _ALONE.fullmatch(line):
            above = judgement(line)
            continue
        sentences = re.split(r"(?<=[.!;])\s+(?=[A-Z*])", line)
        statements = _listed(line, patterns, count)
        for sentence in [] if statements else sentences:
            found = _only(sentence, patterns, count) or _every(sentence, patterns, count)
            if not found:
                found, heading = _named(sentence, patterns, count, heading)
            statements += found
            if others := _OTHERS.search(sentence):
                unnamed = [
                    n
                    for n in range(1, count + 1)
                    if not _has(n, statements) and judged[n - 1] is None
                ]
                statements.append((unnamed, judgement(sentence[others.end() :])))
        for numbers, stated in statements:
            value = above if stated is None else stated
            for number in numbers if value is not None else ():
                judged[number - 1] = value
    return judged if any(value is not None for value in judged) else []


def _has(number: int, statements: Sequence[Statement]) -> bool:
    return any(number in numbers for numbers, _ in statements)


def _listed(line: str, patterns: _Patterns, count: int) -> list[Statement]:
    """Lists of those that pass or fail."""
    statements: list[Statement] = []
    for found in patterns.listed.finditer(line):
        passed = int(bool(re.match(PASSED, found["word"], re.IGNORECASE)))
        match found["n"].lower():
            case "all":
                statements.append((range(1, count + 1), passed))
            case "none":
                statements.append((range(1, count + 1), 1 - passed))
            case numbers:
                statements.append((_span(numbers, count), passed))
    return statements


def _only(sentence: str, patterns: _Patterns, count: int) -> list[Statement]:
    """A judgement of some, which says the contrary of the others."""
    found = patterns.only.search(sentence)
    value = judgement(found["rest"]) if found else None
    if found is None or value is None:
        return []
    return [(range(1, count + 1), 1 - value), (_span(found["n"], count), value)]


def _every(sentence: str, patterns: _Patterns, count: int) -> list[Statement]:
    """A judgement of all, with exceptions."""
    found = patterns.every.search(sentence)
    if not found or patterns.named.search(sentence[: found.start()]):
        return []
    rest = sentence[found.end("all") :].lstrip()
    if found["all"].lower() == "neither" and (named := patterns.named.match(rest)):
        clause = re.split(r"[;,]", rest[named.end() :])[0]
        value = judgement(clause)
        further, _ = _named(rest[named.end() + len(clause) :], patterns, count, [])
        return [(_span(named["n"], count), None if value is None else 1 - value), *further]
    head, *excepted = re.split(_EXCEPT, found["rest"], maxsplit=1, flags=re.IGNORECASE)
    value = judgement(head)
    if value is None:
        value = judgement(found["rest"])
    if value is None:
        return []
    if found["all"].lower() in {"none", "no", "neither"}:
        value = 1 - value
    others = _span(re.split(r"(?<=\d)\D*$", excepted[0])[0], count) if excepted else []
    return [(range(1, count + 1), value), (others, 1 - value)]


def _named(
    sentence: str, patterns: _Patterns, count: int, heading: list[int]
) -> tuple[list[Statement], list[int]]:
    """The judgement of each item that is named, and the numbers that a verdict on the next line is about.

    An item is judged by the words up to the next item; a single one also by the words before it. A verdict alone,
    "Verdict: passed", judges what was named last.
    """
    found = list(patterns.named.finditer(sentence))
    if not found:
        if _LABELLED.match(sentence) or _ALONE.fullmatch(sentence):
            return [(heading, judgement(_LABELLED.sub("", sentence, count=1)))], heading
        return [], heading
    ends = [*(after.start() for after in found[1:]), len(sentence)]
    statements: list[Statement] = []
    for item, end in zip(found, ends, strict=True):
        value = judgement(sentence[item.end() : end])
        if value is None and len(found) == 1:
            value = judgement(sentence[: item.start()])
        statements.append((_span(item["n"], count), value))
    return statements, _span(found[-1]["n"], count)


def _numbered(label: str, count: int, found: re.Match[str]) -> str:
    """The items that "the first two candidates" or "the last" names, by their numbers."""
    many = 1 + _SEVERAL.index((found["several"] or "one").lower())
    place = found["place"].lower()
    first = count - many + 1 if place == "last" else 1 + _PLACES.index(place)
    return f"{label} {first}" if many == 1 else f"{label}s {first} to {first + many - 1}"


def _span(text: str, count: int) -> list[int]:
    """The numbers of "2, 3 and 5" or "2 to 5", up to `count`."""
    ranged = re.fullmatch(r"\s*(\d{1,4})\s*(?:to|-|\u2013|through)\s*(\d{1,4})\s*", text)
    if ranged:
        return [n for n in range(int(ranged[1]), int(ranged[2]) + 1) if 1 <= n <= count]
    return [n for n in map(int, re.findall(r"\d{1,4}", text)) if 1 <= n <= count]
