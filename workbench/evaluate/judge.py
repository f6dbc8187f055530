"""Judge predictions against gold.

A row for each answer with the verdict of every metric, and summaries of the rows.

A question whose gold query fails stays in the table, marked by `gold_status`; every answer to it
is wrong. Questions on a damaged database are a verdict on nobody, and are left out by name.
"""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.errors import BadInputError
from workbench.evaluate.ex import (
    Ran,
    by_database,
    executed,
    right_in_bird,
    right_in_spider,
    soft_f1,
    spider_text,
)
from workbench.evaluate.spider_em import exact_match, hardness
from workbench.evaluate.stats import (
    PairedComparison,
    compare,
    holm,
    mean_interval,
    number_interval,
)
from workbench.evaluate.stored import as_execution
from workbench.sql.executor import Executor
from workbench.sql.facts import features
from workbench.types import Candidate, Execution, Gold, Question

METRICS = ("ex_bird", "ex_spider", "em", "soft_f1")
Metric = Callable[[Execution, Execution], float]
"""A metric of one's own.

A number from the gold execution and the predicted one, which may have failed.
"""
# The slices of NL2SQL360 by what the gold query is made of; a question can be in several.
_SLICES = (
    "JOIN", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "DISTINCT", "aggregation", "nested query",
    "set operation", "CASE", "window", "arithmetic", "LIKE", "AND or OR",
)  # fmt: skip
_COMPLETE = ["ok", "empty"]
# SQLite's words for a file that is damaged somewhere, and for one that is no database.
_DAMAGE = {"database disk image is malformed", "file is not a database"}
_ANY_ANSWERS = "SELECT count(*) FROM sqlite_schema"  # a query that any database answers


def judge(
    benchmark: Benchmark,
    predictions: pd.DataFrame,
    executor: Executor,
    metrics: Mapping[str, Metric] | Sequence[Metric] = (),
) -> pd.DataFrame:
    """Return a row for every prediction, and for every question left unanswered.

    The columns are those of the predictions (question_id, generator, sample, sql), db_id,
    difficulty, status (`missing` without an answer), gold_status, gold_error, the METRICS as
    fractions, those of one's own under their names, and error. `em` is None where the benchmark has
    no `schemas`. Of several accepted answers a metric sees the one that is met, or else the first.

    >>> benchmark = wb.open_benchmark("bundled-dev").limited(2)
    >>> pathlib.Path("mine.jsonl").write_text('{"question_id": 0, "sql": "SELECT 7"}') and None
    >>> with wb.Executor() as executor:
    ...     verdicts = wb.judge(benchmark, wb.read_predictions(benchmark, "mine.jsonl"), executor)
    >>> verdicts["status"].tolist()
    ['ok', 'missing']
    """
    own = named(metrics)
    asked = {question.id: question for question in benchmark.questions}
    names = ["question_id", "generator"]
    every = pd.DataFrame(product(asked, predictions["generator"].unique()), columns=names)
    answers = every.merge(predictions[[*names, "sample", "sql"]], how="left", on=names)
    answers["sample"] = answers["sample"].fillna(0).astype(int)
    pairs = list(zip(answers["question_id"], answers["sql"].fillna(""), strict=True))
    verdicts = {}
    for pair, ran in executed(
        benchmark, by_database(benchmark, pairs), executor, [str, spider_text]
    ):
        verdicts[pair] = _verdict(benchmark, asked[pair[0]], pair[1], ran, own)
    frame = answers.join(pd.DataFrame([verdicts[pair] for pair in pairs], index=answers.index))
    measured = METRICS if benchmark.schemas else [name for name in METRICS if name != "em"]
    missing = dict.fromkeys(measured, 0.0) | {"status": "missing", "error": "no prediction"}
    frame.loc[frame["sql"].isna(), list(missing)] = list(missing.values())
    return _without_damaged(benchmark, frame, executor)


def named(metrics: Mapping[str, Metric] | Sequence[Metric]) -> dict[str, Metric]:
    """Return metrics of one's own by their names."""
    if not isinstance(metrics, Mapping):
        metrics = {getattr(metric, "__name__", str(metric)): metric for metric in metrics}
    if taken := sorted({*METRICS, "suite", "status", "error", "n"} & metrics.keys()):
        raise BadInputError(
            f"a metric is called {taken[0]!r}, which is taken: give it another name"
        )
    return dict(metrics)


