"""`workbench run` a system, `reproduce` an experiment, and `trace` what is behind a number."""

import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from shlex import join
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import click
import pandas as pd

from workbench.benchmarks.benchmark import BENCHMARKS, benchmark_name
from workbench.benchmarks.predictions import ANSWERS, write_predictions
from workbench.cli import options
from workbench.errors import BadInputError
from workbench.llm.cache import Cache, made_on, this_machine
from workbench.llm.calls import is_parser
from workbench.llm.money import dollars
from workbench.store import home
from workbench.study import reproduce as notebooks
from workbench.study import trace as back
from workbench.study.experiment import Experiment, Session, load_experiment
from workbench.study.measures import notes_on
from workbench.study.preview import previewed
from workbench.study.run import Run
from workbench.study.saved import write_gallery
from workbench.study.study import Study, open_study
from workbench.study.systems import SYSTEMS

_SYSTEMS = ", ".join(f"{name} ({named.about})" for name, named in SYSTEMS.items())


@click.command(  # a docstring cannot hold the list of systems
    help=f"""Run SYSTEM over a benchmark and print its execution accuracy and cost.

    SYSTEM is one of {_SYSTEMS}. The table and the answers are saved in the folder runs. `workbench
    evaluate` judges the answers again in every sense, and `workbench trace` shows the SQL and calls
    behind a row of the table. Running again asks only for what is missing.
    """
)
@click.argument("system", type=click.Choice(list(SYSTEMS)), metavar="SYSTEM")
@click.option(
    "--benchmark",
    default="bundled-dev",
    show_default=True,
    metavar="NAME|FILE",
    help=f"One of {', '.join(BENCHMARKS)}, or a JSON file of your own.",
)
@options.root
@options.limit
@options.model
@options.judge
@options.prompts
@options.dollars
@options.batch
@options.cluster
@click.option(
    "--save",
    type=options.FILE,
    help="Write the answers to this .json (BIRD's form), .sql (Spider's), .jsonl or .csv.",
)
@options.preview
def run(
    system: str,
    benchmark: str,
    judge: str,
    limit: int | None,
    cluster: str,
    save: Path | None,
    preview: bool,
    **settings: Any,
) -> None:
    if save:
        options.check_writable(save, benchmark)
    benchmark = benchmark_name(benchmark) or benchmark
    experiment = Experiment(Path(benchmark).stem, benchmark=benchmark, output="runs")
    steps = options.make_system(system, settings["model"], judge)
    words = [system, settings["model"], judge]
    if settings["prompts"]:
        words.append(settings["prompts"].name)
    name = re.sub(r"\W+", "_", "_".join(filter(None, words)))
    # An option that is left out is no setting.
    settings = {key: value for key, value in settings.items() if value is not None}
    if preview:
        with (
            previewed(experiment) as few,
            open_study(few, limit=limit, **settings) as study,
        ):
            study.run(steps)
        return
    with open_study(experiment, limit=limit, cluster=cluster, **settings) as study:
        _print(study.run(steps), study, name, save)


def _print(finished: Run, study: Study, name: str, save: Path | None) -> None:
    """Save a run's table and answers, and print the table, where both lie, and what was paid."""
    note = notes_on({finished.name: finished})
    table = finished.costs().alone(f"Systems on {study.benchmark.name}", note)
    study.save(name, table)
    folder = study.saved.folder
    answers = save or folder / f"{name}{ANSWERS}"
    write_predictions(answers, finished.answers)
    paid = finished.paid
    print(
        f"{table.to_markdown()}\n\n"
        f"answers: {answers}\n"
        f"table:   {join(['workbench', 'trace', str(folder / f'{name}.csv'), '0'])}\n"
        f"{finished.name}: {paid.calls:,} calls asked, {paid.hits:,} cached,"
        f" {dollars(paid.cost, paid.unpriced)}"
    )


