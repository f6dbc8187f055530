"""Run queries in the sandboxes of a cluster's workers instead of those of this machine.

The driver's executor looks each query up in its cache first, and caches the workers' answers.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.sql.executor import Executor
from workbench.sql.sandbox import Sandbox

if TYPE_CHECKING:
    from workbench.cluster.tasks import Cluster


@dataclass(frozen=True, slots=True)
class QueryTask:
    """Requests to a sandbox, each with its index; all are queries of one database."""

    database: str
    requests: tuple[tuple[int, dict[str, Any]], ...]


def run_queries(task: QueryTask, lab: Lab) -> list[tuple[int, dict[str, Any]]]:
    """The answers of a worker's sandbox, each with the index of its request."""
    path = os.path.realpath(lab.database(task.database))
    requests = [request | {"path": path} for _, request in task.requests]
    answers = chain.from_iterable(lab.executor.sandbox.run(requests))
    return [(task.requests[index][0], answer) for index, answer in answers]


class ClusterSandbox(Sandbox):
    """A sandbox that runs queries on a cluster; it hashes files and times queries on this machine."""

    def __init__(self, cluster: "Cluster", store: Cache) -> None:
        super().__init__(os.cpu_count() or 1)
        self._cluster = cluster
        self._store = store

    def run(self, requests: Sequence[dict[str, Any]]) -> Iterator[list[tuple[int, dict[str, Any]]]]:
        if any(request["do"] != "run" for request in requests):
            yield from super().run(requests)
            return
        by_path: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        for index, request in enumerate(requests):
            by_path.setdefault(request["path"], []).append((index, request))
        size = self._cluster.queries_of_a_task(len(requests))
        tasks = [
            QueryTask(path, tuple(own[start : start + size]))
            for path, own in by_path.items()
            for start in range(0, len(own), size)
        ]
        paths = {path: Path(path) for path in by_path}
        with Executor(self._store, workers=1) as executor:  # hashes the files
            lab = Lab(Client(self._store), executor, paths.__getitem__)
            for _, answers in self._cluster.each(run_queries, tasks, lab, name=_name):
                yield answers


def _name(task: QueryTask) -> tuple[str, str]:
    first, _ = task.requests[0]
    return f"queries {Path(task.database).stem}", f"{first} to {task.requests[-1][0]}"
