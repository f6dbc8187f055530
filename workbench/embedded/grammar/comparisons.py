"""Tests that compare a column with a number, a time or an average."""

from collections.abc import Iterator

from workbench.db.text.quoting import quote
from workbench.embedded.linking.dates import When, conditions
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
            seen = number in field.examples
            mention, gap = reading.nearest(field.id, i, i + 1)
            numeric = field.kind in {"number", "flag"}
            if not (seen or (numeric and mention and gap <= 8)):
                continue
            strength = mention.strength if mention else 0.0
            features: Features = {
                "number": 1.0,
                "number.near": max(0.0, 1 - gap / 8) * min(1.2, strength),
                "number.next": gap == 0 and strength > 0.4,
                "number.cued": not equal,
                "number.dated": any(w.first <= i < w.end for w in reading.times),
                "number.key": bool(field.key) and not equal,
                "number.hinted": reading.hinted.get(field.id, 0.0),
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
        following = reading.times[n + 1 : n + 2] if between else []
        until = next((w for w in following if w.first - when.end <= 2), None)
        mask = span(when.first, when.end)
        if until and between:
            mask |= span(until.first, until.end) | between.mask
        elif cue:
            mask |= cue.mask
        for field in reading.made.fields:
            if not _dated(field, when):
                continue
            features: Features = {
                "time": 1.0,
                "time.near": reading.near(field.id, when.first, when.end, 10),
                "time.hinted": reading.hinted.get(field.id, 0.0),
                "time.beside": reading.beside(field.table, when.first),
            }
            dates = field.dates or "year"
            for form, pieces in conditions(field.id, dates, when, _sign(cue, reading), until):
                yield reading.part(pieces, mask, {**features, f"time.{form}": 1.0})


def _dated(field: Field, when: When) -> bool:
    yearly = field.kind == "number" and when.year and not when.month
    return bool(field.dates or (yearly and not {"year", "yr"}.isdisjoint(field.words)))


def _sign(cue: Cue | None, reading: Reading) -> str:
    if cue is None:
        return "="
    word = reading.text[cue.first].low
    if cue.kind in {"after", "atleast", "more"}:
        return ">=" if word in {"since", "from", "at", "or", "and"} else ">"
    return "<=" if cue.word in {"until", "till", "by"} or word in {"or", "and"} else "<"


def averages(reading: Reading) -> Iterator[Part]:
    """Comparisons of a column with its average."""
    for cue in reading.all_cues("more", "less"):
        than = any(t.low == "than" for t in reading.text[cue.end : cue.end + 4])
        average = reading.cue_after(cue.end, ("avg",), 5 if than else 2)
        if not average or any(t.number is not None for t in reading.text[cue.end : average.first]):
            continue
        for column in reading.linked.fields:
            field = reading.made.fields[column]
            mention, gap = reading.nearest(column, cue.first, average.end)
            if mention is None or gap > 5 or not field.measure:
                continue
            table, name = map(quote, reading.made.where(column))
            features: Features = {
                "than_avg": 1.0,
                "than_avg.near": mention.strength * (1 - gap / 6),
            }
            test = f" {_SIGNS[cue.kind]} (SELECT AVG({name}) FROM {table})"
            mask = mention.mask | span(cue.first, average.end)
            yield reading.part((column, test), mask, features)
