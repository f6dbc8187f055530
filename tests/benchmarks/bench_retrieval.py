"""Our value indexes beside datasketch as CHESS uses it and RapidFuzz over everything, in one run.

    python tests/benchmarks/bench_retrieval.py [--quick] [--small-peer]

Databases of made-up names, streets, cities, products and codes (gazetteer.py): 100,000 and 1,000,000
distinct values in 30 columns; with --quick 5,000 and 20,000. datasketch gets one MinHash object for each
value, MinHashLSH at threshold 0.01, and ranks the candidates by the objects' Jaccard similarity, under its
present default scheme on both sides. At a million values that takes 14 GiB and a quarter of an hour: where so
much memory is not free, or with --small-peer, it is measured on the smaller database and scaled by the number
of values, and the output says so.

Queries have 0, 1 or 2 typos, are a prefix, the longest word, or in another letter case; on each, all take
their turn. Seconds and milliseconds are CPU time. Recall@10 counts how many of ten answers are at least as
like the query, by WRatio in one letter case, as the tenth best of all values. Each build has a process of
its own, for its memory. Exits with 1 where a bar is missed; --quick has bars for what is found alone.
"""

# ruff: noqa: E402, TID251  the path comes first; how peers keep their index is what this is about

import json
import os
import pickle
import resource
import subprocess
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

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
from tests.benchmarks.gazetteer import Gazetteer, queries, write
from workbench.retrieve.index.minhash import MinHash
from workbench.retrieve.index.trigram import Trigram, search_form
from workbench.retrieve.index.values import Hit, open_index

QUICK = "--quick" in sys.argv
SIZES = (5_000, 20_000) if QUICK else (100_000, 1_000_000)
GROWTH = (5_000, 10_000, 20_000) if QUICK else (500_000, 1_000_000, 5_000_000)
EACH = 10 if QUICK else 50  # queries of each sort
BRUTE = 5 if QUICK else 3  # every so-manieth also goes to RapidFuzz
SMALL_PEER = QUICK or "--small-peer" in sys.argv
KINDS = {"trigram": Trigram(), "minhash": MinHash(scheme="affine32")}
PEER_BYTES = 16_000  # for each value, with what its queries take
TOP = 10

BUILD = """
import json, re, sys, time
from pathlib import Path
from workbench.retrieve.index.minhash import MinHash, _empty
from workbench.retrieve.index.trigram import Trigram
from workbench.retrieve.index.values import build_index
kind = {kind}
_empty(100, "affine32")  # imports what is to be imported
started = time.process_time()
path = build_index(Path(sys.argv[1]), kind, Path(sys.argv[2]))
seconds = time.process_time() - started
peak = int(re.search("VmHWM: *\\t *([0-9]+)", Path("/proc/self/status").read_text())[1]) / 2**20
print(json.dumps(dict(seconds=seconds, GiB=peak, MiB=path.stat().st_size / 2**20)))
"""
OPEN = """
import sys, time
started = time.perf_counter()
from pathlib import Path
from workbench.retrieve.index.values import open_index
index = open_index(Path(sys.argv[1]), folder=Path(sys.argv[2]))
print(time.perf_counter() - started)
"""


class Peer:
    """datasketch as CHESS uses it: an object for each value, all of them in memory."""

    def __init__(self, values: list[str]) -> None:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.process_time()
        self.values = values
        self.lsh = datasketch.MinHashLSH(0.01, 100)
        self.sketches = {}
        for number, value in enumerate(values):
            self.sketches[str(number)] = self.sketch(value)
            self.lsh.insert(str(number), self.sketches[str(number)])
        self.seconds = time.process_time() - started
        self.gib = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20

    @staticmethod
    def sketch(text: str) -> Any:
        made = datasketch.MinHash(100)
        for start in range(len(text) - 2):
            made.update(text[start : start + 3].encode())
        return made

    def search(self, text: str, limit: int = TOP) -> list[tuple[str, float]]:
        query = self.sketch(text)
        found = [(key, query.jaccard(self.sketches[key])) for key in self.lsh.query(query)]
        found.sort(key=lambda pair: -pair[1])
        return [(self.values[int(key)], score) for key, score in found[:limit]]


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    result = work()
    return result, (time.process_time() - started) * 1e3


