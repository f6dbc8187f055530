"""From keywords to the values they may mean: candidates of the index, re-ranked, most of them dropped.

As CHASE-SQL (section 2.2, appendix A.5) and CHESS (appendix A.1) do it: a phrase and its words are looked
up, candidates are compared by edit distance and by meaning, and of each column the closest stay. Which
similarity judges meaning is a choice (`embed`). `explain_matches` tells what became of every candidate.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Literal

from rapidfuzz import fuzz

from workbench.lab import Lab
from workbench.retrieve.embed import Similarity
from workbench.retrieve.keywords import STOP, distinct
from workbench.retrieve.lexical import words
from workbench.retrieve.trigram import fold
from workbench.retrieve.values import ValueIndex
from workbench.types import Schema, ValueMatch

KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Matching:
    """What a candidate must be to be kept, stage by stage.

    `edit` and `semantic` are the least similarities by spelling and by meaning, the latter as the
    similarity has it where none is given. Other things are asked of the spelling of `part`, a part of a
    phrase that is looked up by itself, and of `code`, a number or a keyword of up to three letters, where
    one letter makes another word. What is as alike as `sure` need not be alike in meaning: no measure of
    that forgives typos. What is below `keep` times the best of its column falls out: the best for the same
    keyword or, as in CHESS, for any.
    """

    candidates: int = 100
    edit: float = 0.3
    part: float = 0.7
    code: float = 0.95
    semantic: float | None = None
    sure: float = 0.8
    keep: float = 0.9
    best_of: Literal["keyword", "question"] = "keyword"
    per_column: int = 5


CHESS = Matching(
    candidates=10, part=0.3, code=0.3, semantic=0.6, sure=2.0, best_of="question", per_column=100
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value that the index gave for a keyword, how it compares, and why it was kept or fell out.

    `score` is the index's own. `semantic` is None where the candidate fell out before.
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
    matching: Matching = Matching(),
) -> tuple[ValueMatch, ...]:
    """The values kept, in the order of the schema's columns, of each column the closest first."""
    kept, _ = _judged(lab, index, keywords, similarity, matching)
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
    matching: Matching = Matching(),
) -> tuple[Candidate, ...]:
    """Every candidate of the index with what became of it: `pandas.DataFrame(explain_matches(...))`."""
    kept, fell = _judged(lab, index, keywords, similarity, matching)
    return tuple(_in_order([*kept, *fell], schema))


def parts(keyword: str) -> list[str]:
    """What is left of a phrase when words are taken away from either end, and its words; no stop words."""
    every = keyword.split()
    cuts = [every[:n] for n in range(len(every) - 1, 0, -1)]
    cuts += [every[n:] for n in range(1, len(every))]
    cuts += [[word] for word in every[1:-1]]
    return [" ".join(cut) for cut in cuts if STOP.isdisjoint({fold(cut[0]), fold(cut[-1])})]


def _judged(
    lab: Lab,
    index: ValueIndex,
    keywords: Sequence[str],
    similarity: Similarity,
    matching: Matching,
) -> tuple[list[Candidate], list[Candidate]]:
    """Those that are kept, and those that fell out at one of the stages."""
    kept = [
        c for search in _searches(keywords, matching) for c in _spelled(index, *search, matching)
    ]
    fell: list[Candidate] = []
    stages: tuple[Callable[[list[Candidate]], list[Candidate]], ...] = (
        list,
        partial(_meant, lab, similarity, matching),
        partial(_closest, matching),
        partial(_limited, matching),
    )
    for stage in stages:
        judged = stage(kept)
        kept = [c for c in judged if c.outcome == KEPT]
        fell += [c for c in judged if c.outcome != KEPT]
    return kept, fell


