"""For each numbered thing, a candidate or a unit test, whether a reply says that it passed or failed.

A reply judges line by line, in a table, in JSON, in lists of those that pass, or of all at once with
exceptions. The last statement on each thing counts, because models reason first.
"""

import re
from typing import Any

from workbench.replies.json_values import json_values
from workbench.replies.text import answer_text

Judgement = int | None  # 1 passed, 0 failed, None: not judged

_MARKS = str.maketrans(
    dict.fromkeys("\u2705\u2714\u2713\u2611", " passed ")
    | dict.fromkeys("\u274c\u2717\u2718\u2716\u2715", " failed ")
    | {"\ufe0f": ""}  # which only says that a mark is a picture
)
_TICKED = re.compile(r"^(\s*[-*]\s*)\[[xX]\]", re.MULTILINE)
_UNTICKED = re.compile(r"^(\s*[-*]\s*)\[ \]", re.MULTILINE)
_PASSED = (
    r"bestanden|r\u00e9ussie?|aprobad[oa]|pass(?:e[sd]|ing)?|satisf(?:y|ies|ied)|correct|succeed(?:s|ed)?"
    r"|meets?|fulfil(?:ls?|led)?"
)
_FAILED = (
    r"durchgefallen|\u00e9chou\u00e9e?|suspendid[oa]|fail(?:s|ed|ing|ure)?|violat(?:es?|ed)"
    r"|incorrect|wrong"
)
_WORD = re.compile(
    r"(?P<no>(?:\b(?:can)?not|\bnicht|n['\u2019]t|\bnever|\bno longer)\W(?:\w+ly\W)?(?:be\s)?"
    r"|\b(?:fail\w*|unable)\sto\W)?"
    rf"\b(?:(?P<pass>{_PASSED})|(?P<fail>{_FAILED}))\b"
    r"(?P<none>[\"'`*]{0,3}\s?[:=?]\s?[\"'`*]{0,3}(?:no|false|0)\b)?",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"^[\s\"'*`|:=.\-\u2013\u2014>#()\[\]{}]*(yes|no|true|false|1|0)\b(?!\s+\w)", re.IGNORECASE
)
_LAST = re.compile(r"\b(yes|no|true|false)\W*$", re.IGNORECASE)
_BARE_WORDS = {"yes": 1, "true": 1, "1": 1, "no": 0, "false": 0, "0": 0}
_NUMBERS = r"\d{1,4}(?:\s*(?:,|;|&|and|or|to|-|\u2013|through)+\s*(?:and\s+)?\d{1,4})*"
# A number and what begins or ends its line with a verdict: "1. Passed", "2) joins both tables - failed".
_NUMBERED = re.compile(
    rf"(?:^\W{{0,6}}(?:no\.?\s*)?|\s(?=\d{{1,4}}[).:]))(?P<n>\d{{1,4}})\W{{1,8}}"
    rf"(?P<said>(?:(?:does|do|did)(?:\s+not|n['\u2019]t)\s+)?(?:{_PASSED}|{_FAILED}|(?:yes|no|true"
    rf"|false|1|0)(?!\s+\w))\b(?<!ing)"
    r"|[^\n]{1,400}(?:[:\u2013\u2014-]|->)[ *]{0,4}(?:passe[sd]|fail(?:s|ed)|yes|no|true|false)[^\w\n]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_LABELLED = re.compile(
    r"\W*(?:verdict|result|status|answer|judge?ment|conclusion)\W*[:=]", re.IGNORECASE
)
_EXCEPT = (
    r"\b(?:except(?:\s+for)?|but(?!\s+(?:also|the|it|this))|apart\s+from|other\s+than|save\s+for)\b"
)
_JUDGING = (
    "verdict", "passed", "pass", "passes", "result", "status", "judgement", "judgment", "answer",
    "evaluation", "outcome",
)  # fmt: skip


def read_choices(reply: str, label: str, count: int) -> list[Judgement]:
    """For each of `count` things that the reply calls by `label` and number: 1, 0 or None."""
    text = _TICKED.sub(r"\1 passed ", answer_text(reply).translate(_MARKS))
    text = _UNTICKED.sub(r"\1 failed ", text)
    judged = _of_json(text, label, count) or _of_text(text, label, count) or _of_words(text, count)
    return judged or [None] * count


