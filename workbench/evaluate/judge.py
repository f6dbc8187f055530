"""Judge the trials of a pool against gold: one row a trial, every verdict beside the other.

Each distinct query runs once, gold as well, and each distinct pair of answers is compared once. A gold
query that fails is counted apart (`gold_status`), never dropped: nothing can equal it.
"""

from collections.abc import Callable
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.db.compare import bird_equal, spider_equal
from workbench.db.execute import Executor, Job
from workbench.evaluate.exact_match import exact_match
from workbench.evaluate.hardness import hardness
from workbench.evaluate.soft_f1 import soft_f1
from workbench.pool import Pool
from workbench.types import Execution, Limits

METRICS = ("ex_bird", "ex_spider", "em", "soft_f1")
_DEFAULT = Limits()
_COMPLETE = {"ok", "empty"}


def judge(
    benchmark: Benchmark,
    pool: Pool,
    executor: Executor,
    limits: Limits = _DEFAULT,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """A verdict for every trial, and for every question that a generator left out.

    Columns: generator, sample, question_id, db_id, difficulty, sql, status (`missing` where there is no
    answer), gold_status, gold_error, the METRICS as fractions, error. `em` is None outside Spider, which alone
    defines it. `progress` is told how many queries are done, of how many.
    """
    paths = {db_id: benchmark.database(db_id) for db_id in {q.db_id for q in benchmark.questions}}
    answers = _answers(benchmark, pool)
    jobs: dict[str, dict[Job, None]] = {}  # of each question, each query once
    for question in benchmark.questions:
        path = paths[question.db_id]
        mine = jobs[question.id] = {(path, benchmark.golds[question.id].sql): None}
        for _, _, sql in answers[question.id]:
            if sql is not None:
                mine[path, sql] = mine[path, _joined_operators(sql)] = None
    everything = list(dict.fromkeys(job for mine in jobs.values() for job in mine))
    if (
        executor.remembers
    ):  # all at once keeps the workers busy; one question's rows at a time fit in memory
        told = _counting(progress, len(everything))
        executor.result_fingerprints(everything, limits, told)
        progress = None
    told = _counting(progress, sum(map(len, jobs.values())))
    rows = []
    for question in benchmark.questions:
        path = paths[question.db_id]
        mine = jobs[question.id]
        ran = dict(zip(mine, executor.execute_many(list(mine), limits, told), strict=True))
        gold_sql = benchmark.golds[question.id].sql
        gold = ran[path, gold_sql]
        schema = benchmark.schemas.get(question.db_id)
        verdicts: dict[str | None, dict[str, Any]] = {
            None: _MISSING | {"em": 0.0 if schema else None}
        }
        for generator, sample, sql in answers[question.id]:
            if sql is not None and sql not in verdicts:
                execution, spider = ran[path, sql], ran[path, _joined_operators(sql)]
                verdicts[sql] = {
                    "status": execution.status,
                    "ex_bird": float(bird_equal(execution, gold)),
                    "ex_spider": float(spider_equal(spider, gold, gold_sql)),
                    "em": float(exact_match(sql, gold_sql, schema)) if schema else None,
                    "soft_f1": _soft_f1(execution, gold),
                    "error": execution.error,
                }
            rows.append(
                {
                    "generator": generator,
                    "sample": sample,
                    "question_id": question.id,
                    "db_id": question.db_id,
                    "difficulty": benchmark.golds[question.id].difficulty
                    or (hardness(gold_sql, schema) if schema else ""),
                    "sql": sql,
                    "gold_status": gold.status,
                    "gold_error": gold.error,
                    **verdicts[sql],
                }
            )
    return pd.DataFrame(rows)


def bird_verdicts(
    benchmark: Benchmark,
    pool: Pool,
    executor: Executor,
    limits: Limits = _DEFAULT,
) -> dict[str, tuple[bool, ...]]:
    """BIRD's execution accuracy alone: for each question id a verdict for each trial of the pool.

    What `judge` calls ex_bird. From the lab book it takes microseconds a trial, since no rows are read.
    """
    paths = {db_id: benchmark.database(db_id) for db_id in {q.db_id for q in benchmark.questions}}
    jobs: dict[Job, int] = {}  # each distinct query and its number
    numbers: dict[str, tuple[int, list[int]]] = {}
    for question in benchmark.questions:
        if trials := pool.trials.get(question.id):
            path = paths[question.db_id]
            numbers[question.id] = (
                jobs.setdefault((path, benchmark.golds[question.id].sql), len(jobs)),
                [jobs.setdefault((path, t.candidate.sql), len(jobs)) for t in trials],
            )
    found = executor.result_fingerprints(list(jobs), limits)
    return {
        question_id: tuple([found[gold] != "" and found[n] == found[gold] for n in predicted])
        for question_id, (gold, predicted) in numbers.items()
    }


_MISSING = {
    "status": "missing",
    "ex_bird": 0.0,
    "ex_spider": 0.0,
    "soft_f1": 0.0,
    "error": "no prediction for this question",
}


def _counting(
    progress: Callable[[int, int], None] | None, total: int
) -> Callable[[int], None] | None:
    """From telling how many more are done to telling how many are, of how many."""
    if progress is None:
        return None
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        progress(done, total)

    return advance


def _answers(benchmark: Benchmark, pool: Pool) -> dict[str, list[tuple[str, int, str | None]]]:
    """For each question (generator, sample, SQL), with None for the SQL that a generator left out."""
    generators = pool.generators()
    answers: dict[str, list[tuple[str, int, str | None]]] = {}
    for question in benchmark.questions:
        given = [trial.candidate for trial in pool.trials.get(question.id, ())]
        present = {candidate.generator for candidate in given}
        answers[question.id] = [
            *((c.generator, c.sample, c.sql) for c in given),
            *((name, 0, None) for name in generators if name not in present),
        ]
    return answers


def _joined_operators(sql: str) -> str:
    """Spider's evaluation joins operators that its tokenised predictions split: `> =` is `>=`."""
    return sql.replace("> =", ">=").replace("< =", "<=").replace("! =", "!=")


def _soft_f1(predicted: Execution, gold: Execution) -> float:
    if predicted.status not in _COMPLETE or gold.status not in _COMPLETE:
        return 0.0
    return soft_f1(predicted.rows, gold.rows)