def program(text: str, *arguments: object) -> str:
    command = [sys.executable, "-c", text, *map(str, arguments)]
    return subprocess.run(
        command,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ).stdout


def built(folder: Path, size: int, kind: object) -> dict[str, float]:
    result: dict[str, float] = json.loads(
        program(BUILD.format(kind=repr(kind)), folder / f"{size}.sqlite", folder)
    )
    return result


def measure(folder: Path, size: int, with_peer: bool) -> dict[str, Any]:
    """All figures of one size."""
    made = Gazetteer().values(size)
    write(folder / f"{size}.sqlite", made)
    result: dict[str, Any] = {f"{n} build": built(folder, size, kind) for n, kind in KINDS.items()}
    opened = [float(program(OPEN, folder / f"{size}.sqlite", folder)) for _ in range(5)]
    result["open"] = min(opened)
    values = [value for column in made.values() for value in column]
    asked = list(queries(made, EACH))
    indexes = {n: open_index(folder / f"{size}.sqlite", k, folder) for n, k in KINDS.items()}
    keys = [search_form(value) for value in values]
    peer = Peer(values) if with_peer else None
    if peer:
        result["peer build"] = {"seconds": peer.seconds, "GiB": peer.gib}
        if size <= 100_000:
            result["peer build"]["MiB"] = len(pickle.dumps((peer.lsh, peer.sketches))) / 2**20
    times: dict[str, list[float]] = defaultdict(list)
    hits: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    recall: dict[str, list[float]] = defaultdict(list)
    differing = 0
    for number, (sort, text, meant) in enumerate(asked):
        answers: dict[str, list[str]] = {}
        found: list[Hit] = []
        for name, index in indexes.items():
            found, taken = timed(lambda index=index, text=text: index.search(text, TOP))
            times[name].append(taken)
            answers[name] = [one.value for one in found]
        if peer:
            theirs, taken = timed(lambda text=text: peer.search(text))
            times["peer"].append(taken)
            answers["peer"] = [value for value, _ in theirs]
            bar = theirs[-1][1] if len(theirs) == TOP else 0.0
            above = {(value, score) for value, score in theirs if score > bar}
            differing += [score for _, score in theirs] != [one.score for one in found]
            differing += not above <= {(one.value, one.score) for one in found}
        for name, answer in answers.items():
            hits[name][sort].append(meant in answer)
        if number % BRUTE == 0:
            key = search_form(text)
            scores, taken = timed(lambda key=key: process.cdist([key], keys, scorer=fuzz.WRatio)[0])
            times["WRatio"].append(taken)
            tenth = np.partition(scores, -TOP)[-TOP]
            for name, answer in answers.items():
                good = [fuzz.WRatio(key, search_form(value)) >= tenth - 1e-3 for value in answer]
                recall[name].append(sum(good) / TOP)
    result["times"] = {n: np.percentile(t, [50, 95]).tolist() for n, t in times.items()}
    result["found"] = {n: {s: float(np.mean(h)) for s, h in h.items()} for n, h in hits.items()}
    result["recall"] = {n: float(np.mean(r)) for n, r in recall.items()}
    result["differing"] = differing if peer else None
    return result


class Bars:
    """What is demanded, what was measured, and whether all of it was reached."""

    def __init__(self) -> None:
        self.missed = 0

    def say(
        self, what: str, measured: float, bar: float, form: str = "{:,.1f}", most: bool = False
    ) -> None:
        reached = measured <= bar if most else measured >= bar
        self.missed += not reached
        sign = "<=" if most else ">="
        text = f"{form.format(measured):>12} {sign + ' ' + form.format(bar):>12}"
        print(f"{what:66}{text}  {'pass' if reached else 'MISSED'}")


def free_bytes() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))


def main() -> None:
    small, large = SIZES
    scaled = SMALL_PEER or free_bytes() < large * PEER_BYTES
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        results = {}
        for size in SIZES:
            results[size] = measure(folder, size, with_peer=size == small or not scaled)
            show(size, results[size])
        growth = {}
        for size in GROWTH:
            if not (folder / f"{size}.sqlite").exists():
                write(folder / f"{size}.sqlite", Gazetteer().values(size))
            growth[size] = {n: built(folder, size, kind) for n, kind in KINDS.items()}
    print("\ngrowth: seconds, GiB and MiB on disk")
    for kind in KINDS:
        for size, each in growth.items():
            figures = " ".join(f"{each[kind][unit]:9.2f}" for unit in ("seconds", "GiB", "MiB"))
            print(f"  {kind:8} {size:>10,} {figures}")
    sys.exit(judge(results[small], results[large], large / small if scaled else 1.0, growth))


