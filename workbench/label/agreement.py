"""Agreement of annotators beyond chance, and the disputes left to settle between them."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations

import pandas as pd

from workbench.errors import BadInputError
from workbench.label.store import Label
from workbench.label.taxonomy import choice_name

Key = tuple[str, str]  # a case's key
ADJUDICATOR = "adjudicator"  # the annotator whose label settles a dispute
DISPUTED = "disputed"


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Cohen's kappa (1960) of two annotators' categories for the same cases.

    NaN without cases, or if chance alone makes both always agree.
    """
    n = len(first)
    if n != len(second):
        raise BadInputError(f"{n} and {len(second)} categories: both must label the same cases")
    if not n:
        return math.nan
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    counts, others = Counter(first), Counter(second)
    expected = sum(count * others[category] for category, count in counts.items()) / n**2
    return _beyond_chance(observed, expected)


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> float:
    """Fleiss' kappa (1971) of the number of annotators that chose each category, for each case.

    Every case needs the same number of annotators, at least two. NaN as for Cohen's kappa.
    """
    raters = {sum(row) for row in counts}
    if len(raters) > 1 or min(raters, default=2) < 2 or len({len(row) for row in counts}) > 1:
        raise BadInputError(
            "Fleiss' kappa needs for each case a count for each category, of the same two or more"
            f" annotators; there are cases with {', '.join(map(str, sorted(raters)))}"
        )
    if not counts:
        return math.nan
    (n,) = raters
    observed = sum(sum(k * (k - 1) for k in row) / (n * (n - 1)) for row in counts) / len(counts)
    shares = [sum(column) / (n * len(counts)) for column in zip(*counts, strict=True)]
    return _beyond_chance(observed, sum(share**2 for share in shares))


def _beyond_chance(observed: float, expected: float) -> float:
    return math.nan if math.isclose(expected, 1) else (observed - expected) / (1 - expected)


def agreement(labels: Iterable[Label], *, subcategories: bool = False) -> pd.DataFrame:
    """A row for each two annotators, with Cohen's kappa, and a row for all of them, with Fleiss'.

    The columns are annotators, cases (labelled by all of them), agree (a fraction), kappa and method. Rules
    do not count as annotators, nor does the adjudicator, who sees the others' labels. The labels are those
    of one taxonomy, as `LabelStore.labels` returns them.
    """
    chosen: dict[str, dict[Key, str]] = {}  # by annotator, the category of each case
    for label in labels:
        if not label.automatic and label.annotator != ADJUDICATOR:
            name = choice_name(label.category, label.subcategory if subcategories else "")
            chosen.setdefault(label.annotator, {})[label.key] = name
    names = sorted(chosen)
    groups: list[tuple[str, ...]] = list(combinations(names, 2))
    rows = []
    for group in [*groups, tuple(names)] if len(names) > 2 else groups:
        common = sorted(set.intersection(*(set(chosen[name]) for name in group)))
        given = [[chosen[name][key] for name in group] for key in common]
        if len(group) == 2:
            first, second = ([categories[i] for categories in given] for i in (0, 1))
            kappa, method = cohen_kappa(first, second), "Cohen"
        else:
            every = sorted({category for categories in given for category in categories})
            kappa = fleiss_kappa([[row.count(category) for category in every] for row in given])
            method = "Fleiss"
        agree = sum(len(set(categories)) == 1 for categories in given)
        share = agree / len(common) if common else math.nan
        rows.append((", ".join(group), len(common), share, kappa, method))
    return pd.DataFrame(rows, columns=["annotators", "cases", "agree", "kappa", "method"])


def confusion(first: Mapping[Key, str], second: Mapping[Key, str]) -> pd.DataFrame:
    """The number of cases with each pair of categories: rows are the first's, columns the second's."""
    keys = sorted(first.keys() & second.keys())
    names = sorted({labels[key] for labels in (first, second) for key in keys})
    counts = Counter((first[key], second[key]) for key in keys)
    return pd.DataFrame([[counts[row, name] for name in names] for row in names], names, names)


def disputes(labels: Iterable[Label]) -> dict[Key, tuple[Label, ...]]:
    """The cases that annotators label differently, with their labels.

    A case is settled when it has a label by the annotator "adjudicator".
    """
    by_case: dict[Key, list[Label]] = {}
    for label in labels:
        if not label.automatic:
            by_case.setdefault(label.key, []).append(label)
    return {
        key: tuple(given)
        for key, given in by_case.items()
        if all(label.annotator != ADJUDICATOR for label in given)
        and len({(label.category, label.subcategory) for label in given}) > 1
    }


def final(labels: Iterable[Label]) -> dict[Key, Label | None]:
    """The label that counts for each case; None while annotators dispute it.

    The adjudicator's label counts before the other annotators', and theirs before an automatic one.
    """
    given = tuple(labels)
    by_weight = sorted(given, key=lambda one: (not one.automatic, one.annotator == ADJUDICATOR))
    return {label.key: label for label in by_weight} | dict.fromkeys(disputes(given))
