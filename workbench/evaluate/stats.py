"""Intervals clustered by database, the paired comparison of two systems, bounds of selection.

Questions about one database tend to be right or wrong together, so a thousand questions on nine
databases say less than a thousand independent ones. How often a nominal 95% interval contained the
true accuracy in 3,000 simulations, with nine databases of unequal size and 500 questions (percent):

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
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import bdtr, stdtrit

from workbench.errors import BadInputError

Floats = NDArray[np.float64]
CONFIDENCE = 0.95  # of the intervals that tables and figures show
# A normal value lies between -_Z and _Z with the probability CONFIDENCE.
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
_MANY = 10  # databases from which one may speak of others

Decision = Literal["holds", "fails", "not decided"]


def decide(low: float, high: float, least: float = 0.0) -> Decision:
    """Decide the claim that a difference is above `least`, by the interval of the difference.

    >>> wb.decide(-1.91, 4.09)
    'not decided'
    """
    if low > least:
        return "holds"
    return "fails" if high < least else "not decided"


@dataclass(frozen=True, slots=True)
class Interval:
    """The mean of `n` values, with its interval in the unit of the values."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """System a against system b on the same `n` questions.

    `difference` is the accuracy of a minus that of b. `low` and `high` are Tango's score
    interval of it over questions, `p_value` is that of McNemar's exact test; the interval holds
    0 exactly where the p-value is 0.05 or more. `won` are the questions that only a has right,
    `lost` those that only b has. `clustered` is the interval clustered by database, which speaks
    of other databases; None where fewer than ten were asked.
    """

    difference: float
    low: float
    high: float
    p_value: float
    won: tuple[str, ...]
    lost: tuple[str, ...]
    n: int
    clustered: tuple[float, float] | None


def too_few(databases: int) -> str:
    return f"{databases} database{'s are' if databases > 1 else ' is'} too few to speak of others"


def mean_interval(values: Sequence[float], clusters: Sequence[str]) -> Interval:
    """Return the mean of values and its interval, Wilson's if they are between 0 and 1.

    `clusters` gives each value's database.
    """
    x = np.asarray(values, dtype=np.float64)
    if not len(x):
        raise BadInputError("0 values have no interval: give one or more")
    if x.min() < 0 or x.max() > 1:
        return number_interval(values, clusters)
    mean = float(x.mean())
    half_in_deviations = _Z / math.sqrt(len(x))
    if x.min() < x.max():  # else the deviation is 0
        deviation = math.sqrt(mean * (1 - mean))
        half_in_deviations = _half(x, clusters) / deviation
    return _wilson(mean, half_in_deviations, len(x))


def _wilson(mean: float, half_in_deviations: float, n: int) -> Interval:
    """Return Wilson's interval of a share.

    The plain one, mean +- half, would leave [0, 1] near its ends and have no width there.
    `half_in_deviations` is the half of the plain interval divided by the standard deviation of the
    verdicts: z over the root of n, enlarged as much as clusters enlarge the plain one.
    """
    spread = half_in_deviations**2  # z squared over n
    scale = 1 + spread
    centre = (mean + spread / 2) / scale
    variance = mean * (1 - mean) * spread + spread**2 / 4
    half = math.sqrt(variance) / scale
    low = max(0.0, min(mean, centre - half))
    high = min(1.0, max(mean, centre + half))
    return Interval(
        mean=mean,
        low=low,
        high=high,
        n=n,
    )


def number_interval(values: Sequence[float], clusters: Sequence[str]) -> Interval:
    """Return the mean of any numbers and its interval; `clusters` gives each number's database."""
    x = np.asarray(values, dtype=np.float64)
    mean = float(x.mean())
    half = _half(x, clusters)
    return Interval(
        mean=mean,
        low=mean - half,
        high=mean + half,
        n=len(x),
    )


