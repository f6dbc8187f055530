"""Retrieves the database values that keywords may mean (CHASE-SQL, section 2.2, appendix A.5; CHESS, appendix A.1).

Phrases and their words are looked up in the index; the candidates are compared by edit distance and by meaning,
and the closest of each column are kept (`Matching`). `explain_matches` shows for every candidate why it was kept or
dropped.

Departs from the papers in its default similarity of meaning, which compares letters.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from rapidfuzz import fuzz

from workbench.lab import Lab
from workbench.retrieve.embed import Similarity
from workbench.retrieve.index.trigram import search_form
from workbench.retrieve.index.values import ValueIndex
from workbench.retrieve.keywords import STOP, distinct
from workbench.retrieve.lexical import words
from workbench.retrieve.matching import DEFAULT, Matching
from workbench.types import Schema, ValueMatch

KEPT = "kept"


@dataclass(frozen=True, slots=True)
class ValueCandidate:
    """A value that the index returned for a keyword, with its similarities and its outcome.

    score: the index's similarity.
    edit: similarity by spelling.
    semantic: similarity by meaning; None if the candidate was dropped before.
    outcome: "kept", or why the candidate was dropped.
    """

    keyword: str
    table: str
    column: str
    value: str
    score: float
    edit: float
    semantic: float | None = None
    outcome: str = KEPT


def find_matches(
    lab: Lab,
    index: ValueIndex,
    schema: Schema,
    keywords: Sequence[str],
    similarity: Similarity,
    matching: Matching = DEFAULT,
) -> tuple[ValueMatch, ...]:
    """The kept values, in the order of the schema's columns, the closest of each column first."""
    kept, _ = _judged(lab, index, keywords, similarity, matching, explain=False)
    return tuple(
        ValueMatch(c.table, c.column, c.value, c.keyword, c.edit, c.semantic or 0.0)
        for c in _in_order(kept, schema)
    )


def explain_matches(
    lab: Lab,
    index: ValueIndex,
    schema: Schema,
    keywords: Sequence[str],
    similarity: Similarity,
    matching: Matching = DEFAULT,
) -> tuple[ValueCandidate, ...]:
    """Every candidate with its outcome, for `pandas.DataFrame(explain_matches(...))`."""
    kept, dropped = _judged(lab, index, keywords, similarity, matching)
    return tuple(_in_order([*kept, *dropped], schema))


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


def _judged(
    lab: Lab,
    index: ValueIndex,
    keywords: Sequence[str],
    similarity: Similarity,
    matching: Matching,
    *,
    explain: bool = True,
) -> tuple[list[ValueCandidate], list[ValueCandidate]]:
    """The candidates that are kept, and those that are dropped at one of the stages.

    Most are dropped at the first stage, by their spelling; without `explain`, these are left out.
    """
    kept = [
        c
        for search in _searches(keywords, matching)
        for c in _spelled(index, *search, matching, explain=explain)
    ]
    dropped: list[ValueCandidate] = []
    stages: tuple[Callable[[list[ValueCandidate]], list[ValueCandidate]], ...] = (
        list,
        partial(_meant, lab, similarity, matching),
        partial(_closest, matching),
        partial(_limited, matching),
    )
    for stage in stages:
        judged = stage(kept)
        kept = [c for c in judged if c.outcome == KEPT]
        dropped += [c for c in judged if c.outcome != KEPT]
    return kept, dropped


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


def _spelled(
    index: ValueIndex, text: str, least: float, whole: bool, matching: Matching, *, explain: bool
) -> Iterator[ValueCandidate]:
    """The index's candidates for a text, with their similarity by spelling.

    That is the ratio of letters shared in order, of the texts or of their sorted words, whichever is higher. A value
    with all words of a `whole` keyword passes at any similarity.
    """
    form, in_order = search_form(text), _sorted(text)
    for hit in index.search(text, matching.candidates):
        value = hit.value
        plain = fuzz.ratio(form, search_form(value))
        edit = max(plain, fuzz.ratio(in_order, _sorted(value))) / 100
        candidate = ValueCandidate(text, hit.table, hit.column, value, hit.score, edit)
        if edit >= least or (whole and matching.word and _has_words(candidate)):
            yield candidate
        elif explain:
            yield replace(candidate, outcome=f"edit {edit:.2f} < {least:g}")


