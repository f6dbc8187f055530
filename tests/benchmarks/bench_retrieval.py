"""The two searches beside datasketch as CHESS uses it, in one run.

    python tests/benchmarks/bench_retrieval.py [--quick] [--whole-peer]

A million distinct made-up names, streets, cities, products and codes in 30 columns (gazetteer.py). datasketch gets one
MinHash object for each value, MinHashLSH at threshold 0.01, and ranks the candidates by the objects' Jaccard similarity.
It is measured on 100,000 values and scaled by their number: with --whole-peer on all, which takes 14 GiB and a quarter
of an hour.

Queries have 0, 1 or 2 typos, are a prefix, the longest word, or in another letter case. Seconds and milliseconds are CPU
time; a build reads the database, too. Of each sort of query the share is printed that finds the value it was made from
among ten. Exits with 1 where `spelling` finds fewer than the bar; --quick takes 20,000 values.
"""

import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasketch
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.benchmarks.gazetteer import Gazetteer, queries, write
from workbench.retrieve.values import LSH, Spelling, open_values
from workbench.sql.executor import Executor
from workbench.store import Store

QUICK, WHOLE = "--quick" in sys.argv, "--whole-peer" in sys.argv
SIZE = 20_000 if QUICK else 1_000_000
PEERS = SIZE if QUICK or WHOLE else 100_000
EACH = 10 if QUICK else 50  # queries of each sort
TOP = 10
BAR = 0.8  # of the queries by spelling


class Peer:
    """datasketch as CHESS uses it: an object for each value, all of them in memory."""

    def __init__(self, values: list[str]) -> None:
        self.values = values
        self.lsh = datasketch.MinHashLSH(0.01, 100)
        self.sketches = {}
        for number, value in enumerate(values):
            self.sketches[number] = self.sketch(value)
            self.lsh.insert(number, self.sketches[number])

    @staticmethod
    def sketch(text: str) -> Any:
        made = datasketch.MinHash(100, scheme="legacy")
        for start in range(len(text) - 2):
            made.update(text[start : start + 3].encode())
        return made

    def search(self, text: str) -> list[str]:
        query = self.sketch(text)
        found = [
            (query.jaccard(self.sketches[key]), key) for key in self.lsh.query(query)
        ]
        return [self.values[key] for _, key in sorted(found, reverse=True)[:TOP]]


def cpu() -> float:
    """The processor time of this process and of the workers that have ended."""
    own = os.times()
    return own.user + own.system + own.children_user + own.children_system


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = cpu() if work.__name__ == "build" else time.process_time()
    result = work()
    return result, (
        cpu() if work.__name__ == "build" else time.process_time()
    ) - started


def main() -> None:
    made = Gazetteer().values(SIZE)
    every = [value for column in made.values() for value in column]
    asked = list(queries(made, EACH))
    searches: dict[str, Callable[[str], list[str]]] = {}
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        write(database := Path(folder) / "made.sqlite", made)
        for name, by in (("spelling", Spelling()), ("lsh", LSH())):

            def build(by: Any = by) -> Any:
                store = Path(folder) / "cache.sqlite"
                with Store(store) as cache, Executor(cache, workers=1) as executor:
                    return open_values(database, by, executor)

            values, seconds[name] = timed(build)
            _, opened = timed(build)
            size = max(
                f.stat().st_size
                for f in (Path(folder) / "values").glob(f"*{type(by).__name__}*")
            )
            print(
                f"{name}: {seconds[name]:.2f} s, opened in {opened:.2f} s, {size / 2**20:.0f} MiB"
            )
            searches[name] = lambda text, v=values: [
                value for *_, value in v.search(text, TOP)
            ]

    def build() -> Peer:
        return Peer(every[:: SIZE // PEERS])

    peer, seconds["datasketch"] = timed(build)
    searches["datasketch"] = peer.search
    times, found = (defaultdict[str, list[Any]](list) for _ in range(2))
    for sort, text, meant in asked:
        for name, search in searches.items():
            answer, taken = timed(lambda search=search, text=text: search(text))
            times[name].append(1000 * taken)
            found[f"{name}, {sort}"].append(meant in answer)
            found[name].append(meant in answer)
    scale = SIZE / len(peer.values)
    print(
        f"datasketch: {scale * seconds['datasketch']:.0f} s (on {PEERS:,} values, times {scale:g})"
    )
    for name, taken in times.items():
        middle, slow = np.percentile(taken, [50, 95]) * (
            scale if name == "datasketch" else 1
        )
        print(f"{name} query: p50 {middle:.2f} ms, p95 {slow:.2f} ms")
    print("; ".join(f"{name} {np.mean(hits):.2f}" for name, hits in found.items()))
    measured = np.mean(found["spelling"])
    print(f"spelling finds {measured:.3g}, bar {BAR:g}")
    sys.exit(bool(measured < BAR))


if __name__ == "__main__":
    main()
