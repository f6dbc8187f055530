"""Dates as columns spell them and as questions say them, and the SQL that brings both together."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from workbench.embedded.words import Token

_MONTHS = {
    name: number
    for number, names in enumerate(
        [
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ],
        1,
    )
    for name in names.split()
}
# Where year, month and day stand in a date of each format, as SUBSTR counts.
_PLACES = {
    "dmy": {"Y": (7, 4), "m": (4, 2), "d": (1, 2)},
    "dots": {"Y": (7, 4), "m": (4, 2), "d": (1, 2)},
    "ymd": {"Y": (1, 4), "m": (5, 2), "d": (7, 2)},
    "slashes": {"Y": (1, 4), "m": (6, 2), "d": (9, 2)},
    "month": {"Y": (1, 4), "m": (6, 2)},
}
_WRITTEN = {
    "iso": "{y:04}-{m:02}-{d:02}", "slashes": "{y:04}/{m:02}/{d:02}", "ymd": "{y:04}{m:02}{d:02}",
    "dmy": "{d:02}/{m:02}/{y:04}", "dots": "{d:02}.{m:02}.{y:04}", "month": "{y:04}-{m:02}", "year": "{y:04}"
}  # fmt: skip
Pieces = tuple[str | int, ...]


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
    """The year (Y), month (m) or day (d) of a column's dates, as text."""
    if dates == "year" and part == "Y":
        return (column,)
    if places := _PLACES.get(dates, {}).get(part):
        return ("SUBSTR(", column, f", {places[0]}, {places[1]})")
    return (f"STRFTIME('%{part}', ", column, ")")


def sortable(column: int, dates: str) -> Pieces:
    """What orders a column's dates in time."""
    if dates not in {"dmy", "dots"}:
        return (column,)
    one, two, three = (
        ("SUBSTR(", column, ", 7, 4)"),
        ("SUBSTR(", column, ", 4, 2)"),
        ("SUBSTR(", column, ", 1, 2)"),
    )
    return (*one, " || ", *two, " || ", *three)


def times(question: Sequence[Token]) -> list[When]:
    """The times that a question names."""
    found: list[When] = []
    place = 0
    while place < len(question):
        when = _time_at(question, place)
        if when:
            found.append(when)
        place = when.end if when else place + 1
    return found


def _time_at(question: Sequence[Token], place: int) -> When | None:
    token = question[place]
    low = token.low
    if m := re.fullmatch(r"(\d{4})-(\d\d)(?:-(\d\d))?", low):
        return When(place, place + 1, int(m[1]), int(m[2]), int(m[3] or 0))
    if m := re.fullmatch(r"(\d\d?)[/.](\d\d?)[/.](\d{4})", low):
        return When(place, place + 1, int(m[3]), int(m[2]), int(m[1]))
    if m := re.fullmatch(r"(1[6-9]|20)(\d)0s", low):
        return When(place, place + 1, int(m[1] + m[2] + "0"), last_year=int(m[1] + m[2] + "9"))
    nexts = [t.low for t in question[place + 1 : place + 5]] + [""] * 4
    if low in _MONTHS and (token.text[0].isupper() or low not in {"may", "march", "mar", "sep"}):
        day = re.fullmatch(r"(\d\d?)(st|nd|rd|th)?", nexts[0])
        after = 2 if nexts[1] in {",", "of"} else 1
        if day and int(day[1]) <= 31 and _year(nexts[after]):
            return When(place, place + after + 2, int(nexts[after]), _MONTHS[low], int(day[1]))
        skip = nexts[0] in {",", "of"}
        if year := _year(nexts[skip]):
            return When(place, place + 2 + skip, year, _MONTHS[low])
        return When(place, place + 1, 0, _MONTHS[low])
    if (day := re.fullmatch(r"(\d\d?)(st|nd|rd|th)?", low)) and 0 < int(day[1]) <= 31:
        skip = nexts[0] == "of"
        if month := _MONTHS.get(nexts[skip]):
            more = 1 + skip + (nexts[skip + 1] == ",")
            if year := _year(nexts[more]):
                return When(place, place + more + 2, year, month, int(day[1]))
    if year := _year(low):
        return When(place, place + 1, year)
    return None


def _year(word: str) -> int:
    return int(word) if re.fullmatch(r"(1[6-9]|20)\d\d", word) else 0


def conditions(
    column: int, dates: str, when: When, sign: str, until: When | None = None
) -> Iterator[tuple[str, Pieces]]:
    """The tests that a time may stand for on a column, each with a name for its form."""
    year = f"'{when.year}'" if dates != "year" else str(when.year)
    part = part_of_date(column, dates, "Y") if dates != "" else (column,)
    if until and until.year:
        if not when.month and not until.month:
            last = f"'{until.year}'" if dates != "year" else str(until.year)
            yield "years", (*part, f" BETWEEN {year} AND {last}")
        elif dates in {"iso", "ymd", "slashes", "month"}:
            low, high = written(dates, when), written(dates, until, end=True)
            yield "days", (column, f" BETWEEN '{low}' AND '{high}'")
        return
    if when.last_year:
        last = f"'{when.last_year}'" if dates != "year" else str(when.last_year)
        yield "years", (*part, f" BETWEEN {year} AND {last}")
    elif when.day:
        day = written(dates, when)
        if sign == "=":
            yield "day", (column, f" = '{day}'")
            if dates == "iso":
                yield "day_time", (column, f" LIKE '{day}%'")
        else:
            yield (
                "days",
                (
                    *sortable(column, dates),
                    f" {sign} '{written('ymd' if dates in {'dmy', 'dots'} else dates, when)}'",
                ),
            )
    elif when.month:
        if not when.year:
            yield "month", (*part_of_date(column, dates, "m"), f" = '{when.month:02}'")
        elif sign == "=":
            text = {
                "dmy": f"%/{when.month:02}/{when.year}",
                "dots": f"%.{when.month:02}.{when.year}",
            }.get(
                dates,
                written(dates, When(0, 0, when.year, when.month, 0))[: 6 if dates == "ymd" else 7]
                + "%",
            )
            yield "month", (column, f" LIKE '{text}'")
        elif dates in {"iso", "ymd", "slashes", "month"}:
            edge = written(dates, when, end=sign in {">", "<="})
            yield "months", (column, f" {sign} '{edge}'")
    else:
        yield "year", (*part, f" {sign} {year}")


def written(dates: str, when: When, end: bool = False) -> str:
    """A day as the column writes it; of a month or a year the first day or the last."""
    month = when.month or (12 if end else 1)
    last = 31 if month == 12 else (date(when.year, month + 1, 1) - date(when.year, month, 1)).days
    day = when.day or (last if end else 1)
    return _WRITTEN.get(dates, _WRITTEN["iso"]).format(y=when.year, m=month, d=day)
