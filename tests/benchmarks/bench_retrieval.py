"""The two searches beside datasketch as CHESS uses it, and RapidFuzz over everything, in one run.

    python tests/benchmarks/bench_retrieval.py [--quick] [--whole-peer]

A million distinct made-up names, streets, cities, products and codes in 30 columns (gazetteer.py). datasketch gets one
MinHash object for each value, MinHashLSH at threshold 0.01, and ranks the candidates by the objects' Jaccard similarity.
It is measured on 100,000 values and scaled by their number: with --whole-peer on all, which takes 14 GiB and a quarter
of an hour.

Queries have 0, 1 or 2 typos, are a prefix, the longest word, or in another letter case. Seconds and milliseconds are CPU
time; a build reads the database, too. Recall@10 counts how many of ten answers are at least as like the query, by WRatio
in one letter case, as the tenth best of all values. Exits with 1 where a bar is missed; --quick takes 20,000 values
and has the bar of recall alone.
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
from rapidfuzz import fuzz, process

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.benchmarks.gazetteer import Gazetteer, queries, write
from workbench.retrieve.values import LSH, Trigram, folded, open_values
from workbench.sql.executor import Executor
from workbench.store import Store

QUICK, WHOLE = "--quick" in sys.argv, "--whole-peer" in sys.argv
SIZE = 20_000 if QUICK else 1_000_000
PEERS = SIZE if QUICK or WHOLE else 100_000
EACH = 10 if QUICK else 50  # queries of each sort
BRUTE = 3  # every third query also goes to RapidFuzz
TOP = 10


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
    keys, asked = [folded(value) for value in every], list(queries(made, EACH))
    searches: dict[str, Callable[[str], list[str]]] = {}
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        write(database := Path(folder) / "made.sqlite", made)
        for name, by in (("trigram", Trigram()), ("lsh", LSH())):

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
    searches["WRatio"] = lambda text: process.cdist(
        [folded(text)], keys, scorer=fuzz.WRatio
    )[0]
    times, recall, found = (defaultdict[str, list[Any]](list) for _ in range(3))
    for number, (sort, text, meant) in enumerate(asked):
        brute = number % BRUTE == 0
        for name, search in searches.items():
            if name != "WRatio" or brute:
                answer, taken = timed(lambda search=search, text=text: search(text))
                times[name].append(1000 * taken)
            if name in {"trigram", "lsh"}:
                found[f"{name}, {sort}"].append(meant in answer)
                recall[name].append(answer)
        if brute:
            tenth = np.partition(answer, -TOP)[-TOP] - 1e-3
            for name in ("trigram", "lsh"):
                good = [
                    fuzz.WRatio(folded(text), folded(one)) >= tenth
                    for one in recall[name].pop()
                ]
                recall[f"{name} share"].append(sum(good) / TOP)
    scale = SIZE / len(peer.values)
    print(
        f"datasketch: {scale * seconds['datasketch']:.0f} s (on {PEERS:,} values, times {scale:g})"
    )
    for name, taken in times.items():
        middle, slow = np.percentile(taken, [50, 95]) * (
            scale if name == "datasketch" else 1
        )
        print(f"{name} query: p50 {middle:.2f} ms, p95 {slow:.2f} ms", end="")
        print(
            f", recall@10 {np.mean(recall[share]):.3f}"
            if (share := f"{name} share") in recall
            else ""
        )
    print("; ".join(f"{name} {np.mean(hits):.2f}" for name, hits in found.items()))
    ratios = {
        "build, times faster": (scale * seconds["datasketch"] / seconds["trigram"], 40),
        "query p50, times faster": (scale * np.median(times["datasketch"]) / np.median(times["trigram"]), 25),
    }  # fmt: skip
    bars = {} if QUICK else ratios
    bars["recall@10"] = (float(np.mean(recall["trigram share"])), 0.95)
    for name, (measured, bar) in bars.items():
        print(
            f"trigram {name}: {measured:.3g}, bar {bar:g}, {'pass' if measured >= bar else 'MISSED'}"
        )
    sys.exit(any(measured < bar for measured, bar in bars.values()))


if __name__ == "__main__":
    main()
