"""The calls of each selector, and its accuracy.

    python tests/benchmarks/measure/selection.py --spider FOLDER    calls for the pool of 30 real systems
    python tests/benchmarks/measure/selection.py --bundled          EX of each selector on 3 x 7 candidates

The judge is the embedded model in both; EX is BIRD's. Nothing here is a language model's result. Cached
calls are not made again: the first run with --bundled takes a quarter of an hour.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.named import open_benchmark
from workbench.benchmarks.predictions import file_names, load_pool, prediction_files
from workbench.evaluate.ex import pool_verdicts
from workbench.evaluate.stats import mean_interval
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.pool import Pool, pool_of
from workbench.report.figures.overlap import solved
from workbench.select.groups import groups
from workbench.select.majority import Majority
from workbench.select.pairwise import Pairwise
from workbench.select.ranker import Ranker
from workbench.sql.executor import Executor
from workbench.sql.schema import union_schema
from workbench.sql.schema_text import create_table_text
from workbench.systems.chase_sql import chase_sql
from workbench.systems.replay import select_from
from workbench.systems.system import Select, prepare, trials_of
from workbench.types import Context, Selection, Trial

MODEL = "embedded/parser"


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls that each form of pairwise selection makes for one question."""

    literal: int
    by_result: int


def calls(selection: Selection) -> Calls:
    """Made by result, counted for the literal form."""
    sizes = [len(group.members) for group in groups(selection.trials, "")]
    literal = sum(sizes) ** 2 - sum(size**2 for size in sizes)
    return Calls(literal, len(selection.comparisons))


def print_calls(found: Sequence[Calls]) -> None:
    """Means over questions, and how many times fewer than the literal form's."""
    forms = {
        "literal: every ordered pair of candidates that differ": [c.literal for c in found],
        "every ordered pair of results": [c.by_result for c in found],
    }
    whole = sum(c.literal for c in found)
    print(f"{'model calls a question':56} {'mean':>8} {'most':>6} {'fewer':>8}")
    for name, counts in forms.items():
        mean, fewer = sum(counts) / len(counts), whole / max(sum(counts), 1)
        print(f"{name:56} {mean:8.2f} {max(counts):6} {fewer:7.1f}x")
    print(f"n={len(found)}")


Asked = dict[str, tuple[Context, tuple[Trial, ...]]]
"""Of each question what is known of it, and its candidates."""


def candidates(lab: Lab, benchmark: Benchmark) -> Asked:
    """CHASE-SQL's 3 x 7 candidates, run and fixed, with the context that they were made from."""
    system = chase_sql(MODEL)
    contexts = ((q.id, prepare(system, q, lab)) for q in benchmark.questions)
    return {key: (context, trials_of(system, context, lab)) for key, context in contexts}


def as_pool(asked: Asked) -> Pool:
    """The candidates alone."""
    return Pool({key: trials for key, (_, trials) in asked.items()})


def before_fixing(pool: Pool) -> Pool:
    """The candidates as their generators wrote them."""
    return pool_of((question_id, trial.history[0]) for question_id, trial in pool.items())


def shown(name: str, benchmark: Benchmark, values: Sequence[float]) -> None:
    """A line: the mean in percent and its interval, clustered by database."""
    found = mean_interval(values, [question.db_id for question in benchmark.questions])
    interval = f"({100 * found.low:.1f} to {100 * found.high:.1f})"
    print(f"{name:46} {100 * found.mean:6.2f}  {interval}  n={found.n}")


def print_generators(lab: Lab, benchmark: Benchmark, pool: Pool) -> None:
    """Each generator's mean EX over its samples, before and after fixing, and what it alone solves."""
    for when, of in (("before fixing", before_fixing(pool)), ("fixed", pool)):
        judged = pd.DataFrame(
            [
                {"question_id": key, "generator": trial.candidate.generator, "correct": right}
                for key, verdicts in pool_verdicts(
                    benchmark, of, lab.executor, sense="bird"
                ).items()
                for trial, right in zip(of.trials[key], verdicts, strict=True)
            ]
        )
        means = judged.groupby(["generator", "question_id"])["correct"].mean()
        for name in pool.generators():
            values = [means[name, question.id] for question in benchmark.questions]
            shown(f"one candidate of {name}, {when}", benchmark, values)
    solvers = solved(judged)
    for name, count in solvers[solvers.sum(axis=1) == 1].sum().items():
        print(f"solved by {name} alone: {count}")


def print_selectors(lab: Lab, benchmark: Benchmark, asked: Asked) -> None:
    """EX of both bounds and of what each selector picks, and the calls of pairwise selection."""
    pool = as_pool(asked)
    verdicts = pool_verdicts(benchmark, pool, lab.executor, sense="bird")
    for name, bound in (("oracle", any), ("adversary", all)):
        shown(name, benchmark, [bound(verdicts[q.id]) for q in benchmark.questions])
    selectors: dict[str, Select] = {
        "majority": Majority(),
        "ranker": Ranker(MODEL),
        "pairwise, by result": Pairwise(MODEL),
    }
    for name, select in selectors.items():
        picked = {key: select(lab, context, trials) for key, (context, trials) in asked.items()}
        right = [verdicts[q.id][picked[q.id].chosen or 0] for q in benchmark.questions]
        shown(name, benchmark, right)
        if name.startswith("pairwise"):
            made = [calls(selection) for selection in picked.values()]
    print_calls(made)


def print_union(asked: Asked) -> None:
    """How many times smaller the union's text is, over all pairs of candidates that differ in result."""
    whole, unions = 0, []
    for context, trials in asked.values():
        queries = [trials[group.representative].candidate.sql for group in groups(trials, "")]
        for pair in combinations(queries, 2):
            unions.append(len(create_table_text(union_schema(context.schema, pair))))
            whole += len(create_table_text(context.schema))
    print(f"schema's text over the union's: {whole / sum(unions):.1f} on {len(unions)} pairs")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spider", type=Path, help="folder with Spider and predictions for it")
    parser.add_argument("--bundled", action="store_true")
    arguments = parser.parse_args()
    with Cache() as store, Executor(store) as executor:
        lab = Lab(Client(store), executor, Path)
        if arguments.spider:
            real = open_benchmark("spider-dev", arguments.spider)
            files = prediction_files([str(arguments.spider / "predictions")])
            pool = load_pool(file_names(files), real)
            lab = replace(lab, database=real.database)
            print_calls([*map(calls, select_from(pool, Pairwise(MODEL), lab, real.questions))])
        if arguments.bundled:
            dev = open_benchmark("bundled-dev")
            judging = replace(lab, database=dev.database)
            asked = candidates(judging, dev)
            print_generators(judging, dev, as_pool(asked))
            print_selectors(judging, dev, asked)
            print_union(asked)


if __name__ == "__main__":
    main()
