"""The tests that a query may make of its rows, and the sets of them that fit together.

A prompt may show values that have nothing to do with the question. So a value counts only by the part of it that the
question says, letter by letter if need be.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from workbench.embedded.link import Features, Part, Reading, lowest, union
from workbench.embedded.words import STOPWORDS, Token, said, tokens
from workbench.sql.reading import quote
from workbench.types import lower_name

_KEPT = 48  # tests looked at
_SETS = 14  # sets of tests
_SHORTEST = 0.3  # the part of a value that must be said
_SIGNS = {"more": ">", "less": "<", "atleast": ">=", "atmost": "<=", "after": ">", "before": "<"}
_YEAR = re.compile(r"(1[6-9]|20)\d\d")


class Tests:
    """Tests that hold together; those of one column's values are alternatives."""

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self.mask, self.hints = union(p.mask for p in parts), union(p.hints for p in parts)
        self.worth = sum(part.score for part in parts)
        self.fields = {i for part in parts for i in part.fields}
        self.tables = frozenset[int]().union(*(part.tables for part in parts))
        self.columns = [part.column for part in parts if part.column >= 0]


@lru_cache(maxsize=8)  # what is spoken of and the hypotheses have the same
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
    beam: list[tuple[float, tuple[Part, ...], int, int]] = [(0.0, (), 0, 0)]
    for part in parts:
        gained = part.score + sum(w for i, w in gain.items() if part.mask >> i & 1)
        beam += [
            (worth + gained, (*held, part), mask | part.mask, hints | part.hints)
            for worth, held, mask, hints in beam
            if not (mask & part.mask or hints & part.hints)
        ]
        beam = sorted(beam, key=lambda found: -found[0])[: _SETS * 3]
    return [Tests(held) for _, held, _, _ in beam[:_SETS]]


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


def _values(reading: Reading) -> Iterator[Part]:
    """Tests for the values that the prompt shows, where the question seems to say them."""
    compared = {
        token.low
        for i, token in enumerate(reading.text)
        if token.number is not None and reading.cue_before(i, (*_SIGNS, "between"), 1)
    }
    shown = {  # and whether retrieval found them
        (field.id, value): False
        for field in reading.made.fields
        if field.kind == "text"
        for value in field.examples
        if not _is_number(value)
    }
    for match in reading.context.values:
        for column in reading.made.named.get(lower_name(match.column), ()):
            if match.table in {"", reading.made.where(column)[0]}:
                shown[column, match.value] = True
    for (column, value), given in shown.items():
        field, number = reading.made.fields[column], _is_number(value)
        mask, fit, exact = _said(value, reading.context.question.text)
        if fit < _SHORTEST:
            continue
        words = [t for i, t in enumerate(reading.text) if mask >> i & 1]
        empty = all(t.low in STOPWORDS for t in words)
        if (empty and fit < 0.99) or (number and value in compared):
            continue
        features = {
            "value": 1.0,
            "value.given": given,
            "value.fit": fit,
            "value.whole": fit > 0.99,
            "value.exact": exact,
            "value.plain": not any(t.capital or t.quoted or t.number is not None for t in words),
            "value.stop": empty,
            "value.number": number,
            "value.beside": reading.beside(field.table, lowest(mask)),
        }
        plain = field.kind == "number" and number
        written = value if plain else "'" + value.replace("'", "''") + "'"
        yield reading.part((column, f" = {written}"), mask, features, column=column)


@lru_cache(maxsize=65536)  # prompts about a question show the same values
def _said(value: str, question: str) -> tuple[int, float, float]:
    wanted = [token for token in tokens(value[:120]) if token.low[0].isalnum()]
    return said(wanted, tokens(question))


def _is_number(value: str) -> bool:
    return value.replace(".", "", 1).lstrip("-").isdigit()


def _numbers(reading: Reading) -> Iterator[Part]:
    """Comparisons of a column with each number of the question, or of its dates with a year."""
    text = reading.text
    for i, token in enumerate(text):
        if token.number is None or token.low in {"one", "once", "hundred", "thousand"}:
            continue
        number, mask = _written(token), 1 << i
        between = reading.cue_before(i, ("between",), 1)
        to = [j for j in range(i + 2, min(i + 6, len(text))) if text[j].number is not None]
        late = [c for c in reading.all_cues("atleast", "atmost") if i < c.first <= i + 2]
        cue = late[0] if late else reading.cue_before(i, _SIGNS, 1)
        test = f" = {number}"
        if between and to and any(t.low in {"and", "to"} for t in text[i : to[0]]):
            test = f" BETWEEN {number} AND {_written(text[to[0]])}"
            mask |= 1 << to[0] | between.mask
        elif cue:
            test = f" {_SIGNS[cue.kind]} {number}"
            mask |= cue.mask
        for field in reading.made.fields:
            mention, gap = reading.nearest(field.id, i, i + 1)
            numeric = field.kind == "number"
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
                "number.beside": reading.beside(field.table, i),
            }
            left = field.part("%Y") if year else (field.id,)
            plain = numeric or field.dates == "year"  # years are numbers, parts of dates are text
            right = test if plain else re.sub(r"[\d.]+", r"'\g<0>'", test)
            named = mention.mask if mention and numeric and strength > 0.5 else 0
            column = field.id if test.startswith(" = ") and not year else -1
            yield reading.part((*left, right), mask | named, features, column=column)


def _written(token: Token) -> str:
    """A number of the question as SQL writes it."""
    return token.low.replace(",", "") if token.low[0].isdigit() else f"{token.number:g}"
