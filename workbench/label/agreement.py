"""How far annotators agree beyond chance, and what is left to settle between them."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations

import pandas as pd

from workbench.errors import BadInputError
from workbench.label.store import Label

Key = tuple[str, str]  # of a case
ADJUDICATOR = "adjudicator"  # whoever labels under this name has the last word
DISPUTED = "disputed"


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Cohen's kappa (1960) of two annotators' categories for the same cases.

    NaN where there are no cases, or where chance alone would make both always agree.
    """
    n = len(first)
    if n != len(second):
        raise BadInputError(f"{n} and {len(second)} categories: both must label the same cases")
    if not n:
        return math.nan
    one, other = Counter(first), Counter(second)
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    expected = sum(count * other[category] for category, count in one.items()) / n**2
    return _beyond_chance(observed, expected)


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> float:
    """Fleiss' kappa (1971): for each case, how many annotators chose each category.

    Every case must have the same number of annotators, at least two. NaN as for Cohen's.
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
    """A row for each two annotators, with Cohen's kappa, and one for all of them, with Fleiss'.

    Rules are no annotators, nor is the adjudicator, who knows what the others said.
    Columns: annotators, cases (those that all of them labelled), agree (a fraction), kappa, method.
    The labels are those of one taxonomy, as `LabelStore.labels` gives them.
    """
    said = _said(labels, subcategories=subcategories)
    names = sorted(said)
    rows = []
    for one, other in combinations(names, 2):
        both = said[one].keys() & said[other].keys()
        pairs = [(said[one][key], said[other][key]) for key in sorted(both)]
        rows.append(
            {
                "annotators": f"{one}, {other}",
                "cases": len(pairs),
                "agree": sum(a == b for a, b in pairs) / len(pairs) if pairs else math.nan,
                "kappa": cohen_kappa([a for a, _ in pairs], [b for _, b in pairs]),
                "method": "Cohen",
            }
        )
    if len(names) > 2:
        common = sorted(set.intersection(*(set(said[name]) for name in names)))
        given = [Counter(said[name][key] for name in names) for key in common]
        categories = sorted({category for row in given for category in row})
        counts = [[row[category] for category in categories] for row in given]
        rows.append(
            {
                "annotators": ", ".join(names),
                "cases": len(common),
                "agree": sum(len(row) == 1 for row in given) / len(common) if common else math.nan,
                "kappa": fleiss_kappa(counts),
                "method": "Fleiss",
            }
        )
    return pd.DataFrame(rows, columns=["annotators", "cases", "agree", "kappa", "method"])


def confusion(first: Mapping[Key, str], second: Mapping[Key, str]) -> pd.DataFrame:
    """How often the one says what where the other says what: rows the first, columns the second."""
    keys = sorted(first.keys() & second.keys())
    names = sorted({first[key] for key in keys} | {second[key] for key in keys})
    seen = Counter((first[key], second[key]) for key in keys)
    return pd.DataFrame(
        [[seen[row, column] for column in names] for row in names], index=names, columns=names
    )


def disputes(labels: Iterable[Label]) -> dict[Key, tuple[Label, ...]]:
    """What is left to adjudicate: the cases that annotators label differently, with their labels.

    A case is settled once somebody labels it as annotator "adjudicator".
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
    """The label that stands for each case; None while annotators dispute it.

    The adjudicator's comes before what the others agree on, and a person's before an automatic one.
    """
    kept = tuple(labels)
    found: dict[Key, Label | None] = {}
    for label in sorted(kept, key=lambda one: (not one.automatic, one.annotator == ADJUDICATOR)):
        found[label.key] = label
    return found | dict.fromkeys(disputes(kept))


def _said(labels: Iterable[Label], *, subcategories: bool) -> dict[str, dict[Key, str]]:
    said: dict[str, dict[Key, str]] = {}
    for label in labels:
        if label.automatic or label.annotator == ADJUDICATOR:
            continue
        parts = (label.category, label.subcategory if subcategories else "")
        said.setdefault(label.annotator, {})[label.key] = " / ".join(filter(None, parts))
    return said
