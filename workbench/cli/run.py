"""`workbench run`: one system over the questions of a benchmark."""

import re
from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import Any

import click

from workbench.benchmarks.load import BENCHMARKS, benchmark_name
from workbench.benchmarks.predictions import ANSWERS, write_predictions
from workbench.cli import options
from workbench.llm.cache import Cache
from workbench.llm.money import dollars
from workbench.study.experiment import Experiment
from workbench.study.measures import notes_on
from workbench.study.preview import estimated, preview_home
from workbench.study.study import open_study


@click.command()
@click.argument("system", type=click.Choice(list(options.SYSTEMS)), metavar="SYSTEM")
@click.option("--benchmark", default="bundled-dev", show_default=True, metavar="NAME|FILE",
              help=f"One of {', '.join(BENCHMARKS)}, or a JSON file of your own.")  # fmt: skip
@options.root
@options.limit
@options.model
@options.judge
@options.prompts
@options.dollars
@options.batch
@options.cluster
@click.option("--save", type=options.FILE, help="Write the answers to this .json (BIRD's form), .sql (Spider's),"
              " .jsonl or .csv.")  # fmt: skip
@options.preview
def run(system: str, benchmark: str, judge: str, save: Path | None, preview: bool, **settings: Any) -> None:  # fmt: skip
    """Run SYSTEM over a benchmark and print its execution accuracy and cost.

    SYSTEM is chase (CHASE-SQL), chess (CHESS, IR+CG+UT), chess-ss (CHESS, IR+SS+CG), mac (MAC-SQL),
    zero-shot (BIRD's prompt) or direct (our own prompt). The table and the answers are saved in the folder runs. `workbench evaluate` judges the answers again in every
    sense, and `workbench trace` shows the SQL and calls behind a row of the table. Running again asks only for what
    is missing.
    """
    if save:
        options.check_writable(save, benchmark)
    benchmark = benchmark_name(benchmark) or benchmark
    experiment = Experiment(Path(benchmark).stem, benchmark=benchmark, output="runs")
    model, prompts = settings["model"], settings["prompts"]
    asked = options.make_system(system, model, judge)
    if preview:
        with Cache() as store, preview_home() as home:
            few = replace(experiment, preview=3, cache=store.path, figures=home)
            with open_study(few, **settings) as study:
                study.run(asked)
            print(estimated(home, store))
        return
    own = filter(None, [system, model, judge, prompts and prompts.name])
    name = re.sub(r"\W+", "_", "_".join(own))
    with open_study(experiment, **settings) as study:
        run, folder = study.run(asked), study.saved.folder
        found, title = {run.name: run}, f"Systems on {study.benchmark.name}"
        table = study.save(name, study.costs(found).alone(title, notes_on(found)))
        answers = save or folder / f"{name}{ANSWERS}"
        write_predictions(answers, run.answers)
    print(table.to_markdown(), end="\n\n")
    print(f"answers: {answers}")
    print(f"table:   {join(['workbench', 'trace', str(folder / f'{name}.csv'), '0'])}")
    paid = run.paid
    print(f"{run.name}: {paid.calls:,} calls asked, {paid.hits:,} cached, {dollars(paid.cost, paid.unpriced)}")  # fmt: skip
