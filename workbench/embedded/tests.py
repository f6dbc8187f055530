"""The tests that a query may make of its rows, and the sets of them that fit together.

A prompt may show values that have nothing to do with the question. So a value counts only by the part of it that the
question says, letter by letter if need be.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from workbench.embedded.index import Field
from workbench.embedded.link import Features, Part, Reading, lowest, union
from workbench.embedded.words import STOPWORDS, WORDS, Token, alike, tokens
from workbench.sql.schema_text import quote
from workbench.types import lower_name

_KEPT = 48  # tests looked at
_SETS = 14  # sets of tests
_SHORTEST = 0.3  # the part of a value that must be said
_SIGNS = {"more": ">", "less": "<", "atleast": ">=", "atmost": "<=", "after": ">", "before": "<"}
_WITH = {"since": ">=", "from": ">=", "later": ">=", "onwards": ">="}  # "in 2010 or later"
_WITH |= {"until": "<=", "till": "<=", "by": "<=", "earlier": "<="}
_THOUSANDS = {"thousand": 1_000, "million": 1_000_000}
_YEAR = re.compile(r"(1[6-9]|20)\d\d")


@dataclass
class Tests:
    """Tests that hold together; those of one column's values are alternatives."""

    parts: tuple[Part, ...] = ()
    mask: int = 0
    hints: int = 0
    worth: float = 0.0  # the sum of their scores
    gained: float = 0.0  # the same, with what it is worth to explain their tokens

    @cached_property
    def fields(self) -> frozenset[int]:
        return frozenset(i for part in self.parts for i in part.fields)

    @cached_property
    def tables(self) -> frozenset[int]:
        return frozenset().union(*(part.tables for part in self.parts))

    @cached_property
    def columns(self) -> tuple[int, ...]:
        return tuple(part.column for part in self.parts if part.column >= 0)


def tests(reading: Reading) -> list[Part]:
    """The tests worth trying, the best first."""
    makers = (_hinted, _values, _numbers, _without)
    found = sorted((p for make in makers for p in make(reading)), key=lambda p: p.score)
    best = {part.pieces: part for part in found}
    return sorted(best.values(), key=lambda p: (-p.score, p.first, str(p.pieces)))[:_KEPT]


def sets(parts: list[Part], gain: Mapping[int, float]) -> list[Tests]:
    """The best sets of tests, of which no two use the same words or the same clause of the hint.

    A beam search: each test is added to each of the best sets so far, or not. `gain` is what it is worth
    to explain a token; without it the empty set would win over tests that cost a little.
    """
    beam = [Tests()]
    for part in parts:
        gained = part.score + sum(w for i, w in gain.items() if part.mask >> i & 1)
        for tests in list(beam):
            if not (tests.mask & part.mask or tests.hints & part.hints):
                together, worth = (*tests.parts, part), tests.worth + part.score
                mask, hints = tests.mask | part.mask, tests.hints | part.hints
                beam.append(Tests(together, mask, hints, worth, tests.gained + gained))
        beam = sorted(beam, key=lambda t: -t.gained)[: _SETS * 3]
    return beam[:_SETS]


def _hinted(reading: Reading) -> Iterator[Part]:
    """Tests that the hint spells out."""
    for clause in reading.definitions:
        for formula in (f for f in clause.formulas if f.kind == "test" and f.fields):
            text = "".join(p for p in formula.pieces if isinstance(p, str))
            shown = (v for i in formula.fields for v in reading.made.fields[i].examples)
            known = len(clause.formulas) > 1 and any(f"'{value}'" in text for value in shown)
            equal = len(formula.pieces) == 2 and str(formula.pieces[1]).startswith(" = ")
            column, hints = formula.fields[0] if equal else -1, 1 << clause.number
            features = {"hint": 1.0, "hint.known": known}
            yield reading.part(formula.pieces, clause.mask, features, hints=hints, column=column)


