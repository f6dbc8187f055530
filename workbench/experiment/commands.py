"""`workbench reproduce`, `preview` and `trace`: experiments as commands."""

import os
import sys
from pathlib import Path

import click

from workbench.experiment.answers import runs_behind, write_answers
from workbench.experiment.display import Display
from workbench.experiment.gallery import write_gallery, write_report
from workbench.experiment.manifest import write_manifest
from workbench.experiment.preview import cost
from workbench.experiment.reproduce import plan, run
from workbench.llm.budget import dollars
from workbench.llm.client import Client
from workbench.llm.preview import preview_file
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
    "--at-once",
    type=click.IntRange(1),
    help="Notebooks at a time: as many as processors, one where a budget is kept to.",
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
    if told.dollars is not None or told.calls is not None:
        at_once = 1  # a kernel knows what was spent before it began
    records = run(jobs, figures, at_once=at_once, again=again, watch=display)
    display(jobs)
    failed = [job for job in jobs if job.state not in {"done", "unchanged"}]
    manifest = write_manifest(told, records, [job.name for job in failed], limit)
    calls, hits = sum(job.total("calls") for job in jobs), sum(job.total("hits") for job in jobs)
    spent = sum(job.total("dollars") for job in jobs)
    print(f"{calls:,.0f} calls, {hits:,.0f} answers held, {dollars(spent)}")
    if figures.is_dir():
        if limit is None:
            print(f"gallery:  {write_gallery(figures.parent)}")
        with Store() as store:
            print(f"answers:  {write_answers(figures, runs_behind(figures), store)}")
        print(f"report:   {write_report(figures)}")
    print(f"manifest: {manifest}")
    for job in jobs:
        if job.state == "done" and job.error:
            print(f"missing:  {job.name}: {job.error}")
    for job in failed:
        print(f"failed:   {job.name}: {job.error} (as far as it came: {job.output})")
    sys.exit(int(bool(failed)))


@click.command()
@click.argument("experiment")
@click.option(
    "--questions",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="How many to try it with.",
)
@click.option("--api-base", default="", help="For a file of calls: the server's address.")
@click.option(
    "--book",
    type=click.Path(path_type=Path, dir_okay=False),
    help="For a file of calls: the lab book.",
)
def preview(experiment: str, questions: int, api_base: str, book: Path | None) -> None:
    """Say what EXPERIMENT would ask, cost and take before it is run.

    EXPERIMENT is a name in the folder experiments, or a YAML file: its notebooks are tried with a few
    questions, and the embedded model answers for all models, so that nothing is asked of these. Where the
    benchmark's folder is not set, bundled questions stand for its own.

    Or it is a file of JSON lines. A line with `messages` is a call as it will be sent: prompt, model,
    messages, parameters, sample. A line with `calls` stands for calls whose prompts depend on earlier
    replies: prompt, model, calls (how many), input_tokens (of each); what follows from it is an estimate.
    """
    if Path(experiment).suffix == ".jsonl" or (
        Path(experiment).is_file() and not experiment.endswith((".yaml", ".yml"))
    ):
        with Store(book) as store:
            print(preview_file(Client(store, api_base=api_base), Path(experiment)))
        return
    os.environ["WORKBENCH_PREVIEW"] = str(questions)
    told = load_experiment(experiment)
    display = Display()
    with Store() as store:
        found = cost(told, questions, store, display)
    where = (
        told.benchmark
        if not told.stands_for
        else f"{told.benchmark}'s questions as if they were {told.stands_for:,}"
    )
    print(
        f"{told.name}: estimated from {questions} of {where}, the embedded model answering for all"
    )
    for model, estimate in found.models.items():
        print(f"{model}: {estimate.expected:,} calls")
        print("  " + str(estimate).splitlines()[-1])
    if len(found.models) > 1:
        print(f"together: {found.total.expected:,} calls")
        print("  " + str(found.total).splitlines()[-1])
    for line in found.failed:
        print(f"left out, since it failed with so few questions: {line}")


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("row", type=int)
@click.option("--all", "everything", is_flag=True, help="Show every candidate, not the first ten.")
def trace(data: Path, row: int, everything: bool) -> None:
    """Show what is behind a number: the SQL and the calls that ROW of DATA was counted from.

    DATA is the .csv beside a figure or table, and its rows are counted from 0. Where nothing is behind a
    row, it says why. The calls are those that proposed, fixed and chose; what retrieval and pruning asked is
    kept without the question. `workbench cache export FILE.jsonl --keys KEY` writes a call out in full.
    """
    with Store() as store:
        told, found = trace_back(data, row, store)
    print(", ".join(f"{k} {value}" for k, value in told.items() if value and k != "question_ids"))
    if not found:
        none = "no question" if told.get("question_ids") == "" else "nothing of its run"
        print(f"{none} is what this row counts, so there is no SQL behind it")
        return
    if "stage" in told:
        print("counted from what pruning left of the schemas; what was then answered:")
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