def _without_damaged(
    benchmark: Benchmark, verdicts: pd.DataFrame, executor: Executor
) -> pd.DataFrame:
    """The verdicts without the questions on damaged databases, which a warning names."""
    damaged: dict[str, str] = {}
    failed = ~verdicts["gold_status"].isin(_COMPLETE)
    for db_id, part in verdicts.groupby("db_id"):
        errors = part.loc[failed, "gold_error"]
        if len(errors) == len(part):  # perhaps nothing can be read at all
            ran = executor.execute(benchmark.database(str(db_id)), _ANY_ANSWERS)
            errors = errors if ran.is_complete else pd.Series([ran.error, *_DAMAGE])
        if not _DAMAGE.isdisjoint(errors):
            damaged[str(db_id)] = errors.iloc[0]
    if not damaged:
        return verdicts
    kept = verdicts[~verdicts["db_id"].isin(damaged)]
    left_out = [question.id for question in benchmark.questions if question.db_id in damaged]
    why = "; ".join(f"{db_id}: {error}" for db_id, error in damaged.items())
    said = f"{len(left_out)} questions on damaged databases are left out ({why})"
    if kept.empty:
        raise BadInputError(f"{benchmark.name}: {said}; nothing is left to judge")
    warnings.warn(f"{benchmark.name}: {said}: {', '.join(left_out)}", stacklevel=3)
    return kept.reset_index(drop=True)


def _verdict(
    benchmark: Benchmark, question: Question, sql: str, ran: Ran, metrics: Mapping[str, Metric]
) -> dict[str, Any]:
    gold, schema = benchmark.golds[question.id], benchmark.schemas.get(question.db_id)
    predicted, *golds = ran[0]
    accepted = golds or [as_execution(stored) for stored in gold.results]
    complete = [each for each in accepted if each.is_complete]
    shown = next(iter(complete), accepted[0])
    scores = [soft_f1(predicted.rows, each.rows) for each in complete if predicted.is_complete]
    texts = gold.queries if schema else ()
    verdict = {
        "db_id": question.db_id,
        "difficulty": difficulty(benchmark, question),
        "status": predicted.status,
        "gold_status": shown.status,
        "gold_error": shown.error,
        "ex_bird": float(right_in_bird(gold, *ran[0])),
        "ex_spider": float(right_in_spider(gold, *ran[1])),
        "em": float(any(exact_match(sql, text, schema) for text in texts)) if schema else None,
        "soft_f1": max(scores, default=0.0),
        "error": predicted.error,
    }
    met = [each for each in complete if each.fingerprint == predicted.fingerprint]
    for name, metric in metrics.items():
        number = metric(next(iter(met), shown), predicted)
        if not isinstance(number, int | float) or not math.isfinite(number):
            raise BadInputError(
                f"{name} gives {number!r} for question {question.id}: give a number"
            )
        verdict[name] = float(number)
    return verdict


def difficulty(benchmark: Benchmark, question: Question) -> str:
    """Return the difficulty that the file gives, or else Spider's level of the gold query."""
    gold, schema = benchmark.golds[question.id], benchmark.schemas.get(question.db_id)
    return gold.difficulty or (hardness(gold.sql, schema) if schema else "")


def gold_candidates(benchmark: Benchmark) -> dict[str, tuple[Candidate, ...]]:
    """Return the gold query of each question as the candidate of a generator `gold`.

    The ceiling of a system.
    """
    return {key: (Candidate(gold.sql, "gold"),) for key, gold in benchmark.golds.items()}


