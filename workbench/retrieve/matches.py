"""Retrieves the database values that keywords may mean (CHASE-SQL, section 2.2, appendix A.5; CHESS, appendix A.1).

Phrases and their words are looked up in the index; the candidates are compared by edit distance and by meaning,
and the closest of each column are kept (`Matching`).

Departs from the papers in its default similarity of meaning, which compares letters.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from rapidfuzz import fuzz

from workbench.lab import Lab
from workbench.parallel import cached_once
from workbench.retrieve.embed import Similarity
from workbench.retrieve.index.trigram import search_form
from workbench.retrieve.index.values import ValueIndex
from workbench.retrieve.keywords import STOP, distinct
from workbench.retrieve.lexical import words
from workbench.retrieve.matching import DEFAULT, Matching
from workbench.types import Schema, ValueMatch


def find_matches(
    lab: Lab,
    index: ValueIndex,
    schema: Schema,
    keywords: Sequence[str],
    similarity: Similarity,
    matching: Matching = DEFAULT,
) -> tuple[ValueMatch, ...]:
    """The kept values, in the order of the schema's columns, the closest of each column first."""
    found = [
        c for search in _searches(keywords, matching) for c in _spelled(index, *search, matching)
    ]
    kept = _limited(matching, _closest(matching, _meant(lab, similarity, matching, found)))
    order = {pair: index for index, pair in enumerate(schema.columns())}
    return tuple(
        sorted(kept, key=lambda c: (order.get((c.table, c.column), len(order)), *_rank(c)))
    )


def parts(keyword: str) -> list[str]:
    """The beginnings and ends of a phrase, and its single words; none begins or ends with a stop word."""
    words = keyword.split()
    cuts = [words[:n] for n in range(len(words) - 1, 0, -1)]
    cuts += [words[n:] for n in range(1, len(words))]
    cuts += [[word] for word in words[1:-1]]
    return [
        " ".join(cut)
        for cut in cuts
        if STOP.isdisjoint({search_form(cut[0]), search_form(cut[-1])})
    ]


def _searches(keywords: Sequence[str], matching: Matching) -> Iterator[tuple[str, float, bool]]:
    """The texts to look up, each with the least similarity by spelling, and whether it is a whole keyword."""
    wholes = distinct(keywords)
    for text in distinct([*wholes, *(part for whole in wholes for part in parts(whole))]):
        whole = text in wholes
        if len(text) <= 3 or not re.search(r"[^\W\d_]", text):
            yield text, matching.code, whole
        else:
            yield text, matching.edit if whole else matching.part, whole
        if re.fullmatch("[A-Z]{2,4}", text):  # UK may be written U.K.
            yield ".".join(text) + ".", matching.code, False


@cached_once(maxsize=10_000)  # the questions about a database share words
def _spelled(
    index: ValueIndex, text: str, least: float, whole: bool, matching: Matching
) -> tuple[ValueMatch, ...]:
    """The index's values for a text, with their similarity by spelling.

    That is the ratio of letters shared in order, of the texts or of their sorted words, whichever is higher. A value
    with all words of a `whole` keyword passes at any similarity.
    """
    form, in_order = search_form(text), _sorted(text)
    found = []
    for hit in index.search(text, matching.candidates):
        value = hit.value
        plain = fuzz.ratio(form, search_form(value))
        edit = max(plain, fuzz.ratio(in_order, _sorted(value))) / 100
        if edit >= least or (whole and matching.word and _has_words(value, text)):
            found.append(ValueMatch(hit.table, hit.column, value, text, edit, 0.0))
    return tuple(found)


@lru_cache(maxsize=50_000)
def _sorted(text: str) -> str:
    """The words of a text in the order of the alphabet, with blanks between them."""
    return " ".join(sorted(words(text)))


def _meant(
    lab: Lab, similarity: Similarity, matching: Matching, found: list[ValueMatch]
) -> list[ValueMatch]:
    """The candidates with their similarity by meaning, without those that are far in meaning and in spelling."""
    rows = {text: n for n, text in enumerate(dict.fromkeys(c.keyword for c in found))}
    columns = {text: n for n, text in enumerate(dict.fromkeys(c.value for c in found))}
    scores = similarity(lab, list(rows), list(columns))
    least = similarity.alike if matching.semantic is None else matching.semantic
    near = []
    for c in found:
        score = float(scores[rows[c.keyword], columns[c.value]])
        if math.isnan(score):  # the model failed: spelling alone decides
            near.append(c)
        elif score >= least or c.edit >= matching.sure:
            near.append(replace(c, semantic=score))
    return near


def _closest(matching: Matching, found: list[ValueMatch]) -> list[ValueMatch]:
    """The candidates without those that are much less close than the best of their column."""

    def group(c: ValueMatch) -> tuple[str, str, str]:
        return c.table, c.column, c.keyword if matching.best_of == "keyword" else ""

    close = {c: _closeness(c, matching) for c in found}
    best = {group(c): close[c] for c in sorted(found, key=close.__getitem__)}  # the last one stays
    return [c for c in found if close[c] >= matching.keep * best[group(c)]]


def _closeness(c: ValueMatch, matching: Matching) -> float:
    """Similarity by spelling, or `matching.word` if the value has all words of the keyword and this is more."""
    return matching.word if c.edit < matching.word and _has_words(c.value, c.keyword) else c.edit


def _has_words(value: str, keyword: str) -> bool:
    """Whether the value has all words of the keyword; a number by itself is no word."""
    keyword_words = set(_sorted(keyword).split())
    return keyword_words <= set(_sorted(value).split()) and bool(re.search(r"[^\W\d_]", keyword))


def _limited(matching: Matching, found: list[ValueMatch]) -> list[ValueMatch]:
    """The closest candidates: no value twice, and no more of a keyword or a column than `matching` allows."""
    seen: dict[tuple[str, str], set[str]] = {}
    counts: Counter[tuple[str, str, str]] = Counter()
    kept = []
    for c in sorted(found, key=lambda c: (-_closeness(c, matching), *_rank(c))):
        values = seen.setdefault((c.table, c.column), set())
        counts[c.table, c.column, c.keyword] += 1
        few = counts[c.table, c.column, c.keyword] <= matching.per_keyword
        if few and c.value not in values and len(values) < matching.per_column:
            values.add(c.value)
            kept.append(c)
    return kept


def _rank(c: ValueMatch) -> tuple[float, float, str, str]:
    """A sort key: closest first, equals by value and keyword, so that the order is the same in every run."""
    return -c.edit, -c.semantic, c.value, c.keyword
