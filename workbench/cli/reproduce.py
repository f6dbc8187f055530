"""`workbench reproduce`, `preview` and `trace`: experiments as commands."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from workbench.cli import options
from workbench.experiment import manifest
from workbench.experiment.answers import runs_behind, write_answers
from workbench.experiment.display import Display, spent
from workbench.experiment.executed import file_name, write_executed
from workbench.experiment.gallery import write_gallery
from workbench.experiment.preview import cost_lines, preview_experiment
from workbench.experiment.reproduce import plan, run
from workbench.llm.cache import Cache
from workbench.llm.money import Tally
from workbench.study.experiment import load_experiment
from workbench.study.trace import trace as trace_back

_SHOWN = 10  # candidates that trace shows without --all


@click.command()
@click.argument("experiment", default="embedded")
@click.option(
    "--only", multiple=True, metavar="NOTEBOOK", help="Only this notebook; repeat for more."
)
@options.limit
@click.option(
    "--at-once",
    type=click.IntRange(1),
    help="Notebooks at a time. Default: one a processor.",
)
@click.option("--again", is_flag=True, help="Run unchanged notebooks again, too, from the cache.")
@options.batch
@options.cluster
def reproduce(
    experiment: str,
    only: tuple[str, ...],
    limit: int | None,
    at_once: int | None,
    again: bool,
    batch: bool,
    cluster: str,
) -> None:
    """Run the notebooks of EXPERIMENT and draw the papers' tables and figures.

    EXPERIMENT is a name in the folder experiments, or a YAML file. The default, embedded, needs no key and
    no network. A notebook that is unchanged since its last run is not run again.
    """
    settings = load_experiment(experiment)
    jobs = plan(settings, only, limit)
    figures = settings.folder / "figures" / manifest.run_folder(settings, limit).name
    if settings.model.startswith("embedded/"):
        print(
            f"Every number here is that of {settings.model}, a small statistical parser that needs no network.\n"
            "It is not a language model, and these are not the papers' numbers.",
            flush=True,
        )
    display = Display()
    environment = {"WORKBENCH_BATCH": "1"} if batch else {}
    with _shared(cluster) as address:
        environment |= {"WORKBENCH_CLUSTER": address} if address else {}
        records = run(
            jobs, figures, at_once=at_once, again=again, environment=environment, watch=display
        )
    display(jobs)
    failed = [job for job in jobs if job.state not in {"done", "unchanged"}]
    written = manifest.write_manifest(settings, records, [job.name for job in failed], limit)
    print(spent(jobs))
    if manifest.preview_path(settings).is_file() and limit is None:
        names = ("calls", "input_tokens", "output_tokens", "unpriced", "hits")
        counts = {name: int(sum(job.total(name) for job in jobs)) for name in names}
        paid = Tally(**counts, cost=sum(job.total("dollars") for job in jobs))
        batches = batch or settings.batch
        print(cost_lines(manifest.preview_path(settings), paid, batch=batches))
    if figures.is_dir():
        for job in jobs:
            there = (figures / file_name(job.name)).is_file()
            if job.state == "done" or (job.state == "unchanged" and not there):
                write_executed(job.name, job.output, figures)
        if limit is None:
            print(f"gallery:  {write_gallery(figures.parent)}")
        with Cache() as store:
            print(f"answers:  {write_answers(written.parent, runs_behind(figures), store)}")
    print(f"manifest: {written}")
    for job in jobs:
        if job.state == "done" and job.error:
            print(f"missing:  {job.name}: {job.error}")
    for job in failed:
        print(f"failed:   {job.name}: {job.error} (the notebook up to that cell: {job.output})")
    sys.exit(int(bool(failed)))


@contextmanager
def _shared(cluster: str) -> Iterator[str]:
    """The address of the cluster for the kernels of all notebooks, "" without one."""
    if not cluster:
        yield ""
        return
    from workbench.cluster.pool import open_pool  # noqa: PLC0415  Dask, an extra

    with open_pool(cluster) as client:
        yield str(client.scheduler.address)


@click.command()
@click.argument("experiment")
@click.option(
    "--questions",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="How many questions to try.",
)
def preview(experiment: str, questions: int) -> None:
    """Estimate the calls, cost and time of EXPERIMENT before it is run.

    EXPERIMENT is a name in the folder experiments, or a YAML file: its notebooks are tried with a few
    questions, and the embedded model answers for all models, so that no other model is called. If the
    benchmark's folder is not set, bundled questions stand for the benchmark's.

    A line of the table is a prompt and a model: calls to make, those that the cache holds already, tokens of input, and
    dollars from low to high; a batch costs half. Once the experiment is run, `reproduce` shows the preview beside what
    was paid.
    """
    os.environ["WORKBENCH_PREVIEW"] = str(questions)
    settings = load_experiment(experiment)
    display = Display()
    with Cache() as store:
        total, failed = preview_experiment(settings, questions, store, display)
    where = settings.benchmark
    if settings.stands_for:
        where += f"'s questions as if they were {settings.stands_for:,}"
    print(
        f"{settings.name}: estimated from {questions} of {where}, the embedded model answering for all"
    )
    print(total.table())
    for line in failed:
        print(f"left out, since it failed with {questions} questions: {line}")


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("row", type=int)
@click.option("--all", "everything", is_flag=True, help="Show every candidate, not the first ten.")
def trace(data: Path, row: int, everything: bool) -> None:
    """Show what is behind a number: the SQL and the calls that ROW of DATA was counted from.

    DATA is the .csv beside a figure or table, and its rows are counted from 0. For a row without SQL, the
    command says why there is none. The calls are those that proposed, fixed and chose; calls of retrieval and
    pruning are cached without their question. `workbench cache export FILE.jsonl --keys KEY` writes a call
    in full.
    """
    with Cache() as store:
        counted, found = trace_back(data, row, store)
    print(
        ", ".join(f"{k} {value}" for k, value in counted.items() if value and k != "question_ids")
    )
    if not found:
        none = "no question" if counted.get("question_ids") == "" else "no candidate of its run"
        print(f"this row counts {none}, so there is no SQL behind it")
        return
    if "stage" in counted:
        print("this row counts the schemas that pruning left; the answers given on them:")
    asked = {candidate.question_id for candidate in found}
    calls = {key for candidate in found for key in candidate.calls}
    print(f"{len(found):,} candidates for {len(asked):,} questions, {len(calls):,} calls\n")
    for traced in found if everything else found[:_SHOWN]:
        source = f"{traced.question_id} ({traced.db_id}) {traced.generator} {traced.sample}"
        print(f"{source}: {traced.status}{', chosen' if traced.chosen else ''}")
        print(f"  {' '.join(traced.sql.split())}")
        print("".join(f"  {key}\n" for key in traced.calls), end="")
    if not everything and len(found) > _SHOWN:
        print(f"and {len(found) - _SHOWN:,} more: add --all")
