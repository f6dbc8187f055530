"""Judge the trials of a pool against gold: one row a trial, with every metric's verdict.

A gold query that fails is counted apart (`gold_status`) and stays in: nothing can equal it.
"""

from collections.abc import Callable
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.db.execute import Executor
from workbench.evaluate.bird.soft_f1 import soft_f1
from workbench.evaluate.ex import DEFAULT_LIMITS, QuestionResults, question_results
from workbench.evaluate.spider.exact_match import exact_match
from workbench.evaluate.spider.hardness import difficulty
from workbench.pool import Pool, pool_of
from workbench.types import Candidate, Execution, Limits, Schema, Trial

METRICS = ("ex_bird", "ex_spider", "em", "soft_f1")
_COMPLETE = {"ok", "empty"}
_Answer = tuple[str, int, str | None]  # generator, sample, SQL or None without an answer


def judge(
    benchmark: Benchmark,
    pool: Pool,
    executor: Executor,
    limits: Limits = DEFAULT_LIMITS,
    progress: Callable[[int, int], None] | None = None,
    *,
    keep_distinct: bool = False,
) -> pd.DataFrame:
    """A verdict for every trial, and for every question that a generator left out.

    Columns: generator, sample, question_id, db_id, difficulty, sql, status (`missing` without an answer),
    gold_status, gold_error, the METRICS as fractions, error. `em` is None outside Spider, which alone
    defines it. `keep_distinct` is the option of Spider's script (see `evaluate.ex`). `progress` is called with how many queries are done, of how many.
    """
    answers = _answers(benchmark, pool)
    queries = {
        question_id: [sql for _, _, sql in given if sql is not None]
        for question_id, given in answers.items()
    }
    rows = []
    for question, results in question_results(
        benchmark, queries, executor, limits, progress, keep_distinct=keep_distinct
    ):
        schema = benchmark.schemas.get(question.db_id)
        level = difficulty(benchmark, question)
        gold = results.of(results.gold.sql)
        verdicts: dict[str | None, dict[str, Any]] = {
            None: _MISSING | {"em": 0.0 if schema else None}
        }
        for generator, sample, sql in answers[question.id]:
            if sql not in verdicts:
                verdicts[sql] = _verdict(str(sql), results, schema)
            rows.append(
                {
                    "generator": generator,
                    "sample": sample,
                    "question_id": question.id,
                    "db_id": question.db_id,
                    "difficulty": level,
                    "sql": sql,
                    "gold_status": gold.status,
                    "gold_error": gold.error,
                    **verdicts[sql],
                }
            )
    return pd.DataFrame(rows)


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


def _verdict(sql: str, results: QuestionResults, schema: Schema | None) -> dict[str, Any]:
    execution = results.of(sql)
    gold = results.gold.sql
    return {
        "status": execution.status,
        "ex_bird": float(results.right_in_bird(sql)),
        "ex_spider": float(results.right_in_spider(sql)),
        "em": float(exact_match(sql, gold, schema)) if schema else None,
        "soft_f1": _soft_f1(execution, results.of(gold)),
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


def _soft_f1(predicted: Execution, gold: Execution) -> float:
    if predicted.status not in _COMPLETE or gold.status not in _COMPLETE:
        return 0.0
    return soft_f1(predicted.rows, gold.rows)