def summarise(
    verdicts: pd.DataFrame, by: str | None = None, metrics: Sequence[str] = ()
) -> pd.DataFrame:
    """Return means in percent by generator, the best first.

    In each value of the column `by`, if one is given.

    Each of the `n` questions weighs the same, however many answers it has. `ex_bird_low` and
    `ex_bird_high` are the 95% interval, clustered by database. `failed` counts answers that did
    not run to their end and `missing` questions without an answer (both are wrong);
    `gold_failed` counts questions whose gold query did not run to its end. `metrics` name those
    of one's own: their means are in their own unit, each with its interval.
    """
    keys = ["generator", by] if by else ["generator"]
    rows = []
    for names, group in verdicts.groupby(keys, sort=False):
        rows.append(dict(zip(keys, names, strict=True)) | _summary(group, metrics))
    table = pd.DataFrame(rows).sort_values("ex_bird", ascending=False, kind="stable")
    if by:
        slices = list(verdicts[by].unique())
        table = table.sort_values(by, key=lambda column: column.map(slices.index), kind="stable")
    return table.reset_index(drop=True)


def _summary(verdicts: pd.DataFrame, metrics: Sequence[str]) -> dict[str, Any]:
    """The row of one generator."""
    published = [name for name in (*METRICS, "suite") if name in verdicts]
    measured = [name for name in published if verdicts[name].notna().all()]
    means = dict.fromkeys([*measured, *metrics], "mean")
    asked = verdicts.groupby("question_id", sort=False).agg(
        means | {"db_id": "first", "gold_status": "first"}
    )
    databases = asked["db_id"].tolist()
    ex = mean_interval(asked["ex_bird"].tolist(), databases)
    row: dict[str, Any] = {"n": len(asked), "ex_bird": 100 * ex.mean}
    row |= {"ex_bird_low": 100 * ex.low, "ex_bird_high": 100 * ex.high}
    row |= {name: 100 * asked[name].mean() for name in measured[1:]}
    for name in metrics:
        values = asked[name].tolist()
        is_share = verdicts[name].between(0, 1).all()
        measured_as = mean_interval if is_share else number_interval
        interval = measured_as(values, databases)
        row |= {name: interval.mean, f"{name}_low": interval.low, f"{name}_high": interval.high}
    row["failed"] = int((~verdicts["status"].isin([*_COMPLETE, "missing"])).sum())
    row["missing"] = int((verdicts["status"] == "missing").sum())
    row["gold_failed"] = int((~asked["gold_status"].isin(_COMPLETE)).sum())
    return row


def by_feature(verdicts: pd.DataFrame, benchmark: Benchmark) -> pd.DataFrame:
    """Return the verdicts, one row for each SQL feature of the gold query.

    The column `feature` names the feature.
    """
    names = {key: _features(gold) for key, gold in benchmark.golds.items()}
    sliced = verdicts.assign(feature=verdicts["question_id"].map(names)).explode("feature")
    order = [*_SLICES, _PLAIN, _UNREADABLE]
    return sliced.sort_values("feature", key=lambda column: column.map(order.index), kind="stable")


_PLAIN, _UNREADABLE = "none of these", "unreadable"


def _features(gold: Gold) -> list[str]:
    counts = features(gold.sql)
    if counts is None:
        return [_UNREADABLE]
    return [name for name in _SLICES if counts[name]] or [_PLAIN]


def compare_generators(verdicts: pd.DataFrame, a: str, b: str) -> PairedComparison:
    """Compare generator a with b in BIRD's sense of EX, by the first sample of each."""
    first = verdicts.drop_duplicates(["generator", "question_id"]).set_index("question_id")
    right_a, right_b = (dict(first.loc[first["generator"] == name, "ex_bird"]) for name in (a, b))
    return compare(right_a, right_b, dict(zip(first.index, first["db_id"], strict=True)))


def compare_all(comparisons: Mapping[str, PairedComparison]) -> pd.DataFrame:
    """Return a row for each generator's comparison with the same other, in percent.

    P-values are Holm-adjusted, too.
    """
    adjusted = holm([each.p_value for each in comparisons.values()])
    rows = []
    for (name, each), p_holm in zip(comparisons.items(), adjusted, strict=True):
        row = {"generator": name, "change": 100 * each.difference}
        row |= {"low": 100 * each.low, "high": 100 * each.high}
        if each.clustered:
            low, high = each.clustered
            row |= {"clustered_low": 100 * low, "clustered_high": 100 * high}
        row |= {"won": len(each.won), "lost": len(each.lost)}
        rows.append(row | {"p": each.p_value, "p_holm": p_holm})
    return pd.DataFrame(rows)