@click.command()
@click.argument("experiment", default="embedded")
@click.option(
    "--only",
    multiple=True,
    metavar="NOTEBOOK",
    help="Only this notebook; may be repeated.",
)
@options.limit
@click.option(
    "--at-once",
    type=click.IntRange(1),
    help="Notebooks at a time. Default: one a processor.",
)
@options.preview
@click.option(
    "--from",
    "pack",
    type=click.Path(path_type=Path, exists=True),
    help="Add the calls that `workbench cache export --run` wrote to this file.",
)
@click.option(
    "--offline",
    is_flag=True,
    help="Make no call; stop at the first one that is not cached.",
)
@options.batch
@options.cluster
def reproduce(
    experiment: str,
    only: tuple[str, ...],
    limit: int | None,
    at_once: int | None,
    preview: bool,
    pack: Path | None,
    offline: bool,
    batch: bool,
    cluster: str,
) -> None:
    """Run the notebooks of EXPERIMENT and draw the papers' tables and figures.

    EXPERIMENT is a name in the folder experiments, or a YAML file. The default, embedded, needs no
    key and no network. A notebook that is unchanged since its last run is not run again. The exit
    code is 1 where a notebook fails.
    """
    settings = load_experiment(experiment)
    request_log = _start_replay(pack, settings.name) if pack else None
    session = Session(
        replace(settings, batch=batch or settings.batch),
        offline=offline,
        budget=f"{settings.name} {uuid4().hex}",
        request_log=request_log,
    )
    with ExitStack() as stack:
        if preview:
            session = stack.enter_context(previewed(session))
        elif cluster:
            from workbench.cluster import open_pool  # noqa: PLC0415  Dask, an extra

            pool = stack.enter_context(open_pool(cluster))
            session = replace(session, cluster=str(pool.scheduler.address))
        jobs = notebooks.plan(session, only, limit)
        if is_parser(settings.model):
            print("machinery check: a parser answers, no language model", flush=True)
        spent = notebooks.run(jobs, at_once=at_once)
    if not preview:
        print(spent)
        if pack and request_log:
            print(_replayed(pack, request_log))
        _show_figures(jobs, limit)
    has_failed = any(job.state in {"failed", "stopped"} for job in jobs)
    sys.exit(1 if has_failed and not preview else 0)


def _start_replay(pack: Path, name: str) -> Path:
    """Add a pack's calls to the cache; return an empty file for the keys that are asked for."""
    with Cache() as store:
        store.merge(pack)
    log = home() / "runs" / f"{name}.requests"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("")
    return log


def _show_figures(jobs: Sequence[notebooks.Job], limit: int | None) -> None:
    """Print where the figures lie; without a limit they are shown in the gallery."""
    if not jobs or not jobs[0].figures.is_dir():
        return
    figures = jobs[0].figures
    if limit:
        print(f"figures: {figures}")
    else:
        print(f"gallery: {write_gallery(figures.parent)}")


def _replayed(pack: Path, log: Path) -> str:
    """Return how many of a pack's calls nobody asked for, and how many requests it did not hold."""
    with TemporaryDirectory() as folder, Cache(Path(folder, "pack.sqlite")) as packed:
        packed.merge(pack)
        in_pack = {key for (key,) in packed.read("SELECT key FROM calls")}
    asked = set(log.read_text().split())
    unasked, not_in_pack = in_pack - asked, asked - in_pack
    origin = f"made on {made_on(pack)}, " if made_on(pack) else ""
    return (
        f"{pack}: {len(unasked):,} of its {len(in_pack):,} calls were asked for by nobody,"
        f" {len(not_in_pack):,} of {len(asked):,} requests are not in it;"
        f" {origin}replayed on {this_machine()}"
    )


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("row", type=int)
@click.option(
    "--question",
    "ids",
    multiple=True,
    metavar="ID",
    help="Show its calls; may be repeated.",
)
def trace(data: Path, row: int, ids: tuple[str, ...]) -> None:
    """Show the questions behind a number: right or wrong, both queries, and both results' sizes.

    DATA is the .csv beside a figure or table, and ROW the number of a row, from 0. With --question,
    each candidate is shown in full, and each call with its prompt and reply. Calls of retrieval and
    pruning are not listed.
    """
    with Cache() as store:
        trials = back.trace(data, row, store)
        if ids:
            print(back.full_text(_of_questions(trials, ids), store))
            return
        calls = set().union(*trials["calls"])
        questions = trials["question_id"].nunique()
        print(
            f"{len(trials):,} candidates for {questions:,} questions, {len(calls):,} calls\n"
            f"{store.path} on {this_machine()}\n"
        )
        if trials.empty:
            return
        table = back.questions_of(trials, store)
        print(table.to_string(index=False, max_colwidth=60))
        print("\nOne question in full: the same with --question ID")


def _of_questions(trials: pd.DataFrame, ids: Sequence[str]) -> pd.DataFrame:
    behind = trials[trials["question_id"].isin(ids)]
    if behind.empty:
        listed = " ".join(trials["question_id"].unique()[:20])
        raise BadInputError(
            f"no question {' '.join(ids)} is behind this row; it has {listed}"
        )
    return behind
