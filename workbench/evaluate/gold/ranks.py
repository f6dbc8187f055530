"""Rank correlation of systems under two golds, by Kendall and by Spearman.

The interval of a correlation is a bootstrap over databases with a fixed seed: each round draws databases with
replacement and ranks the systems on them. SciPy has both correlations, but takes a third of a second to import.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.errors import BadInputError

Floats = NDArray[np.float64]
_DRAWS = 2_000


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation of ranks between -1 and 1 with its 95% interval.

    All numbers are None if all systems are equal; the interval is None if there is only one database.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Ranks:
    """The ranks of the systems under two golds, 1 for the best; equal systems share their mean rank."""

    before: tuple[float, ...]
    after: tuple[float, ...]
    kendall: Correlation
    spearman: Correlation


def compare_ranks(
    before: Sequence[Sequence[float]], after: Sequence[Sequence[float]], clusters: Sequence[str]
) -> Ranks:
    """Compare the ranks under two golds, given each system's verdicts and each question's database."""
    _, codes = np.unique(np.asarray(clusters, dtype=np.str_), return_inverse=True)
    x, y = (_sums(verdicts, codes) for verdicts in (before, after))
    total_x, total_y = x.sum(axis=1), y.sum(axis=1)
    count = x.shape[1]
    # Whole databases are drawn: the questions of one database are not independent.
    draws = np.random.default_rng(0).multinomial(count, [1 / count] * count, _DRAWS)
    drawn = [(x @ draw, y @ draw) for draw in draws] if count > 1 else []
    correlations = []
    for measure in (kendall, spearman):
        values = [value for pair in drawn if (value := measure(*pair)) is not None]
        ends = map(float, np.quantile(values, [0.025, 0.975])) if values else (None, None)
        correlations.append(Correlation(measure(total_x, total_y), *ends))
    return Ranks(
        tuple(map(float, _places(-total_x))), tuple(map(float, _places(-total_y))), *correlations
    )


def kendall(x: Floats, y: Floats) -> float | None:
    """Kendall's tau-b; None if all values on one side are equal."""
    return _cosine(*(np.sign(values[:, None] - values[None, :]) for values in (x, y)))


def spearman(x: Floats, y: Floats) -> float | None:
    """Spearman's rho: Pearson's correlation of the ranks; None if all values on one side are equal."""
    return _cosine(*(places - places.mean() for places in (_places(x), _places(y))))


def _cosine(a: Floats, b: Floats) -> float | None:
    scale = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / scale if scale else None


def _places(values: Floats) -> Floats:
    """The rank of each value, 1 for the smallest; equal values share the mean of their ranks."""
    less = (values[:, None] > values[None, :]).sum(axis=1)
    equal = (values[:, None] == values[None, :]).sum(axis=1)
    places: Floats = less + (equal + 1) / 2
    return places


def _sums(verdicts: Sequence[Sequence[float]], codes: NDArray[np.intp]) -> Floats:
    """The number of right answers of each system on each database."""
    if {len(row) for row in verdicts} != {len(codes)}:
        raise BadInputError(
            f"{len(codes)} questions, and verdicts on {' or '.join(map(str, sorted(set(map(len, verdicts)))))}: give one"
            " of every system on every question"
        )
    return np.array([np.bincount(codes, row) for row in verdicts], dtype=np.float64)
