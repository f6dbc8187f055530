"""Agreement of annotators beyond chance, with intervals; their disputes; and the label that counts.

Two annotators have Cohen's kappa (1960), more have Krippendorff's alpha (1970) for nominal data, in which labels may be
missing. Each coefficient is a function of one table that counts pairs of labels and is a sum over cases, so the
interval is a bootstrap over cases: of percentiles, which held the true kappa of simulated annotators (five labels, right
in 80%) in 93 to 98% of 150 data sets of 10 to 100 cases. A case with several labels agrees with the same set of labels only.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binomtest, bootstrap

from workbench.label.store import ADJUDICATOR, Label

Floats = NDArray[np.float64]
_COLUMNS = ("annotators", "cases", "agree", "method", "value", "low", "high")
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
    groups = [*combinations(said, 2), *([tuple(said)] if len(said) > 2 else [])]
    rows = []
    for names in groups:
        keys = dict.fromkeys(key for name in names for key in said[name])
        given = [[said[name][key] for name in names if key in said[name]] for key in keys]
        given = [one for one in given if len(one) > 1]
        same = sum(len(set(one)) == 1 for one in given)
        method = "Cohen's kappa" if len(names) == 2 else "Krippendorff's alpha"
        ends = _measured(given, of_two=len(names) == 2)
        rows.append((", ".join(names), len(given), same, method, *ends))
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def sentence(row: Mapping[Any, Any]) -> str:
    """A row of `agreement` in words: "8 of 10 agree, κ 0.74 [0.30, 1.00]"."""
    text, sign = f"{row['agree']} of {row['cases']} agree", "\N{GREEK SMALL LETTER ALPHA}"
    sign = "\N{GREEK SMALL LETTER KAPPA}" if row["method"].startswith("Cohen") else sign
    if math.isnan(row["low"]):
        return text if math.isnan(row["value"]) else f"{text}, too few for {sign}"
    return f"{text}, {sign} {row['value']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


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


def _measured(given: Sequence[Sequence[str]], *, of_two: bool) -> tuple[float, float, float]:
    """The coefficient, and the ends of its interval."""
    labels = sorted({label for one in given for label in one})
    tables = np.zeros((len(given), len(labels), len(labels)))
    for table, one in zip(tables, given, strict=True):
        at = [labels.index(label) for label in one]
        for i, j in (
            [(0, 1)] if of_two else ((i, j) for i in range(len(at)) for j in range(len(at)))
        ):
            table[at[i], at[j]] += 1 if of_two else (i != j) / (len(at) - 1)
    coefficient = _cohen if of_two else _alpha
    value = float(coefficient(tables.sum(0))) if len(given) else math.nan
    n = len(given)
    if n < _FEWEST or math.isnan(value):
        return value, math.nan, math.nan
    if (
        value == 1
    ):  # no resample differs: the interval is that of the rate of disagreement, of which none was seen
        most = binomtest(0, n).proportion_ci().high
        shares = tables.sum((0, 2)) / tables.sum()
        return value, max(-1.0, 1 - most / (1 - float((shares**2).sum()))), 1.0
    found = bootstrap(
        (np.arange(n),),
        lambda drawn, axis: np.nan_to_num(coefficient(tables[drawn].sum(axis - 2)), nan=1.0),
        vectorized=True,
        batch=max(1, 2_000_000 // tables.size),
        n_resamples=999,
        method="percentile",
        rng=np.random.default_rng(0),
    )
    low, high = found.confidence_interval
    return value, float(low), float(high)


def _cohen(tables: Floats) -> Floats:
    """Chance is computed from each annotator's own shares of the labels. Tables have the shape (..., k, k)."""
    total = tables.sum((-2, -1))
    expected = (tables.sum(-1) * tables.sum(-2)).sum(-1)
    return _beyond(np.trace(tables, axis1=-2, axis2=-1) * total, expected, total**2)


def _alpha(tables: Floats) -> Floats:
    """Chance is computed from the shares of all annotators, by drawing two labels without putting the first back."""
    total, shares = tables.sum((-2, -1)), tables.sum(-1)
    expected = (shares * (shares - 1)).sum(-1)
    observed = np.trace(tables, axis1=-2, axis2=-1) * (total - 1)
    return _beyond(observed, expected, total * (total - 1))


def _beyond(observed: Floats, expected: Floats, whole: Floats) -> Floats:
    """(observed - expected) / (whole - expected); NaN where chance alone always agrees."""
    room = np.asarray(whole - expected, dtype=np.float64)
    known = room > 1e-9 * np.maximum(whole, 1)
    return np.where(known, (observed - expected) / np.where(known, room, 1), np.nan)
