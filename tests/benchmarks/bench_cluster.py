"""What a cluster costs on one machine, how its time falls with more workers, and how much one driver carries.

    python tests/benchmarks/bench_cluster.py [--parts overhead waiting driver] [--questions 80] [--rounds 3]
        [--workers 1 2 4 8] [--waiting 64] [--seconds 2.0] [--remote] [--connections 64] [--calls 20000]

- overhead: two workers beside two processes that share a cache, for a question of CHASE-SQL with the embedded parser
  and for a prediction that is judged. The bar is 1.15 times the processor time, which other work on the machine
  disturbs less than it disturbs the wall time.
- waiting: a run whose questions wait for a simulated model, `--seconds` each, with 1, 2, 4 and 8 workers. The
  bar is 7 times the speed with 8 workers. The model runs on the workers; with `--remote` the driver asks for it.
- driver: many connections that ask the driver for calls; see measure/cluster_driver.py.

Exits with 1 where a bar is missed.
"""

import argparse
import multiprocessing
import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

R = TypeVar("R")
OVERHEAD = 1.15
SPEED = 7.0  # with eight workers
_SPAWN = multiprocessing.get_context("spawn")


def alone(side: Callable[[Path], R]) -> R:
    """What `side` returns for an empty folder, in a new process, as garbage of other parts would slow it down."""
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(1, _SPAWN) as process:
        return process.submit(_with_home, side, Path(folder)).result()


def _with_home(side: Callable[[Path], R], folder: Path) -> R:
    os.environ["WORKBENCH_HOME"] = str(folder)  # so that no index is there before
    return side(folder)


def overhead(questions: int, rounds: int) -> bool:
    """Print what a question and a prediction cost on both sides; returns whether the bar is held."""
    from tests.benchmarks.measure import cluster_overhead as sides

    held = True
    for name, count, here, there in (
        (
            "question",
            questions,
            partial(sides.questions_here, count=questions),
            partial(sides.questions_there, count=questions),
        ),
        ("prediction", sides.PREDICTIONS, sides.predictions_here, sides.predictions_there),
    ):
        # In turn, so that both sides meet the same other work.
        found = [[alone(side) for side in (here, there)] for _ in range(rounds)]

        def median(side: int, part: int, kind: int, found: Any = found) -> float:
            return statistics.median(round_[side][part][kind] for round_ in found)

        for kind, label in enumerate(("wall", "processor")):
            local, cluster = (median(side, 1, kind) for side in (0, 1))
            print(
                f"a {name}, {label}: {1000 * local / count:,.2f} ms in two processes,"
                f" {1000 * cluster / count:,.2f} ms with two workers, {cluster / local:.2f} times"
            )
        held = held and cluster <= OVERHEAD * local
        first = [f"{median(side, 0, 1):.1f} s" for side in (0, 1)]
        print(f"start, imports and the first {name}: {' and '.join(first)} of processor time")
    return held


def waiting(workers: list[int], questions: int, seconds: float, *, remote: bool) -> bool:
    """Print the time of a run by the number of workers; returns whether the bar is held."""
    from tests.benchmarks.measure.cluster_workers import run

    times: dict[int, float] = {}
    for count in workers:
        times[count] = alone(partial(run, count, questions, seconds, remote=remote))
        print(f"{count} workers: {times[count]:.1f} s", flush=True)
    if not {1, 8} <= set(workers):
        return True
    print(f"8 workers are {times[1] / times[8]:.2f} times as fast as one")
    return times[1] / times[8] >= SPEED


def main() -> None:
    parser = argparse.ArgumentParser()
    parts = ("overhead", "waiting", "driver")
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument("--questions", type=int, default=80)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--waiting", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--remote", action="store_true")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--calls", type=int, default=20_000)
    given = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    held = True
    if "overhead" in given.parts:
        held &= overhead(given.questions, given.rounds)
    if "waiting" in given.parts:
        held &= waiting(given.workers, given.waiting, given.seconds, remote=given.remote)
    if "driver" in given.parts:
        from tests.benchmarks.measure.cluster_driver import under_load

        held &= under_load(given.connections, given.calls)
    sys.exit(int(not held))


if __name__ == "__main__":
    main()
