"""Judge predictions against gold: a row for each answer, and summaries of the rows.

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
    is_right,
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
# A metric of one's own: a number from the gold execution and the predicted one, which may have
# failed.
Metric = Callable[[Execution, Execution], float]
# The slices of NL2SQL360 by what the gold query is made of; a question can be in several.
_SLICES = (
    "JOIN",
    "GROUP BY",
    "HAVING",
    "ORDER BY",
    "LIMIT",
    "DISTINCT",
    "aggregation",
    "nested query",
    "set operation",
    "CASE",
    "window",
    "arithmetic",
    "LIKE",
    "AND or OR",
)
_PLAIN = "none of these"
_UNREADABLE = "unreadable"
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
    own_metrics = named(metrics)
    questions = {question.id: question for question in benchmark.questions}
    answers = _with_missing(predictions, list(questions))
    pairs = list(zip(answers["question_id"], answers["sql"].fillna(""), strict=True))
    parts = by_database(benchmark, pairs)
    verdicts = {}
    for pair, ran in executed(benchmark, parts, executor, [str, spider_text]):
        question_id, sql = pair
        verdicts[pair] = _verdict(
            benchmark, questions[question_id], sql, ran, own_metrics
        )
    measured = pd.DataFrame([verdicts[pair] for pair in pairs], index=answers.index)
    frame = answers.join(measured)
    unanswered = frame["sql"].isna()
    for metric in METRICS:
        if metric != "em" or benchmark.schemas:
            frame.loc[unanswered, metric] = 0.0
    frame.loc[unanswered, ["status", "error"]] = ["missing", "no prediction"]
    return _without_damaged(benchmark, frame, executor)


def _with_missing(
    predictions: pd.DataFrame, question_ids: Sequence[str]
) -> pd.DataFrame:
    """Return all samples of every generator, and a row without a query where it has none."""
    names = ["question_id", "generator"]
    generators = predictions["generator"].unique()
    every = pd.DataFrame(product(question_ids, generators), columns=names)
    answers = every.merge(predictions[[*names, "sample", "sql"]], how="left", on=names)
    answers["sample"] = answers["sample"].fillna(0).astype(int)
    return answers


def named(metrics: Mapping[str, Metric] | Sequence[Metric]) -> dict[str, Metric]:
    """Return metrics of one's own by their names."""
    if not isinstance(metrics, Mapping):
        metrics = {getattr(each, "__name__", str(each)): each for each in metrics}
    for name in metrics:
        if name in {*METRICS, "suite", "status", "error", "n"}:
            raise BadInputError(
                f"a metric is called {name!r}, which is taken: give another name"
            )
    return dict(metrics)


def _without_damaged(
    benchmark: Benchmark, verdicts: pd.DataFrame, executor: Executor
) -> pd.DataFrame:
    """Return the verdicts without the questions on damaged databases, which a warning names."""
    damaged: dict[str, str] = {}
    for db_id, part in verdicts.groupby("db_id"):
        faults = _DAMAGE.intersection(part["gold_error"])
        if not part["gold_status"].isin(_COMPLETE).any():  # perhaps nothing can be read
            database = benchmark.database(str(db_id))
            faults.add(executor.execute(database, _ANY_ANSWERS).error)
        if any(faults):
            damaged[str(db_id)] = max(faults)
    if not damaged:
        return verdicts
    rest = verdicts[~verdicts["db_id"].isin(damaged)]
    left_out = [
        question.id for question in benchmark.questions if question.db_id in damaged
    ]
    errors = [f"{db_id}: {error}" for db_id, error in damaged.items()]
    message = (
        f"{benchmark.name}: {len(left_out)} questions on damaged databases are left out "
        f"({'; '.join(errors)})"
    )
    if rest.empty:
        raise BadInputError(f"{message}; nothing is left to judge")
    warnings.warn(f"{message}: {', '.join(left_out)}", stacklevel=3)
    return rest.reset_index(drop=True)


def _verdict(
    benchmark: Benchmark,
    question: Question,
    sql: str,
    ran: Ran,
    metrics: Mapping[str, Metric],
) -> dict[str, Any]:
    gold = benchmark.golds[question.id]
    in_bird, in_spider = ran
    predicted, *golds = in_bird
    accepted = golds or [as_execution(stored) for stored in gold.results]
    complete = [execution for execution in accepted if execution.is_complete]
    gold_execution = (complete or accepted)[0]
    soft = 0.0
    if complete and predicted.is_complete:
        soft = max(soft_f1(predicted.rows, execution.rows) for execution in complete)
    verdict = {
        "db_id": question.db_id,
        "difficulty": difficulty(benchmark, question),
        "status": predicted.status,
        "gold_status": gold_execution.status,
        "gold_error": gold_execution.error,
        "ex_bird": float(is_right(gold, "bird", *in_bird)),
        "ex_spider": float(is_right(gold, "spider", *in_spider)),
        "em": _em(benchmark, question, sql),
        "soft_f1": soft,
        "error": predicted.error,
    }
    for execution in complete:
        if execution.fingerprint == predicted.fingerprint:  # the one that is met
            gold_execution = execution
            break
    for name, metric in metrics.items():
        number = metric(gold_execution, predicted)
        if not isinstance(number, int | float) or not math.isfinite(number):
            where = f"{name} gives {number!r} for question {question.id}"
            raise BadInputError(f"{where}: give a number")
        verdict[name] = float(number)
    return verdict