@lru_cache(maxsize=50_000)
def _sorted(text: str) -> str:
    return " ".join(sorted(words(text)))


def _meant(
    lab: Lab, similarity: Similarity, matching: Matching, found: list[ValueCandidate]
) -> list[ValueCandidate]:
    """The candidates with their similarity by meaning."""
    rows = {text: n for n, text in enumerate(dict.fromkeys(c.keyword for c in found))}
    columns = {text: n for n, text in enumerate(dict.fromkeys(c.value for c in found))}
    scores = similarity(lab, list(rows), list(columns))
    least = similarity.alike if matching.semantic is None else matching.semantic

    def judged(c: ValueCandidate) -> ValueCandidate:
        score = float(scores[rows[c.keyword], columns[c.value]])
        if math.isnan(score):  # the model failed: spelling alone decides
            return c
        near = score >= least or c.edit >= matching.sure
        outcome = KEPT if near else f"semantic {score:.2f} < {least:g}"
        return replace(c, semantic=score, outcome=outcome)

    return [judged(c) for c in found]


def _closest(matching: Matching, found: list[ValueCandidate]) -> list[ValueCandidate]:
    """The candidates, dropped if they are much less close than the best of their column."""

    def group(c: ValueCandidate) -> tuple[str, str, str]:
        return c.table, c.column, c.keyword if matching.best_of == "keyword" else ""

    close = {c: _closeness(c, matching) for c in found}
    best = {group(c): close[c] for c in sorted(found, key=close.__getitem__)}  # the last one stays

    def judged(c: ValueCandidate) -> ValueCandidate:
        top = best[group(c)]
        if close[c] >= matching.keep * top:
            return c
        far = f"edit {c.edit:.2f} < {matching.keep:g} of the column's best {top:.2f}"
        return replace(c, outcome=far)

    return [judged(c) for c in found]


def _closeness(c: ValueCandidate, matching: Matching) -> float:
    """Similarity by spelling, or `matching.word` if the value has all words of the keyword and this is more."""
    return matching.word if c.edit < matching.word and _has_words(c) else c.edit


def _has_words(c: ValueCandidate) -> bool:
    """Whether the value has all words of the keyword; a number by itself is no word."""
    said = set(words(c.keyword))
    return bool(re.search(r"[^\W\d_]", c.keyword)) and said <= set(words(c.value))


def _limited(matching: Matching, found: list[ValueCandidate]) -> list[ValueCandidate]:
    """The candidates, dropped if their value is repeated or their keyword or their column has enough values."""
    seen: dict[tuple[str, str], set[str]] = {}
    kept: Counter[tuple[str, str, str]] = Counter()

    def judged(c: ValueCandidate) -> ValueCandidate:
        values = seen.setdefault((c.table, c.column), set())
        kept[c.table, c.column, c.keyword] += 1
        if kept[c.table, c.column, c.keyword] > matching.per_keyword:
            return replace(c, outcome=f"the keyword has {matching.per_keyword} closer values here")
        if c.value in values:
            return replace(c, outcome="found by a closer keyword")
        if len(values) == matching.per_column:
            return replace(c, outcome=f"the column has {matching.per_column} closer values")
        values.add(c.value)
        return c

    return [judged(c) for c in sorted(found, key=lambda c: (-_closeness(c, matching), *_rank(c)))]


def _rank(c: ValueCandidate) -> tuple[bool, float, float, str, str]:
    """A sort key: closest first, equals by value and keyword, so that the order is the same in every run."""
    return c.outcome != KEPT, -c.edit, -(c.semantic or 0.0), c.value, c.keyword


def _in_order(candidates: Iterable[ValueCandidate], schema: Schema) -> list[ValueCandidate]:
    """The candidates in the order of the schema's columns, the closest of each column first."""
    order = {pair: index for index, pair in enumerate(schema.columns())}
    return sorted(candidates, key=lambda c: (order.get((c.table, c.column), len(order)), *_rank(c)))
