"""VES and R-VES, as BIRD defines them, and the same two on SQLite's opcode counts.

Both score how much faster a right answer runs than the gold query; a wrong answer scores 0. BIRD's
ratios come from wall-clock time, so its numbers change from machine to machine and from run to run.
The counts of opcodes do not: `ves` and `r_ves` over `opcode_ratio` are repeatable. They are a variant,
to be reported under that name ("VES, opcodes"), for an opcode is not a unit of time: a sort, or a LIKE
over a long text, is a single one.

What differs from BIRD's scripts when time is measured: both queries run on one warm connection, in
turn, and all rows are fetched. BIRD opens a connection for each run; its VES stops the clock at the
first row, its R-VES includes the opening.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from workbench.db.execute import Executor
from workbench.errors import BadInputError
from workbench.evaluate.stats import Interval, mean_interval

_REWARDS = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5), (0.0, 0.25))


@dataclass(frozen=True, slots=True)
class Efficiency:
    """How a predicted query's cost compares with gold's: above 1, it is the cheaper one.

    Where one of the two could not be run to its end, the ratios are None and `error` says why.
    """

    time_ratio: float | None = None
    opcode_ratio: float | None = None
    error: str = ""


def measure(
    executor: Executor,
    database: Path,
    predicted_sql: str,
    gold_sql: str,
    *,
    repeats: int = 100,
    seconds: float = 3000.0,
) -> Efficiency:
    """Run both in turn and compare. BIRD's defaults: 100 runs, 30 seconds for each on the average.

    Says nothing of correctness: the caller knows that, and scores a wrong answer as None.
    """
    if repeats < 1:
        raise BadInputError(f"repeats is {repeats}: a time needs at least one run")
    timing = executor.time(database, [gold_sql, predicted_sql], repeats, seconds)
    if timing.error:
        return Efficiency(error=timing.error)
    return Efficiency(time_ratio(*timing.seconds), opcode_ratio(*timing.opcodes))


def time_ratio(gold_seconds: Sequence[float], predicted_seconds: Sequence[float]) -> float:
    """The mean of gold's time over the prediction's, run by run, without outliers.

    An outlier is a ratio three standard deviations or more from the mean. Ratios that are all the same
    are all kept; BIRD's script throws them all away and counts the answer as wrong.
    """
    if len(gold_seconds) != len(predicted_seconds) or not len(gold_seconds):
        raise BadInputError(
            f"{len(gold_seconds)} runs of the gold query and {len(predicted_seconds)} of the"
            " predicted one: times are compared run by run"
        )
    if min(*gold_seconds, *predicted_seconds) <= 0:
        raise BadInputError("a run that took no time: give seconds above 0")
    ratios = np.divide(gold_seconds, predicted_seconds)
    kept = ratios[np.abs(ratios - ratios.mean()) < 3 * ratios.std()]
    return float((kept if kept.size else ratios).mean())


def opcode_ratio(gold: int, predicted: int) -> float:
    """Gold's opcodes over the prediction's. They are counted in tens; fewer than ten count as ten."""
    return max(gold, 10) / max(predicted, 10)


def ves(ratios: Iterable[float | None]) -> float:
    """Valid efficiency score in percent: the mean over all questions of the ratio's square root.

    None stands for a wrong answer, as does NaN, which is how a DataFrame spells None. One question
    with a slow gold query can lift it far above 100.
    """
    return _mean_percent([math.sqrt(_valid(ratio)) for ratio in ratios])


def ves_interval(ratios: Sequence[float | None], clusters: Sequence[str]) -> Interval:
    """VES as a share, and its interval; `clusters` gives each question's database.

    The interval is that of the scores as shares of the highest one: a score has no upper bound of its own.
    """
    scores = [math.sqrt(_valid(ratio)) for ratio in ratios]
    most = max([1.0, *scores])
    found = mean_interval([score / most for score in scores], clusters)
    return replace(found, mean=found.mean * most, low=found.low * most, high=found.high * most)


def r_ves(ratios: Iterable[float | None]) -> float:
    """Reward-based VES in percent: each ratio gives a reward in steps, of which the root is taken.

    At least 2 gives 1.25, at least 1 gives 1, at least 0.5 gives 0.75, at least 0.25 gives 0.5, and
    any other right answer 0.25. None and NaN stand for a wrong answer.
    """
    return _mean_percent([math.sqrt(_reward(_valid(ratio))) for ratio in ratios])


def _reward(ratio: float) -> float:
    if ratio == 0:
        return 0.0
    return next(reward for least, reward in _REWARDS if ratio >= least)


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
