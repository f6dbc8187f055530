"""How often each category occurs among all cases, estimated from the labels of some of them.

The rules suggest a category for every case, and labels correct the suggestions. An estimate is the share of the
suggestions plus the mean correction, in which a labelled case weighs the inverse of its chance to be labelled (a
difference estimator, Saerndal et al. 1992, section 6.3). Better suggestions give narrower intervals; wrong
suggestions cause no bias.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.evaluate.stats import t_quantile
from workbench.label.queue.worth import Worth

Floats = NDArray[np.float64]


def shares(given: Sequence[Worth], labelled: Mapping[tuple[str, str], str]) -> pd.DataFrame:
    """A row for each category: its share among all cases, in percent, with a 95% interval.

    `labelled` has the category of each labelled case by its key. The cases must be labelled in the order of
    `worth`, or all of them.
    """
    known = np.array([one.key in labelled for one in given])
    chance = chances(np.array([one.size for one in given]), int(known.sum()))
    categories = sorted({*(one.category for one in given if one.category), *labelled.values()})
    rows = []
    for category in categories:
        rule = np.array([one.category == category for one in given], dtype=np.float64)
        true = np.array([labelled.get(one.key) == category for one in given], dtype=np.float64)
        value, half = estimate(rule, true, known, chance)
        low, high = max(0.0, value - half), min(1.0, value + half)
        rows.append((category, int(true.sum()), 100 * value, 100 * low, 100 * high))
    return pd.DataFrame(rows, columns=["category", "labels", "share", "low", "high"])


def chances(sizes: Floats, n: int) -> Floats:
    """The chance of each case to be among the first n: proportional to its size, and at most 1."""
    sure = np.zeros(len(sizes), dtype=bool)
    while True:
        left = n - int(sure.sum())
        chance = np.where(sure, 1.0, left * sizes / max(float(sizes[~sure].sum()), 1e-12))
        # A chance above 1 becomes 1, and the other cases share the rest of the n: some may then exceed 1, too.
        if not (more := ~sure & (chance >= 1)).any():
            return np.minimum(chance, 1.0)
        sure |= more


def estimate(
    rule: Floats, true: Floats, known: NDArray[np.bool_], chance: Floats
) -> tuple[float, float]:
    """The mean of `true` over all cases, and half the width of its 95% interval; `true` is read only where `known`."""
    n, total = int(known.sum()), len(rule)
    if n < 2:
        return float(rule.mean()), math.inf
    p, not_drawn = chance[known], 1 - chance[known]
    corrections = (true - rule)[known] / p
    value = float(rule.mean() + corrections.sum() / total)
    if not not_drawn.any():
        return value, 0.0
    centre = float((not_drawn * corrections).sum() / not_drawn.sum())
    variance = n / (n - 1) * float((not_drawn * (corrections - centre) ** 2).sum())
    # Without any correction the variance would be 0: add the variance of one more correction, of an average case.
    variance += float((not_drawn / p**2).mean())
    return value, t_quantile(0.95, n - 1) * math.sqrt(variance) / total