def _half(x: Floats, clusters: Sequence[str]) -> float:
    """Return half of a mean's interval: over independent values or by database, the larger.

    Clusters can only enlarge it, since a few databases may agree by chance.
    """
    deviation = float(x.std())
    independent = _Z * deviation / math.sqrt(len(x))
    clustered = _clustered_half(x, clusters)
    return max(independent, clustered)


def compare(
    a: Mapping[str, float], b: Mapping[str, float], clusters: Mapping[str, str]
) -> PairedComparison:
    """Compare verdicts (true or 1, false or 0) by question.

    `clusters` gives each question's database.
    """
    unpaired = sorted(a.keys() ^ b.keys())
    if unpaired or not a:
        which = ", ".join(unpaired[:3]) or "no questions"
        raise BadInputError(f"compare systems on the same questions, not {which}")
    won = tuple(question for question in a if a[question] > b[question])
    lost = tuple(question for question in a if a[question] < b[question])
    p_value = mcnemar(len(won), len(lost))
    low = _tango(len(won), len(lost), len(a), side=-1)
    high = _tango(len(won), len(lost), len(a), side=1)
    if p_value >= 1 - CONFIDENCE:
        # The interval holds 0 where the exact test does not reject. That is stricter than the
        # score test that Tango's interval inverts: with 5 won and none lost, p = 0.0625 while the
        # interval would leave 0 out.
        low = min(low, 0.0)
        high = max(high, 0.0)
    databases = [clusters[question] for question in a]
    changes = np.array([float(a[question]) - float(b[question]) for question in a])
    clustered = None
    if len(set(databases)) >= _MANY:
        clustered = _over_databases(changes, databases)
    return PairedComparison(
        difference=float(changes.mean()),
        low=low,
        high=high,
        p_value=p_value,
        won=won,
        lost=lost,
        n=len(a),
        clustered=clustered,
    )


def _over_databases(changes: Floats, databases: Sequence[str]) -> tuple[float, float]:
    """Return the interval of a mean change clustered by database.

    Two systems that never differ on this benchmark get an interval with a width, by Agresti and
    Min (2005), who add half a question to each of the four outcomes of a pair; the plain half of
    `number_interval` would be 0.
    """
    n = len(changes) + 2
    differing = float(np.abs(changes).sum()) + 1
    difference = float(changes.sum())
    variance = differing - difference**2 / n
    independent = _Z * math.sqrt(variance) / n
    clustered = _clustered_half(changes, databases)
    half = max(independent, clustered)
    mean = float(changes.mean())
    low = max(-1.0, mean - half)
    high = min(1.0, mean + half)
    return low, high


def differences(questions: pd.DataFrame, against: str | None = None) -> pd.DataFrame:
    """Return each system minus the one `against`, by default the first, on the same questions.

    The questions have a `system` and whether it is `correct`; numbers are in percent.
    """
    verdicts: dict[str, Any] = {}
    for name, part in questions.groupby("system", sort=False):
        correct = part.set_index("question_id")["correct"]
        verdicts[str(name)] = correct.astype(float).to_dict()
    base = next(iter(verdicts)) if against is None else against
    if base not in verdicts or len(verdicts) < 2:
        raise BadInputError(
            f"the rows are of {', '.join(verdicts)}: give two or more systems, one of them {base!r}"
        )
    database_of: Any = questions.set_index("question_id")["db_id"].to_dict()
    rows = []
    for name, of_system in verdicts.items():
        if name == base:
            continue
        paired = compare(of_system, verdicts[base], database_of)
        row = {
            "system": name,
            "against": base,
            "difference": 100 * paired.difference,
            "low": 100 * paired.low,
            "high": 100 * paired.high,
            "p_value": paired.p_value,
            "won": len(paired.won),
            "lost": len(paired.lost),
        }
        if paired.clustered:
            low, high = paired.clustered
            row |= {"clustered low": 100 * low, "clustered high": 100 * high}
        rows.append(row | {"n": paired.n})
    return pd.DataFrame(rows)


