"""retrieve_entity: the values that the keywords may mean (CHASE-SQL, section 2.2; CHESS, section 3.1, appendix A.1).

1. A search returns the ten values that are most like each keyword.
2. Values far from it in meaning or in spelling are left out.
3. Of each keyword and column the closest in spelling stay: one in CHESS; several in CHASE-SQL, whose appendix A.5 shows
   "Kate" and "Nate" for the rate of "free rate".

The beginnings and ends of a phrase are looked up as well, as in CHESS's code and as "free" and "rate" show in A.5. That
code also leaves out what is less than 0.9 as close as the best of its column, whatever the keyword: `keep`.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz

from workbench.errors import BadInputError, at_least
from workbench.lab import Lab
from workbench.retrieve.similarity import Similarity
from workbench.retrieve.trigram import folded
from workbench.retrieve.values import Values
from workbench.types import Schema, ValueMatch


@dataclass(frozen=True)
class Matching:
    """Finds the values that the keywords may mean, and keeps those that are like them.

    candidates: how many values a search returns.
    edit: least similarity by spelling: the letters that both have in one order, as a share of all.
    semantic: least similarity by meaning; None stands for the measure's own (`Similarity.alike`).
    keep: least part of the best similarity by spelling in the value's column.
    per_keyword: how many values of a column are kept for one keyword.
    """

    candidates: int = 10
    edit: float = 0.3
    semantic: float | None = None
    keep: float = 0.9
    per_keyword: int = 5

    def __post_init__(self) -> None:
        at_least(1, candidates=self.candidates, per_keyword=self.per_keyword)
        for name in ("edit", "semantic", "keep"):
            given = getattr(self, name)
            if given is not None and not 0 <= given <= 1:
                raise BadInputError(f"{name} is {given!r}, and should be a number from 0 to 1")

    def __call__(
        self, lab: Lab, values: Values, schema: Schema, keywords: Sequence[str], similarity: Similarity
    ) -> tuple[ValueMatch, ...]:  # fmt: skip
        """The kept values in the order of the schema's columns, the closest of each column first."""
        near = [
            ValueMatch(*place, text, edit, 0.0)
            for text in _searches(keywords)
            for place in values.search(text, self.candidates)
            if (edit := fuzz.ratio(folded(text), folded(place[-1])) / 100) >= self.edit
        ]
        rows = {text: n for n, text in enumerate(dict.fromkeys(match.keyword for match in near))}
        texts = {text: n for n, text in enumerate(dict.fromkeys(match.value for match in near))}
        scores = similarity(lab, list(rows), list(texts))
        least = similarity.alike if self.semantic is None else self.semantic
        meant = []
        for match in near:
            score = float(scores[rows[match.keyword], texts[match.value]])
            if not score < least:  # where the model failed the score is NaN, and spelling decides
                meant.append(match if math.isnan(score) else replace(match, semantic=score))
        # Equals come in the same order in every run.
        meant.sort(key=lambda match: (-match.edit, -match.semantic, match.value, match.keyword))
        kept: dict[tuple[str, str], dict[str, ValueMatch]] = {pair: {} for pair in schema.columns()}
        counts: Counter[tuple[str, str, str]] = Counter()
        for match in meant:
            own = kept.setdefault((match.table, match.column), {})
            counts[match.table, match.column, match.keyword] += 1
            few = counts[match.table, match.column, match.keyword] <= self.per_keyword
            best = next(iter(own.values()), match)
            if few and match.edit >= self.keep * best.edit:
                own.setdefault(match.value, match)
        return tuple(match for own in kept.values() for match in own.values())


def _searches(keywords: Sequence[str]) -> Iterable[str]:
    """The keywords, and the beginnings and ends of those of several words, each text once."""
    parts = [keyword.split() for keyword in keywords]
    cuts = ((own[:n], own[n:]) for own in parts for n in range(1, len(own)))
    return dict.fromkeys([*keywords, *(" ".join(cut) for both in cuts for cut in both)])
