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
from workbench.evaluate.stats import mean_interval
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
    # A question without an answer has the query "", so that its gold query runs, too.
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
    frame.loc[unanswered, ["ex_bird", "ex_spider", "soft_f1"]] = 0.0
    if benchmark.schemas:
        frame.loc[unanswered, "em"] = 0.0
    frame.loc[unanswered, ["status", "error"]] = ["missing", "no prediction"]
    return _without_damaged(benchmark, frame, executor)


def _with_missing(
    predictions: pd.DataFrame, question_ids: Sequence[str]
) -> pd.DataFrame:
    """Return all samples of every generator, and a row without a query where it has none."""
    names = ["question_id", "generator"]
    generators = predictions["generator"].unique()
    pairs = product(question_ids, generators)
    every = pd.DataFrame(pairs, columns=names)
    # A row for each sample, and one where there is none.
    answers = every.merge(predictions[[*names, "sample", "sql"]], how="left", on=names)
    answers["sample"] = answers["sample"].fillna(0).astype(int)
    return answers


def named(metrics: Mapping[str, Metric] | Sequence[Metric]) -> dict[str, Metric]:
    """Return metrics of one's own by their names."""
    by_name: dict[str, Metric] = {}
    if isinstance(metrics, Mapping):
        by_name.update(metrics)
    else:
        for metric in metrics:
            by_name[getattr(metric, "__name__", str(metric))] = metric
    taken = {*METRICS, "suite", "status", "error", "n"}
    for name in by_name:
        if name in taken:
            raise BadInputError(
                f"a metric is called {name!r}, which is taken: give another name"
            )
    return by_name


def _without_damaged(
    benchmark: Benchmark, verdicts: pd.DataFrame, executor: Executor
) -> pd.DataFrame:
    """Return the verdicts without the questions on damaged databases, which a warning names."""
    damaged: dict[str, str] = {}
    for db_id, part in verdicts.groupby("db_id"):
        faults = sorted(_DAMAGE.intersection(part["gold_error"]))
        error = faults[-1] if faults else ""
        if not part["gold_status"].isin(_COMPLETE).any():  # perhaps nothing can be read
            database = benchmark.database(str(db_id))
            error = executor.execute(database, _ANY_ANSWERS).error or error
        if error:
            damaged[str(db_id)] = error
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
    ran: Sequence[Ran],
    metrics: Mapping[str, Metric],
) -> dict[str, Any]:
    gold = benchmark.golds[question.id]
    in_bird, in_spider = ran
    predicted = in_bird.predicted
    accepted = in_bird.golds or [as_execution(stored) for stored in gold.results]

    def closeness(execution: Execution) -> tuple[bool, bool]:
        is_met = execution.fingerprint == predicted.fingerprint
        return execution.is_complete, is_met

    gold_execution = max(accepted, key=closeness)
    soft = 0.0
    for execution in accepted:
        if execution.is_complete and predicted.is_complete:
            soft = max(soft, soft_f1(predicted.rows, execution.rows))
    verdict = {
        "db_id": question.db_id,
        "difficulty": difficulty(benchmark, question),
        "status": predicted.status,
        "gold_status": gold_execution.status,
        "gold_error": gold_execution.error,
        "ex_bird": float(is_right(gold, "bird", in_bird)),
        "ex_spider": float(is_right(gold, "spider", in_spider)),
        "em": _em(benchmark, question, sql),
        "soft_f1": soft,
        "error": predicted.error,
    }
    for name, metric in metrics.items():
        number = metric(gold_execution, predicted)
        is_number = isinstance(number, int | float)
        if not is_number or not math.isfinite(number):
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
    golds = benchmark.golds
    return {key: (Candidate(gold.sql, "gold"),) for key, gold in golds.items()}


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
    if by:
        slices = []
        for name, group in verdicts.groupby(by, sort=False):
            part = summarise(group, None, metrics)
            part.insert(1, by, name)
            slices.append(part)
        return pd.concat(slices, ignore_index=True)
    rows = []
    for generator, group in verdicts.groupby("generator", sort=False):
        rows.append({"generator": generator} | _summary(group, metrics))
    table = pd.DataFrame(rows)
    return table.sort_values(
        "ex_bird", ascending=False, kind="stable", ignore_index=True
    )


def _summary(verdicts: pd.DataFrame, metrics: Sequence[str]) -> dict[str, Any]:
    """Return the row of one generator."""
    others = verdicts.columns.intersection(["ex_spider", "em", "soft_f1", "suite"])
    measured = [name for name in others if verdicts[name].notna().all()]
    columns = dict.fromkeys(["ex_bird", *measured, *metrics], "mean")
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
        row[name] = 100 * questions[name].mean()
    for name in metrics:
        interval = mean_interval(questions[name].tolist(), databases)
        row[name] = interval.mean
        row[f"{name}_low"] = interval.low
        row[f"{name}_high"] = interval.high
    is_missing = verdicts["status"] == "missing"
    is_failed = ~verdicts["status"].isin([*_COMPLETE, "missing"])
    gold_is_failed = ~questions["gold_status"].isin(_COMPLETE)
    row["failed"] = int(is_failed.sum())
    row["missing"] = int(is_missing.sum())
    row["gold_failed"] = int(gold_is_failed.sum())
    return row


def by_feature(verdicts: pd.DataFrame, benchmark: Benchmark) -> pd.DataFrame:
    """Return the verdicts with a row for each SQL feature of the gold query, named in `feature`."""
    names = {key: _features(gold) for key, gold in benchmark.golds.items()}
    features_of = verdicts["question_id"].map(names)
    sliced = verdicts.assign(feature=features_of).explode("feature")
    order = [*_SLICES, _PLAIN, _UNREADABLE]
    places = {name: place for place, name in enumerate(order)}
    return sliced.sort_values(
        "feature",
        key=lambda column: column.map(places),
        kind="stable",
    )


def _features(gold: Gold) -> list[str]:
    counts = features(gold.sql)
    if counts is None:
        return [_UNREADABLE]
    slices = [name for name in _SLICES if counts[name]]
    return slices or [_PLAIN]
