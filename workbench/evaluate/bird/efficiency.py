"""VES and R-VES as BIRD defines them, and variants of both that count SQLite's opcodes.

Both score how much faster a right answer runs than the gold query; a wrong answer scores 0. BIRD takes the
ratios from wall-clock time, so its numbers change with the computer and the run. Opcode counts repeat. Scores
over them are a variant, to be reported as "VES, opcodes": an opcode is no unit of time, since a sort, or a
LIKE over a long text, is a single one.

Departs from BIRD's scripts in how time is measured: both queries run in turn on one warm connection, and all
rows are fetched. BIRD opens a connection for each run; its VES stops the clock at the first row, and its
R-VES includes the opening.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from workbench.errors import BadInputError
from workbench.evaluate.stats import Interval, mean_interval
from workbench.sql.executor import Executor

# The least ratio, and the reward for it: BIRD's R-VES.
_REWARDS = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5), (0.0, 0.25))


def measure(
    executor: Executor,
    database: Path,
    predicted_sql: str,
    gold_sql: str,
    *,
    repeats: int = 100,
    seconds: float = 3000.0,
) -> tuple[float, float] | None:
    """Gold's time and gold's opcodes, each divided by the prediction's, so that above 1 the prediction is cheaper.

    Both queries run in turn, whether or not the prediction is right. None if one of them does not run to its end. The
    defaults are BIRD's: 100 runs, 30 seconds for each on average.
    """
    if repeats < 1:
        raise BadInputError(f"repeats is {repeats}: a time needs at least one run")
    timed = executor.time(database, [gold_sql, predicted_sql], repeats, seconds)
    return timed and (time_ratio(*timed[0]), opcode_ratio(*timed[1]))


def time_ratio(gold_seconds: Sequence[float], predicted_seconds: Sequence[float]) -> float:
    """The mean of gold's time over the prediction's, run by run, without outliers.

    An outlier is a ratio three standard deviations or more from the mean.
    """
    if len(gold_seconds) != len(predicted_seconds) or not gold_seconds:
        raise BadInputError(
            f"{len(gold_seconds)} runs of the gold query and {len(predicted_seconds)} of the"
            " predicted one: times are compared run by run"
        )
    if min(*gold_seconds, *predicted_seconds) <= 0:
        raise BadInputError("a run that took no time: give seconds above 0")
    ratios = np.divide(gold_seconds, predicted_seconds)
    # If all ratios are the same, their deviation is 0 and no distance is below 3 * 0. BIRD's script then
    # drops every ratio and counts the answer as wrong; here all are kept.
    kept = ratios[np.abs(ratios - ratios.mean()) < 3 * ratios.std()]
    return float((kept if kept.size else ratios).mean())


def opcode_ratio(gold: int, predicted: int) -> float:
    """Gold's opcodes divided by the prediction's. SQLite counts in tens, so fewer than ten count as ten."""
    return max(gold, 10) / max(predicted, 10)


def ves(ratios: Iterable[float | None]) -> float:
    """Valid efficiency score in percent: the mean over all questions of the ratio's square root.

    None, or NaN as a DataFrame writes it, is a wrong answer. One slow gold query can lift the score far
    above 100.
    """
    return _mean_percent([math.sqrt(_valid(ratio)) for ratio in ratios])


def ves_interval(ratios: Sequence[float | None], clusters: Sequence[str]) -> Interval:
    """VES as a share, and its interval; `clusters` gives each question's database."""
    scores = [math.sqrt(_valid(ratio)) for ratio in ratios]
    # `mean_interval` takes values from 0 to 1, and a score has no upper bound: scale by the highest one.
    top = max([1.0, *scores])
    scaled = mean_interval([score / top for score in scores], clusters)
    return replace(scaled, mean=scaled.mean * top, low=scaled.low * top, high=scaled.high * top)


def r_ves(ratios: Iterable[float | None]) -> float:
    """Reward-based VES in percent: each ratio gives a reward in steps, of which the root is taken.

    A ratio of at least 2 gives 1.25, and so on down `_REWARDS`. None and NaN are wrong answers.
    """
    return _mean_percent([math.sqrt(_reward(_valid(ratio))) for ratio in ratios])


def _reward(ratio: float) -> float:
    return next(reward for least, reward in _REWARDS if ratio >= least) if ratio else 0.0


def _valid(ratio: float | None) -> float:
    if ratio is None or math.isnan(ratio):
        return 0.0
    if ratio < 0:
        raise BadInputError(f"a ratio of {ratio}: ratios are above 0, and None for a wrong answer")
    return ratio


def _mean_percent(scores: Sequence[float]) -> float:
    if not scores:
        raise BadInputError("no questions: a mean needs at least one ratio, None where it is wrong")
    return 100 * math.fsum(scores) / len(scores)
