"""Tests that compare a column with a number or a time."""

from collections.abc import Iterator

from workbench.embedded.linking.dates import When, condition
from workbench.embedded.linking.index import Field
from workbench.embedded.linking.reading import Features, Part, Reading, span
from workbench.english.lexicon import Cue

_SIGNS = {"more": ">", "less": "<", "atleast": ">=", "atmost": "<=", "after": ">", "before": "<"}
_THOUSANDS = {"thousand": 1_000, "million": 1_000_000}
_TRAILING = {"more", "less", "higher", "above", "over", "fewer", "below", "greater"}  # "5 or more"
_ADVERBS = {"later", "onwards", "earlier", "after", "before"}


def numbers(reading: Reading) -> Iterator[Part]:
    """Comparisons of a column with a number."""
    text = reading.text
    for i, token in enumerate(text):
        if token.number is None or token.low in {"one", "once", "hundred", "thousand"}:
            continue
        number = _written(reading, i)
        after = reading.cue_after(i, ("atleast", "atmost"), 2)
        trailing = after if after and after.word in _TRAILING else None
        cue = trailing or reading.cue_before(i, tuple(_SIGNS), 1)
        between = reading.cue_before(i, ("between",), 1)
        to = [j for j in range(i + 2, min(i + 6, len(text))) if text[j].number is not None]
        if between and to and any(t.low in {"and", "to"} for t in text[i : to[0]]):
            test = f" BETWEEN {number} AND {_written(reading, to[0])}"
            mask = 1 << i | 1 << to[0] | between.mask
        else:
            test = f" {_SIGNS[cue.kind] if cue else '='} {number}"
            mask = 1 << i | (cue.mask if cue else 0)
        equal = test.startswith(" = ")
        for field in reading.made.fields:
            mention, gap = reading.nearest(field.id, i, i + 1)
            numeric = field.kind in {"number", "flag"}
            if number not in field.examples and not (numeric and mention and gap <= 8):
                continue
            strength = mention.strength if mention else 0.0
            features: Features = {
                "number": 1.0,
                "number.near": max(0.0, 1 - gap / 8) * min(1.2, strength),
                "number.next": gap == 0 and strength > 0.4,
                "number.cued": not equal,
                "number.dated": any(w.first <= i < w.end for w in reading.times),
                "number.key": bool(field.key) and not equal,
                "number.table": reading.said.get(field.table, 0.0),
            }
            pieces = (field.id, test if numeric else test.replace(number, f"'{number}'"))
            named = numeric and mention and strength > 0.5 and not mention.measured
            covered = mask | mention.mask if mention and named else mask
            column = field.id if equal else -1
            yield reading.part(pieces, covered, features, column=column, value=number * equal)


def _written(reading: Reading, index: int) -> str:
    """The number at an index of the question, as SQL writes it."""
    token = reading.text[index]
    number = token.low.replace(",", "") if token.low[0].isdigit() else f"{token.number:g}"
    following = reading.text[index + 1].low if index + 1 < len(reading.text) else ""
    return str(int(float(number) * _THOUSANDS[following])) if following in _THOUSANDS else number


def times(reading: Reading) -> Iterator[Part]:
    """Comparisons of a column's dates with a time."""
    for n, when in enumerate(reading.times):
        cue = reading.cue_before(when.first, ("after", "before", "atleast", "more", "less"), 1)
        later = reading.cue_after(when.end, ("after", "atleast", "before"), 1)
        if not cue and later and later.word in _ADVERBS and later.end - later.first <= 2:
            cue = later
        between = reading.cue_before(when.first, ("between",), 1)
        until = next(iter(reading.times[n + 1 : n + 2]), None) if between else None
        mask = span(when.first, when.end)
        if until and between and until.first - when.end <= 2:
            mask |= span(until.first, until.end) | between.mask
        else:
            until = None
            mask |= cue.mask if cue else 0
        for field in reading.made.fields:
            pieces = condition(field.id, field.dates or "year", when, _sign(cue, reading), until)
            if pieces and _dated(field, when):
                features: Features = {
                    "time": 1.0,
                    "time.beside": reading.beside(field.table, when.first),
                    "time.near": reading.near(field.id, when.first, when.end, 10),
                }
                yield reading.part(pieces, mask, features)


def _dated(field: Field, when: When) -> bool:
    yearly = field.kind == "number" and len(when.iso) == len("2021")
    return bool(field.dates or (yearly and not {"year", "yr"}.isdisjoint(field.words)))


def _sign(cue: Cue | None, reading: Reading) -> str:
    if cue is None:
        return "="
    word = reading.text[cue.first].low
    if cue.kind in {"after", "atleast", "more"}:
        return ">=" if word in {"since", "from", "at", "or", "and"} else ">"
    return "<=" if cue.word in {"until", "till", "by"} or word in {"or", "and"} else "<"