def show(size: int, result: dict[str, Any]) -> None:
    print(f"\n{size:,} values", flush=True)
    for name in (*KINDS, "peer"):
        if f"{name} build" in result:
            text = ", ".join(f"{v:,.2f} {unit}" for unit, v in result[f"{name} build"].items())
            print(f"  {name:8} build: {text}")
    print(f"  trigram  opened in a fresh process, imports included: {result['open']:.3f} s")
    for name, (middle, slow) in result["times"].items():
        recall = f", recall@10 {result['recall'][name]:.3f}" if name in result["recall"] else ""
        print(f"  {name:8} query: p50 {middle:,.2f} ms, p95 {slow:,.2f} ms{recall}")
    for name, found in result["found"].items():
        print(
            f"  {name:8} found: "
            + ", ".join(f"{sort} {share:.2f}" for sort, share in found.items())
        )
    if result["differing"] is not None:
        print(f"  minhash  answers that differ from datasketch's own: {result['differing']}")


def judge(
    small: dict[str, Any], large: dict[str, Any], factor: float, growth: dict[int, dict[str, Any]]
) -> int:
    """Print each bar; how many were missed."""
    bars = Bars()
    source = small if factor > 1 else large
    peer = {unit: factor * value for unit, value in source["peer build"].items()}
    middle, slow = (factor * value for value in source["times"]["peer"])
    print(f"\n{'bars':66}{'measured':>12} {'bar':>12}")
    if factor > 1:
        print(f"(datasketch was measured on the smaller database and scaled by {factor:g})")
    ours = {name: large[f"{name} build"] for name in KINDS}
    if not QUICK:
        bars.say("minhash build, times faster", peer["seconds"] / ours["minhash"]["seconds"], 40)
        bars.say("minhash peak memory, part of", peer["GiB"] / ours["minhash"]["GiB"], 8)
        bars.say("minhash query p50, times faster", middle / large["times"]["minhash"][0], 10)
        bars.say("minhash query p95, times faster", slow / large["times"]["minhash"][1], 30)
        bars.say("trigram build, times faster", peer["seconds"] / ours["trigram"]["seconds"], 150)
        bars.say("trigram peak GiB", ours["trigram"]["GiB"], 1.2, "{:.2f}", most=True)
        bars.say("trigram MiB on disk", ours["trigram"]["MiB"], 120, most=True)
        bars.say("trigram open, s", large["open"], 0.3, "{:.3f}", most=True)
        bars.say(
            "trigram query p50, times faster than LSH", middle / large["times"]["trigram"][0], 100
        )
        brute = large["times"]["WRatio"][0] / large["times"]["trigram"][0]
        bars.say("trigram query p50, times faster than WRatio over everything", brute, 50)
        first, *_, last = growth
        for kind in KINDS:
            for unit in ("seconds", "GiB"):
                more = growth[last][kind][unit] / growth[first][kind][unit] / (last / first)
                bars.say(
                    f"{kind} {unit} for each value, {last:,} to {first:,}",
                    more,
                    1.5,  # ten times as many texts take 1.25 times as long to sort, each
                    "{:.2f}",
                    most=True,
                )
    differing = sum(each["differing"] or 0 for each in (small, large))
    bars.say("minhash answers that differ from datasketch's own", differing, 0, "{:.0f}", most=True)
    bars.say(
        "trigram recall@10 against WRatio over everything",
        large["recall"]["trigram"],
        0.95,
        "{:.3f}",
    )
    for sort in ("0 typos", "1 typo", "2 typos"):
        bars.say(
            f"trigram finds what is meant, {sort}", large["found"]["trigram"][sort], 0.995, "{:.3f}"
        )
    for sort in ("prefix", "one word"):
        least = source["found"]["peer"][sort]
        bars.say(
            f"trigram finds what is meant, {sort}, beside LSH",
            source["found"]["trigram"][sort],
            least,
            "{:.3f}",
        )
    return bars.missed


if __name__ == "__main__":
    main()
