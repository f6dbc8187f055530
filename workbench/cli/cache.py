"""`workbench cache ...`: count, export, merge and delete cached model calls."""

from datetime import UTC, datetime
from pathlib import Path

import click
import orjson

from workbench.errors import BadInputError
from workbench.llm import transfer
from workbench.llm.cache import Cache
from workbench.store import home

_FILE = click.Path(path_type=Path, dir_okay=False)
_prompt = click.option("--prompt", default="", help="Only calls of this prompt.")
_model = click.option("--model", default="", help="Only calls of this model.")


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
    with _open() as store:
        for row in transfer.stats(store):
            flags = [
                f", {row[n]:,} {n.replace('_', ' ')}"
                for n in ("unpriced", "cut_off", "filtered")
                if row[n]
            ]
            print(f"{row['prompt'] or '-':30} {row['model']:30} {row['calls']:>9,} calls {row['input_tokens']:>13,} in "
                  f"{row['output_tokens']:>11,} out ${row['cost']:,.4f}{''.join(flags)}")  # fmt: skip
        print(f"{store.path}: {store.path.stat().st_size / 1e6:,.1f} MB")


@cache.command()
@click.argument("file", type=_FILE)
@click.option(
    "--run",
    default="",
    metavar="NAME",
    help="Only calls of this experiment's models, whoever made them.",
)
@click.option("--keys", default="", help="Only these calls: their keys, with spaces between them.")
@_prompt
@_model
def export(file: Path, run: str, keys: str, prompt: str, model: str) -> None:
    """Write calls to FILE, as JSON lines with their whole requests.

    `workbench reproduce NAME --from FILE --offline` replays them, and `workbench cache merge FILE` adds them to a cache. A
    call is kept without the experiment that made it, so --run takes all calls of the experiment's models.
    """
    listed = "IN (SELECT value FROM json_each(?))"
    terms = {
        "prompt = ?": prompt,
        "model = ?": model,
        f"key {listed}": orjson.dumps(keys.split()) if keys else b"",
    }
    with _open() as store:
        if run:
            from workbench.study.experiment import load_experiment  # noqa: PLC0415  pydantic

            terms[f"+model {listed}"] = orjson.dumps(load_experiment(run).asked)
        given = {term: value for term, value in terms.items() if value}
        number = store.export(file, " AND ".join(given) or "1", list(given.values()))
    print(f"{file}: {number:,} calls")


@cache.command()
@click.argument("other", type=_FILE)
def merge(other: Path) -> None:
    """Add the calls of OTHER, a cache file or JSON lines that export wrote."""
    with Cache() as store:
        merged = store.merge(other)
    print(f"{merged.new:,} rows added, {merged.known:,} were cached already; {merged.different:,} calls have another reply"
          " in the other file, and keep the reply of this cache")  # fmt: skip


@cache.command()
@_prompt
@_model
@click.option(
    "--before", type=click.DateTime(["%Y-%m-%d"]), help="Only calls made before this day."
)
@click.option("--yes", is_flag=True, help="Delete the calls. Without it, only count them.")
def prune(prompt: str, model: str, before: datetime | None, yes: bool) -> None:
    """Delete calls from the cache. Asking for one again costs money again."""
    day = before.replace(tzinfo=UTC).timestamp() if before else None
    terms = {"prompt = ?": prompt, "model = ?": model, "created < ?": day}
    given = {term: value for term, value in terms.items() if value}
    if not given:
        raise BadInputError("prune needs a choice of calls: --prompt, --model or --before")
    with _open() as store:
        number = transfer.prune(store, " AND ".join(given), list(given.values()), dry=not yes)
    print(f"{number:,} calls deleted" if yes else f"{number:,} calls would be deleted: add --yes")