def judgement(text: str) -> Judgement:
    """What a phrase says of one thing: at once, or with its last word on it."""
    if bare := _BARE.match(text):
        return _BARE_WORDS[bare[1].lower()]
    if re.fullmatch(
        r"[\W_]*(?:is|does|do|did|was|has)(?:\s+not|n['\u2019]t)\W*", text, re.IGNORECASE
    ):
        return 0  # "candidate 1 is correct, candidate 2 is not"
    words = list(_WORD.finditer(text))
    if words:
        lead = text[: words[0].start()].strip(" \t\"'*`|:=.-\u2013\u2014>#()[]{}")
        summed_up = re.search(
            r"\b(?:overall|ultimately|finally|in the end|verdict)\b", text, re.IGNORECASE
        )
        word = words[-1] if lead or summed_up else words[0]
        negated = bool(word["no"]) != bool(word["none"])
        return int(bool(word["pass"]) != negated)
    last = _LAST.search(text)
    return _BARE_WORDS[last[1].lower()] if last else None


def _of_json(text: str, label: str, count: int) -> list[Judgement]:
    judged: list[Judgement] = [None] * count
    listed: list[Judgement] = []
    for _, _, value in json_values(text):
        _collect(value, label, judged)
        members = value.values() if isinstance(value, dict) else [value]
        for items in (member for member in members if isinstance(member, list)):
            if len(items) == count and not any(isinstance(item, dict) for item in items):
                listed = [judgement(str(item)) for item in items]
    if any(one is not None for one in judged):
        return judged
    return listed if listed and None not in listed else []


def _collect(value: Any, label: str, judged: list[Judgement]) -> None:
    """Write a JSON value's judgements into the list: rows of number and verdict, or members by number."""
    if isinstance(value, list):
        rows = [row for row in value if isinstance(row, dict)]
        numbered = any(_number_of(row, label) for row in rows)
        for index, row in enumerate(rows, 1):
            number = _number_of(row, label) or (0 if numbered else index)
            said = next((row[k] for k in row if _plain(k) in _JUDGING), None)
            if said is not None and 1 <= number <= len(judged):
                judged[number - 1] = judgement(str(said))
    elif isinstance(value, dict):
        number = _number_of(value, label)
        if number and any(_plain(k) in _JUDGING for k in value):
            _collect([value], label, judged)
            return
        for key, item in value.items():
            if (
                found := re.fullmatch(
                    rf"(?:{label}|response|query|test|unit test)?\s*(\d{{1,4}})", _plain(key)
                )
            ) and (1 <= int(found[1]) <= len(judged)):
                said = (
                    next((item[k] for k in item if _plain(k) in _JUDGING), None)
                    if isinstance(item, dict)
                    else item
                )
                judged[int(found[1]) - 1] = judgement(str(said))
            elif _plain(key) in {"passed", "passing", "pass"} and isinstance(item, list):
                for n in _integers(item, len(judged)):
                    judged[n - 1] = 1
            elif _plain(key) in {"failed", "failing", "fail"} and isinstance(item, list):
                for n in _integers(item, len(judged)):
                    judged[n - 1] = 0
            elif isinstance(item, list | dict):
                _collect(item, label, judged)


def _number_of(row: dict[str, Any], label: str) -> int:
    for key, value in row.items():
        if _plain(key) in {
            label,
            "number",
            "id",
            "index",
            f"{label} number",
            f"{label} id",
            "unit test",
            "test",
            "candidate",
        }:
            found = re.search(r"\d{1,4}", str(value))
            if found and not isinstance(value, bool):
                return int(found[0])
    return 0


def _plain(key: object) -> str:
    return re.sub(r"[\W_]+", " ", str(key)).strip().lower()


def _integers(items: list[Any], count: int) -> list[int]:
    found = (re.search(r"\d{1,4}", str(item)) for item in items)
    return [int(n[0]) for n in found if n and 1 <= int(n[0]) <= count]


def _span(text: str, count: int) -> list[int]:
    """The numbers of "2, 3 and 5" or "2 to 5", up to `count`."""
    ranged = re.fullmatch(r"\s*(\d{1,4})\s*(?:to|-|\u2013|through)\s*(\d{1,4})\s*", text)
    if ranged:
        return [n for n in range(int(ranged[1]), int(ranged[2]) + 1) if 1 <= n <= count]
    return [n for n in map(int, re.findall(r"\d{1,4}", text)) if 1 <= n <= count]


