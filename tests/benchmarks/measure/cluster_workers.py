"""How the time of a run falls with more workers, when each question waits for a simulated model.

The model runs on the worker, as an embedded or a local one does, and answers after some seconds: a worker has one
question at a time. With `remote`, the driver asks for it, and a worker waits for several questions at once. Starting
the workers and importing come before.
"""

import time
from functools import partial
from pathlib import Path
from typing import Any

from tests.benchmarks.measure.cluster_overhead import warm
from workbench.benchmarks.benchmark import some
from workbench.benchmarks.bundled import load_bundled
from workbench.lab import Lab
from workbench.llm import provider
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.sql.executor import Executor
from workbench.study.solving import solve_all
from workbench.systems.baselines import direct

REPLY = {
    "choices": [{"message": {"role": "assistant", "content": "SELECT 1"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1},
}


def register(seconds: float) -> None:
    """Add the provider `waiting`, whose model answers after so many seconds in this process."""

    def answer(_request: object, _seed: str) -> Any:
        time.sleep(seconds)
        return REPLY

    provider.register("waiting", answer)


def run(workers: int, questions: int, seconds: float, folder: Path, *, remote: bool) -> float:
    """The seconds of a run whose home is the folder."""
    from workbench.cluster.opening import client_of, open_cluster
    from workbench.study.solving.on_cluster import solve_on

    benchmark = load_bundled("dev")
    chosen = some(benchmark.questions, questions)
    model = "remote/model" if remote else "waiting/model"

    def send(*_: object) -> Any:
        time.sleep(seconds)
        return REPLY

    register(seconds)
    with (
        client_of(f"local:{workers}") as client,
        open_cluster(client) as cluster,
        Cache(folder / "lab.sqlite") as store,
        Executor(store) as executor,
    ):
        client.run(warm)
        client.run(register, seconds)
        lab = Lab(
            Client(store, send=send if remote else provider.send), executor, benchmark.database
        )
        start = time.perf_counter()
        solve_all(direct(model), chosen, lab, cluster_solver=partial(solve_on, cluster))
        return time.perf_counter() - start
