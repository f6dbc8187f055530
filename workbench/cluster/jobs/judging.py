"""Judge queries on a cluster: a task is a few questions about one database, with all queries that answer them.

A worker runs the queries and compares their results with gold's. Executions and verdicts are then in the driver's
cache.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.benchmarks.benchmark import Benchmark
from workbench.cluster.tasks import Cluster
from workbench.db.execute import Executor, Progress
from workbench.evaluate.judge import verdicts_on
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.types import Limits


@dataclass(frozen=True, slots=True)
class JudgedPart:
    """Questions about one database and the queries for each, by its id, with the options of `judge`."""

    benchmark: Benchmark
    queries: Mapping[str, Sequence[str]]
    limits: Limits
    keep_distinct: bool


def judge_part(part: JudgedPart, lab: Lab) -> None:
    """Judge on a worker, in whose cache the verdicts are then."""
    path = lab.database(part.benchmark.questions[0].db_id)
    here = replace(part.benchmark, databases=path.parents[1])
    verdicts_on(here, part.queries, lab.executor, part.limits, keep_distinct=part.keep_distinct)


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
    """Judge the queries for each question, by its id, on the workers: the verdicts are in the executor's cache."""
    if not executor.store or not executor.caches:
        return  # nothing can be kept: the process that asks compares the results itself
    total = sum(map(len, queries.values()))
    most = cluster.queries_of_a_task(total)
    parts = (
        _part(JudgedPart(benchmark, queries, limits, keep_distinct), ids)
        for ids in _by_database(benchmark, queries, most)
    )
    lab = Lab(Client(executor.store), executor, benchmark.database)
    done = 0
    for part, _ in cluster.each(judge_part, parts, lab, name=_name, split=_singles):
        done += sum(map(len, part.queries.values()))
        if progress:
            progress(done, total)


def _by_database(
    benchmark: Benchmark, queries: Mapping[str, Sequence[str]], most: int
) -> Iterator[list[str]]:
    """The ids of questions in parts of one database each, which have about `most` queries or one question."""
    own: dict[str, list[str]] = {}
    for question in benchmark.questions:
        if queries.get(question.id):
            own.setdefault(question.db_id, []).append(question.id)
    for ids in own.values():
        before = itertools.accumulate((len(queries[id_]) for id_ in ids), initial=0)
        numbered = zip((count // most for count in before), ids, strict=False)
        for _, several in itertools.groupby(numbered, key=lambda pair: pair[0]):
            yield [id_ for _, id_ in several]


def _part(whole: JudgedPart, ids: Sequence[str]) -> JudgedPart:
    """The part about these questions, with all that is needed to judge them."""
    benchmark = whole.benchmark
    wanted = set(ids)
    questions = tuple(question for question in benchmark.questions if question.id in wanted)
    db_id = questions[0].db_id
    few = replace(
        benchmark,
        questions=questions,
        golds={id_: benchmark.golds[id_] for id_ in ids},
        schemas={db_id: benchmark.schemas[db_id]} if db_id in benchmark.schemas else {},
        every=(),
    )
    return replace(whole, benchmark=few, queries={id_: whole.queries[id_] for id_ in ids})


def _singles(part: JudgedPart) -> list[JudgedPart]:
    return [_part(part, [question.id]) for question in part.benchmark.questions]


def _name(part: JudgedPart) -> tuple[str, str]:
    questions = part.benchmark.questions
    return f"verdicts {questions[0].db_id}", f"{questions[0].id} to {questions[-1].id}"
