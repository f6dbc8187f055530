"""Confidence intervals of agreement, by a bootstrap over cases: the cases are the sample.

Percentiles of the resampled coefficient are a little too close to the value if cases are few, so their distances from
it are stretched by the factors that Student's t and n / (n - 1) give the interval of a mean. In simulations of 600 data sets with five
categories and two annotators who are right in 80%, such intervals contain the true coefficient in 94 to 97% from
40 cases on.
"""

import math
from collections.abc import Callable

import numpy as np

from workbench.evaluate.stats import t_quantile
from workbench.label.agreement.coefficients import Floats

_RESAMPLES = 1_000
_CONFIDENCE = 0.95
_Z = 1.959964  # the normal quantile of this confidence


def measured(
    tables: Floats, coefficient: Callable[[Floats], Floats], *, seed: int = 0
) -> tuple[float, float, float]:
    """The coefficient of the summed tables, and the ends of its interval, NaN if there are too few cases for one."""
    n = len(tables)
    total = tables.sum(0)
    value = float(coefficient(total)) if n else math.nan
    if n < 2 or math.isnan(value):
        return value, math.nan, math.nan
    if np.trace(total) == total.sum():
        return value, _if_all_agree(total, n), 1.0
    drawn = np.random.default_rng(seed).integers(n, size=(_RESAMPLES, n))
    drawn += n * np.arange(_RESAMPLES)[:, None]
    weights = np.bincount(drawn.ravel(), minlength=_RESAMPLES * n).reshape(-1, n).astype(float)
    found = coefficient((weights @ tables.reshape(n, -1)).reshape(-1, *total.shape))
    ends = [50 - 50 * _CONFIDENCE, 50 + 50 * _CONFIDENCE]
    low, high = np.percentile(found[~np.isnan(found)], ends)  # faster than nanpercentile
    stretch = t_quantile(_CONFIDENCE, n - 1) / _Z * math.sqrt(n / (n - 1))
    low, high = value - stretch * (value - float(low)), value + stretch * (float(high) - value)
    return value, max(-1.0, low), min(1.0, high)


def _if_all_agree(total: Floats, n: int) -> float:
    """The low end if all n cases agree: the coefficient at the highest rate of disagreement still plausible then."""
    disagree = 1 - ((1 - _CONFIDENCE) / 2) ** (1 / n)
    shares = total.sum(-1) / total.sum()
    low: float = 1 - disagree / (1 - float((shares**2).sum()))
    return max(-1.0, low)
