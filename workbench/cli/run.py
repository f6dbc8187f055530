"""`workbench run`: one system over the questions of a benchmark."""

import re
from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import Any

import click

from workbench.benchmarks.load import BENCHMARKS, benchmark_name
from workbench.cli import options
from workbench.cli.options import SYSTEMS, given_to, make_system
from workbench.llm.money import dollars
from workbench.prompts.prompt import PACKAGED


def _benchmark(given: str) -> str:
    """The benchmark's own name; an unknown name is refused, and so is that of an experiment."""
    if own := benchmark_name(given):
        return own
    raise click.BadParameter(
        f"no benchmark {given!r}; there are {', '.join(BENCHMARKS)}, or NAME.json"
    )


@click.command()
@click.argument("system", type=click.Choice(list(SYSTEMS)))
@click.option("--benchmark", callback=options.checked(_benchmark), default="bundled-dev", show_default=True,
              metavar="NAME|FILE", help=f"One of {', '.join(BENCHMARKS)}, or a JSON file of your own.")  # fmt: skip
@options.root
@options.golds
@options.limit
@options.model
@options.judge
@options.parameters
@click.option("--prompts", multiple=True, metavar="FOLDER", help="Prompts that replace the packaged ones of the same"
              " names. Several folders are compared with the first; `packaged` names the packaged prompts.")  # fmt: skip
@options.dollars
@options.batch
@options.filtering
@options.cluster
@click.option("--save", type=click.Path(path_type=Path, dir_okay=False), help="Write the answers to this .json (BIRD's"
              " form), .sql (Spider's), .jsonl or .csv.")  # fmt: skip
@click.option("--preview", is_flag=True, help="Only estimate calls and cost, from three questions.")
def run(system: str, benchmark: str, model: str, judge: str, parameters: options.Parameters, prompts: tuple[str, ...],
        filtering: str, save: Path | None, preview: bool, **settings: Any) -> None:  # fmt: skip
    """Run SYSTEM over a benchmark and print its execution accuracy and cost.

    The table and the answers are saved in the folder runs. `workbench evaluate` judges the answers again in every
    sense, and `workbench trace` shows the SQL and calls behind a row of the table. Running again asks only for what
    is missing.
    """
    from workbench.benchmarks.predictions import ANSWERS, write_predictions  # noqa: PLC0415  pandas
    from workbench.explorer.compare import compare, with_prompts  # noqa: PLC0415
    from workbench.llm.cache import Cache  # noqa: PLC0415
    from workbench.study.experiment import experiment_of  # noqa: PLC0415
    from workbench.study.measures import notes_on  # noqa: PLC0415
    from workbench.study.preview import estimated, preview_home  # noqa: PLC0415
    from workbench.study.study import open_study  # noqa: PLC0415  Matplotlib: a second

    folders = [None if one == PACKAGED else Path(one) for one in prompts or [PACKAGED]]
    asked = make_system(system, model, judge, filtering)
    settings |= {"model": model, "parameters": given_to(model, parameters)}
    if preview:
        with Cache() as store, preview_home() as home:
            few = replace(experiment_of(benchmark), preview=3, cache=store.path, figures=home)
            with open_study(few, **settings) as study:
                for folder in folders:
                    with_prompts(study, folder).run(asked)
            print(estimated(home, store))
        return
    own = [
        f"{role}_{key}_{value}"
        for role, given in parameters.items()
        for key, value in given.items()
    ]
    shown = [Path(one).name for one in prompts]
    name = re.sub(
        r"\W+", "_", "_".join(filter(None, [system, model, judge, filtering, *shown, *own]))
    )
    judged = ["evaluate", benchmark]
    with open_study(benchmark, **settings) as study:
        several = folders if len(folders) > 1 else [folders[0] or asked]
        compared = compare(*several, study=study, base=asked)
        runs, folder = [*compared.runs.values()], study.saved.folder
        title, note = f"Systems on {study.benchmark.name}", notes_on(runs)
        table = (
            compared.table
            if runs[1:]
            else study.costs({run.name: run for run in runs}).alone(title, note)
        )
        print(study.save(name, table).to_markdown(), end="\n\n")
        if runs[1:]:
            study.save(f"{name}_questions", compared.questions)
            print(f"flips:   {folder / name}_questions.csv")
        for number, run in enumerate(runs):
            number_of = f"_{number}" if number else ""
            answers = folder / f"{name}{number_of}{ANSWERS}"
            if save:
                answers = save.with_name(f"{save.stem}{number_of}{save.suffix}")
            chosen = run.trials[run.trials["chosen"]]
            write_predictions(answers, chosen.assign(generator=run.name, sample=0))
            print(f"answers: {answers}")
            judged.append(str(answers))
    judged += [
        word
        for key in ("root", "limit")
        if settings[key]
        for word in (f"--{key}", str(settings[key]))
    ]
    judged += [
        word for key, file in settings["golds"].items() for word in ("--gold", f"{key}={file}")
    ]
    data = folder / f"{name}.csv"
    print(f"         {join(['workbench', *judged])}")
    print(f"table:   {data}\n         {join(['workbench', 'trace', str(data), '0'])}")
    for run in runs:
        paid = run.paid
        print(
            f"{run.name}: {paid.calls:,} calls asked, {paid.hits:,} cached, {dollars(paid.cost, paid.unpriced)}"
        )
