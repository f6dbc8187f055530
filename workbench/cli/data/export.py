"""`workbench export`: a run for other tools."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.benchmarks.named import open_again
from workbench.cli import options
from workbench.db.execute import Executor
from workbench.errors import BadInputError
from workbench.store import Store

if TYPE_CHECKING:
    from workbench.exchange.inspect_log import Which

_FORMS = (".json", ".csv", ".parquet")


@click.command()
@click.argument("run")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--benchmark",
    "own",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The JSON file of the benchmark, if RUN is on one of your own.",
)
@options.root
@click.option(
    "--calls",
    type=click.Choice(["chosen", "all", "none"]),
    default="chosen",
    show_default=True,
    help="For a .json file: the model calls behind each chosen answer, behind every candidate, or none.",
)
def export(run: str, file: Path, own: Path | None, root: Path | None, calls: "Which") -> None:
    """Write RUN to FILE for other tools; the ending of its name chooses the form.

    RUN is the id of a run in the cache, or its name as a table shows it; the .json beside a figure has the ids of its
    runs. A .json file is a log of inspect_ai, which `inspect view` shows and `workbench evaluate` reads; .csv and
    .parquet files have a row for each candidate. `workbench cache export` writes calls in these forms.
    """
    if file.suffix not in _FORMS:
        raise BadInputError(f"{file}: name a file that ends in {', '.join(_FORMS)}")
    from workbench.exchange.inspect_log import write_inspect_log  # noqa: PLC0415  SciPy: half a second
    from workbench.exchange.stored_run import answers, stored_run  # noqa: PLC0415
    from workbench.exchange.tables import write_run  # noqa: PLC0415

    with Store() as store, Executor(store) as executor:
        found = stored_run(run, store)
        options.check_writable(file, *[own] if own else [])
        benchmark = open_again(found.benchmark, root, own)
        answered = list(answers(found, benchmark, executor, store))
        if file.suffix == ".json":
            number = write_inspect_log(file, found, benchmark, answered, store, calls)
            what = f"{len(answered):,} samples, {number:,} calls"
        else:
            what = f"{write_run(file, found, answered):,} candidates"
    print(f"{file}: {found.name}, {what}, {file.stat().st_size / 1e6:,.1f} MB")
