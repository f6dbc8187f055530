"""`workbench cache` counts, exports and merges cached model calls."""

from pathlib import Path

import click
import orjson

from workbench.cli import options
from workbench.errors import BadInputError
from workbench.llm.cache import Cache
from workbench.llm.money import dollars
from workbench.study.experiment import load_experiment


@click.group()
def cache() -> None:
    """The cache of model calls: lab.sqlite in WORKBENCH_HOME."""


@cache.command()
def info() -> None:
    """Count calls, tokens and dollars by prompt and model."""
    sums = "count(*), sum(input_tokens), sum(output_tokens), total(cost), sum(cost IS NULL)"
    select = f"SELECT prompt, model, {sums} FROM calls GROUP BY 1, 2"
    line = "{:30} {:30} {:>9,} calls {:>13,} in {:>11,} out"
    with Cache() as store:
        for *counts, cost, unpriced in store.read(select):
            print(line.format(*counts), dollars(cost, unpriced))
        megabytes = store.path.stat().st_size / 1e6
        print(f"{store.path}: {megabytes:,.1f} MB")


@cache.command()
@click.argument("file", type=options.FILE)
@click.option(
    "--run",
    default="",
    metavar="NAME",
    help="Only calls of this experiment's models, whatever they were made for.",
)
@click.option(
    "--keys", default="", help="Only the calls with these keys, separated by spaces."
)
def export(file: Path, run: str, keys: str) -> None:
    """Write calls to FILE, as JSON lines with their whole requests.

    `workbench reproduce NAME --from FILE --offline` replays them, and `workbench cache merge
    FILE` adds them to a cache.
    """
    if run and keys:
        raise BadInputError("--run and --keys: give one of them")
    listed = "(SELECT value FROM json_each(?))"
    with Cache() as store:
        if run:
            # With "+", SQLite reads the calls in the order of their keys.
            models = orjson.dumps(load_experiment(run).asked)
            number = store.export(file, f"+model IN {listed}", [models])
        elif keys:
            number = store.export(
                file, f"key IN {listed}", [orjson.dumps(keys.split())]
            )
        else:
            number = store.export(file)
    print(f"{file}: {number:,} calls")


@cache.command()
@click.argument("other", type=options.FILE)
def merge(other: Path) -> None:
    """Add the calls of another cache or an export.

    OTHER is a cache file, or JSON lines that `workbench cache export` wrote.
    """
    with Cache() as store:
        new, known = store.merge(other)
    print(f"{new:,} rows added, {known:,} were cached already")