def mcnemar(won: int, lost: int) -> float:
    """Return the p-value of McNemar's exact test, two-sided.

    Each question that differs is won with probability 1/2.
    """
    fewer = min(won, lost)
    tail = float(bdtr(fewer, won + lost, 0.5))
    return min(1.0, 2 * tail)


def _tango(won: int, lost: int, n: int, side: Literal[-1, 1]) -> float:
    """Return the lower (-1) or upper (1) end of Tango's (1998) score interval of a difference."""

    def score(difference: float) -> float:
        # `lost_share` is the most likely one under this difference, a root of 2nx² + bx + c.
        b = (2 * n - won + lost) * difference - won - lost
        c = -lost * difference * (1 - difference)
        discriminant = b * b - 8 * n * c
        root = math.sqrt(max(0.0, discriminant))  # rounding may leave it below 0
        lost_share = (root - b) / (4 * n)
        variance = n * (2 * lost_share + difference * (1 - difference))
        distance = won - lost - n * difference
        if distance == 0:
            return 0.0
        if variance <= 0:
            return math.copysign(math.inf, distance)
        return distance / math.sqrt(variance)

    # Bisect between the difference itself, whose score is 0, and the largest there can be.
    inside = (won - lost) / n
    outside = float(side)
    for _ in range(50):
        middle = (inside + outside) / 2
        if abs(score(middle)) <= _Z:
            inside = middle
        else:
            outside = middle
    return outside  # so that the interval is never too small


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values of comparisons made together, each adjusted for all of them (Holm, 1979).

    >>> wb.holm([0.02, 0.4, 0.01])
    [0.04, 0.4, 0.03]
    """
    rising = pd.Series(p_values, dtype=float).sort_values()
    # The smallest of m is multiplied by m, the next by m - 1, and so on.
    multiplied = rising * np.arange(len(rising), 0, -1)
    adjusted = multiplied.clip(upper=1.0).cummax()
    return adjusted.sort_index().tolist()


def _clustered_half(values: Floats, clusters: Sequence[str]) -> float:
    """Return half of the interval of a mean clustered by database.

    It is t times the jackknife's standard error: the jackknife leaves out one database after the
    other and measures how far the mean moves. It copes with databases of unequal size; a bootstrap
    of nine databases underestimates (see the table above).
    """
    by_database = pd.Series(values).groupby(np.asarray(clusters, dtype=np.str_))
    sums = by_database.sum()
    sizes = by_database.size()
    count = len(sums)
    if count == 1:
        return 0.0
    total = sums.sum()
    mean = total / len(values)
    means_of_the_rest = (total - sums) / (len(values) - sizes)
    squares = (means_of_the_rest - mean) ** 2
    variance = (count - 1) / count * float(squares.sum())
    # A variance from a handful of databases is itself uncertain: Student's t, not the normal
    # quantile.
    t = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2))
    return t * math.sqrt(variance)


def bounds(verdicts: Mapping[str, Sequence[float]]) -> pd.DataFrame:
    """Return the best and the worst possible selection among k candidates, in percent.

    These are CHASE-SQL's figure 2 and table 6. The upper bound (unbiased pass@k) is an oracle that
    picks a right candidate wherever there is one, the lower bound an adversary. Both are exact
    means over all choices of k candidates, up to the fewest of a question, whatever the order of
    the candidates.
    """
    fewest = min(map(len, verdicts.values()), default=0)
    if not fewest:
        raise BadInputError(
            "0 candidates of a question, or no question: bounds need one of each"
        )
    rows = []
    for verdicts_of_question in verdicts.values():
        n = len(verdicts_of_question)
        right = int(sum(verdicts_of_question))
        for k in range(1, fewest + 1):
            choices = comb(n, k)
            all_right = comb(right, k)
            any_right = choices - comb(n - right, k)
            rows.append((k, 100 * all_right / choices, 100 * any_right / choices))
    frame = pd.DataFrame(rows, columns=["k", "lower", "upper"])
    return frame.groupby("k", as_index=False).mean()
