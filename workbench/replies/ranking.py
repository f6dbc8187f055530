"""The order in which a reply ranks numbered candidates, the best first; empty where it ranks none."""

import re
from collections.abc import Iterable
from typing import Any

from workbench.replies.json_values import json_values, member_name
from workbench.replies.text import answer_text, boxed, without_long_runs

_MEMBERS = {
    "ranking", "rank", "ranks", "order", "ranked", "ranked candidates", "candidates", "answer", "result",
    "final ranking", "best to worst",
}  # fmt: skip
_REVERSED = re.compile(r"\bworst\b[^.\n]{0,20}\b(?:to|first)\b", re.IGNORECASE)
_LABELLED = re.compile(r"\b(?:final|ranking|ranked|order|answer|result)\b[^\[\n]*$", re.IGNORECASE)
# "(At first I had [1, 2, 3].)": before a list that another one replaces.
_DRAFTED = re.compile(
    r"\b(?:at first|first i|initially|originally|my first|draft|previous(?:ly)?)\b[^\[\n]*$",
    re.IGNORECASE,
)
_CHAIN = re.compile(
    r"(?:\W|^)((?:(?:candidates?\s*)?#?\d{1,4}\s*(?:>|\u2265|\u227b|,\s*and|,|->|\u2192|then|=)\s*){1,}"
    r"(?:candidate\s*)?#?\d{1,4}\b(?:\s*and\s*(?:candidate\s*)?#?\d{1,4}\b)?)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"^\W*(?:(?:rank\s*)?\d{1,3}(?:st|nd|rd|th)?\s*(?:place)?[.):]|[-*\u2022]|best|worst|first|second"
    r"|third|last)\W*\s*.*?"
    r"(?:candidate|query|option)\W{0,4}(\d{1,4})\b",
    re.IGNORECASE,
)
_RANKED_LINE = re.compile(
    r"^\W*(?:rank\s*)?(\d{1,3})(?:st|nd|rd|th)?\s*(?:place)?\s*[.):-]+\W*#?(\d{1,4})\b",
    re.IGNORECASE,
)
_PLACES = {
    "1st": 1, "first": 1, "best": 1, "top": 1, "2nd": 2, "second": 2, "middle": 2, "3rd": 3, "third": 3,
    "4th": 4, "fourth": 4, "5th": 5, "fifth": 5, "last": 9999, "worst": 9999,
}  # fmt: skip
# "best" after another place only names it: "second best".
_PLACE = re.compile(rf"\b({'|'.join(_PLACES)})(?:[\s-]+(?:best|place|choice))?\b", re.IGNORECASE)
_PLACED = re.compile(rf"^\W*(?:{_PLACE.pattern})\W+(?:candidate\W*)?(\d{{1,4}})\W*$", re.IGNORECASE)
_TOGETHER = re.compile(r"\b(?:are|all|both|equal(?:ly)?|tied)\b", re.IGNORECASE)
_ROW = re.compile(
    r"^\s*\|\s*(\d{1,3})\s*\|\s*(?:candidate\s*)?#?(\d{1,4})\s*\|", re.IGNORECASE | re.MULTILINE
)
# A table or lines that give each candidate its rank.
_CANDIDATES_FIRST = re.compile(
    r"^\s*\|\W*(?:candidate|query|option)\b[^|\n]*\|\W*(?:rank|place|position)\b",
    re.IGNORECASE | re.MULTILINE,
)
_WITH_RANK = re.compile(
    r"^\W*(?:candidate|query|option)\W{0,4}(\d{1,4})\W{1,8}(?:is\s+)?(?:rank(?:ed)?|place|position)\W{0,4}(\d{1,4})\W*$",
    re.IGNORECASE | re.MULTILINE,
)
_NAMED = re.compile(
    r"\b(?:candidate|query|option|number)s?\W{0,4}(\d{1,4})\b|(?<![\w.])#(\d{1,4})\b", re.IGNORECASE
)
_ORDER_WORDS = re.compile(
    r"\b(?:best|first|second|third|fourth|last|worst|followed|then|next|better|rank(?:s|ed)?"
    r"|after that|finally|top|[1-5](?:st|nd|rd|th))\b",
    re.IGNORECASE,
)
_WORST = re.compile(r"\b(?:worst|last|least)\b", re.IGNORECASE)

_LONGEST_LINE = 200  # characters of a line that names a candidate


def read_ranking(reply: str, count: int) -> list[int]:
    """The candidates' numbers from 1 to `count`, in the order of the reply, each once."""
    text = without_long_runs(answer_text(reply))
    if _REVERSED.search(text):
        return _known(reversed(_of_json(text) or _of_chain(text) or _of_lines(text)), count)
    for numbers in (
        _of_json(text),
        _of_chain(boxed(text) or text),
        _of_lines(text),
        _of_prose(text, count),
    ):
        if known := _known(numbers, count):
            return known
    return []


