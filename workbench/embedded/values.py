"""Tests that a value of the database, or a code that a description explains, fits the question's words.

A prompt may show values that have nothing to do with the question. So a value counts only by the part of
it that the question says, letter by letter if need be; who found it does not matter.
"""

from collections.abc import Sequence

from rapidfuzz.fuzz import ratio

from workbench.embedded.reading import Part, Reading, span
from workbench.embedded.words import STOPWORDS, Token, tokens
from workbench.types import fold

_SHORTEST = 0.3  # the part of a value that must be said


def value_tests(reading: Reading) -> list[Part]:
    """Tests for equality with a value, for each place where the question seems to say it."""
    made = reading.made
    shown: dict[tuple[int, str], bool] = {}
    for match in reading.context.values:
        column = made.by_name.get((fold(match.table), fold(match.column)))
        if column is not None:
            shown.setdefault((column, match.value), True)
            if column in made.copies:
                shown.setdefault((made.copies[column], match.value), True)
    for field in made.fields:
        if field.kind in {"text", "flag"}:
            for value in field.examples:
                if not is_number(value):
                    shown.setdefault((field.id, value), False)
    places: dict[str, list[int]] = {}
    for i, token in enumerate(reading.text):
        places.setdefault(token.low, []).append(i)
    compared = {
        reading.text[i].low
        for i in range(len(reading.text))
        if reading.cue_before(
            i, ("more", "less", "atleast", "atmost", "after", "before", "between"), 1
        )
    }
    found = []
    aligned: dict[str, tuple[int, float, float] | None] = {}
    for (column, value), given in shown.items():
        if is_number(value) and value in compared:
            continue
        if value not in aligned:
            aligned[value] = align(value, reading.text, places)
        if fit := aligned[value]:
            found.append(_test(reading, column, value, given, *fit))
    _rivals(found)
    for part in found:
        part.score = reading.score(part.features)
    return found


def _test(
    reading: Reading, column: int, value: str, given: bool, mask: int, fit: float, exact: float
) -> Part:
    text, field = reading.text, reading.made.fields[column]
    said = [t for i, t in enumerate(text) if mask >> i & 1]
    first, end = (mask & -mask).bit_length() - 1, mask.bit_length()
    mention, gap = reading.nearest(column, first, end)
    within = mention is not None and not mention.measured
    features = {
        "value": 1.0,
        "value.given": given,
        "value.fit": fit,
        "value.whole": fit > 0.99,
        "value.exact": exact,
        "value.case": all(t.text in value for t in said) and any(t.text[0].isupper() for t in said),
        "value.plain": not any(t.capital or t.quoted or t.number is not None for t in said),
        "value.quoted": all(t.quoted for t in said),
        "value.short": sum(len(t.low) for t in said) < 4,
        "value.stop": all(t.low in STOPWORDS for t in said),
        "value.words": min(4, len(said)) - 1.0,
        "value.near": max(0.0, 1 - gap / 4) * min(1.0, mention.strength)
        if mention and within
        else 0.0,
        "value.table": reading.said.get(field.table, 0.0),
        "value.hinted": reading.hinted.get(column, 0.0),
        "value.named": field.named,
        "value.key": bool(field.key),
        "value.number": is_number(value),
        "value.beside": reading.beside(field.table, first),
    }
    if any(
        reading.linked.tables.get(s.id, ()) and m.mask & mask
        for s in reading.made.sheets
        for m in reading.linked.tables.get(s.id, ())[:1]
        if m.whole
    ):
        features["value.is_table"] = 1.0
    if any(m.mask & mask and m.whole for m in reading.mentions(column)):
        features["value.is_column"] = 1.0
    quoted = value.replace("'", "''")
    return reading.part((column, f" = '{quoted}'"), mask, features, value=value, column=column)


def _rivals(found: list[Part]) -> None:
    """How each value compares with the best one for the same words: better, as good, or worse."""
    for part in found:
        best = max((o.features["value.fit"] for o in found if o.mask & part.mask), default=0.0)
        part.features["value.worse"] = best - part.features["value.fit"]
        wider = any(o.mask & part.mask == part.mask != o.mask for o in found)
        part.features["value.inside"] = float(wider)
        same = {o.column for o in found if o.mask == part.mask and o.value == part.value}
        part.features["value.rivals"] = min(3, len(same) - 1.0)


def align(
    value: str, text: Sequence[Token], places: dict[str, list[int]]
) -> tuple[int, float, float] | None:
    """The tokens that say a value, the part of it that they say, and how literally."""
    wanted = [t for t in tokens(value) if t.low[0].isalnum()]
    if not wanted or len(value) > 120:
        return None
    if value.replace(".", "").isupper() and (
        mask := _initials("".join(t.low for t in wanted), text)
    ):
        return mask, 0.9, 0.5
    hits = [_hits(t, text, places) for t in wanted]
    if not any(hits):
        return None
    rarest = min((h for h in hits if h), key=len)
    weights = [_weight(t) for t in wanted]
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
    said_words = [text[i].low for i in range(len(text)) if mask >> i & 1]
    if fit < _SHORTEST or (
        all(w in STOPWORDS or not w.isalnum() for w in said_words) and fit < 0.99
    ):
        return None
    return mask, fit, exact


def _initials(letters: str, text: Sequence[Token]) -> int:
    """The tokens whose initials these letters are, as UK are those of United Kingdom."""
    size = len(letters)
    for i in range(len(text) - size + 1) if 2 <= size <= 4 else ():
        if all(
            t.low[0] == c and t.text[0].isupper() for t, c in zip(text[i:], letters, strict=False)
        ):
            return span(i, i + size)
    return 0


def _weight(token: Token) -> float:
    return 0.3 if token.low in STOPWORDS else min(8, 1 + len(token.low)) / 8


def _hits(
    token: Token, text: Sequence[Token], places: dict[str, list[int]]
) -> list[tuple[int, float]]:
    """Where the question says a word of a value, and how alike it is written."""
    low = token.low
    if low in places:
        return [(i, 1.0) for i in places[low]]
    if token.number is not None or low in STOPWORDS:
        return []
    found: list[tuple[int, float]] = []
    for other, at in places.items():
        if other[0] != low[0] or not other[0].isalpha() or other in STOPWORDS:
            continue
        short, long = sorted((low, other), key=len)
        how = 0.0
        if text[at[0]].stem == token.stem:
            how = 0.9
        elif len(short) >= 4 and (how := ratio(low, other) / 100) < 0.78:
            how = 0.75 if long.startswith(short) else 0.0
        elif (
            len(short) in {2, 3}
            and len(long) > 3
            and (
                long.startswith(short) or (low in {"st", "gt", "lt", "mt"} and low[-1] == other[-1])
            )
        ):
            how = 0.7
        if how:
            found += [(i, how) for i in at]
    return found


def is_number(value: str) -> bool:
    return value.replace(".", "", 1).lstrip("-").isdigit()
