"""Solve questions on a cluster; a chunk is a few questions about one database.

This process locks the questions, as it does when it solves them itself: notebooks that share a cluster solve each once.
"""

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import distributed

from workbench.cluster.pool import each
from workbench.lab import Lab
from workbench.llm.keys import runs_here
from workbench.llm.locks import Locks
from workbench.study.solve import Keys, QuestionRecords, lock_name, model_names, solve_once
from workbench.systems.system import System
from workbench.types import Question


def solve_chunk(questions: Sequence[Question], lab: Lab, system: System,
                keys: Mapping[str, Keys]) -> dict[str, QuestionRecords]:  # fmt: skip
    # A process opens each file of locks once; a thread's chunks share one, and no other thread uses it.
    locks = Locks(lab.client.cache.path.parents[1] / str(threading.get_ident()))
    found = lab.each(partial(solve_once, system, keys, lab, locks), questions)
    return {question.id: solved for question, solved in zip(questions, found, strict=True) if solved}  # fmt: skip


def solve_on(client: distributed.Client, system: System, keys: Mapping[str, Keys], questions: Sequence[Question],
             lab: Lab) -> Iterator[dict[str, QuestionRecords]]:  # fmt: skip
    """The records of questions that no other process solves, by their ids, chunk after chunk."""
    computed = all(map(runs_here, model_names(system)))
    share = len(questions) / max(1, sum(client.nthreads().values()))
    # Chunks that compute are small, so that all workers end at about the same time; others wait for models together.
    size = math.ceil(min(4, share / 4) if computed else min(16, share))
    locks = Locks(lab.client.cache.path)
    mine = {q.id: q for q in questions if locks.acquire(lock_name(q))}
    try:
        chunks: dict[str, list[Question]] = {}
        for db_id in dict.fromkeys(question.db_id for question in mine.values()):
            about = [question for question in mine.values() if question.db_id == db_id]
            for part in (about[n : n + size] for n in range(0, len(about), size)):
                chunks[f"{system.name}, {db_id} {' '.join(q.id for q in part)}"] = part
        for _, found in each(client, partial(solve_chunk, system=system, keys=keys), chunks, lab):
            yield found
            for id_ in found:
                locks.release(lock_name(mine[id_]))
    finally:
        for question in mine.values():
            locks.release(lock_name(question))
