"""The order in which a reply ranks numbered candidates, the best first; empty where it ranks none."""

import re
from collections.abc import Iterable

from workbench.replies.ranking.from_json import PLACES, ranking_of_json
from workbench.replies.text import answer_text, boxed, without_long_runs

_REVERSED = re.compile(r"\bworst\b[^.\n]{0,20}\b(?:to|first)\b", re.IGNORECASE)
_CHAIN = re.compile(
    r"(?:[^\w.]|^)((?:(?:candidates?\s*|[cq])?#?\d{1,4}\s*(?:>|\u2265|\u227b|,\s*and|,|->|\u2192|then|=)\s*){1,}"
    r"(?:candidate\s*|[cq])?#?\d{1,4}\b(?:\s*and\s*(?:candidate\s*)?#?\d{1,4}\b)?)",
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
# "best" after another place only names it: "second best".
_PLACE = re.compile(rf"\b({'|'.join(PLACES)})(?:[\s-]+(?:best|place|choice))?\b", re.IGNORECASE)
_PLACED = re.compile(rf"^\W*(?:{_PLACE.pattern})\W+(?:candidate\W*)?(\d{{1,4}})\W*$", re.IGNORECASE)
_MARKED = re.compile(r"\((\d{1,4})\)|[*_`]+")
_BETTER = re.compile(
    r",?\s(?:which\s|that\s)?(?:is|was)\s(?:\w+ly\s)?better\sthan\s", re.IGNORECASE
)
_OTHER_NUMBER = re.compile(r"\b\d{1,4}\b(?!\s*candidates)")
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
# Lines or a table that give each candidate its score.
_SCORED = re.compile(
    r"\b(?:candidate|query|option)\W{0,4}(\d{1,4})\W{1,8}(?:scores?\W{0,4})?(\d{1,3}(?:\.\d{1,9})?)"
    r"(?=\s*(?:/\s*\d|%|points)|\W*(?:$|[,;\n]))",
    re.IGNORECASE,
)
_SCORE_ROW = re.compile(
    r"^\s*\|\W*(?:candidate\s*)?#?(\d{1,4})\W*\|\W*(\d{1,3}(?:\.\d{1,9})?)\W",
    re.IGNORECASE | re.MULTILINE,
)
_SCORE = re.compile(r"\bscores?\b|\d\s?/\s?10", re.IGNORECASE)
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
        return _known(reversed(ranking_of_json(text) or _of_chain(text) or _of_lines(text)), count)
    for numbers in (
        ranking_of_json(text),
        _of_chain(boxed(text) or text),
        _of_lines(text),
        _of_prose(text, count),
    ):
        if known := _known(numbers, count):
            return known
    return []


def _known(numbers: Iterable[int], count: int) -> list[int]:
    return [n for n in dict.fromkeys(numbers) if 1 <= n <= count]


def _of_chain(text: str) -> list[int]:
    """The last of "2 > 1 > 3" and "2, 1, 3" that is all of its line but for a label."""
    chains = []
    for written in text.splitlines():
        line = _BETTER.sub(" > ", _MARKED.sub(r"\1", written))
        found = _CHAIN.search(line)
        rest = line.replace(found[1], "") if found else line
        words = re.findall(r"[A-Za-z]{3,}", rest)
        if (
            found
            and (
                (len(words) <= 3 and not _OTHER_NUMBER.search(rest))
                or ">" in found[1]
                or "\u2192" in found[1]
            )
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
    scores = [*_SCORED.findall(text), *_SCORE_ROW.findall(text)] if _SCORE.search(text) else []
    if len({number for number, _ in scores}) > 1:
        return [int(number) for number, score in sorted(scores, key=lambda row: -float(row[1]))]
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
    only = re.fullmatch(
        r"\W*(?:(?:best|top|first)\W*(?:choice\W*)?)?candidate\W{0,3}(\d{1,4})\W*",
        text,
        re.IGNORECASE,
    )
    if only:
        return [int(only[1])]
    bare = re.fullmatch(
        r"\W*(?:(?:ranking|order|answer)\W*)?(?:best to worst\W*)?(\d{1,4}(?:[\s,;>*\u2022-]+\d{1,4})*)\W*",
        text,
        re.IGNORECASE,
    )
    return [int(n) for n in re.findall(r"\d+", bare[1])] if bare else []


def _place(text: str) -> int:
    """The place that the text names, 1 for the best; 0 if it names none."""
    found = _PLACE.search(text)
    return PLACES[found[1].lower()] if found else 0


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
                r"\W*(?:then|next|followed by|finally|last(?:ly)?|(?:the )?(?:best|worst)(?: one)? is)?\W*(\d{1,4})\W*"
                r"(?:(?:is|comes|ranks)\s(?:the\s)?(?:best|first|second|third|last|worst|next)\W*)?",
                clause,
                re.IGNORECASE,
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
