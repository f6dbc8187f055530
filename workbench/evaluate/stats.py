"""Confidence intervals clustered by database, the paired comparison of two systems, and the bounds of selection.

Questions about one database tend to be right or wrong together, so a thousand questions on nine databases
say less than a thousand independent ones. How often a nominal 95% interval contained the true accuracy in 3,000
simulations, with nine databases of unequal size and 500 questions (percent):

    true accuracy, correlation within a database   60%, .15   90%, .10   97%, .05   60%, 0
    bootstrap of databases, percentiles               89         86         82        90
    linearised variance (CR1), t with 8 degrees       93         89         85        94
    as here                                           94         93         92        97

Nothing here is random: the same verdicts give the same interval.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import bdtr, stdtrit

from workbench.errors import BadInputError

Floats = NDArray[np.float64]
CONFIDENCE = 0.95  # of the intervals that tables and figures show
# A normal value lies between -_Z and _Z with this probability.
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
_MANY = 10  # databases from which one may speak of others


@dataclass(frozen=True, slots=True)
class Interval:
    """The mean of `n` values, with its interval in the unit of the values."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """System a against system b on the same `n` questions, on `clusters` databases.

    `difference` is the accuracy of a minus that of b. `low` and `high` are Tango's score interval of it over questions,
    `p_value` is that of McNemar's exact test; the interval holds 0 exactly where the p-value is 0.05 or more. `won` are
    the questions that only a has right, `lost` those that only b has. `clustered` is the interval clustered by database,
    which speaks of other databases; None where fewer than ten were asked.
    """

    difference: float
    low: float
    high: float
    p_value: float
    won: tuple[str, ...]
    lost: tuple[str, ...]
    n: int
    clusters: int
    clustered: tuple[float, float] | None

    @property
    def note(self) -> str:
        if self.clustered is None:
            return too_few(self.clusters)
        low, high = (100 * end for end in self.clustered)
        return f"clustered by {self.clusters} databases {low:+.2f} to {high:+.2f}"


def too_few(databases: int) -> str:
    return f"{databases} database{'s are' if databases > 1 else ' is'} too few to speak of others"


def mean_interval(values: Sequence[float], clusters: Sequence[str]) -> Interval:
    """The mean of values between 0 and 1 and its interval; `clusters` gives each value's database."""
    x = np.asarray(values, dtype=np.float64)
    if not len(x) == len(clusters) > 0 or not ((x >= 0) & (x <= 1)).all():
        given = f"{len(x)} values and {len(clusters)} databases"
        raise BadInputError(f"{given}: give fractions, not percent, and the database of each")
    mean = float(x.mean())
    # The squared half-width of a plain interval, divided by a verdict's variance, mean * (1 - mean): _Z**2 / n for
    # independent verdicts. Clusters can only enlarge it, since a few databases may agree by chance.
    spread = _Z**2 / len(x)
    if x.min() != x.max():
        wide = max(_Z**2 * float(x.var()) / len(x), _clustered(x, clusters)[0])
        spread = wide / (mean * (1 - mean))
    # Wilson's interval. The plain one, mean +- half, would leave [0, 1] near its ends and have no width there.
    centre = (mean + spread / 2) / (1 + spread)
    half = math.sqrt(mean * (1 - mean) * spread + spread**2 / 4) / (1 + spread)
    low, high = max(0.0, min(mean, centre - half)), min(1.0, max(mean, centre + half))
    return Interval(mean, low, high, len(x))


