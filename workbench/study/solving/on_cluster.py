"""Run a system on the workers of a cluster; a task is a few questions about one database.

The driver locks the questions before it sends a task, as it does if it solves them itself, so several notebooks may
share a cluster. Workers send results to the driver's cache. Records of questions with failed calls are not cached;
workers return them as the task's result.
"""

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from workbench.cluster.jobs.sql import ClusterSandbox
from workbench.cluster.opening import Cluster, open_cluster
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.keys import runs_here
from workbench.llm.locks import Locks
from workbench.sql.sandbox import Sandbox
from workbench.study import result_cache
from workbench.study.result_cache import ResultKeys, model_names
from workbench.study.solving import (
    ClusterSolver,
    QuestionRecords,
    Record,
    cached_records,
    lock_name,
    solve_once,
)
from workbench.systems.system import System
from workbench.types import Question

if TYPE_CHECKING:
    import distributed

_COMPUTED_QUESTIONS = 4  # of a task whose models run on the worker; it takes some seconds
_REMOTE_QUESTIONS = 16  # of a task that calls remote models, all at the same time


@dataclass(frozen=True, slots=True)
class SolveTask:
    """A worker's task: questions about one database, and the candidates that the driver's cache has for them."""

    system: System
    result_keys: ResultKeys
    questions: tuple[Question, ...]
    attempts: Mapping[str, Record]
    at_once: int


def solve_task(task: SolveTask, lab: Lab) -> dict[str, tuple[str, Record, Record]]:
    """Solve the questions of a task on a worker; returns the records that are not in the worker's cache."""
    store = lab.client.cache
    locks = Locks(store.path)
    for question in task.questions:
        key = task.result_keys.of_question(question, lab).candidates
        if key in task.attempts:
            result_cache.write(store, "attempts", key, question.id, task.attempts[key])

    def solve(question: Question) -> QuestionRecords | None:
        return solve_once(task.system, task.result_keys, lab, locks, question)

    results = lab.each(solve, task.questions, threads=task.at_once)
    keys = {question.id: task.result_keys.of_question(question, lab) for question in task.questions}
    cached = cached_records(store, keys)
    return {
        question.id: (records.key, records.candidates, records.selection)
        for question, records in zip(task.questions, results, strict=True)
        if records and question.id not in cached
    }


def solve_on(
    cluster: Cluster,
    system: System,
    result_keys: ResultKeys,
    questions: Sequence[Question],
    lab: Lab,
    progress: Callable[[], object],
) -> Iterator[dict[str, QuestionRecords]]:
    """The records of questions by their ids, task by task. Questions that another process solves are left out."""
    in_process = all(map(runs_here, model_names(system)))
    store = lab.client.cache
    locks = Locks(store.path)
    held_locks: set[str] = set()

    def task_size(remaining: int) -> int:
        """The size of the next task. Later tasks are smaller, so that all workers end at about the same time."""
        threads = max(1, cluster.threads)
        if in_process:
            return min(_COMPUTED_QUESTIONS, math.ceil(remaining / threads / 4))
        return min(_REMOTE_QUESTIONS, math.ceil(len(questions) / threads))

    def tasks() -> Iterator[SolveTask]:
        for part in _by_database(questions, task_size):
            locked = tuple(q for q in part if locks.acquire(lock_name(q)))
            held_locks.update(map(lock_name, locked))
            keys = [result_keys.of_question(question, lab).candidates for question in locked]
            attempts = result_cache.read(store, "attempts", keys)
            if locked:
                at_once = 1 if in_process else len(locked)
                yield SolveTask(system, result_keys, locked, attempts, at_once)

    def name(task: SolveTask) -> tuple[str, str]:
        ids = " ".join(question.id for question in task.questions)
        return f"{system.name} {task.questions[0].db_id}", ids

    def singles(task: SolveTask) -> list[SolveTask]:
        return [replace(task, questions=(question,)) for question in task.questions]

    try:
        for task, uncached in cluster.each(
            solve_task, tasks(), lab, name=name, split=singles, meanwhile=progress
        ):
            # Keys are made again: a database may have changed meanwhile.
            keys = {q.id: result_keys.of_question(q, lab) for q in task.questions}
            yield cached_records(store, keys) | {
                id_: QuestionRecords(*kept) for id_, kept in uncached.items()
            }
            for lock in map(lock_name, task.questions):
                locks.release(lock)
                held_locks.discard(lock)
    finally:
        for lock in held_locks:
            locks.release(lock)


def _by_database(
    questions: Sequence[Question], task_size: Callable[[int], int]
) -> Iterator[list[Question]]:
    """The questions in parts of one database each; `task_size` says how many to take, given how many remain."""
    by_database: dict[str, deque[Question]] = {}
    for question in questions:
        by_database.setdefault(question.db_id, deque()).append(question)
    remaining = len(questions)
    for queue in by_database.values():
        while queue:
            part = [queue.popleft() for _ in range(min(task_size(remaining), len(queue)))]
            remaining -= len(part)
            yield part


@contextmanager
def cluster_of(
    given: "str | distributed.Client", store: Cache
) -> Iterator[tuple[ClusterSolver, Sandbox]]:
    """Functions that solve questions and that run queries on a cluster; `given` is `open_study`'s `cluster`."""
    with open_cluster(given) as cluster:
        yield partial(solve_on, cluster), ClusterSandbox(cluster, store)
