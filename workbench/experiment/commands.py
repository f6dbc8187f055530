"""`workbench reproduce` and `workbench trace`: experiments as commands."""

import sys
from pathlib import Path

import click

from workbench.experiment.display import Display
from workbench.experiment.gallery import write_gallery, write_report
from workbench.experiment.manifest import write_manifest
from workbench.experiment.reproduce import plan, run
from workbench.llm.budget import dollars
from workbench.store import Store
from workbench.study.settings import load_experiment
from workbench.study.trace import trace as trace_back

_SHOWN = 10  # candidates that trace shows unless it is told to show all


@click.command()
@click.argument("experiment", default="embedded")
@click.option(
    "--only", multiple=True, metavar="NOTEBOOK", help="Only this notebook; repeat for more."
)
@click.option("--limit", type=click.IntRange(1), help="Only so many questions, spread evenly.")
@click.option(
    "--at-once", type=click.IntRange(1), help="Notebooks at a time; as many as processors."
)
@click.option("--again", is_flag=True, help="Run unchanged notebooks, too; from the cache.")
def reproduce(
    experiment: str, only: tuple[str, ...], limit: int | None, at_once: int | None, again: bool
) -> None:
    """Run the notebooks of EXPERIMENT and draw the papers' tables and figures.

    EXPERIMENT is a name in the folder experiments, or a YAML file. The default, embedded, needs no key and
    no network. What was run before with everything unchanged is left as it is.
    """
    told = load_experiment(experiment)
    jobs = plan(told, only, limit)
    figures = told.folder / "figures" / (told.name if limit is None else f"{told.name}-{limit}")
    if told.model.startswith("embedded/"):
        print(
            f"Every number here is that of {told.model}, a small statistical parser that needs no network.\n"
            "It is no language model, and these are not the papers' numbers.",
            flush=True,
        )
    display = Display()
    records = run(jobs, figures, at_once=at_once, again=again, watch=display)
    display(jobs)
    failed = [job for job in jobs if job.state not in {"done", "unchanged"}]
    manifest = write_manifest(told, records, [job.name for job in failed])
    calls, hits = sum(job.total("calls") for job in jobs), sum(job.total("hits") for job in jobs)
    spent = sum(job.total("dollars") for job in jobs)
    print(f"{calls:,.0f} calls, {hits:,.0f} answers held, {dollars(spent)}")
    if figures.is_dir():
        if limit is None:
            print(f"gallery:  {write_gallery(figures.parent)}")
        print(f"report:   {write_report(figures)}")
    print(f"manifest: {manifest}")
    for job in failed:
        print(f"failed:   {job.name}: {job.error} (as far as it came: {job.output})")
    sys.exit(bool(failed))


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("row", type=int)
@click.option("--all", "everything", is_flag=True, help="Show every candidate, not the first ten.")
def trace(data: Path, row: int, everything: bool) -> None:
    """Show what is behind a number: the SQL and the calls that ROW of DATA was counted from.

    DATA is the .csv beside a figure or table, and its rows are counted from 0. `workbench cache export
    FILE.jsonl --keys KEYS` writes calls out in full.
    """
    with Store() as store:
        told, found = trace_back(data, row, store)
    print(", ".join(f"{name} {value}" for name, value in told.items()))
    asked = {one.question_id for one in found}
    calls = {key for one in found for key in one.calls}
    print(f"{len(found):,} candidates for {len(asked):,} questions, {len(calls):,} calls\n")
    for one in found if everything else found[:_SHOWN]:
        mark = ", chosen" if one.chosen else ""
        print(f"{one.question_id} ({one.db_id}) {one.generator} {one.sample}: {one.status}{mark}")
        print(f"  {' '.join(one.sql.split())}")
        print("".join(f"  {key}\n" for key in one.calls), end="")
    if not everything and len(found) > _SHOWN:
        print(f"and {len(found) - _SHOWN:,} more: add --all")
