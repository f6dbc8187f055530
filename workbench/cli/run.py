"""`workbench run` runs a system, `reproduce` an experiment's notebooks, and `trace` shows what is behind a number."""

import re
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import Any
from uuid import uuid4

import click

from workbench.benchmarks.benchmark import BENCHMARKS, benchmark_name
from workbench.benchmarks.predictions import ANSWERS, write_predictions
from workbench.cli import options
from workbench.llm.cache import Cache
from workbench.llm.money import dollars
from workbench.study import reproduce as notebooks
from workbench.study import trace as back
from workbench.study.experiment import Experiment, load_experiment
from workbench.study.measures import notes_on
from workbench.study.preview import previewed
from workbench.study.saved import write_gallery
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

    SYSTEM is chase (CHASE-SQL), chess (CHESS, IR+CG+UT), chess-ss (CHESS, IR+SS+CG), mac (MAC-SQL), zero-shot (BIRD's
    prompt) or direct (our own prompt). The table and the answers are saved in the folder runs. `workbench evaluate`
    judges the answers again in every sense, and `workbench trace` shows the SQL and calls behind a row of the table.
    Running again asks only for what is missing.
    """
    if save:
        options.check_writable(save, benchmark)
    benchmark = benchmark_name(benchmark) or benchmark
    experiment = Experiment(Path(benchmark).stem, benchmark=benchmark, output="runs")
    model, prompts = settings["model"], settings["prompts"]
    asked = options.make_system(system, model, judge)
    if preview:
        with previewed(experiment) as few, open_study(few, **settings) as study:
            study.run(asked)
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


@click.command()
@click.argument("experiment", default="embedded")
@click.option(
    "--only", multiple=True, metavar="NOTEBOOK", help="Only this notebook; may be repeated."
)
@options.limit
@click.option("--at-once", type=click.IntRange(1), help="Notebooks at a time. Default: one a processor.")  # fmt: skip
@options.preview
@click.option("--from", "pack", type=click.Path(path_type=Path, exists=True), help="Add the calls that"
              " `workbench cache export --run` wrote to this file.")  # fmt: skip
@click.option("--offline", is_flag=True, help="Make no call; stop at the first one that is not cached.")  # fmt: skip
@options.batch
@options.cluster
def reproduce(experiment: str, only: tuple[str, ...], limit: int | None, at_once: int | None, preview: bool,
              pack: Path | None, offline: bool, batch: bool, cluster: str) -> None:  # fmt: skip
    """Run the notebooks of EXPERIMENT and draw the papers' tables and figures.

    EXPERIMENT is a name in the folder experiments, or a YAML file. The default, embedded, needs no key and no network.
    A notebook that is unchanged since its last run is not run again.
    """
    settings = load_experiment(experiment)
    if pack:
        with Cache() as store:
            store.merge(pack)
    with ExitStack() as stack:
        if preview:
            settings = stack.enter_context(previewed(settings))
        elif cluster:
            from workbench.cluster import open_pool  # noqa: PLC0415  Dask, an extra

            cluster = str(stack.enter_context(open_pool(cluster)).scheduler.address)
        settings = replace(settings, batch=batch or settings.batch, cluster=cluster, offline=offline,
                           budget=f"{settings.name} {uuid4().hex}")  # fmt: skip
        jobs = notebooks.plan(settings, only, limit)
        if settings.model.startswith("embedded/"):
            print("machinery check: a parser answers, no language model", flush=True)
        spent = notebooks.run(jobs, at_once=at_once)
    if not preview:
        print(spent)
    if limit is None and not preview and jobs and jobs[0].figures.is_dir():
        print(f"gallery: {write_gallery(jobs[0].figures.parent)}")
    for job in jobs:
        if job.error:
            print(f"{job.state}: {job.name}: {job.error} (executed: {job.output})")
    sys.exit(any(job.state in {"failed", "stopped"} for job in jobs) and not preview)


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("row", type=int)
def trace(data: Path, row: int) -> None:
    """Show the questions, SQL, results and calls behind a number.

    DATA is the .csv beside a figure or table, and ROW the number of a row, from 0. `workbench cache export FILE.jsonl
    --keys KEY` writes a call in full. Calls of retrieval and pruning are not listed.
    """
    with Cache() as store:
        counted, found = back.trace(data, row, store)
        print(", ".join(f"{k} {v}" for k, v in counted.items() if v and k != "question_ids"))
        calls = len({key for keys in found["calls"] for key in keys})
        asked = found["question_id"].nunique()
        print(f"{len(found):,} candidates for {asked:,} questions, {calls:,} calls\n")
        print(back.told(found, store))