def _of_text(text: str, label: str, count: int) -> list[Judgement]:
    """The judgements of lines and sentences, in order: of all, of some, of one."""
    judged: list[Judgement] = [None] * count
    noun = rf"(?:unit\s+)?(?:{label}s?|kandidat|candidat[eo]?|response|query|queries)"
    thing = re.compile(
        rf"\b{noun}[\W_]{{0,6}}(?:(?:response|query)[\W_]{{1,6}})?(?P<n>{_NUMBERS})(?!\s*%)\b",
        re.IGNORECASE,
    )
    every = re.compile(
        rf"\b(?P<all>all|every|each|both|none|no|neither)\b(?:\s+of)?(?:\s+the(?:m"
        rf"|se)?)?(?:\s+{count})?(?:\s+(?!pass|fail|satisf|meet|correct|except"
        rf"|but)\w+)?(?:\s+{noun})?(?P<rest>.*)",
        re.IGNORECASE,
    )
    only = re.compile(rf"\bonly\s+(?:{noun}\s*)?#?(?P<n>{_NUMBERS})\s+(?P<rest>.*)", re.IGNORECASE)
    those = re.compile(
        rf"(?:^|\b)(?:{noun}\s+)?(?:that\s+|which\s+)?(?P<word>{_PASSED}"
        rf"|{_FAILED})\w*(?:\s+{noun})?[\s*_]*[:=][\s*_\[]*(?P<n>{_NUMBERS}|none|all)\b",
        re.IGNORECASE,
    )

    everything = list(range(1, count + 1))
    heading: list[
        int
    ] = []  # the numbers of the last line that names a thing and says nothing of it

    def judge(numbers: list[int], value: Judgement) -> None:
        for n in numbers:
            if value is not None:
                judged[n - 1] = value

    for line in text.splitlines():
        if listed := list(those.finditer(line)):
            for one in listed:
                passed = int(bool(re.match(_PASSED, one["word"], re.IGNORECASE)))
                if one["n"].lower() in {"all", "none"}:
                    judge(everything, passed if one["n"].lower() == "all" else 1 - passed)
                else:
                    judge(_span(one["n"], count), passed)
            continue
        for sentence in re.split(r"(?<=[.!;])\s+(?=[A-Z*])", line):
            if said := only.search(sentence):
                value = judgement(said["rest"])
                if value is not None:
                    judge(everything, 1 - value)
                    judge(_span(said["n"], count), value)
                    continue
            if (said := every.search(sentence)) and not thing.search(sentence[: said.start()]):
                head, *excepted = re.split(_EXCEPT, said["rest"], maxsplit=1, flags=re.IGNORECASE)
                value = judgement(head if judgement(head) is not None else said["rest"])
                if value is not None:
                    value = 1 - value if said["all"].lower() in {"none", "no", "neither"} else value
                    others = (
                        _span(re.split(r"(?<=\d)\D*$", excepted[0])[0], count) if excepted else []
                    )
                    judge(everything, value)
                    judge(others, 1 - value)
                    continue
            found = list(thing.finditer(sentence))
            if found or not _LABELLED.match(sentence):
                heading = _span(found[-1]["n"], count) if found else heading
            else:
                judge(heading, judgement(_LABELLED.sub("", sentence, count=1)))
            for one, end in zip(
                found, [*(f.start() for f in found[1:]), len(sentence)], strict=False
            ):
                value = judgement(sentence[one.end() : end])
                if value is None and len(found) == 1:
                    value = judgement(sentence[: one.start()])
                judge(_span(one["n"], count), value)
    return judged if any(one is not None for one in judged) else []


def _of_words(text: str, count: int) -> list[Judgement]:
    """The judgements of numbered or bare lines, if there are as many as things."""
    numbered: list[Judgement] = [None] * count
    for found in _NUMBERED.finditer(text):
        value = judgement(found["said"])
        if value is not None and 1 <= int(found["n"]) <= count:
            numbered[int(found["n"]) - 1] = value
    if any(one is not None for one in numbered):
        return numbered
    words = [judgement(part) for part in re.split(r"[\n,;|]", text) if part.strip(" -*`\"'[]().:")]
    if any(len(part.split()) > 3 for part in re.split(r"[\n,;|]", text)):
        return []  # sentences
    return words if len(words) == count and None not in words else []
