"""Agreement of annotators beyond chance, with intervals; their disputes; and the label that counts.

Two annotators have Cohen's kappa (1960), more have Krippendorff's alpha (1970) for nominal data, in which labels may be
missing. The interval is a bootstrap over cases, of percentiles, which held the true kappa of simulated annotators (five
labels, right in 80%) in 93 to 98% of 150 data sets of 10 to 100 cases. Several labels agree with the same set only.
"""

import math
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binomtest, bootstrap

from workbench.label.store import ADJUDICATOR, Label

Floats = NDArray[np.float64]
_FEWEST = 5  # cases of an interval


def agreement(labels: Iterable[Label]) -> pd.DataFrame:
    """Cohen's kappa of each pair of annotators, and Krippendorff's alpha of all if there are more than two.

    `cases` is the number of cases that both, or any two, labelled, and `agree` that of cases on which they agree. `low`
    and `high` end the 95% interval, NaN below five cases. The labels are those of one taxonomy; the adjudicator, who
    sees the others' labels, does not count.
    """
    said: dict[str, dict[str, str]] = {}  # by annotator: the label of each case
    for label in labels:
        if label.annotator != ADJUDICATOR:
            said.setdefault(label.annotator, {})[label.key] = "; ".join(sorted(label.categories))
    table = pd.DataFrame(said)
    rows = []
    for names in [*combinations(said, 2), *([tuple(said)] if len(said) > 2 else [])]:
        given = table[list(names)]
        given = given[given.notna().sum(axis=1) > 1]
        method, sign = ("Cohen's kappa", "κ") if len(names) == 2 else ("Krippendorff's alpha", "α")  # noqa: RUF001
        row = {"annotators": ", ".join(names), "cases": len(given), "method": method, "sign": sign}
        row["agree"] = int((given.nunique(axis=1) < 2).sum())
        rows.append(row | dict(zip(("value", "low", "high"), _measured(given), strict=True)))
    columns = ["annotators", "cases", "agree", "method", "sign", "value", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def sentence(row: Mapping[Any, Any]) -> str:
    """A row of `agreement` in words: "8 of 10 agree, κ 0.74 [0.30, 1.00]"."""
    text = f"{row['agree']} of {row['cases']} agree"
    if math.isnan(row["low"]):
        return text if math.isnan(row["value"]) else f"{text}, too few for {row['sign']}"
    return f"{text}, {row['sign']} {row['value']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def disputes(labels: Iterable[Label]) -> dict[str, tuple[Label, ...]]:
    """The cases that annotators label differently and the adjudicator has not settled, with their labels."""
    by_case: dict[str, list[Label]] = {}
    for label in labels:
        by_case.setdefault(label.key, []).append(label)
    return {
        key: tuple(given)
        for key, given in by_case.items()
        if all(label.annotator != ADJUDICATOR for label in given)
        and len({frozenset(label.categories) for label in given}) > 1
    }


def final(labels: Iterable[Label]) -> dict[str, Label | None]:
    """The label that counts for each case: the adjudicator's before the others'; None while they dispute it."""
    given = tuple(labels)
    by_weight = sorted(given, key=lambda one: one.annotator == ADJUDICATOR)
    return {label.key: label for label in by_weight} | dict.fromkeys(disputes(given))


def _measured(given: pd.DataFrame) -> tuple[float, float, float]:
    """The coefficient of a table of cases by annotators, and the ends of its interval."""
    names = pd.unique(given.to_numpy().ravel())
    marks = np.stack([given == name for name in names if isinstance(name, str)] or [given.isna()])
    said = marks.astype(float).transpose(1, 2, 0)  # case, annotator, label

    def coefficient(cases: NDArray[np.int64]) -> Floats:
        """Of cases along the last axis."""
        drawn = said[cases]
        if given.shape[1] == 2:  # chance is computed from each annotator's own shares of the labels
            agreed = drawn.prod(-2).sum(-1).mean(-1)
            chance = drawn.mean(-3).prod(-2).sum(-1)
        else:  # from the shares of all, by drawing two labels without putting the first back
            counts = drawn.sum(-2)
            each, total = counts.sum(-1, keepdims=True), counts.sum((-2, -1))
            agreed = (counts * (counts - 1) / (each - 1)).sum((-2, -1)) / total
            shares = counts.sum(-2)
            chance = (shares * (shares - 1)).sum(-1) / (total * (total - 1))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(chance < 1 - 1e-9, (agreed - chance) / (1 - chance), math.nan)

    n = len(given)
    value = float(coefficient(np.arange(n))) if n else math.nan
    if n < _FEWEST or math.isnan(value):
        return value, math.nan, math.nan
    if value == 1:  # no resample differs: the interval is that of a rate of disagreement of none
        shares = said.mean((0, 1))
        most = binomtest(0, n).proportion_ci().high
        return value, max(-1.0, 1 - most / (1 - float((shares**2).sum() / shares.sum() ** 2))), 1.0
    found = bootstrap(
        (np.arange(n),), lambda drawn, axis: np.nan_to_num(coefficient(drawn), nan=1.0),  # noqa: ARG005
        vectorized=True, batch=max(1, 2_000_000 // said.size), n_resamples=999,
        method="percentile", rng=np.random.default_rng(0),
    )  # fmt: skip
    low, high = found.confidence_interval
    return value, float(low), float(high)
