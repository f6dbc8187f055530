"""`workbench data`: list the benchmarks, or check one."""

import sys
from collections import Counter
from pathlib import Path

import click

from workbench.benchmarks.check import check
from workbench.benchmarks.load import BENCHMARKS, open_benchmark
from workbench.cli import options
from workbench.evaluate.judge import difficulty
from workbench.llm.cache import Cache
from workbench.sql.executor import Executor


@click.command()
@click.argument("benchmark", required=False)
@options.root
def data(benchmark: str | None, root: Path | None) -> None:
    """List the benchmarks, or check one.

    Without BENCHMARK, list the names and where to get each. With it, run every gold query, read every description,
    and count the questions. The exit code is 1 where something is wrong.
    """
    if benchmark is None:
        for name, record in BENCHMARKS.items():
            counted = f"{record.questions:6,} questions, EX as {'BIRD' if record.sense == 'bird' else 'Spider'}"
            source = f"unpack it from {record.url} and name its folder with --root"
            print(f"{name:14} {counted:32} {source if record.url else 'comes with the workbench'}")
        return
    with Cache() as store, Executor(store) as executor:
        opened = open_benchmark(benchmark, root)
        complaints = list(check(opened, executor))
    levels = Counter(difficulty(opened, question) or "none" for question in opened.questions)
    questions = len(opened.questions)
    print(f"{questions} questions, {len({q.db_id for q in opened.questions})} databases")
    shares = (f"{name} {n / questions:.0%}" for name, n in levels.most_common())
    print(f"difficulty: {', '.join(shares)}")
    for complaint in complaints:
        print(complaint)
    absent = any(not opened.has(question.db_id) for question in opened.every)
    sys.exit(bool(complaints) or absent)
