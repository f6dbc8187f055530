"""Work on all cached calls of a file: export, merge, count and prune them.

An export is JSON lines, one call each with its full request, in the order of keys: equal caches
give equal files. A key is a hash of the request, so a merge adds rows and replaces none.
"""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from workbench.canonical import canonical
from workbench.errors import BadInputError, fault, kind, naming
from workbench.llm.keys import request_key
from workbench.store import Store
from workbench.types import Request

_JSON = ("messages", "parameters", "reply")
_COUNTS = {
    "prompt": "prompt", "model": "model", "calls": "count(*)", "input_tokens": "sum(input_tokens)",
    "output_tokens": "sum(output_tokens)", "cost": "total(cost)", "unpriced": "sum(cost IS NULL)",
    "cut_off": "sum(finish_reason = 'length')",
    "filtered": "sum(finish_reason = 'content_filter')",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Merged:
    """The numbers of new rows, of known rows, and of known calls whose reply differs from ours."""

    new: int
    known: int
    different: int = 0


def export(cache: Store, path: Path | str, where: str = "1", values: Sequence[Any] = ()) -> int:
    """Write the calls to a file of JSON lines, whole or not at all; returns their number."""
    path = Path(path)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    select = f"SELECT * FROM calls WHERE ({where}) AND key > ? ORDER BY key LIMIT 500"
    last, number, names = "", 0, _columns(cache)
    try:
        with naming(path), unfinished.open("wb") as file:
            while rows := cache.read(select, [*values, last]):
                for row in rows:
                    call = dict(zip(names, row, strict=True))
                    call |= {name: orjson.loads(call[name]) for name in _JSON}
                    file.write(canonical(call) + b"\n")
                number, last = number + len(rows), rows[-1][0]
            file.flush()
            os.fsync(file.fileno())
            unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return number


def merge(cache: Store, other: Path | str) -> Merged:
    """Copy the calls and executions of a cache file, or the calls of an export: all or nothing."""
    other = Path(other)
    if (found := kind(other)) or not other.exists():
        known = "name a cache file, or an export of one"
        raise BadInputError(f"{other} is {found or 'missing'}: {known}")
    return _merge_file(cache, other) if _is_database(other) else _load(cache, other)


def _is_database(path: Path) -> bool:
    """Asked of SQLite, since closing a descriptor of our own would drop its locks on a file that is in use."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.execute("SELECT 1 FROM sqlite_schema")
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorcode != sqlite3.SQLITE_NOTADB
    return path.stat().st_size > 0


def _merge_file(cache: Store, other: Path) -> Merged:
    Store(other).close()  # refuses a file that is no cache file
    with Store(cache.path) as ours:  # a connection of its own, which has both files
        ours.attach(other, "theirs")
        with ours.write() as db:
            both = "theirs.calls AS other JOIN main.calls AS ours USING (key)"
            count = f"SELECT count(*) FROM {both} WHERE other.text <> ours.text"
            (different,) = db.execute(count).fetchone()
            new = total = 0
            for table in ("calls", "executions"):
                total += db.execute(f"SELECT count(*) FROM theirs.{table}").fetchone()[0]
                copy = f"INSERT OR IGNORE INTO main.{table} SELECT * FROM theirs.{table}"
                new += db.execute(copy).rowcount
    return Merged(new, total - new, different)


def _load(cache: Store, path: Path) -> Merged:
    new, number, names = 0, 0, _columns(cache)
    insert = f"INSERT OR IGNORE INTO calls VALUES ({', '.join('?' * len(names))})"
    with path.open("rb") as file, cache.write() as db:
        for number, line in enumerate(file, 1):
            try:
                call = orjson.loads(line)
                parts = (call["model"], call["messages"], call["parameters"], call["sample"])
                if request_key(Request("", *parts), call["endpoint"]) != call["key"]:
                    raise ValueError("its request was changed, so its key is wrong")
                call |= {name: canonical(call[name]).decode() for name in _JSON}
                new += db.execute(insert, [call[name] for name in names]).rowcount
            except (ValueError, TypeError, KeyError) as error:
                raise BadInputError(
                    f"{path}, line {number}: no exported call ({fault(error)}), so nothing was "
                    "merged; export the calls again, by `workbench cache export FILE.jsonl`"
                ) from error
    return Merged(new, number - new)


def _columns(cache: Store) -> list[str]:
    return [column for (_, column, *_) in cache.read("PRAGMA table_info(calls)")]


def stats(cache: Store) -> list[dict[str, Any]]:
    """A record for each prompt and model: calls, tokens, dollars, flagged and unpriced calls."""
    select = f"SELECT {', '.join(_COUNTS.values())} FROM calls GROUP BY 1, 2 ORDER BY 1, 2"
    return [dict(zip(_COUNTS, row, strict=True)) for row in cache.read(select)]


def prune(cache: Store, where: str, values: Sequence[Any] = (), *, dry: bool = False) -> int:
    """Delete the calls, and all results, which may use them; returns their number. `dry` counts."""
    number: int = cache.read(f"SELECT count(*) FROM calls WHERE {where}", values)[0][0]
    if number and not dry:
        with cache.write() as db:
            db.execute(f"DELETE FROM calls WHERE {where}", values)
            db.execute("DELETE FROM selections")  # those of other calls are made again for free
            db.execute("DELETE FROM attempts")
    return number
