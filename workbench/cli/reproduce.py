"""`workbench reproduce` runs an experiment; `workbench trace` shows what is behind a number of it."""

import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import click

from workbench.cli import options
from workbench.llm.cache import Cache
from workbench.study import reproduce as notebooks
from workbench.study import trace as back
from workbench.study.experiment import load_experiment
from workbench.study.gallery import write_gallery
from workbench.study.preview import estimated, preview_home


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
    settings = load_experiment(experiment, preview=3 if preview else 0)
    with ExitStack() as stack:
        store = stack.enter_context(Cache())
        if pack:
            store.merge(pack)
        if preview:
            home = stack.enter_context(preview_home())
            settings = replace(settings, cache=store.path, figures=home / "figures")
        elif cluster:
            from workbench.cluster.pool import open_pool  # noqa: PLC0415  Dask, an extra

            cluster = str(stack.enter_context(open_pool(cluster)).scheduler.address)
        settings = replace(settings, batch=batch or settings.batch, cluster=cluster, offline=offline,
                           budget=f"{settings.name} {uuid4().hex}")  # fmt: skip
        jobs = notebooks.plan(settings, only, limit)
        if settings.model.startswith("embedded/"):
            print("machinery check: a parser answers, no language model", flush=True)
        spent = notebooks.run(jobs, at_once=at_once)
        print(estimated(home, store) if preview else spent)
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
