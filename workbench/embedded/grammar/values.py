"""Tests that a column equals a value that the prompt shows, or a code that a description explains.

A prompt may show values that have nothing to do with the question. So a value counts only by the part of
it that the question says, letter by letter if need be.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from workbench.embedded.linking.reading import Features, Part, Reading
from workbench.english.words import STOPWORDS, Token, alike, tokens
from workbench.types import lower_name

_SHORTEST = 0.3  # the part of a value that must be said
_ALIKE = 0.7  # from which a word of the question may be a word of a value
_BEFORE_NUMBERS = ("more", "less", "atleast", "atmost", "after", "before", "between")
_Places = Mapping[str, list[int]]  # where each word of the question stands


def value_tests(reading: Reading) -> list[Part]:
    """Tests for the values that the prompt shows, where the question seems to say them."""
    places: dict[str, list[int]] = {}
    for i, token in enumerate(reading.text):
        places.setdefault(token.low, []).append(i)
    compared = {
        token.low
        for i, token in enumerate(reading.text)
        if token.number is not None and reading.cue_before(i, _BEFORE_NUMBERS, 1)
    }
    shown = _shown(reading)
    aligned = {value: _align(value, reading.text, places) for value in {v for _, v in shown}}
    found = []
    for (column, value), given in shown.items():
        if (fit := aligned[value]) and not (_is_number(value) and value in compared):
            found.append(_value_test(reading, column, value, given, *fit))
    for part in found:  # a value is worse than a rival for the same words that fits better
        rivals = [other for other in found if other.mask & part.mask]
        best = max(other.features["value.fit"] for other in rivals)
        part.features["value.worse"] = best - part.features["value.fit"]
        part.features["value.inside"] = any(
            other.mask & part.mask == part.mask != other.mask for other in rivals
        )
        part.score = reading.score(part.features)
    return found


def _shown(reading: Reading) -> dict[tuple[int, str], bool]:
    """The columns and values that the prompt shows, and whether retrieval found them."""
    made = reading.made
    shown = {
        (field.id, value): False
        for field in made.fields
        if field.kind in {"text", "flag"}
        for value in field.examples
        if not _is_number(value)
    }
    for match in reading.context.values:
        column = made.by_name.get((lower_name(match.table), lower_name(match.column)))
        if column is not None:
            shown[column, match.value] = True
    return shown


def _value_test(
    reading: Reading, column: int, value: str, given: bool, mask: int, fit: float, exact: float
) -> Part:
    table = reading.made.fields[column].table
    words = [t for i, t in enumerate(reading.text) if mask >> i & 1]
    first = (mask & -mask).bit_length() - 1
    same = all(t.text in value for t in words)
    named = [m for m in reading.linked.fields.get(column, ()) if m.whole]
    features = {
        "value": 1.0,
        "value.given": given,
        "value.fit": fit,
        "value.whole": fit > 0.99,
        "value.exact": exact,
        "value.case": same and any(t.text[0].isupper() for t in words),
        "value.plain": not any(t.capital or t.quoted or t.number is not None for t in words),
        "value.stop": all(t.low in STOPWORDS for t in words),
        "value.number": _is_number(value),
        "value.is_table": bool(reading.whole_tables & mask),
        "value.hinted": reading.hinted.get(column, 0.0),
        "value.beside": reading.beside(table, first),
        "value.is_column": any(mention.mask & mask for mention in named),
    }
    return _equals(reading, column, value, mask, features)


def _equals(reading: Reading, column: int, value: str, mask: int, features: Features) -> Part:
    """The test that a column equals a value, which is in quotes but for a number in a column of numbers."""
    plain = reading.made.fields[column].kind == "number" and _is_number(value)
    written = value if plain else "'" + value.replace("'", "''") + "'"
    return reading.part((column, f" = {written}"), mask, features, value=value, column=column)


def _align(value: str, text: Sequence[Token], places: _Places) -> tuple[int, float, float] | None:
    """The tokens that say a value, the part of it that they say, and how literally."""
    wanted = [t for t in tokens(value) if t.low[0].isalnum()]
    if not wanted or len(value) > 120:
        return None
    hits = [_hits(t, text, places) for t in wanted]
    if not any(hits):
        return None
    rarest = min((h for h in hits if h), key=len)
    weights = [0.3 if t.low in STOPWORDS else min(8, 1 + len(t.low)) / 8 for t in wanted]
    total = sum(weights)
    best: tuple[float, float, int] = (0.0, 0.0, 0)
    for anchor, _ in rarest[:4]:
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


def _hits(token: Token, text: Sequence[Token], places: _Places) -> list[tuple[int, float]]:
    """Where the question says a word of a value, and how alike it is written."""
    if token.low in places:
        return [(i, 1.0) for i in places[token.low]]
    if token.number is not None or token.low in STOPWORDS:
        return []
    likeness = {low: alike(text[at[0]].stem, token.stem) for low, at in places.items()}
    near = {low: how for low, how in likeness.items() if how >= _ALIKE and low not in STOPWORDS}
    return [(i, 0.9 * how) for low, how in near.items() for i in places[low]]


def _is_number(value: str) -> bool:
    return value.replace(".", "", 1).lstrip("-").isdigit()


def code_tests(reading: Reading) -> Iterator[Part]:
    """Tests for a code whose meaning, as a description tells it, the question says."""
    places = {token.stem: i for i, token in reversed([*enumerate(reading.text)]) if token.content}
    for field in reading.made.fields:
        for value, meaning in field.codes:
            shared = meaning & places.keys()
            if not shared:
                continue
            mask = sum(1 << i for i in {places[stem] for stem in shared})
            weights = {s: reading.made.words.get(s, 1.0) for s in meaning}
            features = {
                "code": 1.0,
                "code.fit": math.fsum(weights[s] for s in shared) / math.fsum(weights.values()),
                "code.whole": shared == meaning,
                "code.rare": max(weights[s] for s in shared),
                "code.yes": value.lower() in {"y", "n", "1", "0"},
                "code.table": reading.said.get(field.table, 0.0),
            }
            yield _equals(reading, field.id, value, mask, features)
