"""Order cases by what a label is worth: disputed cases first, then cases with an uncertain or a rare suggestion.

The order is drawn, not sorted: a case of twice the worth is twice as likely to be among the first n, whatever n is
(sequential Poisson sampling, Ohlsson 1998). So the labels given so far are a random sample at any moment, with known
probabilities, and `shares` estimates from them without bias. Labelling the least certain cases first, as active
learning does, would not allow that; Zrnic and Candes (2024, arXiv 2403.03208) draw by uncertainty for the same reason.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.label.agreement.disputes import disputes
from workbench.label.case import Case, draw
from workbench.label.store import Label
from workbench.label.suggest import suggest
from workbench.label.taxonomy import Taxonomy

NONE = ""  # the category where no rule suggests one


@dataclass(frozen=True, slots=True)
class Worth:
    """What a label of one case is worth."""

    key: tuple[str, str]
    category: str
    """The suggested category."""
    uncertainty: float
    """The chance that the suggestion is wrong, if each suggested category and "another" are equally likely."""
    rarity: float
    """The share of the cases with another suggested category."""
    disputed: bool = False

    @property
    def size(self) -> float:
        """The weight of the case in the draw, from 0.05 to 1."""
        return max(0.05, (self.uncertainty + self.rarity) / 2)


def worth(
    sample: Sequence[Case], taxonomy: Taxonomy, labels: Iterable[Label] = ()
) -> tuple[Worth, ...]:
    """The worth of each case; the taxonomy's `labels` show which cases are disputed."""
    suggested = [_categories(case, taxonomy) for case in sample]
    counts = Counter(categories[0] if categories else NONE for categories in suggested)
    disputed = disputes(labels)
    worths = []
    for case, categories in zip(sample, suggested, strict=True):
        category = categories[0] if categories else NONE
        uncertainty = 1 - 1 / (len(categories) + 1) if categories else 1.0
        rarity = 1 - counts[category] / len(sample)
        worths.append(Worth(case.key, category, uncertainty, rarity, case.key in disputed))
    return tuple(worths)


def in_order(sample: Sequence[Case], worths: Iterable[Worth], seed: int = 0) -> list[Case]:
    """The cases in the order of their worth; cases without a worth come last, in the sample's order."""
    by_key = {one.key: one for one in worths}

    def rank(case: Case) -> tuple[bool, bool, float]:
        one = by_key.get(case.key)
        if one is None:
            return True, True, 0.0
        return False, not one.disputed, draw(seed, case.key) / one.size

    return sorted(sample, key=rank)


def _categories(case: Case, taxonomy: Taxonomy) -> list[str]:
    """The categories that the rules suggest, the likeliest first."""
    choices = (taxonomy.suggested(suggestion.cause) for suggestion in suggest(case))
    return list(dict.fromkeys(choice[0] for choice in choices if choice))
