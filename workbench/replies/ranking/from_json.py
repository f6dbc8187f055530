"""Rankings in JSON: lists of candidates, and objects that give each its place or its score."""

import re
from typing import Any

from workbench.replies.json_values import json_values, member_name

_MEMBERS = {
    "ranking", "rank", "ranks", "order", "ranked", "ranked candidates", "candidates", "answer", "result",
    "final ranking", "best to worst",
}  # fmt: skip
_LABELLED = re.compile(r"\b(?:final|ranking|ranked|order|answer|result)\b[^\[\n]*$", re.IGNORECASE)
# "(At first I had [1, 2, 3].)": before a list that another one replaces.
_DRAFTED = re.compile(
    r"\b(?:at first|first i|initially|originally|my first|draft|previous(?:ly)?)\b[^\[\n]*$",
    re.IGNORECASE,
)
PLACES = {
    "1st": 1, "first": 1, "best": 1, "top": 1, "2nd": 2, "second": 2, "middle": 2, "3rd": 3, "third": 3,
    "4th": 4, "fourth": 4, "5th": 5, "fifth": 5, "last": 9999, "worst": 9999,
}  # fmt: skip


def ranking_of_json(text: str) -> list[int]:
    """The list that is called the ranking or stands after such a label; else the last one of numbers."""
    found: list[tuple[int, list[int]]] = []
    position = 0
    for start, end, value in json_values(text):
        lead = text[position:start].rpartition("\n")[2]
        labelled = bool(_LABELLED.search(lead))
        drafted = bool(_DRAFTED.search(lead))
        position = end
        if isinstance(value, dict) and all(str(key).strip().isdigit() for key in value):
            found.append((1, _of_numbered_members(value)))
        elif isinstance(value, dict) and value and all(key in PLACES for key in value):
            found.append(
                (1, _numbers([value[key] for key in sorted(value, key=PLACES.__getitem__)]))
            )
        elif isinstance(value, dict):
            for key, member in value.items():
                if member_name(key) in _MEMBERS and isinstance(member, list | str):
                    items = member if isinstance(member, list) else re.split(r"[,>]", member)
                    found.append((2, _numbers(items)))
        elif isinstance(value, list):
            found.append((2 if labelled else 0 if drafted else 1, _numbers(value)))
    ranked = [(weight, numbers) for weight, numbers in found if numbers]
    if not ranked:
        return []
    strongest = max((weight, len(set(numbers))) for weight, numbers in ranked)
    return [numbers for weight, numbers in ranked if (weight, len(set(numbers))) == strongest][-1]


def _of_numbered_members(value: dict[str, Any]) -> list[int]:
    """The ranking of {"1": 3, "2": 1}, candidates by rank, or {"1": 0.2, "2": 0.9}, scores by candidate."""
    keys = sorted(value, key=int)
    scores = [value[key] for key in keys]
    if any(isinstance(score, float) and not score.is_integer() for score in scores):
        ordered = sorted(zip(scores, keys, strict=True), key=lambda pair: -float(pair[0] or 0))
        return [int(key) for _, key in ordered]
    return _numbers(scores)


def _numbers(items: list[Any]) -> list[int]:
    """The number in each item: itself, in its text, or in an object's member of that name."""
    ranks = [
        item.get("rank", item.get("position")) if isinstance(item, dict) else None for item in items
    ]
    if items and all(isinstance(rank, int) for rank in ranks):
        ordered = sorted(zip(ranks, items, strict=True), key=lambda pair: int(pair[0] or 0))
        items = [item for _, item in ordered]
    scores = [item.get("score") if isinstance(item, dict) else None for item in items]
    if all(isinstance(score, int | float) for score in scores):
        ordered = sorted(zip(scores, items, strict=True), key=lambda pair: -float(pair[0] or 0))
        items = [item for _, item in ordered]
    numbers = []
    for item in items:
        if isinstance(item, dict):
            named = [
                v
                for k, v in item.items()
                if re.search("candidate|number|id|query", str(k), re.IGNORECASE)
            ]
            item = next(iter([*named, *item.values()]), "")  # noqa: PLW2901  the item's number
        if isinstance(item, bool) or (isinstance(item, float) and not item.is_integer()):
            continue  # a verdict or a score
        if number := re.search(r"\d{1,9}", str(item)):
            numbers.append(int(number[0]))
    return numbers
