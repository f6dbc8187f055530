"""`workbench run`: one system over the questions of a benchmark."""

import re
from pathlib import Path
from shlex import join
from typing import Any

import click

from workbench.benchmarks.load import BENCHMARKS, benchmark_name
from workbench.cli import options
from workbench.cli.options import SYSTEMS, given_to, make_system
from workbench.prompts.prompt import PACKAGED


def _benchmark(given: str) -> str:
    """The benchmark's own name; an unknown name is refused, and so is that of an experiment."""
    if own := benchmark_name(given):
        return own
    raise click.BadParameter(
        f"no benchmark {given!r}; there are {', '.join(BENCHMARKS)}, or give a JSON file of your own, NAME.json"
    )


@click.command()
@click.argument("system", type=click.Choice(list(SYSTEMS)))
@click.option(
    "--benchmark",
    callback=options.checked(_benchmark),
    default="bundled-dev",
    show_default=True,
    metavar="NAME|FILE",
    help=f"One of {', '.join(BENCHMARKS)}, or a JSON file of your own, with --root the folder of its databases.",
)
@options.root
@options.golds
@options.limit
@options.model
@options.judge
@options.parameters
@click.option(
    "--prompts",
    multiple=True,
    metavar="DIRECTORY",
    help="A folder of prompts that replace the packaged prompts of the same names. Several are run side by side and"
    " compared with the first; `packaged` names the packaged prompts.",
)
@options.dollars
@options.batch
@options.filtering
@click.option(
    "--preview",
    "previews",
    is_flag=True,
    help="Only estimate the calls and their cost, those of each folder of prompts, from three questions.",
)
@options.cluster
def run(
    system: str,
    benchmark: str,
    golds: dict[str, Path],
    model: str,
    judge: str,
    parameters: options.Parameters,
    prompts: tuple[str, ...],
    filtering: str,
    previews: bool,
    cluster: str,
    **settings: Any,
) -> None:
    """Run SYSTEM over a benchmark and print its execution accuracy and cost.

    The table and the answers are saved in the folder runs. `workbench evaluate` judges the answers again in every
    sense, and `workbench trace` shows the SQL and calls behind a row of the table. Running again asks only for what
    is missing.
    """
    from workbench.benchmarks.predictions import ANSWERS, write_predictions  # noqa: PLC0415  pandas
    from workbench.experiment.preview import cost_lines, preview_of, save_preview  # noqa: PLC0415
    from workbench.explorer.compare import Comparison, of_prompts  # noqa: PLC0415
    from workbench.study import open_study  # noqa: PLC0415  pandas and matplotlib: a second
    from workbench.study.measures import notes_on  # noqa: PLC0415

    folders = [None if folder == PACKAGED else Path(folder) for folder in prompts or [PACKAGED]]
    own = [folder.name if folder else PACKAGED for folder in folders if folder or len(folders) > 1]
    parts = [
        system,
        *filter(None, [model, judge, filtering]),
        *own,
    ]
    given = [(role, item) for role, owned in parameters.items() for item in owned.items()]
    parts += [f"{role}_{name}_{value}".lstrip("_") for role, (name, value) in given]
    name = re.sub(r"\W+", "_", "_".join(parts))
    settings["parameters"] = given_to(model, parameters)
    if previews:
        with open_study(benchmark, model=model, **settings) as study:
            folder = study.saved.folder
        asked = make_system(system, model, judge, filtering)
        for number, (words, prompts_of) in enumerate(zip(own or [PACKAGED], folders, strict=True)):
            found = preview_of(asked, benchmark, model=model, prompts=prompts_of, **settings)
            save_preview(found, folder / f"{name}{_numbered(number)}.preview.json")
            print(f"{words}:\n{found.table()}\n" if len(folders) > 1 else found.table())
        print(
            "estimated from a few questions, which the embedded model answers: another may need more fixes, or fewer"
        )
        return
    with open_study(benchmark, model=model, golds=golds, cluster=cluster, **settings) as study:
        made = make_system(system, study.model, judge, filtering)
        variants = Comparison(study, of_prompts(study, made, folders))
        folder, runs = study.saved.folder, [*variants.runs.values()]
        title, note = f"Systems on {study.benchmark.name}", notes_on(runs)
        alone = study.costs({run.name: run for run in runs}).alone(title, note)
        table = study.save(name, variants.table if len(runs) > 1 else alone)
        files = []
        for number, done in enumerate(runs):
            files.append(folder / f"{name}{_numbered(number)}{ANSWERS}")
            write_predictions(files[-1], done.answers)
        if len(runs) > 1:
            study.save(f"{name}_questions", variants.questions)
    print(table.to_markdown())
    of = [(f"--{name}", settings[name]) for name in ("root", "limit") if settings[name]]
    of += [("--gold", f"{gold}={file}") for gold, file in golds.items()]
    of += [("--predictions", file) for file in files]
    judged = join(
        ["workbench", "evaluate", benchmark, *(str(word) for pair in of for word in pair)]
    )
    print(f"\nanswers: {', '.join(map(str, files))}\n         {judged}")
    data = folder / f"{name}.csv"
    print(f"table:   {data}\n         {join(['workbench', 'trace', str(data), '0'])}")
    if len(runs) > 1:
        print(f"flips:   {folder / f'{name}_questions.csv'}")
    for number, done in enumerate(runs):
        if len(runs) > 1:
            print(f"\n{done.name}")
        preview = folder / f"{name}{_numbered(number)}.preview.json"
        print(cost_lines(preview, done.paid, batch=settings["batch"]))


def _numbered(number: int) -> str:
    """The number in the names of a variant's files; the first variant has none."""
    return f"_{number}" if number else ""
