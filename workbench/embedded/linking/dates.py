"""Times that a question names, and the SQL that compares them with columns of ISO dates or of years."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.english.words import Token

Pieces = tuple[str | int, ...]  # SQL with the ids of columns in it

FORMATS = {"iso": r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d.*)?", "year": r"(1[6-9]|20)\d\d"}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*"
_YEAR = r"(?P<y>(?:1[6-9]|20)\d\d)"
_DAY = r"(?P<d>[12]?\d|3[01])(?:st|nd|rd|th)?"
_TIMES = [  # of words with a blank between them; the first that fits counts
    re.compile(pattern + r"(?!\S)")
    for pattern in (
        r"(?P<y>\d{4})-(?P<m>\d\d)(?:-(?P<d>\d\d))?",
        rf"{_MONTH} {_DAY}(?: ,)? {_YEAR}",
        rf"{_DAY}(?: of)? {_MONTH}(?: ,)? {_YEAR}",
        rf"{_MONTH}(?: ,| of)? {_YEAR}",
        _YEAR,
    )
]


@dataclass(frozen=True, slots=True)
class When:
    """A year, a month or a day that a question names, as the beginning of an ISO date: 2021-03."""

    first: int
    end: int
    iso: str


def times(question: Sequence[Token]) -> list[When]:
    """The times that a question names."""
    found: list[When] = []
    for place, token in enumerate(question):
        begins = token.low[0].isdigit() or token.low[:3] in _MONTHS
        if begins and (not found or place >= found[-1].end):
            text = " ".join(t.low for t in question[place : place + 5])
            if match := next(filter(None, (pattern.match(text) for pattern in _TIMES)), None):
                named = match.groupdict()
                month = _MONTHS.index(named["month"]) + 1 if named.get("month") else named.get("m")
                numbers = [int(n) for n in (named["y"], month, named.get("d")) if n]
                iso = "-".join(f"{number:02}" for number in numbers)
                found.append(When(place, place + len(match[0].split()), iso))
    return found


def part_of_date(column: int, dates: str, part: str) -> Pieces:
    """The year (%Y), month (%m) or day (%d) of a column's dates, as text; a year stays a number."""
    return (column,) if (dates, part) == ("year", "%Y") else (f"STRFTIME('{part}', ", column, ")")


def condition(column: int, dates: str, when: When, sign: str, until: When | None) -> Pieces | None:
    """The test that a time stands for on a column, or None if years cannot tell."""
    if len(when.iso) == len("2021"):
        mark = "" if dates == "year" else "'"  # years are numbers, parts of dates are text
        test = f" {sign} {mark}{when.iso}{mark}"
        if until:
            test = f" BETWEEN {mark}{when.iso}{mark} AND {mark}{until.iso[:4]}{mark}"
        return (*part_of_date(column, dates, "%Y"), test)
    if dates == "year":
        return None
    if until:
        return (column, f" BETWEEN '{when.iso}' AND '{_last_day(until)}'")
    if sign == "=":
        return (column, f" LIKE '{when.iso}%'")
    return (column, f" {sign} '{_last_day(when) if sign in {'>', '<='} else when.iso}'")


def _last_day(when: When) -> str:
    """The day itself, or of a month the 31st: as text, no day of the month comes after it."""
    return when.iso if len(when.iso) > len("2021-03") else f"{when.iso}-31"
