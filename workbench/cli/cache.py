"""`workbench cache ...`: count, copy, merge and delete cached model calls."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import orjson

from workbench.benchmarks.benchmark import read_text
from workbench.errors import BadInputError, naming
from workbench.llm import transfer
from workbench.llm.batch import unread
from workbench.llm.cache import Cache
from workbench.store import home

_FILE = click.Path(path_type=Path, dir_okay=False)
_cache_file = click.option(
    "--cache",
    "cache_file",
    type=_FILE,
    help="The cache file. Default: lab.sqlite in WORKBENCH_HOME.",
)
_prompt = click.option("--prompt", default="", help="Only calls of this prompt.")
_model = click.option("--model", default="", help="Only calls of this model.")


def _open(cache_file: Path | None) -> Cache:
    path = cache_file or home() / "lab.sqlite"
    if not path.exists():
        raise BadInputError(f"there is no cache file at {path}: name one with --cache")
    return Cache(path)


def _where(terms: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The terms that have a value as a condition of SQL, and the values."""
    given = {term: value for term, value in terms.items() if value}
    return " AND ".join(given) or "1", list(given.values())


@click.group()
def cache() -> None:
    """The cache of model calls."""


@cache.command()
@_cache_file
def stats(cache_file: Path | None) -> None:
    """Count calls, tokens and dollars by prompt and model."""
    with _open(cache_file) as store:
        for record in transfer.stats(store):
            flags = (name for name in ("unpriced", "cut_off", "filtered") if record[name])
            print(
                f"{record['prompt'] or '-':30} {record['model']:30} {record['calls']:>9,} calls "
                f"{record['input_tokens']:>13,} in {record['output_tokens']:>11,} out "
                f"${record['cost']:,.4f}"
                + "".join(f", {record[name]:,} {name.replace('_', ' ')}" for name in flags)
            )
        for line in unread(store):
            print(f"unread: {line}; the command that sent it reads its answers when it runs again")
        print(f"{store.path}: {store.path.stat().st_size / 1e6:,.1f} MB")


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
    if file.suffix not in {".jsonl", ".sqlite"}:
        raise BadInputError(f"{file}: name a file that ends in .jsonl or .sqlite")
    with _open(cache_file) as store, naming(file):
        if file.suffix == ".sqlite":
            if prompt or model or keys:
                raise BadInputError(
                    f"{file.name} would be a copy of the whole cache: name a .jsonl file to export some calls"
                )
            file.open("xb").close()
            with closing(sqlite3.connect(file)) as copy:
                store.db.conn.backup(copy)
            print(f"{file}: a copy of the cache")
            return
        terms: dict[str, Any] = {"prompt = ?": prompt, "model = ?": model}
        if keys:
            single = str(keys).startswith("call:")
            if not single and not keys.exists():
                raise BadInputError(f"--keys {keys}: no such file; give one, or a key as call:KEY")
            chosen = [str(keys)] if single else read_text(keys).split()
            listed = "key IN (SELECT value FROM json_each(?))"
            terms[listed] = orjson.dumps(chosen).decode()
            known = {
                key
                for (key,) in store.read(f"SELECT key FROM calls WHERE {listed}", [terms[listed]])
            }
            absent = [key for key in dict.fromkeys(chosen) if key not in known]
        print(f"{file}: {store.export(file, *_where(terms)):,} calls")
        if keys and absent:
            print(f"{len(absent):,} of the keys are not in the cache, such as {absent[0]}")


@cache.command()
@click.argument("other", type=_FILE)
@_cache_file
def merge(other: Path, cache_file: Path | None) -> None:
    """Add the calls of OTHER, a cache file or JSON lines that export wrote."""
    new = cache_file if cache_file and not cache_file.exists() else None
    try:
        with Cache(cache_file) as store:
            merged = store.merge(other)
    except BaseException:
        if new:  # a command that fails leaves no empty file
            new.unlink(missing_ok=True)
        raise
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
    terms = {"prompt = ?": prompt, "model = ?": model, "finish_reason = ?": finish_reason}
    where, values = _where({**terms, "created < ?": day})
    if not values:
        raise BadInputError(
            "prune needs a choice of calls: by prompt, model, finish reason or date"
        )
    with _open(cache_file) as store:
        number = transfer.prune(store, where, values, dry=not yes)
    print(f"{number:,} calls deleted" if yes else f"{number:,} calls would be deleted: add --yes")
