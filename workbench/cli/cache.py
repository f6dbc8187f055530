"""`workbench cache ...`: count, copy, merge and delete cached model calls."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from workbench.benchmarks.items import read_text
from workbench.errors import BadInputError, naming
from workbench.llm.cache import transfer
from workbench.llm.calls.batches.table import BatchTable
from workbench.store import Store, home

_FORMS = (".jsonl", ".sqlite")
_SQLITE = b"SQLite format 3\0"  # the beginning of each SQLite file
_FILE = click.Path(path_type=Path, dir_okay=False)
_cache_file = click.option(
    "--cache",
    "cache_file",
    type=_FILE,
    help="The cache file. Default: lab.sqlite in WORKBENCH_HOME.",
)
_prompt = click.option("--prompt", default="", help="Only calls of this prompt.")
_model = click.option("--model", default="", help="Only calls of this model.")


def _open(cache_file: Path | None) -> Store:
    path = cache_file or home() / "lab.sqlite"
    if not path.exists():
        raise BadInputError(f"there is no cache file at {path}: name one with --cache")
    return _store(cache_file)


def _store(cache_file: Path | None) -> Store:
    """The named cache file, or the default one. Files of other kinds are refused: `Store` would rename them as damaged."""
    if cache_file and cache_file.is_file():
        with naming(cache_file), cache_file.open("rb") as file:
            head = file.read(len(_SQLITE))
        if head and head != _SQLITE:
            raise BadInputError(
                f"{cache_file} is not a cache file: name an SQLite file that workbench made, such as lab.sqlite"
            )
    return Store(cache_file)


@contextmanager
def _filled(cache_file: Path | None) -> Iterator[Store]:
    """The cache file for a command that adds rows; if the command fails, a file that is new is removed."""
    new = cache_file if cache_file and not cache_file.exists() else None
    try:
        with _store(cache_file) as store:
            yield store
    except BaseException:
        if new:
            new.unlink(missing_ok=True)
        raise


@click.group()
def cache() -> None:
    """The cache of model calls."""


@cache.command()
@_cache_file
def stats(cache_file: Path | None) -> None:
    """Count calls, tokens and dollars by prompt and model."""
    with _open(cache_file) as store:
        for record in transfer.stats(store):
            print(
                f"{record['prompt'] or '-':30} {record['model']:30} {record['calls']:>9,} calls "
                f"{record['input_tokens']:>13,} in {record['output_tokens']:>11,} out "
                f"${record['cost']:,.4f}"
                + "".join(
                    f", {record[name]:,} {name.replace('_', ' ')}"
                    for name in ("unpriced", "cut_off", "filtered")
                    if record[name]
                )
            )
        for line in BatchTable(store).unread():
            print(f"unread: {line}; the command that sent it reads its answers when it runs again")
        size = store.path.stat().st_size
        print(f"{store.path}: {size / 1e6:,.1f} MB")


@cache.command()
@click.argument("file", type=_FILE)
@_prompt
@_model
@click.option(
    "--keys",
    type=_FILE,
    help="One call:KEY, or a file with a key on each line: export only these.",
)
@_cache_file
def export(file: Path, prompt: str, model: str, keys: Path | None, cache_file: Path | None) -> None:
    """Write calls to FILE; the ending of its name chooses the form.

    A .jsonl file replays them offline, and a .sqlite file is a copy of the whole cache.
    """
    if file.suffix not in _FORMS:
        raise BadInputError(f"{file}: name a file that ends in {', '.join(_FORMS)}")
    with _open(cache_file) as store, naming(file):
        if file.suffix == ".sqlite":
            if prompt or model or keys:
                raise BadInputError(
                    f"{file.name} would be a copy of the whole cache: name a .jsonl file to export some calls"
                )
            store.backup(file)
            print(f"{file}: a copy of the cache")
            return
        chosen = None
        if keys:
            single = str(keys).startswith("call:")
            if not single and not keys.exists():
                raise BadInputError(f"--keys {keys}: no such file; give one, or a key as call:KEY")
            chosen = [str(keys)] if single else read_text(keys).split()
        select = transfer.Select(prompt=prompt, model=model, keys=chosen)
        number = transfer.export(store, file, select)
        print(f"{file}: {number:,} calls")
        if chosen and (absent := transfer.absent(store, chosen)):
            print(f"{len(absent):,} of the keys are not in the cache, such as {absent[0]}")


@cache.command("import")
@click.argument("file", type=_FILE)
@_cache_file
def load(file: Path, cache_file: Path | None) -> None:
    """Add the calls in FILE, JSON lines that export wrote."""
    if not file.is_file():
        raise BadInputError(f"there is no file {file}")
    with _filled(cache_file) as store:
        new, known = transfer.load(store, file)
    print(f"{new:,} calls added, {known:,} were cached already")


@cache.command()
@click.argument("other", type=_FILE)
@_cache_file
def merge(other: Path, cache_file: Path | None) -> None:
    """Add the calls and executions of the cache file OTHER."""
    with _filled(cache_file) as store:
        merged = transfer.merge(store, other)
    print(
        f"{merged.new:,} rows added, {merged.known:,} were cached already; {merged.different:,} calls have "
        "another reply in the other file, and keep the reply of this cache"
    )


@cache.command()
@_prompt
@_model
@click.option(
    "--finish-reason",
    default="",
    help="Only replies with this finish reason, such as length or content_filter.",
)
@click.option(
    "--before", type=click.DateTime(["%Y-%m-%d"]), help="Only calls made before this day."
)
@click.option("--yes", is_flag=True, help="Delete the calls. Without it, only count them.")
@_cache_file
def prune(
    prompt: str,
    model: str,
    finish_reason: str,
    before: datetime | None,
    yes: bool,
    cache_file: Path | None,
) -> None:
    """Delete calls from the cache. Asking for one again costs money again."""
    day = before.replace(tzinfo=UTC).timestamp() if before else None
    select = transfer.Select(prompt, model, finish_reason, day)
    with _open(cache_file) as store:
        number = transfer.prune(store, select, dry=not yes)
    print(f"{number:,} calls deleted" if yes else f"{number:,} calls would be deleted: add --yes")
