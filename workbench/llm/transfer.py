"""Work on all cached calls of a file: export, merge, count, prune and check them.

An export is JSON lines, one call each with its full request, in the order of keys: equal caches give equal files. A
key is a hash of the request, so a merge adds rows and replaces none: if both have a reply to a request, ours stays.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from workbench.canonical import canonical
from workbench.errors import BadInputError, fault, kind
from workbench.llm.keys import request_key
from workbench.store import Store
from workbench.types import Request

if TYPE_CHECKING:
    import sqlite3

_JSON = ("messages", "parameters", "reply")
_COUNTS = (
    "prompt, model, count(*) AS calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, "
    "total(cost) AS cost, sum(cost IS NULL) AS unpriced, sum(finish_reason = 'length') AS cut_off, "
    "sum(finish_reason = 'content_filter') AS filtered"
)


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
    select, last, number = (
        f"SELECT * FROM calls WHERE ({where}) AND key > ? ORDER BY key LIMIT 500",
        "",
        0,
    )
    names = [column for (_, column, *_) in cache.read("PRAGMA table_info(calls)")]
    try:
        with unfinished.open("wb") as file:
            while rows := cache.read(select, [*values, last]):
                for row in rows:
                    call = dict(zip(names, row, strict=True))
                    call |= {name: orjson.loads(call[name]) for name in _JSON}
                    file.write(canonical(call) + b"\n")
                number, last = number + len(rows), rows[-1][0]
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return number


def merge(cache: Store, other: Path | str) -> Merged:
    """Copy the calls and executions of another cache file, or the calls of an export: all or nothing."""
    other = Path(other)
    if (found := kind(other)) or not other.exists():
        raise BadInputError(
            f"{other} is {found or 'missing'}: name a cache file, or an export of one"
        )
    with other.open("rb") as file:
        is_database = file.read(16) == b"SQLite format 3\0"
    return _merge_file(cache, other) if is_database else _load(cache, other)


def _merge_file(cache: Store, other: Path) -> Merged:
    Store(other).close()  # refuses a file that is no cache file
    with Store(cache.path) as ours:  # a connection of its own, which has both files
        writer = ours._writer  # noqa: SLF001
        writer.execute("ATTACH ? AS theirs", [f"{other.absolute().as_uri()}?mode=ro"])
        with ours.write() as db:
            both = "theirs.calls AS other JOIN main.calls AS ours USING (key)"
            (different,) = db.execute(
                f"SELECT count(*) FROM {both} WHERE other.text <> ours.text"
            ).fetchone()
            new = total = 0
            for table in ("calls", "executions"):
                total += db.execute(f"SELECT count(*) FROM theirs.{table}").fetchone()[0]
                new += db.execute(
                    f"INSERT OR IGNORE INTO main.{table} SELECT * FROM theirs.{table}"
                ).rowcount
    return Merged(new, total - new, different)


def _load(cache: Store, path: Path) -> Merged:
    new = known = 0
    with path.open("rb") as file, cache.write() as db:
        for number, line in enumerate(file, 1):
            try:
                call = orjson.loads(line)
                request = Request(
                    "", call["model"], call["messages"], call["parameters"], call["sample"]
                )
                if request_key(request, call["endpoint"]) != call["key"]:
                    raise ValueError("its request was changed, so its key is wrong")
                added = _insert(db, call)
            except (ValueError, TypeError, KeyError) as error:
                raise BadInputError(
                    f"{path}, line {number}: no exported call ({fault(error)}), so nothing was merged; "
                    "export the calls again, by `workbench cache export FILE.jsonl`"
                ) from error
            new, known = new + added, known + 1 - added
    return Merged(new, known)


def _insert(db: "sqlite3.Connection", call: dict[str, Any]) -> int:
    names = [column for (_, column, *_) in db.execute("PRAGMA table_info(calls)")]
    values = [canonical(call[name]).decode() if name in _JSON else call[name] for name in names]
    return db.execute(
        f"INSERT OR IGNORE INTO calls VALUES ({', '.join('?' * len(names))})", values
    ).rowcount


def stats(cache: Store) -> list[dict[str, Any]]:
    """A record for each prompt and model: calls, tokens, dollars, and numbers of flagged and unpriced calls."""
    names = (
        "prompt",
        "model",
        "calls",
        "input_tokens",
        "output_tokens",
        "cost",
        "unpriced",
        "cut_off",
        "filtered",
    )
    rows = cache.read(f"SELECT {_COUNTS} FROM calls GROUP BY prompt, model ORDER BY prompt, model")
    return [dict(zip(names, row, strict=True)) for row in rows]


def prune(cache: Store, where: str, values: Sequence[Any] = (), *, dry: bool = False) -> int:
    """Delete the calls, and all results, which may use them; returns the number of calls. `dry` only counts them."""
    number: int = cache.read(f"SELECT count(*) FROM calls WHERE {where}", values)[0][0]
    if number and not dry:
        with cache.write() as db:
            db.execute(f"DELETE FROM calls WHERE {where}", values)
            db.execute(
                "DELETE FROM selections"
            )  # those of the remaining calls are made again for free
            db.execute("DELETE FROM attempts")
    return number


def verify(cache: Store) -> list[str]:
    """A line for each damaged page, and for each call whose request was changed since it was stored."""
    problems = [f"page: {line}" for (line,) in cache.read("PRAGMA integrity_check") if line != "ok"]
    select = "SELECT key, endpoint, model, messages, parameters, sample FROM calls WHERE key > ? ORDER BY key LIMIT 500"
    last = ""
    while rows := cache.read(select, [last]):
        for key, endpoint, model, messages, parameters, sample in rows:
            request = Request("", model, orjson.loads(messages), orjson.loads(parameters), sample)
            if request_key(request, endpoint) != key:
                problems.append(f"{key}: its request was changed")
        last = rows[-1][0]
    return problems
