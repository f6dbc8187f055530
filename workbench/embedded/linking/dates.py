"""Dates as columns write them and as questions name them, and the SQL that compares both."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from workbench.english.words import Token

Pieces = tuple[str | int, ...]

_MONTHS = {
    name: number
    for number, names in enumerate(
        re.findall(
            r"[^,]+",
            "january jan,february feb,march mar,april apr,may,june jun,july jul,august aug,"
            "september sep sept,october oct,november nov,december dec",
        ),
        1,
    )
    for name in names.split()
}
# How a column may write its dates: a pattern of its values, and how a day is written.
FORMATS = {
    "iso": (r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d.*)?", "{y:04}-{m:02}-{d:02}"),
    "month": (r"\d{4}-\d\d", "{y:04}-{m:02}"),
    "dmy": (r"\d\d?/\d\d?/\d{4}.*", "{d:02}/{m:02}/{y:04}"),
    "dots": (r"\d\d?\.\d\d?\.\d{4}.*", "{d:02}.{m:02}.{y:04}"),
    "ymd": (r"(1[6-9]|20)\d\d(0[1-9]|1[0-2])[0-3]\d", "{y:04}{m:02}{d:02}"),
    "slashes": (r"\d{4}/\d\d/\d\d.*", "{y:04}/{m:02}/{d:02}"),
    "year": (r"(1[6-9]|20)\d\d", "{y:04}"),
}
_SORTED = {"iso", "ymd", "slashes", "month"}  # formats whose order as text is that in time


@dataclass(frozen=True, slots=True)
class When:
    """A time that a question names: a year, a month, a day, or several years."""

    first: int
    end: int
    year: int = 0
    month: int = 0
    day: int = 0
    last_year: int = 0  # of a decade


def part_of_date(column: int, dates: str, part: str) -> Pieces:
    """The year (y), month (m) or day (d) of a column's dates, as text."""
    if dates == "year" and part == "y":
        return (column,)
    if dates in {"iso", "year", ""}:
        return (f"STRFTIME('%{part.replace('y', 'Y')}', ", column, ")")
    written = FORMATS[dates][1].format(y=1111, m=22, d=33)  # shows where each part stands
    digits = {"y": "1111", "m": "22", "d": "33"}[part]
    return ("SUBSTR(", column, f", {written.find(digits) + 1}, {len(digits)})")


def sortable(column: int, dates: str) -> Pieces:
    """What orders a column's dates in time."""
    if dates not in {"dmy", "dots"}:
        return (column,)
    year, month, day = (part_of_date(column, dates, part) for part in "ymd")
    return (*year, " || ", *month, " || ", *day)


def times(question: Sequence[Token]) -> list[When]:
    """The times that a question names."""
    found: list[When] = []
    for place in range(len(question)):
        if (not found or place >= found[-1].end) and (when := _time_at(question, place)):
            found.append(when)
    return found


def _time_at(question: Sequence[Token], place: int) -> When | None:
    token = question[place]
    low = token.low
    if m := re.fullmatch(r"(\d{4})-(\d\d)(?:-(\d\d))?", low):
        return When(place, place + 1, int(m[1]), int(m[2]), int(m[3] or 0))
    if m := re.fullmatch(r"(\d\d?)[/.](\d\d?)[/.](\d{4})", low):
        return When(place, place + 1, int(m[3]), int(m[2]), int(m[1]))
    if m := re.fullmatch(r"((?:1[6-9]|20)\d)0s", low):
        return When(place, place + 1, int(m[1] + "0"), last_year=int(m[1] + "9"))
    nexts = [t.low for t in question[place + 1 : place + 5]] + [""] * 4
    if low in _MONTHS and (token.text[0].isupper() or low not in {"may", "march", "mar", "sep"}):
        skip = 1 + (nexts[1] in {",", "of"})
        if (day := _day(nexts[0])) and (year := _year(nexts[skip])):
            return When(place, place + skip + 2, year, _MONTHS[low], day)
        skip = nexts[0] in {",", "of"}
        year = _year(nexts[skip])
        return When(place, place + 1 + (1 + skip) * bool(year), year, _MONTHS[low])
    if day := _day(low):
        skip = nexts[0] == "of"
        after = 1 + skip + (nexts[skip + 1] == ",")
        if (month := _MONTHS.get(nexts[skip])) and (year := _year(nexts[after])):
            return When(place, place + after + 2, year, month, day)
    year = _year(low)
    return When(place, place + 1, year) if year else None


def _year(word: str) -> int:
    return int(word) if re.fullmatch(r"(1[6-9]|20)\d\d", word) else 0


def _day(word: str) -> int:
    match = re.fullmatch(r"([12]?\d|3[01])(st|nd|rd|th)?", word)
    return int(match[1]) if match else 0


def conditions(
    column: int, dates: str, when: When, sign: str, until: When | None = None
) -> Iterator[tuple[str, Pieces]]:
    """The tests that a time may stand for on a column, each with a name for its form."""
    quote = "" if dates == "year" else "'"  # years are numbers, parts of dates are text
    year = f"{quote}{when.year}{quote}"
    last = until.year if until else when.last_year
    if last and not when.month and not (until and until.month):
        part = part_of_date(column, dates, "y")
        yield "years", (*part, f" BETWEEN {year} AND {quote}{last}{quote}")
    elif until:
        if until.year and dates in _SORTED:
            low, high = _written(dates, when), _written(dates, until, end=True)
            yield "days", (column, f" BETWEEN '{low}' AND '{high}'")
    elif when.day and sign == "=":
        day = _written(dates, when)
        yield "day", (column, f" = '{day}'")
        if dates == "iso":
            yield "day_time", (column, f" LIKE '{day}%'")
    elif when.day:
        day = _written(dates if dates in _SORTED else "ymd", when)
        yield "days", (*sortable(column, dates), f" {sign} '{day}'")
    elif when.month and not when.year:
        yield "month", (*part_of_date(column, dates, "m"), f" = '{when.month:02}'")
    elif when.month and sign == "=":
        text = _written(dates, when)  # the first of the month; its day is cut off
        month = (
            f"%{text[2:]}" if dates in {"dmy", "dots"} else f"{text[: 6 if dates == 'ymd' else 7]}%"
        )
        yield "month", (column, f" LIKE '{month}'")
    elif when.month:
        if dates in _SORTED:
            edge = _written(dates, when, end=sign in {">", "<="})
            yield "months", (column, f" {sign} '{edge}'")
    else:
        yield "year", (*part_of_date(column, dates, "y"), f" {sign} {year}")


def _written(dates: str, when: When, *, end: bool = False) -> str:
    """A day as the column writes it; of a month or a year the first day or the last."""
    month = when.month or (12 if end else 1)
    last = 31 if month == 12 else (date(when.year, month + 1, 1) - date(when.year, month, 1)).days
    day = when.day or (last if end else 1)
    return FORMATS[dates][1].format(y=when.year, m=month, d=day)
