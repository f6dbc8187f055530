"""VES and R-VES: how much faster a right answer runs than the gold query; a wrong answer scores 0.

BIRD takes the ratios from wall-clock time: both queries run in turn 100 times, ratios three standard deviations or more
from their mean are dropped, and of five such repeats the best score is reported. So its numbers change with the computer
and the run. `by="opcodes"` counts SQLite's opcodes instead, which are the same everywhere. An opcode is no unit of time:
a sort, or a LIKE over a long text, is a single one. So tables name these scores "VES, opcodes".

Departs from BIRD's scripts in how time is measured: both queries run on one warm connection of the sandbox's worker, and
all rows are fetched. BIRD opens a connection for each run; its VES stops the clock at the first row, and its R-VES
includes the opening.
"""

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.benchmarks.benchmark import Benchmark
from workbench.errors import at_least
from workbench.sql.executor import Executor

By = Literal["time", "opcodes"]
_SECONDS = 30.0  # on average for each run
# The least ratio, and the reward for it: BIRD's R-VES.
_REWARDS = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5), (0.0, 0.25))


def efficiency(
    benchmark: Benchmark,
    answers: pd.DataFrame,
    executor: Executor,
    by: By = "time",
    runs: int = 100,
    repeats: int = 5,
) -> pd.DataFrame:
    """The answers (question_id, sql, correct) with `ratio`, `ves` and `r_ves` of the repeat that has the highest VES.

    A ratio is gold's cost over the answer's, 0 for a wrong answer. VES is the mean of `ves`, as a share.
    """
    at_least(1, runs=runs, repeats=repeats)
    if by == "opcodes":
        runs = repeats = 1
    databases = {question.id: question.db_id for question in benchmark.questions}
    ratios = np.zeros((len(answers), repeats))
    rows = zip(answers["question_id"], answers["sql"], answers["correct"], strict=True)
    for row, (key, sql, correct) in enumerate(rows):
        limits = {"repeats": runs * repeats, "seconds": _SECONDS * runs * repeats}
        request = {"do": "times", "queries": [benchmark.golds[key].sql, sql], **limits}
        database = benchmark.database(databases[key])
        timed = executor.ask(database, request) if correct else {}
        if "times" not in timed:
            continue
        if by == "opcodes":  # SQLite counts in tens: fewer than ten count as ten
            gold_opcodes, opcodes = timed["opcodes"]
            ratios[row] = max(gold_opcodes, 10) / max(opcodes, 10)
        else:
            gold, ours = (np.reshape(times, (repeats, runs)) for times in timed["times"])
            ratios[row] = [time_ratio(a, b) for a, b in zip(gold, ours, strict=True)]
    best = ratios[:, np.sqrt(ratios).sum(axis=0).argmax()]
    return answers.assign(ratio=best, ves=np.sqrt(best), r_ves=np.sqrt([*map(reward, best)]))


def time_ratio(gold: ArrayLike, predicted: ArrayLike) -> float:
    """The mean over runs of gold's seconds divided by the prediction's, without outliers."""
    ratios = np.divide(gold, predicted)
    # If all ratios are equal, BIRD's script drops all and counts the answer as wrong; here all are kept.
    kept = ratios[np.abs(ratios - ratios.mean()) < 3 * ratios.std()]
    return float((kept if kept.size else ratios).mean())


def reward(ratio: float) -> float:
    """BIRD's reward for a ratio; 0 for a wrong answer, whose ratio is 0."""
    return next(reward for least, reward in _REWARDS if ratio >= least) if ratio else 0.0
