"""What two workers of a cluster cost beside two processes that share one cache: for a question and for a prediction.

Both sides solve the same questions with the embedded parser, and judge the same pool of predictions. Processor
time is that of all processes together. Starting, importing, and the first question of each process, which reads
the parser's weights, come before and are counted apart.
"""

import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import psutil

from workbench.benchmarks.benchmark import Benchmark, some
from workbench.benchmarks.bundled import load_bundled
from workbench.benchmarks.predictions import COLUMNS
from workbench.evaluate.judge import judge
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.sql.executor import Executor
from workbench.study.solving import solve_all
from workbench.systems.chase_sql import chase_sql

MODEL = "embedded/parser"
PROCESSES = 2
CANDIDATES = 20  # predictions for a question, each in a text of its own
PREDICTIONS = CANDIDATES * 278
Spent = tuple[float, float]  # wall and processor seconds


def processor() -> float:
    """The processor seconds of this process and of all that it started, so far."""
    own = psutil.Process()
    total = 0.0
    for process in (own, *own.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            total += sum(process.cpu_times()[:4])
    return total


@contextmanager
def timed(found: list[Spent]) -> Iterator[None]:
    """Append what the block takes."""
    wall, used = time.perf_counter(), processor()
    yield
    found.append((time.perf_counter() - wall, processor() - used))


@contextmanager
def lab_in(folder: Path, benchmark: Benchmark, sandbox: Any = None) -> Iterator[Lab]:
    """A lab with a cache in the folder, and as many sandboxes as processors unless a sandbox is given."""
    with (
        Cache(folder / "lab.sqlite") as store,
        Executor(store, sandbox=sandbox) as executor,
    ):
        yield Lab(Client(store), executor, benchmark.database)


def warm() -> None:
    """Import everything and read the weights: solve a question of another benchmark, with a cache of its own."""
    other = load_bundled("train")
    with tempfile.TemporaryDirectory() as folder, lab_in(Path(folder), other) as lab:
        solve_all(chase_sql(MODEL), other.questions[:1], lab)


def solving(folder: str, count: int, ready: Any) -> None:
    """One of the local processes."""
    warm()
    benchmark = load_bundled("dev")
    with lab_in(Path(folder), benchmark) as lab:
        for _ in range(2):
            ready.wait()  # to begin at the same time, and to be measured before it ends
            solve_all(chase_sql(MODEL), some(benchmark.questions, count), lab)


def questions_here(folder: Path, count: int) -> list[Spent]:
    """The start, and the questions, of two processes."""
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(PROCESSES + 1)
    started = [
        context.Process(target=solving, args=(str(folder), count, ready)) for _ in range(PROCESSES)
    ]
    found: list[Spent] = []
    with timed(found):
        for process in started:
            process.start()
        ready.wait()
    with timed(found):
        ready.wait()
    for process in started:
        process.join()
    return found


def questions_there(folder: Path, count: int) -> list[Spent]:
    """The start, and the questions, of two workers."""
    from workbench.cluster.opening import client_of, open_cluster
    from workbench.study.solving.on_cluster import solve_on

    benchmark = load_bundled("dev")
    chosen = some(benchmark.questions, count)
    found: list[Spent] = []
    with ExitStack() as opened:
        with timed(found):
            client = opened.enter_context(client_of(f"local:{PROCESSES}"))
            cluster = opened.enter_context(open_cluster(client))
            client.run(warm)
        lab = opened.enter_context(lab_in(folder, benchmark))
        with timed(found):
            solve_all(chase_sql(MODEL), chosen, lab, cluster_solver=partial(solve_on, cluster))
    return found


def predictions(benchmark: Benchmark) -> pd.DataFrame:
    """Predictions: gold queries of the same database, each in a text of its own, so that each is run."""
    own: dict[str, list[str]] = {}
    for question in benchmark.questions:
        own.setdefault(question.db_id, []).append(benchmark.golds[question.id].sql)
    rows = [
        (question.id, "made", n, f"SELECT * FROM ({sql}) WHERE {number} = {number}")
        for number, question in enumerate(benchmark.questions)
        for n, sql in enumerate(own[question.db_id][:CANDIDATES])
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def judging(lab: Lab, benchmark: Benchmark, found: list[Spent]) -> None:
    """Judge a pool; before it a small one of another benchmark, which starts the sandboxes."""
    other = load_bundled("train")
    with timed(found):
        few = predictions(replace(other, questions=other.questions[::20]))
        judge(other, few, lab.executor)
    given = predictions(benchmark)
    with timed(found):
        judge(benchmark, given, lab.executor)


def predictions_here(folder: Path) -> list[Spent]:
    """The start, and the predictions, of one process with two sandboxes."""
    found: list[Spent] = []
    benchmark = load_bundled("dev")
    with lab_in(folder, benchmark) as lab:
        judging(lab, benchmark, found)
    return found


def predictions_there(folder: Path) -> list[Spent]:
    """The start, and the predictions, of two workers with a sandbox each."""

    from workbench.cluster.jobs.sql import ClusterSandbox
    from workbench.cluster.opening import client_of, open_cluster

    found: list[Spent] = []
    benchmark = load_bundled("dev")
    with (
        client_of(f"local:{PROCESSES}") as client,
        open_cluster(client) as cluster,
        Cache(folder / "hashes.sqlite") as store,
        lab_in(folder, benchmark, ClusterSandbox(cluster, store)) as lab,
    ):
        judging(lab, benchmark, found)
    return found