def compare(
    a: Mapping[str, float], b: Mapping[str, float], clusters: Mapping[str, str]
) -> PairedComparison:
    """Compare verdicts (true or 1, false or 0) by question; `clusters` gives each question's database."""
    if (odd := sorted((a.keys() ^ b.keys()) | (a.keys() - clusters.keys()))) or not a:
        named = f"with question {', '.join(odd[:3])}" if odd else "without questions"
        raise BadInputError(f"compare the same questions, each with a database, not {named}")
    if others := {*a.values(), *b.values()} - {0, 1}:
        raise BadInputError(f"a verdict is {min(others)}: it must be true or false, or 1 or 0")
    won = tuple(question for question in a if a[question] > b[question])
    lost = tuple(question for question in a if a[question] < b[question])
    n, flips = len(a), len(won) + len(lost)
    p_value = min(1.0, 2 * float(bdtr(min(len(won), len(lost)), flips, 0.5))) if flips else 1.0
    low, high = (_tango(len(won), len(lost), n, side) for side in (-1, 1))
    if p_value >= 1 - CONFIDENCE:
        # The exact test is stricter than the score test that Tango's interval inverts: with 5 won and none lost,
        # p = 0.0625 while the interval would leave 0 out.
        low, high = min(low, 0.0), max(high, 0.0)
    x = np.array([float(a[question]) - float(b[question]) for question in a])
    wide, databases = _clustered(x, [clusters[question] for question in a])
    difference = (len(won) - len(lost)) / n
    # Agresti and Min (2005) add half a question to each of the four outcomes of a pair: two systems that never differ
    # on this benchmark get an interval with a width.
    independent = (flips + 1 - (len(won) - len(lost)) ** 2 / (n + 2)) / (n + 2) ** 2
    half = math.sqrt(max(_Z**2 * independent, wide))
    ends = (max(-1.0, difference - half), min(1.0, difference + half))
    clustered = ends if databases >= _MANY else None
    return PairedComparison(difference, low, high, p_value, won, lost, n, databases, clustered)


def _tango(won: int, lost: int, n: int, side: int) -> float:
    """An end of Tango's (1998) score interval of a paired difference: -1 is the lower end, 1 the upper one."""

    def score(difference: float) -> float:
        b = (2 * n - won + lost) * difference - won - lost
        c = -lost * difference * (1 - difference)
        lost_share = (math.sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)
        variance = n * (2 * lost_share + difference * (1 - difference))
        distance = won - lost - n * difference
        if variance <= 0:
            return math.copysign(math.inf, distance) if distance else 0.0
        return distance / math.sqrt(variance)

    inside, outside = (won - lost) / n, float(side)
    for _ in range(50):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if abs(score(middle)) <= _Z else (inside, middle)
    return outside


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values of comparisons made together, each adjusted for all of them (Holm, 1979).

    >>> wb.holm([0.02, 0.4, 0.01])
    [0.04, 0.4, 0.03]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    # The smallest of m is multiplied by m, the next by m - 1, and so on; the running maximum keeps the order.
    rising = np.maximum.accumulate(np.minimum(1.0, p[order] * np.arange(len(p), 0, -1)))
    adjusted: list[float] = rising[np.argsort(order, kind="stable")].tolist()
    return adjusted


def _clustered(values: Floats, clusters: Sequence[str]) -> tuple[float, int]:
    """The squared half-width of the clustered interval, t squared times the jackknife's variance; and how many clusters."""
    _, codes = np.unique(np.asarray(clusters, dtype=np.str_), return_inverse=True)
    sums, sizes = np.bincount(codes, values), np.bincount(codes)
    if (count := len(sums)) == 1:
        return 0.0, count
    # The jackknife leaves out one database after the other and measures how far the mean moves. It copes
    # with databases of unequal size; a bootstrap of nine databases underestimates (see the table above).
    without = (sums.sum() - sums) / (sizes.sum() - sizes)
    variance = (count - 1) / count * ((without - sums.sum() / sizes.sum()) ** 2).sum()
    # A variance from a handful of databases is itself uncertain: Student's t, not the normal quantile.
    return float(stdtrit(count - 1, (1 + CONFIDENCE) / 2)) ** 2 * float(variance), count


def bounds(verdicts: Mapping[str, Sequence[float]]) -> pd.DataFrame:
    """The best and the worst possible selection among k candidates: CHASE-SQL's figure 2 and table 6, in percent.

    The upper bound (unbiased pass@k) is an oracle that picks a right candidate wherever there is one, the lower bound an
    adversary. Both are exact expectations over all choices of k candidates, up to the fewest of a question.
    """
    counts = [(len(given), round(sum(given))) for given in verdicts.values()]
    if not counts or not min(n for n, _ in counts):
        raise BadInputError("0 candidates of a question, or no question: bounds need one of each")
    if odd := {verdict for given in verdicts.values() for verdict in given} - {0, 1}:
        raise BadInputError(f"a verdict is {min(odd)}: it must be true or false, or 1 or 0")
    rows = []
    for k in range(1, min(n for n, _ in counts) + 1):
        lower = [comb(c, k) / comb(n, k) for n, c in counts]
        upper = [(comb(n, k) - comb(n - c, k)) / comb(n, k) for n, c in counts]
        rows.append((k, *(100 * math.fsum(shares) / len(counts) for shares in (lower, upper))))
    return pd.DataFrame(rows, columns=["k", "lower", "upper"])
