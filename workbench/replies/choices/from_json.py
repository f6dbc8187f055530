"""The judgements of a JSON value: rows of number and verdict, members by number, or lists of those that pass."""

import re
from typing import Any

from workbench.replies.choices.judgement import Judgement, judgement
from workbench.replies.json_values import json_values, member_name

_NUMBERED = {"number", "id", "index", "unit test", "test", "candidate"}
_LISTED = {"passed": 1, "passing": 1, "pass": 1, "failed": 0, "failing": 0, "fail": 0}
_JUDGING = (
    "verdict", "passed", "pass", "passes", "result", "status", "judgement", "judgment", "answer",
    "evaluation", "outcome",
)  # fmt: skip


def read_json(text: str, label: str, count: int) -> list[Judgement]:
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
            verdict = next((row[k] for k in row if member_name(k) in _JUDGING), None)
            if verdict is not None and 1 <= number <= len(judged):
                judged[number - 1] = judgement(str(verdict))
    elif isinstance(value, dict):
        number = _number_of(value, label)
        if number and any(member_name(k) in _JUDGING for k in value):
            _collect([value], label, judged)
            return
        for key, item in value.items():
            if (
                found := re.fullmatch(
                    rf"(?:{label}|response|query|test|unit test)?\s*(\d{{1,4}})", member_name(key)
                )
            ) and (1 <= int(found[1]) <= len(judged)):
                verdict = (
                    next((item[k] for k in item if member_name(k) in _JUDGING), None)
                    if isinstance(item, dict)
                    else item
                )
                judged[int(found[1]) - 1] = judgement(str(verdict))
            elif (outcome := _LISTED.get(member_name(key))) is not None and isinstance(item, list):
                for n in _integers(item, len(judged)):
                    judged[n - 1] = outcome
            elif isinstance(item, list | dict):
                _collect(item, label, judged)


def _number_of(row: dict[str, Any], label: str) -> int:
    for key, value in row.items():
        if member_name(key) in {label, f"{label} number", f"{label} id", *_NUMBERED}:
            found = re.search(r"\d{1,4}", str(value))
            if found and not isinstance(value, bool):
                return int(found[0])
    return 0


def _integers(items: list[Any], count: int) -> list[int]:
    found = (re.search(r"\d{1,4}", str(item)) for item in items)
    return [int(n[0]) for n in found if n and 1 <= int(n[0]) <= count]
