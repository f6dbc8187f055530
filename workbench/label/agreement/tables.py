"""Tables of the annotators' agreement: of each pair, of all, and of each category; and the confusion matrix."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations

import pandas as pd

from workbench.errors import BadInputError
from workbench.label.agreement.coefficients import (
    Floats,
    all_categories,
    alpha,
    cohen,
    coincidences,
    confusions,
    fleiss,
    one_against_rest,
)
from workbench.label.agreement.disputes import ADJUDICATOR, Key
from workbench.label.agreement.intervals import Measured, measured
from workbench.label.store import Label
from workbench.label.taxonomy import choice_name

COLUMNS = ("annotators", "cases", "agree", "method", "value", "low", "high")


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Cohen's kappa (1960) of two annotators' categories for the same cases.

    NaN without cases, or if chance alone makes both always agree.
    """
    if len(first) != len(second):
        raise BadInputError(
            f"{len(first)} and {len(second)} categories: both must label the same cases"
        )
    given = list(zip(first, second, strict=True))
    categories = list({category for pair in given for category in pair})
    return float(cohen(confusions(given, categories).sum(0)))


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> float:
    """Fleiss' kappa (1971). `counts` has for each case the number of annotators that chose each category.

    Every case needs the same number of annotators, at least two. NaN as for Cohen's kappa.
    """
    raters = {sum(row) for row in counts}
    if len(raters) > 1 or min(raters, default=2) < 2 or len({len(row) for row in counts}) > 1:
        raise BadInputError(
            "Fleiss' kappa needs for each case a count for each category, of the same two or more"
            f" annotators; there are cases with {', '.join(map(str, sorted(raters)))}"
        )
    given = [[n for n, count in enumerate(row) for _ in range(count)] for row in counts]
    return float(fleiss(coincidences(given, range(len(counts[0]) if counts else 0)).sum(0)))


def krippendorff_alpha(given: Sequence[Sequence[Hashable]]) -> float:
    """Krippendorff's alpha (1970). `given` has for each case the categories that annotators gave to it.

    A case with fewer than two labels is left out. NaN as for Cohen's kappa.
    """
    categories = list({category for one in given for category in one})
    return float(alpha(coincidences(given, categories).sum(0)))


def agreement(labels: Iterable[Label], *, subcategories: bool = False) -> pd.DataFrame:
    """Cohen's kappa of each pair of annotators, and Fleiss' kappa and Krippendorff's alpha of all of them.

    The columns are annotators, cases (labelled by all of them; for alpha by any two), agree (the fraction of cases on
    which they agree), method, value, and the ends of its 95% interval. Rules do not count as annotators, nor does the
    adjudicator, who sees the others' labels. The labels are those of one taxonomy, from `LabelStore.labels`.
    """
    chosen = _by_annotator(labels, subcategories=subcategories)
    names = sorted(chosen)
    rows = []
    for pair in combinations(names, 2):
        given = _labelled_by_all(chosen, pair)
        found = measured(confusions(given, all_categories(given)), cohen)
        rows.append(_row(pair, given, "Cohen", found))
    if len(names) > 2:
        given = _labelled_by_all(chosen, names)
        found = measured(coincidences(given, all_categories(given)), fleiss)
        rows.append(_row(names, given, "Fleiss", found))
    if len(names) > 1:
        given = list(_labelled_by_several(chosen).values())
        found = measured(coincidences(given, all_categories(given)), alpha)
        rows.append(_row(names, given, "alpha", found))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def agreement_by_category(labels: Iterable[Label], *, subcategories: bool = False) -> pd.DataFrame:
    """A row for each category against all others: its labels, Krippendorff's alpha and a kappa, with 95% intervals.

    The kappa is Cohen's for two annotators and Fleiss' for more, over the cases that all of them labelled.
    """
    chosen = _by_annotator(labels, subcategories=subcategories)
    several, names = list(_labelled_by_several(chosen).values()), sorted(chosen)
    if len(names) < 2:
        return pd.DataFrame(columns=["category", "labels"])
    common = _labelled_by_all(chosen, names)
    every = all_categories([*several, *common])
    build, coefficient = (confusions, cohen) if len(names) == 2 else (coincidences, fleiss)
    method = "Cohen" if len(names) == 2 else "Fleiss"
    of_all, of_common = coincidences(several, every), build(common, every)
    rows = []
    for n, category in enumerate(every):
        row = {"category": category, "labels": sum(given.count(category) for given in several)}
        row |= _ends("alpha", measured(_against_rest(of_all, n), alpha))
        row |= _ends(method, measured(_against_rest(of_common, n), coefficient))
        rows.append(row)
    return pd.DataFrame(rows)


def confusion(first: Mapping[Key, str], second: Mapping[Key, str]) -> pd.DataFrame:
    """The number of cases with each pair of categories: rows are those of `first`, columns those of `second`."""
    keys = sorted(first.keys() & second.keys())
    names = sorted({labels[key] for labels in (first, second) for key in keys})
    counts = Counter((first[key], second[key]) for key in keys)
    return pd.DataFrame([[counts[row, name] for name in names] for row in names], names, names)


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


def _labelled_by_several(chosen: Mapping[str, Mapping[Key, str]]) -> dict[Key, list[str]]:
    """The categories of each case that two or more annotators labelled."""
    found: dict[Key, list[str]] = {}
    for given in chosen.values():
        for key, category in given.items():
            found.setdefault(key, []).append(category)
    return {key: found[key] for key in sorted(found) if len(found[key]) > 1}


def _against_rest(tables: Floats, category: int) -> Floats:
    return one_against_rest(tables, category) if len(tables) else tables


def _row(
    names: Sequence[str], given: Sequence[Sequence[str]], method: str, found: Measured
) -> tuple[object, ...]:
    same = sum(len(set(categories)) == 1 for categories in given)
    share = same / len(given) if given else math.nan
    return (", ".join(names), len(given), share, method, found.value, found.low, found.high)


def _ends(name: str, found: Measured) -> dict[str, float]:
    return {name: found.value, f"{name} low": found.low, f"{name} high": found.high}
