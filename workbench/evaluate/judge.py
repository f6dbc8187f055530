"""Judge the trials of a pool against gold: one row for each trial, with the verdict of every metric.

A question whose gold query fails stays in the table, marked by `gold_status`; every answer to it is wrong.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.evaluate.bird.soft_f1 import soft_f1
from workbench.evaluate.ex import DEFAULT_LIMITS, QuestionResults, question_results
from workbench.evaluate.spider.exact_match import exact_match
from workbench.evaluate.spider.hardness import difficulty
from workbench.evaluate.verdict_cache import Judged, Record, VerdictCache
from workbench.pool import Pool, pool_of
from workbench.sql.executor import Executor
from workbench.types import Candidate, Limits, Question, Schema, Trial

METRICS = ("ex_bird", "ex_spider", "em", "soft_f1")
_COLUMNS = (
    "generator", "sample", "question_id", "db_id", "difficulty", "sql", "status", "gold_status", "gold_error",
    *METRICS, "error",
)  # fmt: skip
_Answer = tuple[str, int, str | None]  # generator, sample, SQL or None without an answer


class ClusterJudge(Protocol):
    """Judges the queries for each question, on a cluster, and writes the verdicts to the executor's cache."""

    def __call__(
        self,
        benchmark: Benchmark,
        queries: Mapping[str, Sequence[str]],
        executor: Executor,
        limits: Limits,
        progress: Callable[[int, int], None] | None,
        *,
        keep_distinct: bool,
    ) -> None: ...


def judge(
    benchmark: Benchmark,
    pool: Pool,
    executor: Executor,
    limits: Limits = DEFAULT_LIMITS,
    progress: Callable[[int, int], None] | None = None,
    *,
    keep_distinct: bool = False,
    cluster_judge: ClusterJudge | None = None,
) -> pd.DataFrame:
    """A verdict for every trial, and for every question that a generator left out.

    Columns: generator, sample, question_id, db_id, difficulty, sql, status (`missing` without an answer),
    gold_status, gold_error, the METRICS as fractions, error. `em` is None outside Spider, which alone defines
    it. `keep_distinct` is the option of Spider's script (see `evaluate.ex`). `progress` is called with how
    many queries are done, of how many. `cluster_judge` judges first; what it leaves, such as queries that failed
    for want of memory, is judged here.
    """
    answers = _answers(benchmark, pool)
    asked = {key: dict.fromkeys(sql for _, _, sql in given) for key, given in answers.items()}
    verdicts = verdicts_on(
        benchmark,
        asked,
        executor,
        limits,
        progress,
        keep_distinct=keep_distinct,
        cluster_judge=cluster_judge,
    )
    rows = [
        {
            "generator": generator,
            "sample": sample,
            "question_id": question.id,
            "db_id": question.db_id,
            "sql": sql,
            **verdicts[question.id, sql],
        }
        for question in benchmark.questions
        for generator, sample, sql in answers[question.id]
    ]
    return pd.DataFrame(rows, columns=_COLUMNS if rows else None)


def verdicts_on(
    benchmark: Benchmark,
    asked: Mapping[str, Collection[str | None]],
    executor: Executor,
    limits: Limits,
    progress: Callable[[int, int], None] | None = None,
    *,
    keep_distinct: bool,
    cluster_judge: ClusterJudge | None = None,
) -> dict[Judged, Record]:
    """The verdicts on distinct queries for each question, by its id; None stands for a missing answer.

    New verdicts are cached. The options are those of `judge`.
    """
    cache = VerdictCache(benchmark, executor, limits, keep_distinct=keep_distinct)
    verdicts = cache.read(asked)

    def missing(question: str) -> list[str | None]:
        return [sql for sql in asked[question] if (question, sql) not in verdicts]

    def queries() -> dict[str, list[str]]:
        return {key: [sql for sql in missing(key) if sql is not None] for key in asked}

    left = queries()
    if cluster_judge and any(left.values()):
        cluster_judge(benchmark, left, executor, limits, progress, keep_distinct=keep_distinct)
        verdicts |= cache.read({key: missing(key) for key in asked})
    left = {key: sqls for key, sqls in queries().items() if missing(key)}
    for question, results in question_results(
        benchmark, left, executor, limits, progress, keep_distinct=keep_distinct
    ):
        made = _verdicts(benchmark, question, results, missing(question.id))
        cache.write(question, {sql: made[sql] for sql in made if results.are_lasting(sql)})
        verdicts |= {(question.id, sql): verdict for sql, verdict in made.items()}
    return verdicts


def gold_pool(benchmark: Benchmark) -> Pool:
    """A pool in which the generator `gold` answers every question with the gold query."""
    golds = benchmark.golds.items()
    return pool_of((question, Trial(Candidate(gold.sql, "gold"))) for question, gold in golds)


_MISSING = {
    "status": "missing",
    "ex_bird": 0.0,
    "ex_spider": 0.0,
    "soft_f1": 0.0,
    "error": "no prediction for this question",
}


def _verdicts(
    benchmark: Benchmark, question: Question, results: QuestionResults, sqls: Iterable[str | None]
) -> dict[str | None, dict[str, Any]]:
    """The verdict on each query for a question; None stands for a missing answer."""
    schema = benchmark.schemas.get(question.db_id)
    gold = results.of(results.gold.sql)
    common = {
        "difficulty": difficulty(benchmark, question),
        "gold_status": gold.status,
        "gold_error": gold.error,
    }
    missing = _MISSING | {"em": 0.0 if schema else None}
    return {
        sql: common | (missing if sql is None else _verdict(sql, results, schema)) for sql in sqls
    }


def _verdict(sql: str, results: QuestionResults, schema: Schema | None) -> dict[str, Any]:
    execution, gold = results.of(sql), results.of(results.gold.sql)
    complete = execution.is_complete and gold.is_complete
    return {
        "status": execution.status,
        "ex_bird": float(results.right_in_bird(sql)),
        "ex_spider": float(results.right_in_spider(sql)),
        "em": float(exact_match(sql, results.gold.sql, schema)) if schema else None,
        "soft_f1": soft_f1(execution.rows, gold.rows) if complete else 0.0,
        "error": execution.error,
    }


def _answers(benchmark: Benchmark, pool: Pool) -> dict[str, list[_Answer]]:
    """The answers of every generator to each question."""
    generators = pool.generators()
    answers: dict[str, list[_Answer]] = {}
    for question in benchmark.questions:
        given = [trial.candidate for trial in pool.trials.get(question.id, ())]
        present = {candidate.generator for candidate in given}
        answers[question.id] = [
            *((c.generator, c.sample, c.sql) for c in given),
            *((name, 0, None) for name in generators if name not in present),
        ]
    return answers