def _without(reading: Reading) -> Iterator[Part]:
    """Tests that no row of a table that is spoken of refers to this one: "pilots without a licence"."""
    for edge in reading.made.keys:
        for mention in reading.tables.get(edge.child, ())[:2]:
            cue = reading.cue_before(mention.first, ("not",), 5)
            if cue and mention.strength >= 0.4 and len(edge.pairs) == 1:
                features = {"without": 1.0, "without.parent": reading.said.get(edge.parent, 0.0)}
                ((source, target),) = edge.pairs
                table, column = map(quote, reading.made.where(source))
                test = (target, f" NOT IN (SELECT {column} FROM {table})")
                yield reading.part(test, mention.mask | cue.mask, features)


def _values(reading: Reading) -> list[Part]:
    """Tests for the values that the prompt shows, where the question seems to say them."""
    places: dict[str, list[int]] = {}
    for i, token in enumerate(reading.text):
        places.setdefault(token.low, []).append(i)
    compared = {
        token.low
        for i, token in enumerate(reading.text)
        if token.number is not None and reading.cue_before(i, (*_SIGNS, "between"), 1)
    }
    shown = {  # and whether retrieval found them
        (field.id, value): False
        for field in reading.made.fields
        if field.kind in {"text", "flag"}
        for value in field.examples
        if not _is_number(value)
    }
    for match in reading.context.values:
        column = reading.made.by_name.get((lower_name(match.table), lower_name(match.column)))
        shown |= {(column, match.value): True} if column is not None else {}
    aligned = {value: _align(value, reading.text, places) for _, value in shown}
    found = []
    for (column, value), given in shown.items():
        if (fit := aligned[value]) and not (_is_number(value) and value in compared):
            found.append(_value(reading, reading.made.fields[column], value, given, *fit))
    for part in found:  # a value is worse than a rival for the same words that fits better
        rivals = [other for other in found if other.mask & part.mask]
        best = max(other.features["value.fit"] for other in rivals)
        part.features["value.worse"] = best - part.features["value.fit"]
        inside = (o.mask & part.mask == part.mask != o.mask for o in rivals)
        part.features["value.inside"] = any(inside)
        part.score = reading.score(part.features)
    return found


def _value(
    reading: Reading, field: Field, value: str, given: bool, mask: int, fit: float, exact: float
) -> Part:
    words = [t for i, t in enumerate(reading.text) if mask >> i & 1]
    named, tables = (
        union(m.mask for m in some if m.whole)
        for some in (reading.fields.get(field.id, ()), chain.from_iterable(reading.tables.values()))
    )
    cased = all(t.text in value for t in words) and any(t.text[0].isupper() for t in words)
    features = {
        "value": 1.0,
        "value.given": given,
        "value.fit": fit,
        "value.whole": fit > 0.99,
        "value.exact": exact,
        "value.case": cased,
        "value.plain": not any(t.capital or t.quoted or t.number is not None for t in words),
        "value.stop": all(t.low in STOPWORDS for t in words),
        "value.number": _is_number(value),
        "value.is_table": bool(tables & mask),
        "value.is_column": bool(named & mask),
        "value.beside": reading.beside(field.table, lowest(mask)),
    }
    plain = field.kind == "number" and _is_number(value)
    written = value if plain else "'" + value.replace("'", "''") + "'"
    return reading.part((field.id, f" = {written}"), mask, features, column=field.id)


