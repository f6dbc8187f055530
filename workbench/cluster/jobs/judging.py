"""Judge queries on a cluster: a task is a few questions about one database, with all queries that answer them.

A worker runs the queries and compares their results with those of the gold queries. It sends the executions and
verdicts to the driver's cache.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.benchmarks.benchmark import Benchmark
from workbench.cluster.tasks import Cluster
from workbench.evaluate.judge import verdicts_on
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.sql.executor import Executor, Progress
from workbench.types import Limits


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """Questions about one database, the queries for each question by its id, and the options of `judge`."""

    benchmark: Benchmark
    queries: Mapping[str, Sequence[str]]
    limits: Limits
    keep_distinct: bool


def judge_task(task: JudgeTask, lab: Lab) -> None:
    """Judge the task's queries on a worker; the verdicts are added to the worker's cache."""
    path = lab.database(task.benchmark.questions[0].db_id)
    local = replace(task.benchmark, databases=path.parents[1])
    verdicts_on(local, task.queries, lab.executor, task.limits, keep_distinct=task.keep_distinct)


def judge_on(
    cluster: Cluster,
    benchmark: Benchmark,
    queries: Mapping[str, Sequence[str]],
    executor: Executor,
    limits: Limits,
    progress: Progress | None,
    *,
    keep_distinct: bool,
) -> None:
    """Judge the queries for each question, by its id, on workers; the verdicts are added to the executor's cache."""
    if not executor.store or not executor.caches:
        return  # without a cache the caller judges by itself
    total = sum(map(len, queries.values()))
    most = cluster.queries_of_a_task(total)
    whole = JudgeTask(benchmark, queries, limits, keep_distinct)
    tasks = (_task_for(whole, ids) for ids in _by_database(benchmark, queries, most))
    lab = Lab(Client(Cache(executor.store.path)), executor, benchmark.database)
    done = 0

    def name(task: JudgeTask) -> tuple[str, str]:
        asked = task.benchmark.questions
        return f"verdicts {asked[0].db_id}", f"{asked[0].id} to {asked[-1].id}"

    def singles(task: JudgeTask) -> list[JudgeTask]:
        return [_task_for(task, [question.id]) for question in task.benchmark.questions]

    for task, _ in cluster.each(judge_task, tasks, lab, name=name, split=singles):
        done += sum(map(len, task.queries.values()))
        if progress:
            progress(done, total)


def _by_database(
    benchmark: Benchmark, queries: Mapping[str, Sequence[str]], most: int
) -> Iterator[list[str]]:
    """The ids of questions in lists of one database each; a list has about `most` queries, or one question."""
    databases: dict[str, list[str]] = {}
    for question in benchmark.questions:
        if queries.get(question.id):
            databases.setdefault(question.db_id, []).append(question.id)
    for ids in databases.values():
        before = itertools.accumulate((len(queries[id_]) for id_ in ids), initial=0)
        numbered = zip((count // most for count in before), ids, strict=False)
        for _, several in itertools.groupby(numbered, key=lambda pair: pair[0]):
            yield [id_ for _, id_ in several]


def _task_for(whole: JudgeTask, ids: Sequence[str]) -> JudgeTask:
    """The task for the questions with these ids, all about one database."""
    benchmark = whole.benchmark
    wanted = set(ids)
    questions = tuple(question for question in benchmark.questions if question.id in wanted)
    db_id = questions[0].db_id
    part = replace(
        benchmark,
        questions=questions,
        golds={id_: benchmark.golds[id_] for id_ in ids},
        schemas={db_id: benchmark.schemas[db_id]} if db_id in benchmark.schemas else {},
        every=(),
    )
    return replace(whole, benchmark=part, queries={id_: whole.queries[id_] for id_ in ids})
