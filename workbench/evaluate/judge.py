"""Judge the trials of a pool against gold: one row a trial, every verdict beside the other.

Each distinct query runs once, gold as well, whatever its layout and letter case, and each distinct pair of
answers is compared once. A gold query that fails is counted apart (`gold_status`), never dropped: nothing can equal it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.db.compare import bird_equal, spider_equal
from workbench.db.execute import Executor, Job
from workbench.db.spelling import one_spelling
from workbench.evaluate.exact_match import exact_match
from workbench.evaluate.hardness import difficulty
from workbench.evaluate.soft_f1 import soft_f1
from workbench.pool import Pool
from workbench.types import Execution, Gold, Limits, Schema

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
    queries = {
        question.id: _queries(benchmark.golds[question.id].sql, answers[question.id])
        for question in benchmark.questions
    }
    jobs = list(
        dict.fromkeys((paths[q.db_id], sql) for q in benchmark.questions for sql in queries[q.id])
    )
    told = _counting(progress, len(jobs))
    ran: dict[Job, Execution] = {}
    if executor.remembers:  # then the rows of one question at a time are enough to hold in memory
        executor.result_fingerprints(jobs, limits, told)
    else:
        ran = dict(zip(jobs, executor.execute_many(jobs, limits, told), strict=True))
    rows = []
    for question in benchmark.questions:
        mine = [(paths[question.db_id], sql) for sql in queries[question.id]]
        if executor.remembers:
            ran = dict(zip(mine, executor.execute_many(mine, limits), strict=True))
        by_text = {sql: ran[path, sql] for path, sql in mine}
        gold = benchmark.golds[question.id]
        schema = benchmark.schemas.get(question.db_id)
        level = difficulty(benchmark, question)
        verdicts: dict[str | None, dict[str, Any]] = {
            None: _MISSING | {"em": 0.0 if schema else None}
        }
        for generator, sample, sql in answers[question.id]:
            if sql not in verdicts:
                verdicts[sql] = _verdict(str(sql), gold, schema, by_text)
            gold_execution = by_text[one_spelling(gold.sql)]
            rows.append(
                {
                    "generator": generator,
                    "sample": sample,
                    "question_id": question.id,
                    "db_id": question.db_id,
                    "difficulty": level,
                    "sql": sql,
                    "gold_status": gold_execution.status,
                    "gold_error": gold_execution.error,
                    **verdicts[sql],
                }
            )
    return pd.DataFrame(rows)


def _verdict(
    sql: str, gold: Gold, schema: Schema | None, ran: Mapping[str, Execution]
) -> dict[str, Any]:
    expected = ran[one_spelling(gold.sql)]
    execution = ran[one_spelling(sql)]
    as_spider = ran[one_spelling(_joined_operators(sql))]
    return {
        "status": execution.status,
        "ex_bird": float(bird_equal(execution, expected)),
        "ex_spider": float(spider_equal(as_spider, expected, gold.sql)),
        "em": float(exact_match(sql, gold.sql, schema)) if schema else None,
        "soft_f1": _soft_f1(execution, expected),
        "error": execution.error,
    }


def _queries(gold: str, answers: Sequence[tuple[str, int, str | None]]) -> list[str]:
    """All that has to run for one question, in one spelling and each once."""
    texts = [gold]
    for _, _, sql in answers:
        if sql is not None:
            texts += [sql, _joined_operators(sql)]
    return list(dict.fromkeys(map(one_spelling, texts)))


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
    numbers: dict[tuple[str, str], int] = {}  # of each distinct query on a database
    asked: dict[str, tuple[int, list[int]]] = {}
    for question in benchmark.questions:
        if trials := pool.trials.get(question.id):
            queries = (benchmark.golds[question.id].sql, *(t.candidate.sql for t in trials))
            gold, *predicted = (
                numbers.setdefault((question.db_id, one_spelling(sql)), len(numbers))
                for sql in queries
            )
            asked[question.id] = (gold, predicted)
    jobs = [(paths[db_id], sql) for db_id, sql in numbers]
    found = executor.result_fingerprints(jobs, limits)
    return {
        question_id: tuple([found[gold] != "" and found[n] == found[gold] for n in predicted])
        for question_id, (gold, predicted) in asked.items()
    }


def own_verdicts(
    benchmark: Benchmark, pool: Pool, executor: Executor
) -> dict[str, tuple[bool, ...]]:
    """As `bird_verdicts`, by the benchmark's own execution accuracy: on Spider by that of Spider."""
    if benchmark.family == "bird":
        return bird_verdicts(benchmark, pool, executor)
    asked = tuple(question for question in benchmark.questions if pool.trials.get(question.id))
    right: dict[str, list[bool]] = {question.id: [] for question in asked}
    for row in judge(replace(benchmark, questions=asked), pool, executor).itertuples():
        if row.status != "missing":
            right[str(row.question_id)].append(bool(row.ex_spider == 1))
    return {question_id: tuple(verdicts) for question_id, verdicts in right.items()}


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
