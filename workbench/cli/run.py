"""`workbench run`: one system over the questions of a benchmark."""

import re
from pathlib import Path
from typing import Any

import click

from workbench.benchmarks.named import BENCHMARKS
from workbench.cli import options
from workbench.cli.options import SYSTEMS, given_to, make_system


@click.command()
@click.argument("system", type=click.Choice(list(SYSTEMS)))
@click.option(
    "--benchmark", type=click.Choice(list(BENCHMARKS)), default="bundled-dev", show_default=True
)
@options.root
@options.golds
@options.limit
@options.model
@options.judge
@options.parameters
@options.prompts
@options.dollars
@options.batch
@options.cheaper
@options.filtering
@click.option(
    "--preview",
    "previews",
    is_flag=True,
    help="Only estimate the calls and their cost, from three questions.",
)
@options.cluster
def run(
    system: str,
    benchmark: str,
    root: Path | None,
    golds: dict[str, Path],
    limit: int | None,
    model: str,
    judge: str,
    parameters: options.Parameters,
    prompts: Path | None,
    dollars: float | None,
    batch: bool,
    cheaper: bool,
    filtering: str,
    previews: bool,
    cluster: str,
) -> None:
    """Run SYSTEM over a benchmark and print its execution accuracy and cost.

    The table and the answers are saved in the folder runs. `workbench evaluate` judges the answers again in every
    sense, and `workbench trace` shows the SQL and calls behind a row of the table. Running again asks only for what
    is missing.
    """
    from workbench.experiment.preview import beside, preview_of, save  # noqa: PLC0415
    from workbench.pool import chosen  # noqa: PLC0415
    from workbench.study import open_study  # noqa: PLC0415  pandas and matplotlib: a second

    prompt_names = [prompts.name] if prompts else []
    parts = [
        system,
        *["cheaper"] * cheaper,
        *filter(None, [model, judge, filtering]),
        *prompt_names,
    ]
    given = [(role, item) for role, owned in parameters.items() for item in owned.items()]
    parts += [f"{role}_{name}_{value}".lstrip("_") for role, (name, value) in given]
    name = re.sub(r"\W+", "_", "_".join(parts))
    settings: dict[str, Any] = {
        "model": model,
        "limit": limit,
        "root": root,
        "prompts": prompts,
        "dollars": dollars,
        "parameters": given_to(model, parameters),
        "batch": batch,
        "cheaper": cheaper,
    }
    asked = make_system(system, model, judge, filtering)
    with open_study(
        benchmark, **settings, golds=golds, cluster="" if previews else cluster
    ) as study:
        folder = study.saved.folder
        if previews:
            found = preview_of(asked, benchmark, **settings)
            save(found, folder / f"{name}.preview.json")
            print(found.table())
            return
        done = study.run(asked)
        table = study.save(name, study.table(done))
        answers = folder / f"{name}.answers.jsonl"
        chosen(done.name, done.selections).save(answers)
    print(table.to_markdown())
    of = (f" --root {root}" if root else "") + (f" --limit {limit}" if limit else "")
    of += "".join(f" --gold {name}={file}" for name, file in golds.items())
    print(
        f"\nanswers: {answers}\n         workbench evaluate {benchmark}{of} --predictions {answers}"
    )
    data = answers.with_name(f"{name}.csv")
    print(f"table:   {data}\n         workbench trace {data} 0")
    print(beside(folder / f"{name}.preview.json", done.paid))