def _em(benchmark: Benchmark, question: Question, sql: str) -> float | None:
    schema = benchmark.schemas.get(question.db_id)
    if not schema:
        return None
    golds = benchmark.golds[question.id].queries
    return float(any(exact_match(sql, gold, schema) for gold in golds))


def difficulty(benchmark: Benchmark, question: Question) -> str:
    """Return the difficulty that the file gives, or else Spider's level of the gold query."""
    gold = benchmark.golds[question.id]
    schema = benchmark.schemas.get(question.db_id)
    if gold.difficulty or not schema:
        return gold.difficulty
    return hardness(gold.sql, schema)


def gold_candidates(benchmark: Benchmark) -> dict[str, tuple[Candidate, ...]]:
    """Return the gold query of each question as the candidate of a generator `gold`.

    They are the ceiling of a system.
    """
    candidates: dict[str, tuple[Candidate, ...]] = {}
    for question_id, gold in benchmark.golds.items():
        candidates[question_id] = (Candidate(gold.sql, "gold"),)
    return candidates


def summarise(
    verdicts: pd.DataFrame, by: str | None = None, metrics: Sequence[str] = ()
) -> pd.DataFrame:
    """Return means in percent by generator, the best first; `by` names a column to slice by.

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
        table = table.sort_values(
            by, key=lambda column: column.map(slices.index), kind="stable"
        )
    return table.reset_index(drop=True)


def _summary(verdicts: pd.DataFrame, metrics: Sequence[str]) -> dict[str, Any]:
    """Return the row of one generator."""
    published = [name for name in (*METRICS, "suite") if name in verdicts]
    measured = [name for name in published if verdicts[name].notna().all()]
    columns = dict.fromkeys([*measured, *metrics], "mean")
    columns |= {"db_id": "first", "gold_status": "first"}
    questions = verdicts.groupby("question_id", sort=False).agg(columns)
    databases = questions["db_id"].tolist()
    ex = mean_interval(questions["ex_bird"].tolist(), databases)
    row: dict[str, Any] = {
        "n": len(questions),
        "ex_bird": 100 * ex.mean,
        "ex_bird_low": 100 * ex.low,
        "ex_bird_high": 100 * ex.high,
    }
    for name in measured:
        row.setdefault(name, 100 * questions[name].mean())
    for name in metrics:
        is_share = verdicts[name].between(0, 1).all()
        interval_of = mean_interval if is_share else number_interval
        interval = interval_of(questions[name].tolist(), databases)
        row[name] = interval.mean
        row[f"{name}_low"] = interval.low
        row[f"{name}_high"] = interval.high
    missing = verdicts["status"] == "missing"
    failed = ~verdicts["status"].isin(_COMPLETE) & ~missing
    gold_failed = ~questions["gold_status"].isin(_COMPLETE)
    row |= {"failed": int(failed.sum()), "missing": int(missing.sum())}
    return row | {"gold_failed": int(gold_failed.sum())}


def by_feature(verdicts: pd.DataFrame, benchmark: Benchmark) -> pd.DataFrame:
    """Return the verdicts with a row for each SQL feature of the gold query, named in `feature`."""
    names = {key: _features(gold) for key, gold in benchmark.golds.items()}
    sliced = verdicts.assign(feature=verdicts["question_id"].map(names)).explode(
        "feature"
    )
    order = [*_SLICES, _PLAIN, _UNREADABLE]
    return sliced.sort_values(
        "feature", key=lambda column: column.map(order.index), kind="stable"
    )


def _features(gold: Gold) -> list[str]:
    counts = features(gold.sql)
    if counts is None:
        return [_UNREADABLE]
    return [name for name in _SLICES if counts[name]] or [_PLAIN]


def compare_generators(verdicts: pd.DataFrame, a: str, b: str) -> PairedComparison:
    """Compare generator a with b in BIRD's sense of EX, by the first sample of each."""
    first = verdicts.drop_duplicates(["generator", "question_id"])
    right = {}
    for name, answers in first.groupby("generator"):
        right[name] = dict(zip(answers["question_id"], answers["ex_bird"], strict=True))
    databases = dict(zip(first["question_id"], first["db_id"], strict=True))
    return compare(right[a], right[b], databases)


def compare_all(comparisons: Mapping[str, PairedComparison]) -> pd.DataFrame:
    """Return a row for each generator's comparison with the same other one, in percent.

    `p_holm` are the p-values adjusted for all comparisons.
    """
    adjusted = holm([each.p_value for each in comparisons.values()])
    rows = []
    for (name, comparison), p_holm in zip(comparisons.items(), adjusted, strict=True):
        row = {
            "generator": name,
            "change": 100 * comparison.difference,
            "low": 100 * comparison.low,
            "high": 100 * comparison.high,
        }
        if comparison.clustered:
            low, high = comparison.clustered
            row |= {"clustered_low": 100 * low, "clustered_high": 100 * high}
        row |= {"won": len(comparison.won), "lost": len(comparison.lost)}
        row |= {"p": comparison.p_value, "p_holm": p_holm}
        rows.append(row)
    return pd.DataFrame(rows)