def _align(
    value: str, text: tuple[Token, ...], places: Mapping[str, list[int]]
) -> tuple[int, float, float] | None:
    """The tokens that say a value, the part of it that they say, and how literally."""
    wanted = [t for t in tokens(value) if t.low[0].isalnum()] if len(value) <= 120 else []
    hits: list[list[tuple[int, float]]] = []  # where each word is said, and how alike it is written
    for token in wanted:
        hits.append([(i, 1.0) for i in places.get(token.low, ())])
        if not hits[-1] and token.number is None and token.low not in STOPWORDS:
            likeness = ((at, alike(text[at[0]].stem, token.stem)) for at in places.values())
            like = ((at, how) for at, how in likeness if how >= 0.7)
            hits[-1] = [
                (i, 0.9 * how) for at, how in like for i in at if text[i].low not in STOPWORDS
            ]
    if not any(hits):
        return None
    weights = [0.3 if t.low in STOPWORDS else min(8, 1 + len(t.low)) / 8 for t in wanted]
    total = sum(weights)
    best: tuple[float, float, int] = (0.0, 0.0, 0)
    for anchor, _ in min((h for h in hits if h), key=len)[:4]:
        mask, said, literal, at = 0, 0.0, 0.0, -1
        for options, weight in zip(hits, weights, strict=True):
            near = [(abs(i - anchor), i, how) for i, how in options if not mask >> i & 1]
            if near and min(near)[0] <= len(wanted) + 2:
                _, i, how = min(near)
                mask |= 1 << i
                said += weight * how
                literal += weight * (how == 1.0 and (at < 0 or i == at + 1))
                at = i
        best = max(best, (said / total, literal / total, mask))
    fit, exact, mask = best
    empty = all(t.low in STOPWORDS for i, t in enumerate(text) if mask >> i & 1)
    return None if fit < _SHORTEST or (empty and fit < 0.99) else (mask, fit, exact)


def _is_number(value: str) -> bool:
    return value.replace(".", "", 1).lstrip("-").isdigit()


def _numbers(reading: Reading) -> Iterator[Part]:
    """Comparisons of a column with each number of the question, or of its dates with a year."""
    text = reading.text
    for i, token in enumerate(text):
        if token.number is None or token.low in {"one", "once", "hundred", "thousand"}:
            continue
        number, mask = _written(reading, i), 1 << i
        between = reading.cue_before(i, ("between",), 1)
        to = [j for j in range(i + 2, min(i + 6, len(text))) if text[j].number is not None]
        late = (c for c in reading.all_cues("atleast", "atmost", "after", "before") if c.first > i)
        near = (c for c in late if c.first <= i + 2 and c.word in WORDS["trailing"] | _WITH.keys())
        cue = next(near, None) or reading.cue_before(i, _SIGNS, 1)
        test = f" = {number}"
        if between and to and any(t.low in {"and", "to"} for t in text[i : to[0]]):
            test = f" BETWEEN {number} AND {_written(reading, to[0])}"
            mask |= 1 << to[0] | between.mask
        elif cue:
            test = f" {_WITH.get(cue.word, _SIGNS[cue.kind])} {number}"
            mask |= cue.mask
        for field in reading.made.fields:
            mention, gap = reading.nearest(field.id, i, i + 1)
            numeric = field.kind in {"number", "flag"}
            dated = field.dates or {"year", "yr"} & {*field.words}
            year = bool(_YEAR.fullmatch(number) and dated)
            if not (year or number in field.examples or (numeric and mention and gap <= 8)):
                continue
            strength = mention.strength if mention else 0.0
            features: Features = {
                "number": 1.0,
                "number.near": max(0.0, 1 - gap / 8) * min(1.2, strength),
                "number.next": gap == 0 and strength > 0.4,
                "number.year": year,
                "number.date": field.kind == "date",
                "number.table": reading.said.get(field.table, 0.0),
                "number.beside": reading.beside(field.table, i),
            }
            left = field.part("%Y") if year else (field.id,)
            plain = numeric or field.dates == "year"  # years are numbers, parts of dates are text
            right = test if plain else re.sub(r"[\d.]+", r"'\g<0>'", test)
            named = mention.mask if mention and numeric and strength > 0.5 else 0
            column = field.id if test.startswith(" = ") and not year else -1
            yield reading.part((*left, right), mask | named, features, column=column)


def _written(reading: Reading, place: int) -> str:
    """The number at a place of the question, as SQL writes it."""
    token = reading.text[place]
    number = token.low.replace(",", "") if token.low[0].isdigit() else f"{token.number:g}"
    following = reading.text[place + 1].low if place + 1 < len(reading.text) else ""
    return str(int(float(number) * _THOUSANDS[following])) if following in _THOUSANDS else number
