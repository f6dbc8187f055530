"""`workbench run`: one system over the questions of a benchmark."""

import re
from pathlib import Path

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
@options.limit
@options.model
@options.judge
@options.parameters
@options.prompts
@options.dollars
@options.batch
def run(
    system: str,
    benchmark: str,
    root: Path | None,
    limit: int | None,
    model: str,
    judge: str,
    parameters: options.Parameters,
    prompts: Path | None,
    dollars: float | None,
    batch: bool,
) -> None:
    """Run SYSTEM over a benchmark and print its execution accuracy and cost.

    The table and the answers are saved in the folder runs. `workbench evaluate` judges the answers again in every
    sense, and `workbench trace` shows the SQL and calls behind a row of the table. Running again asks only for what
    is missing.
    """
    from workbench.pool import chosen  # noqa: PLC0415
    from workbench.study import open_study  # noqa: PLC0415  pandas and matplotlib: a second

    parts = [system, model, *([judge] if judge else []), *([prompts.name] if prompts else [])]
    given = [(role, item) for role, owned in parameters.items() for item in owned.items()]
    parts += [f"{role}_{name}_{value}".lstrip("_") for role, (name, value) in given]
    name = re.sub(r"\W+", "_", "_".join(parts))
    with open_study(
        benchmark,
        model=model,
        limit=limit,
        root=root,
        prompts=prompts,
        dollars=dollars,
        parameters=given_to(model, parameters),
        batch=batch,
    ) as study:
        done = study.run(make_system(system, model, judge))
        table = study.save(name, study.table(done))
        answers = study.saved.folder / f"{name}.answers.jsonl"
        chosen(done.name, done.selections).save(answers)
    print(table.to_markdown())
    asked = (f" --root {root}" if root else "") + (f" --limit {limit}" if limit else "")
    print(
        f"\nanswers: {answers}\n         workbench evaluate {benchmark}{asked} --predictions {answers}"
    )
    data = answers.with_name(f"{name}.csv")
    print(f"table:   {data}\n         workbench trace {data} 0")