def _known(numbers: Iterable[int], count: int) -> list[int]:
    return [n for n in dict.fromkeys(numbers) if 1 <= n <= count]


def _of_json(text: str) -> list[int]:
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
        elif isinstance(value, dict) and value and all(key in _PLACES for key in value):
            found.append(
                (1, _numbers([value[key] for key in sorted(value, key=_PLACES.__getitem__)]))
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


def _of_chain(text: str) -> list[int]:
    """The last of "2 > 1 > 3" and "2, 1, 3" that is all of its line but for a label."""
    chains = []
    for line in text.splitlines():
        found = _CHAIN.search(line)
        rest = line.replace(found[1], "") if found else line
        words = re.findall(r"[A-Za-z]{3,}", rest)
        if (
            found
            and (len(words) <= 3 or ">" in found[1] or "\u2192" in found[1])
            and not _RANKED_LINE.match(line)
            and not _TOGETHER.search(rest)
        ):
            chains.append([int(n) for n in re.findall(r"\d+", found[1])])
    return chains[-1] if chains else []


def _of_lines(text: str) -> list[int]:
    """The candidates of numbered lines, in the order of their ranks."""
    ranks = _WITH_RANK.findall(text)
    if _CANDIDATES_FIRST.search(text):
        ranks = _ROW.findall(text)
    if len(ranks) > 1:
        return [int(number) for number, _ in sorted(ranks, key=lambda row: int(row[1]))]
    lines = [line[:_LONGEST_LINE] for line in text.splitlines()]
    named = [(line, found) for line in lines if (found := _NUMBERED.match(line))]
    if len(named) > 1:
        if all(_place(line) for line, _ in named):
            named.sort(key=lambda one: _place(one[0]))
        return [int(found[1]) for _, found in named]
    placed = [found for line in lines if (found := _PLACED.match(line))]
    if len(placed) > 1:
        return [int(found[2]) for found in sorted(placed, key=lambda found: _place(found[0]))]
    ranked = [found for line in lines if (found := _RANKED_LINE.match(line))]
    if len(ranked) > 1 and {int(r[1]) for r in ranked} == set(range(1, len(ranked) + 1)):
        return [int(r[2]) for r in sorted(ranked, key=lambda r: int(r[1]))]
    if re.search(r"\brank", text, re.IGNORECASE) and (rows := _ROW.findall(text)):
        return [int(number) for _, number in sorted(rows, key=lambda row: int(row[0]))]
    if only := re.fullmatch(r"\W*(?:best\W*)?candidate\W{0,3}(\d{1,4})\W*", text, re.IGNORECASE):
        return [int(only[1])]
    bare = re.fullmatch(
        r"\W*(?:(?:ranking|order|answer)\W*)?(\d{1,4}(?:[\s,;>]+\d{1,4})*)\W*", text, re.IGNORECASE
    )
    return [int(n) for n in re.findall(r"\d+", bare[1])] if bare else []


def _place(text: str) -> int:
    """The place that the text names, 1 for the best; 0 if it names none."""
    found = _PLACE.search(text)
    return _PLACES[found[1].lower()] if found else 0


def _of_prose(text: str, count: int) -> list[int]:
    """The order in which the text names the candidates, if it speaks of an order and names nearly all."""
    if not _ORDER_WORDS.search(text) or re.search(
        r"\b(?:equally|all (?:of )?(?:the )?candidates are)\b", text, re.IGNORECASE
    ):
        return []
    first: list[int] = []
    last: list[int] = []
    places: dict[int, int] = {}
    for clause in re.split(r"[.;\n]|,\s*(?:and|but)?\s*|\band\b|\bbut\b", text):
        numbers = [int(a or b) for a, b in _NAMED.findall(clause)]
        if not numbers and (
            bare := re.fullmatch(
                r"\W*(?:then|next|followed by|finally|last(?:ly)?)?\W*(\d{1,4})\W*"
                r"(?:(?:is|comes|ranks)\s(?:the\s)?(?:best|first|second|third|last|worst|next)\W*)?",
                clause,
            )
        ):
            numbers = [int(bare[1])]
        numbers = [n for n in numbers if n not in first + last]
        if len(numbers) == 1 and len(_PLACE.findall(clause)) == 1:
            places[numbers[0]] = _place(clause)
        if _WORST.search(clause):
            last = numbers + last
        else:
            first += numbers
    numbers = [*dict.fromkeys([*first, *last])]
    if places.keys() == set(numbers):
        numbers.sort(key=places.__getitem__)
    return numbers if len(numbers) >= max(1, count - 1) and len(numbers) > 1 - (count == 1) else []
