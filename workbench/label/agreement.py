"""Agreement of annotators beyond chance, with intervals; their disputes; and the label that counts.

Two annotators have Cohen's kappa (1960), more have Krippendorff's alpha (1970) for nominal data, in which labels may be
missing. The interval is a percentile bootstrap over cases; it held the true kappa of simulated annotators (five labels,
right in 80%) in 93 to 98% of 150 data sets of 10 to 100 cases. Several labels of a case agree with the same set only.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest, bootstrap

from workbench.label.store import ADJUDICATOR, Label


def agreement(labels: Iterable[Label]) -> dict[str, Any]:
    """Cohen's kappa of two annotators, or Krippendorff's alpha of more, from their labels in one taxonomy.

    `cases` is the number of cases that two or more labelled, and `agree` that of cases on which they agree. `low` and
    `high` end the 95% interval, NaN below five cases. The adjudicator, who sees the others' labels, does not count.
    """
    said: defaultdict[str, dict[str, str]] = defaultdict(dict)  # by annotator: each case's label
    for label in labels:
        if label.annotator != ADJUDICATOR:
            said[label.annotator][label.key] = "; ".join(sorted(label.categories))
    given = pd.DataFrame(said)
    given = given[given.notna().sum(axis=1) > 1]
    value, low, high = _measured(given)
    agree = int((given.nunique(axis=1) < 2).sum())
    found = {"cases": len(given), "agree": agree, "value": value, "low": low, "high": high}
    return found | {"sign": "κ" if len(said) == 2 else "α"}  # noqa: RUF001


def sentence(row: Mapping[str, Any]) -> str:
    """An `agreement` in words: "8 of 10 agree, κ 0.74 [0.30, 1.00]"."""
    text = f"{row['agree']} of {row['cases']} agree"
    if math.isnan(row["low"]):
        return text if math.isnan(row["value"]) else f"{text}, too few for {row['sign']}"
    return f"{text}, {row['sign']} {row['value']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def final(labels: Iterable[Label]) -> dict[str, Label | None]:
    """The label that counts for each case: the adjudicator's before the others'; None while they dispute it."""
    found: dict[str, Label | None] = {}
    for one in sorted(labels, key=lambda one: one.annotator == ADJUDICATOR):
        before = found.get(one.key, one)
        agrees = before and {*before.categories} == {*one.categories}
        found[one.key] = one if agrees or one.annotator == ADJUDICATOR else None
    return found


def _measured(given: pd.DataFrame) -> tuple[float, float, float]:
    """The coefficient of a table of cases by annotators, and the ends of its interval."""
    # By case, annotator and label.
    names = given.melt()["value"].dropna().unique().astype(object)
    said = (given.to_numpy(object)[..., None] == names).astype(float)

    @np.errstate(invalid="ignore", divide="ignore")
    def coefficient(cases: Any, axis: int = -1) -> Any:  # noqa: ARG001  the name is scipy's
        drawn = said[cases]
        counts = drawn.sum(-2)
        each, total = counts.sum(-1, keepdims=True), counts.sum((-2, -1))
        agreed = (counts * (counts - 1) / (each - 1)).sum((-2, -1)) / total
        shares = counts.sum(-2)  # chance draws two labels without putting the first back
        chance = (shares * (shares - 1)).sum(-1) / (total * (total - 1))
        if given.shape[1] == 2:  # Cohen's chance has each annotator's own shares
            chance = drawn.mean(-3).prod(-2).sum(-1)
        return np.where(chance < 1 - 1e-9, (agreed - chance) / (1 - chance), math.nan)

    n = len(given)
    value = float(coefficient(np.arange(n))) if n else math.nan
    if n < 5 or math.isnan(value):
        return value, math.nan, math.nan
    if value == 1:  # no resample differs: the interval is that of a rate of disagreement of none
        shares = said.sum((0, 1)) / said.sum()
        most = binomtest(0, n).proportion_ci().high
        return value, max(-1.0, 1 - most / (1 - float((shares**2).sum()))), 1.0
    low, high = bootstrap(
        (np.arange(n),), lambda *drawn, axis: np.nan_to_num(coefficient(*drawn), nan=1.0),  # noqa: ARG005
        vectorized=True, batch=max(1, 2_000_000 // said.size), n_resamples=999,
        method="percentile", rng=np.random.default_rng(0),
    ).confidence_interval  # fmt: skip
    return value, float(low), float(high)
