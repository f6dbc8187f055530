"""Summaries of verdicts: a row for each generator, or for each of its slices, in percent."""

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.evaluate.bounds import curve
from workbench.evaluate.judge import METRICS
from workbench.evaluate.stats import PairedComparison, compare, mean_interval
from workbench.sql.facts import features

# The slices of NL2SQL360 by what the gold query is made of; a question can be in several.
_SLICES = (
    "JOIN", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "DISTINCT", "aggregation", "nested query",
    "set operation", "CASE", "window", "arithmetic", "LIKE", "AND or OR",
)  # fmt: skip


def summarise(verdicts: pd.DataFrame, by: str | None = None) -> pd.DataFrame:
    """Means in percent by generator, and by the column `by` within it if one is given.

    Each of the `n` questions weighs the same, however many answers it has. `ex_bird_low` and `ex_bird_high`
    are the 95% interval, clustered by database. `failed` counts answers that did not run to their end and
    `missing` questions without an answer (both are wrong); `gold_failed` counts questions whose gold query
    did not run to its end.
    """
    rows = []
    keys = ["generator", by] if by else ["generator"]
    for names, group in verdicts.groupby(keys, sort=False):
        measured = [name for name in METRICS if group[name].notna().all()]
        means = dict.fromkeys(measured, "mean") | {"db_id": "first"}
        asked = group.groupby("question_id", sort=False).agg(means)
        interval = mean_interval(asked["ex_bird"].tolist(), asked["db_id"].tolist())
        rows.append(
            dict(zip(keys, names, strict=True))
            | {
                "n": len(asked),
                "ex_bird": 100 * interval.mean,
                "ex_bird_low": 100 * interval.low,
                "ex_bird_high": 100 * interval.high,
            }
            | {name: 100 * asked[name].mean() for name in measured[1:]}
            | {
                "failed": int((~group["status"].isin(["ok", "empty", "missing"])).sum()),
                "missing": int((group["status"] == "missing").sum()),
                "gold_failed": int((~group["gold_status"].isin(["ok", "empty"])).sum()),
            }
        )
    return pd.DataFrame(rows)


def by_feature(verdicts: pd.DataFrame, benchmark: Benchmark) -> pd.DataFrame:
    """The verdicts, one row for each SQL feature of the gold query; the column `feature` names the feature."""
    names = {}
    for question_id, gold in benchmark.golds.items():
        counts = features(gold.sql)
        found = [name for name in _SLICES if counts[name]] if counts else ["unreadable"]
        names[question_id] = found or ["none of these"]
    sliced = verdicts.assign(feature=verdicts["question_id"].map(names)).explode("feature")
    order = [*_SLICES, "none of these", "unreadable"]
    return sliced.sort_values("feature", key=lambda column: column.map(order.index), kind="stable")


def pool_bounds(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Lower and upper bound of selection among k of all candidates, for every k, in percent.

    A question without an answer is wrong at every k.
    """
    right = {
        str(question_id): group["ex_bird"].tolist()
        for question_id, group in verdicts.groupby("question_id", sort=False)
    }
    answered = set(verdicts.loc[verdicts["status"] != "missing", "question_id"])
    wrong = [0.0] * max(map(len, right.values()), default=0)
    return pd.DataFrame(
        curve({key: verdicts_ if key in answered else wrong for key, verdicts_ in right.items()})
    )


def compare_generators(verdicts: pd.DataFrame, a: str, b: str) -> PairedComparison:
    """Generator a against b on the same questions in BIRD's sense of EX, by the first sample of each."""
    first = verdicts.drop_duplicates(["generator", "question_id"])
    sides = [first[first["generator"] == name] for name in (a, b)]
    left, right = (dict(zip(side["question_id"], side["ex_bird"], strict=True)) for side in sides)
    return compare(left, right, dict(zip(sides[0]["question_id"], sides[0]["db_id"], strict=True)))
