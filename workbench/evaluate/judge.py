"""Judge predictions against gold: a row for each answer with the verdict of every metric, and summaries of the rows.

A question whose gold query fails stays in the table, marked by `gold_status`; every answer to it is wrong.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.evaluate.ex import by_database, executed, soft_f1, spider_equal, spider_text
from workbench.evaluate.spider_em import exact_match, hardness
from workbench.evaluate.stats import PairedComparison, compare, mean_interval
from workbench.sql.executor import Executor
from workbench.sql.facts import features
from workbench.types import Candidate, Execution, Question

METRICS = ("ex_bird", "ex_spider", "em", "soft_f1")
# The slices of NL2SQL360 by what the gold query is made of; a question can be in several.
_SLICES = (
    "JOIN", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "DISTINCT", "aggregation", "nested query",
    "set operation", "CASE", "window", "arithmetic", "LIKE", "AND or OR",
)  # fmt: skip


def judge(benchmark: Benchmark, predictions: pd.DataFrame, executor: Executor) -> pd.DataFrame:
    """A row for every prediction (question_id, generator, sample, sql), and for every question that a generator left out.

    The columns are those of the predictions, db_id, difficulty, status (`missing` without an answer), gold_status,
    gold_error, the METRICS as fractions, and error. `em` is None where the benchmark has no `schemas`.

    >>> benchmark = wb.open_benchmark("bundled-dev").limited(2)
    >>> pathlib.Path("mine.jsonl").write_text('{"question_id": 0, "sql": "SELECT 7"}') and None
    >>> with wb.Executor() as executor:
    ...     verdicts = wb.judge(benchmark, wb.read_predictions(benchmark, "mine.jsonl"), executor)
    >>> verdicts["status"].tolist()
    ['ok', 'missing']
    """
    asked = {question.id: question for question in benchmark.questions}
    names = ["question_id", "generator"]
    every = pd.DataFrame(product(asked, predictions["generator"].unique()), columns=names)
    answers = every.merge(predictions[[*names, "sample", "sql"]], how="left", on=names)
    answers["sample"] = answers["sample"].fillna(0).astype(int)
    pairs = list(zip(answers["question_id"], answers["sql"].fillna(""), strict=True))
    ran = executed(benchmark, by_database(benchmark, pairs), executor, [str, spider_text])
    verdicts = {pair: _verdict(benchmark, asked[pair[0]], pair[1], four) for pair, four in ran}
    frame = answers.join(pd.DataFrame([verdicts[pair] for pair in pairs], index=answers.index))
    measured = METRICS if benchmark.schemas else [name for name in METRICS if name != "em"]
    missing = dict.fromkeys(measured, 0.0) | {"status": "missing", "error": "no prediction"}
    frame.loc[frame["sql"].isna(), list(missing)] = list(missing.values())
    return frame


def _verdict(
    benchmark: Benchmark, question: Question, sql: str, executions: Sequence[Execution]
) -> dict[str, Any]:
    ran, spider_ran, gold, spider_gold = executions
    gold_sql, schema = benchmark.golds[question.id].sql, benchmark.schemas.get(question.db_id)
    return {
        "db_id": question.db_id,
        "difficulty": difficulty(benchmark, question),
        "status": ran.status,
        "gold_status": gold.status,
        "gold_error": gold.error,
        "ex_bird": float(gold.fingerprint != "" and ran.fingerprint == gold.fingerprint),
        "ex_spider": float(spider_equal(spider_ran, spider_gold, gold_sql)),
        "em": float(exact_match(sql, gold_sql, schema)) if schema else None,
        "soft_f1": float(ran.is_complete and gold.is_complete and soft_f1(ran.rows, gold.rows)),
        "error": ran.error,
    }


def difficulty(benchmark: Benchmark, question: Question) -> str:
    """The difficulty that the benchmark's file gives, or else Spider's level of the gold query."""
    gold, schema = benchmark.golds[question.id], benchmark.schemas.get(question.db_id)
    return gold.difficulty or (hardness(gold.sql, schema) if schema else "")


def gold_candidates(benchmark: Benchmark) -> dict[str, tuple[Candidate, ...]]:
    """The gold query of each question as the candidate of a generator `gold`: the ceiling of a system."""
    return {key: (Candidate(gold.sql, "gold"),) for key, gold in benchmark.golds.items()}


def summarise(verdicts: pd.DataFrame, by: str | None = None) -> pd.DataFrame:
    """Means in percent by generator, and by the column `by` within it if one is given.

    Each of the `n` questions weighs the same, however many answers it has. `ex_bird_low` and `ex_bird_high` are the 95%
    interval, clustered by database. `failed` counts answers that did not run to their end and `missing` questions
    without an answer (both are wrong); `gold_failed` counts questions whose gold query did not run to its end.
    """
    rows = []
    keys = ["generator", by] if by else ["generator"]
    for names, group in verdicts.groupby(keys, sort=False):
        measured = [m for m in (*METRICS, "suite") if m in group and group[m].notna().all()]
        asked = group.groupby("question_id", sort=False).agg(
            dict.fromkeys(measured, "mean") | {"db_id": "first", "gold_status": "first"}
        )
        interval = mean_interval(asked["ex_bird"].tolist(), asked["db_id"].tolist())
        ends = {"ex_bird_low": 100 * interval.low, "ex_bird_high": 100 * interval.high}
        row = dict(zip(keys, names, strict=True)) | {"n": len(asked)}
        row |= {"ex_bird": 100 * interval.mean} | ends
        row |= {name: 100 * asked[name].mean() for name in measured[1:]}
        row["failed"] = int((~group["status"].isin(["ok", "empty", "missing"])).sum())
        row["missing"] = int((group["status"] == "missing").sum())
        row["gold_failed"] = int((~asked["gold_status"].isin(["ok", "empty"])).sum())
        rows.append(row)
    return pd.DataFrame(rows)


def by_feature(verdicts: pd.DataFrame, benchmark: Benchmark) -> pd.DataFrame:
    """The verdicts, one row for each SQL feature of the gold query; the column `feature` names the feature."""
    names = {}
    for key, gold in benchmark.golds.items():
        counts = features(gold.sql)
        found = [name for name in _SLICES if counts[name]] if counts else ["unreadable"]
        names[key] = found or ["none of these"]
    sliced = verdicts.assign(feature=verdicts["question_id"].map(names)).explode("feature")
    order = [*_SLICES, "none of these", "unreadable"]
    return sliced.sort_values("feature", key=lambda column: column.map(order.index), kind="stable")


def compare_generators(verdicts: pd.DataFrame, a: str, b: str) -> PairedComparison:
    """Generator a against b on the same questions in BIRD's sense of EX, by the first sample of each."""
    first = verdicts.drop_duplicates(["generator", "question_id"]).set_index("question_id")
    one, other = (dict(first.loc[first["generator"] == name, "ex_bird"]) for name in (a, b))
    return compare(one, other, dict(zip(first.index, first["db_id"], strict=True)))