def _searches(keywords: Sequence[str], matching: Matching) -> Iterator[tuple[str, float]]:
    """What is looked up, and how alike in spelling a value must be to it."""
    wholes = distinct(keywords)
    for text in distinct([*wholes, *(part for whole in wholes for part in parts(whole))]):
        if len(text) <= 3 or not re.search(r"[^\W\d_]", text):
            yield text, matching.code
        else:
            yield text, matching.edit if text in wholes else matching.part
        if re.fullmatch("[A-Z]{2,4}", text):  # UK may be written U.K.
            yield ".".join(text) + ".", matching.code


def _spelled(index: ValueIndex, text: str, least: float, matching: Matching) -> Iterator[Candidate]:
    """The candidates for a text, compared by spelling."""
    for hit in index.search(text, matching.candidates):
        edit = _edit(text, hit.value)
        outcome = KEPT if edit >= least else f"edit {edit:.2f} < {least:g}"
        yield Candidate(text, hit.table, hit.column, hit.value, hit.score, edit, None, outcome)


def _edit(text: str, value: str) -> float:
    """Twice the letters they share in order, for all their letters: as they stand or with sorted words."""
    whole = fuzz.ratio(fold(text), fold(value))
    return max(whole, fuzz.ratio(_sorted(text), _sorted(value))) / 100


@lru_cache(maxsize=50_000)
def _sorted(text: str) -> str:
    return " ".join(sorted(words(text)))


def _meant(
    lab: Lab, similarity: Similarity, matching: Matching, found: list[Candidate]
) -> list[Candidate]:
    """With their similarity by meaning, which must be enough."""
    rows = {text: n for n, text in enumerate(dict.fromkeys(c.keyword for c in found))}
    places = {text: n for n, text in enumerate(dict.fromkeys(c.value for c in found))}
    scores = similarity(lab, list(rows), list(places))
    least = similarity.alike if matching.semantic is None else matching.semantic

    def judged(c: Candidate) -> Candidate:
        score = float(scores[rows[c.keyword], places[c.value]])
        if math.isnan(score):  # the model gave no answer: spelling alone decides
            return c
        near = score >= least or c.edit >= matching.sure
        outcome = KEPT if near else f"semantic {score:.2f} < {least:g}"
        return replace(c, semantic=score, outcome=outcome)

    return [judged(c) for c in found]


def _closest(matching: Matching, found: list[Candidate]) -> list[Candidate]:
    """About as close as the best of the column."""

    def group(c: Candidate) -> tuple[str, str, str]:
        return c.table, c.column, c.keyword if matching.best_of == "keyword" else ""

    best: dict[tuple[str, str, str], float] = {}
    for c in found:
        best[group(c)] = max(best.get(group(c), 0.0), c.edit)

    def judged(c: Candidate) -> Candidate:
        top = best[group(c)]
        if c.edit >= matching.keep * top:
            return c
        far = f"edit {c.edit:.2f} < {matching.keep:g} of the column's best {top:.2f}"
        return replace(c, outcome=far)

    return [judged(c) for c in found]


def _limited(matching: Matching, found: list[Candidate]) -> list[Candidate]:
    """Each value once in its column, and no more values than a column may have."""
    seen: dict[tuple[str, str], set[str]] = {}

    def judged(c: Candidate) -> Candidate:
        values = seen.setdefault((c.table, c.column), set())
        if c.value in values:
            return replace(c, outcome="found by a closer keyword")
        if len(values) == matching.per_column:
            return replace(c, outcome=f"the column has {matching.per_column} closer values")
        values.add(c.value)
        return c

    return [judged(c) for c in sorted(found, key=_rank)]


def _rank(c: Candidate) -> tuple[bool, float, float, str, str]:
    """Closest first; equals in the order of value and keyword, so that nothing depends on chance."""
    return c.outcome != KEPT, -c.edit, -(c.semantic or 0.0), c.value, c.keyword


def _in_order(candidates: Iterable[Candidate], schema: Schema) -> list[Candidate]:
    """As the schema has the columns, the closest first in each."""
    order = {pair: place for place, pair in enumerate(schema.columns())}
    return sorted(candidates, key=lambda c: (order.get((c.table, c.column), len(order)), *_rank(c)))
