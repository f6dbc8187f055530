"""A table of the annotators' agreement: of each pair, and of all."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import pandas as pd

from workbench.label.agreement import coefficients
from workbench.label.agreement.disputes import ADJUDICATOR, Key
from workbench.label.agreement.intervals import measured
from workbench.label.store import Label
from workbench.label.taxonomy import choice_name

COLUMNS = ("annotators", "cases", "agree", "method", "value", "low", "high")
_METHODS = {  # the table of each case, and the coefficient of their sum
    "Cohen": (coefficients.confusions, coefficients.cohen),
    "Fleiss": (coefficients.coincidences, coefficients.fleiss),
    "alpha": (coefficients.coincidences, coefficients.alpha),
}


def agreement(labels: Iterable[Label], *, subcategories: bool = False) -> pd.DataFrame:
    """Cohen's kappa of each pair of annotators, and Fleiss' kappa and Krippendorff's alpha of all of them.

    The columns are annotators, cases (labelled by all of them; for alpha by any two), agree (the fraction of cases on
    which they agree), method, value, and the ends of its 95% interval. Rules do not count as annotators, nor does the
    adjudicator, who sees the others' labels. The labels are those of one taxonomy, from `LabelStore.labels`.
    """
    chosen = _by_annotator(labels, subcategories=subcategories)
    names = sorted(chosen)
    groups = [
        (list(pair), "Cohen", _labelled_by_all(chosen, pair)) for pair in combinations(names, 2)
    ]
    if len(names) > 2:
        groups.append((names, "Fleiss", _labelled_by_all(chosen, names)))
    if len(names) > 1:
        groups.append((names, "alpha", _labelled_by_several(chosen)))
    rows = []
    for group, method, given in groups:
        build, coefficient = _METHODS[method]
        ends = measured(build(given, coefficients.all_categories(given)), coefficient)
        same = sum(len(set(categories)) == 1 for categories in given)
        share = same / len(given) if given else math.nan
        rows.append((", ".join(group), len(given), share, method, *ends))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _by_annotator(
    labels: Iterable[Label], *, subcategories: bool = False
) -> dict[str, dict[Key, str]]:
    """By annotator, the category of each case."""
    chosen: dict[str, dict[Key, str]] = {}
    for label in labels:
        if not label.automatic and label.annotator != ADJUDICATOR:
            name = choice_name(label.category, label.subcategory if subcategories else "")
            chosen.setdefault(label.annotator, {})[label.key] = name
    return chosen


def _labelled_by_all(
    chosen: Mapping[str, Mapping[Key, str]], names: Sequence[str]
) -> list[list[str]]:
    """The categories of each case that all of these annotators labelled."""
    keys = sorted(set.intersection(*(set(chosen[name]) for name in names)))
    return [[chosen[name][key] for name in names] for key in keys]


def _labelled_by_several(chosen: Mapping[str, Mapping[Key, str]]) -> list[list[str]]:
    """The categories of each case that two or more annotators labelled."""
    found: dict[Key, list[str]] = {}
    for given in chosen.values():
        for key, category in given.items():
            found.setdefault(key, []).append(category)
    return [found[key] for key in sorted(found) if len(found[key]) > 1]
