"""`workbench cache ...`: count, export, merge and delete cached model calls."""

from pathlib import Path

import click
import orjson

from workbench.cli.options import FILE
from workbench.errors import BadInputError
from workbench.llm.cache import Cache
from workbench.llm.money import dollars
from workbench.store import home
from workbench.study.experiment import load_experiment


def _open() -> Cache:
    if not (path := home() / "lab.sqlite").exists():
        raise BadInputError(f"there is no cache file at {path}: name its folder by WORKBENCH_HOME")
    return Cache(path)


@click.group()
def cache() -> None:
    """The cache of model calls: lab.sqlite in WORKBENCH_HOME."""


@cache.command()
def info() -> None:
    """Count calls, tokens and dollars by prompt and model."""
    select = "SELECT prompt, model, count(*), sum(input_tokens), sum(output_tokens), total(cost), sum(cost IS NULL)"
    with _open() as store:
        for prompt, model, *counts, cost, free in store.read(f"{select} FROM calls GROUP BY 1, 2"):
            calls, read, written = (f"{count:,}" for count in counts)
            spent = f"{calls:>9} calls {read:>13} in {written:>11} out {dollars(cost, free)}"
            print(f"{prompt or '-':30} {model:30} {spent}")
        print(f"{store.path}: {store.path.stat().st_size / 1e6:,.1f} MB")


@cache.command()
@click.argument("file", type=FILE)
@click.option("--run", default="", metavar="NAME", help="Only calls of this experiment's models, whoever made them.")  # fmt: skip
@click.option("--keys", default="", help="Only these calls: their keys, with spaces between them.")
def export(file: Path, run: str, keys: str) -> None:
    """Write calls to FILE, as JSON lines with their whole requests.

    `workbench reproduce NAME --from FILE --offline` replays them, and `workbench cache merge FILE` adds them to a cache. A
    call is kept without the experiment that made it, so --run takes all calls of the experiment's models.
    """
    column, values = ("+model", load_experiment(run).asked) if run else ("key", keys.split())
    where = f"{column} IN (SELECT value FROM json_each(?))" if values else "1"
    with _open() as store:
        number = store.export(file, where, [orjson.dumps(values)] if values else [])
    print(f"{file}: {number:,} calls")


@cache.command()
@click.argument("other", type=FILE)
def merge(other: Path) -> None:
    """Add the calls of OTHER, a cache file or JSON lines that export wrote."""
    with Cache() as store:
        merged = store.merge(other)
    print(f"{merged.new:,} rows added, {merged.known:,} were cached already")


@cache.command()
@click.option("--prompt", help="Only calls of this prompt.")
@click.option("--model", help="Only calls of this model.")
@click.option("--yes", is_flag=True, help="Delete the calls. Without it, only count them.")
def prune(prompt: str | None, model: str | None, yes: bool) -> None:
    """Delete calls from the cache. Asking for one again costs money again."""
    given = {k: v for k, v in {"prompt": prompt, "model": model}.items() if v}
    if not given:
        raise BadInputError("prune needs a choice of calls: --prompt or --model")
    with _open() as store:
        where = " AND ".join(f"{name} = ?" for name in given)
        number = store.prune(where, [*given.values()], dry=not yes)
    print(f"{number:,} calls deleted" if yes else f"{number:,} calls would be deleted: add --yes")
