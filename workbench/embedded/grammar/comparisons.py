"""Tests that compare a column with a number, or its dates with a year."""

import re
from collections.abc import Iterator

from workbench.embedded.linking.index import part_of_date
from workbench.embedded.linking.reading import Features, Part, Reading
from workbench.english.lexicon import Cue

_SIGNS = {"more": ">", "less": "<", "atleast": ">=", "atmost": "<=", "after": ">", "before": "<"}
_WITH = {"since": ">=", "from": ">=", "later": ">=", "onwards": ">="}  # "in 2010 or later"
_WITH |= {"until": "<=", "till": "<=", "by": "<=", "earlier": "<="}
_THOUSANDS = {"thousand": 1_000, "million": 1_000_000}
_TRAILING = {"more", "less", "higher", "above", "over", "fewer", "below", "greater"}  # "5 or more"
_YEAR = re.compile(r"(1[6-9]|20)\d\d")


def numbers(reading: Reading) -> Iterator[Part]:
    """Comparisons of a column with each number of the question."""
    text = reading.text
    for i, token in enumerate(text):
        if token.number is None or token.low in {"one", "once", "hundred", "thousand"}:
            continue
        number = _written(reading, i)
        cue = _cue(reading, i)
        between = reading.cue_before(i, ("between",), 1)
        to = [j for j in range(i + 2, min(i + 6, len(text))) if text[j].number is not None]
        if between and to and any(t.low in {"and", "to"} for t in text[i : to[0]]):
            test = f" BETWEEN {number} AND {_written(reading, to[0])}"
            mask = 1 << i | 1 << to[0] | between.mask
        else:
            sign = _WITH.get(cue.word, _SIGNS[cue.kind]) if cue else "="
            test = f" {sign} {number}"
            mask = 1 << i | (cue.mask if cue else 0)
        equal = test.startswith(" = ")
        for field in reading.made.fields:
            mention, gap = reading.nearest(field.id, i, i + 1)
            numeric = field.kind in {"number", "flag"}
            year = _YEAR.fullmatch(number) and (field.dates or {"year", "yr"} & {*field.words})
            if not (year or number in field.examples or (numeric and mention and gap <= 8)):
                continue
            strength = mention.strength if mention else 0.0
            features: Features = {
                "number": 1.0,
                "number.near": max(0.0, 1 - gap / 8) * min(1.2, strength),
                "number.next": gap == 0 and strength > 0.4,
                "number.year": bool(year),
                "number.date": field.kind == "date",
                "number.table": reading.said.get(field.table, 0.0),
                "number.beside": reading.beside(field.table, i),
            }
            left = part_of_date(field, "%Y") if year else (field.id,)
            plain = numeric or field.dates == "year"  # years are numbers, parts of dates are text
            right = test if plain else re.sub(r"[\d.]+", r"'\g<0>'", test)
            named = numeric and mention and strength > 0.5 and not mention.measured
            covered = mask | mention.mask if mention and named else mask
            column = field.id if equal and not year else -1
            value = number if column >= 0 else ""
            yield reading.part((*left, right), covered, features, column=column, value=value)


def _cue(reading: Reading, place: int) -> Cue | None:
    """The words that compare with the number at this place: those after it, or else before it."""
    after = reading.cue_after(place, ("atleast", "atmost", "after", "before"), 2)
    if after and after.word in _TRAILING | _WITH.keys():
        return after
    return reading.cue_before(place, tuple(_SIGNS), 1)


def _written(reading: Reading, index: int) -> str:
    """The number at an index of the question, as SQL writes it."""
    token = reading.text[index]
    number = token.low.replace(",", "") if token.low[0].isdigit() else f"{token.number:g}"
    following = reading.text[index + 1].low if index + 1 < len(reading.text) else ""
    return str(int(float(number) * _THOUSANDS[following])) if following in _THOUSANDS else number
