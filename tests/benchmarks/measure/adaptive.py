"""What adaptive sampling saves, and how often it changes the winner and EX.

    python tests/benchmarks/measure/adaptive.py --spider FOLDER    the pool of 30 real systems, in random orders
    python tests/benchmarks/measure/adaptive.py --bundled [--limit N]    21 samples of the embedded parser

The winner is the majority's, ties broken as `Majority` does. A changed winner is another result than that of all
candidates. Intervals are clustered by database; EX is BIRD's.
"""

import argparse
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.named import open_benchmark
from workbench.benchmarks.predictions import file_names, load_pool, prediction_files
from workbench.canonical import content_hash
from workbench.db.execute import Executor
from workbench.evaluate.stats import compare, mean_interval
from workbench.generate.adaptive import chance_of_change
from workbench.generate.direct import Direct
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.pool import Pool, pool_of
from workbench.store import Store
from workbench.systems.baselines import WHOLE_SCHEMA
from workbench.systems.system import run_candidates

ORDERS = 20
BUDGETS = (0.01, 0.05, 0.1, 0.2)

Results = Mapping[str, Sequence[str]]
"""The fingerprints of the candidates' results by question id, "" for a failed or empty one."""


def sampled(lab: Lab, benchmark: Benchmark) -> Pool:
    """21 samples of one call's prompt for each question."""
    generator = Direct("embedded/parser", 0.8, 21)
    pairs = []
    for question in benchmark.questions:
        context = WHOLE_SCHEMA(lab, question, lab.schema(question.db_id))
        pairs += [
            (question.id, trial) for trial in run_candidates(lab, question, generator(lab, context))
        ]
    return pool_of(pairs)


def results(benchmark: Benchmark, pool: Pool, executor: Executor) -> tuple[Results, dict[str, str]]:
    """The candidates' results, and gold's."""
    spider = benchmark.sense == "spider"
    found: dict[str, list[str]] = {}
    gold = {}
    for question in benchmark.questions:
        path = benchmark.database(question.db_id)
        queries = [trial.candidate.sql for trial in pool.trials[question.id]]
        executions = executor.execute_many([(path, sql) for sql in queries])
        suspect = "failed" if spider else "nulls"
        found[question.id] = ["" if e.is_suspect(suspect) else e.fingerprint for e in executions]
        gold[question.id] = executor.execute(path, benchmark.golds[question.id].sql).fingerprint
    return found, gold


def winner(seed: str, seen: Sequence[str]) -> str:
    """The most frequent result, "" if there is none."""
    known = set(seen) - {""}
    return max(
        known,
        key=lambda r: (seen.count(r), -int(content_hash("tie", [seed, r])[-60:], 16)),
        default="",
    )


def stopped_at(order: Sequence[str], budget: float, step: int) -> int:
    """How many candidates are asked for, `step` at a time."""
    for number in range(step, len(order), step):
        if chance_of_change(order[:number], len(order)) <= budget:
            return number
    return len(order)


def measure(benchmark: Benchmark, found: Results, gold: Mapping[str, str], step: int) -> None:
    """A line for each budget."""
    databases = {question.id: question.db_id for question in benchmark.questions}
    chance = random.Random(0)
    orders = {
        key: [chance.sample(all_, len(all_)) for _ in range(ORDERS)] for key, all_ in found.items()
    }
    whole = {key: winner("0" + key, all_) for key, all_ in found.items()}
    right = {key: bool(gold[key]) and whole[key] == gold[key] for key in found}
    print(
        f"\n{step} at a time: budget, candidates saved, winners changed, EX of all and its change"
    )
    for budget in BUDGETS:
        asked, changed, early = {}, {}, {}
        for key, several in orders.items():
            ends = [stopped_at(order, budget, step) for order in several]
            winners = [winner("0" + key, order[:n]) for order, n in zip(several, ends, strict=True)]
            asked[key] = statistics.mean(ends) / len(several[0])
            changed[key] = statistics.mean(w != whole[key] for w in winners)
            early[key] = [bool(gold[key]) and w == gold[key] for w in winners]
        names = list(databases.values())
        saved = mean_interval([1 - asked[key] for key in databases], names)
        other = mean_interval([changed[key] for key in databases], names)
        exes = [statistics.mean(early[key][n] for key in databases) for n in range(ORDERS)]
        pair = compare({k: early[k][0] for k in databases}, right, databases)
        print(
            f"{budget:5.2f}  {100 * saved.mean:5.1f} ({100 * saved.low:.1f} to {100 * saved.high:.1f})"
            f"  {100 * other.mean:5.2f} ({100 * other.low:.2f} to {100 * other.high:.2f})"
            f"  {100 * statistics.mean(right.values()):.2f} {100 * (statistics.mean(exes) - statistics.mean(right.values())):+.2f}"
            f", first order {100 * pair.difference:+.2f} ({100 * pair.low:+.2f} to {100 * pair.high:+.2f},"
            f" {len(pair.won)} won, {len(pair.lost)} lost)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spider", type=Path)
    parser.add_argument("--bundled", action="store_true")
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    with Store() as store, Executor(store) as executor:
        if given.spider:
            benchmark = open_benchmark("spider", given.spider)
            files = prediction_files([str(given.spider / "predictions")])
            pool = load_pool(file_names(files), benchmark)
            for step in (1, 3):
                measure(benchmark, *results(benchmark, pool, executor), step)
        if given.bundled:
            benchmark = open_benchmark("bundled-dev", None)
            questions = benchmark.questions[
                :: max(1, len(benchmark.questions) // (given.limit or 10**6))
            ]
            benchmark = replace(benchmark, questions=tuple(questions))
            lab = Lab(Client(store), executor, benchmark.database)
            found, gold = results(benchmark, sampled(lab, benchmark), executor)
            for step in (1, 3):
                measure(benchmark, found, gold, step)


if __name__ == "__main__":
    main()
