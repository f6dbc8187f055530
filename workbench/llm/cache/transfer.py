"""Work on all cached calls: count, export, import, merge, prune and check them.

An export is JSON lines, one call each with its full request, in the order of keys, and then the parameters
that their models refuse: equal caches give equal files. An export lets others replay a run offline. A key is a hash
of the request, so a merge adds rows and replaces none: if both caches have a reply to a request, ours stays.
"""

import os
import sqlite3
import tempfile
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from workbench.canonical import canonical
from workbench.errors import BadInputError, StoreError, fault
from workbench.llm.cache.keys import request_key
from workbench.llm.cache.rows import COLUMNS, Call, insert, part_ids, text_id, unpack
from workbench.llm.parameters import insert_refusal, refusals
from workbench.store import Store
from workbench.store.checksum import checksum
from workbench.types import Request, Usage


@dataclass(frozen=True, slots=True)
class Select:
    """A choice of calls; an empty field excludes none. `before` is in seconds since 1970."""

    prompt: str = ""
    model: str = ""
    finish_reason: str = ""
    before: float | None = None
    keys: Collection[str] | None = None

    def where(self) -> tuple[str, list[Any]]:
        names = ("prompt", "model", "finish_reason")
        terms = {f"{name} = ?": getattr(self, name) for name in names if getattr(self, name)}
        if self.before is not None:
            terms["created < ?"] = self.before
        if self.keys is not None:
            listed = canonical(sorted(self.keys)).decode()
            terms["key IN (SELECT value FROM json_each(?))"] = listed
        return " AND ".join(["1", *terms]), list(terms.values())


ALL = Select()


def absent(store: Store, keys: Collection[str]) -> list[str]:
    """The keys, each once and in their order, under which no call is cached."""
    cached = {key for (key,) in store.read_keys("SELECT key FROM calls WHERE key IN", [*keys])}
    return [key for key in dict.fromkeys(keys) if key not in cached]


def calls(store: Store, select: Select = ALL) -> Iterator[Call]:
    """The chosen calls with their full requests, in the order of keys."""
    where, values = select.where()
    last = ""
    query = f"SELECT {COLUMNS} FROM calls WHERE {where} AND key > ? ORDER BY key LIMIT 500"
    while rows := store.read(query, [*values, last]):
        numbers = {part for row in rows for part in part_ids(orjson.loads(row[9]))}
        texts = dict(store.read_keys("SELECT id, text FROM texts WHERE id IN", sorted(numbers)))
        for row in rows:
            yield unpack(row, texts)
        last = rows[-1][0]


def stats(store: Store) -> list[dict[str, Any]]:
    """A record for each prompt and model: calls, tokens, dollars, and numbers of flagged and unpriced calls."""
    names = (
        "prompt", "model", "calls", "input_tokens", "output_tokens", "cost", "unpriced", "cut_off", "filtered",
    )  # fmt: skip
    rows = store.read(
        "SELECT prompt, model, count(*), sum(input_tokens), sum(output_tokens), total(cost), "
        "sum(cost IS NULL), sum(finish_reason = 'length'), sum(finish_reason = 'content_filter') "
        "FROM calls GROUP BY prompt, model ORDER BY prompt, model"
    )
    return [dict(zip(names, row, strict=True)) for row in rows]


def export(store: Store, path: Path, select: Select = ALL) -> int:
    """Write the calls to a file of JSON lines, whole or not at all; returns their number."""
    number = 0
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    try:
        with unfinished.open("wb") as file:
            for number, call in enumerate(calls(store, select), 1):  # noqa: B007  returned below
                file.write(canonical(call) + b"\n")
            for refused in refusals(store, *select.where()):
                file.write(canonical({"refused": refused}) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return number


def load(store: Store, path: Path) -> tuple[int, int]:
    """Import an exported file, all of it or nothing; returns the numbers of new and of known calls."""
    new = known = 0
    with path.open("rb") as file, store.write() as connection:
        for number, line in enumerate(file, 1):
            position = f"{path}, line {number}"
            if line.startswith(b'{"refused":'):
                try:
                    insert_refusal(connection, orjson.loads(line)["refused"])
                except (ValueError, TypeError, KeyError) as error:
                    raise BadInputError(
                        f"{position}: not an exported refusal ({fault(error)}); nothing was imported"
                    ) from error
            elif insert(connection, _parse(line, position)):
                new += 1
            else:
                known += 1
    return new, known


def _parse(line: bytes, position: str) -> Call:
    try:
        fields = orjson.loads(line)
        call = Call(**{**fields, "usage": Usage(**fields["usage"])})
    except (ValueError, TypeError, KeyError) as error:
        raise BadInputError(
            f"{position}: not an exported call ({fault(error)}), so nothing was imported; give JSON lines that"
            " `workbench cache export FILE.jsonl` wrote"
        ) from error
    if _key(call) != call.key:
        raise BadInputError(
            f"{position}: its request was changed, so its key is wrong, and nothing was imported; export the calls again"
        )
    return call


def _key(call: Call) -> str:
    request = Request("", call.model, call.messages, call.parameters, call.sample)
    return request_key(request, call.endpoint)


@dataclass(frozen=True, slots=True)
class Merged:
    """The numbers of new rows, of known rows, and of known calls whose reply differs from ours."""

    new: int
    known: int
    different: int


def merge(store: Store, other: Path) -> Merged:
    """Copy another cache file's calls and executions into this one. The other may be in use."""
    if not other.is_file():
        raise BadInputError(f"{other} is not a file: name the cache file to merge")
    new = known = different = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.sqlite"
        _copy(other, copy)
        with Store(copy) as theirs, store.write() as ours:
            for key, text in theirs.read("SELECT key, text FROM calls"):
                row = ours.execute("SELECT text FROM calls WHERE key = ?", (key,)).fetchone()
                different += row is not None and row[0] != text
            for table in ("texts", "calls", "executions", "refused_parameters"):
                for row in theirs.read(f"SELECT * FROM {table}"):
                    marks = ", ".join("?" * len(row))
                    added = ours.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)
                    if table in {"calls", "executions"}:
                        new += added.rowcount
                        known += 1 - added.rowcount
    return Merged(new, known, different)


def _copy(other: Path, copy: Path) -> None:
    try:
        uri = f"{other.absolute().as_uri()}?mode=ro"
        with (
            closing(sqlite3.connect(uri, uri=True)) as source,
            closing(sqlite3.connect(copy)) as to,
        ):
            source.backup(to)
    except sqlite3.Error as error:
        raise StoreError(f"cache file {other} cannot be read: {error}") from error


def prune(store: Store, select: Select, *, dry: bool = False) -> int:
    """Delete calls, and parts of messages that no call uses any more; returns the number of calls.

    `dry` only counts them.
    """
    where, values = select.where()
    if where == "1":
        raise BadInputError(
            "prune needs a choice of calls: by prompt, model, finish reason or date"
        )
    number: int = store.read(f"SELECT count(*) FROM calls WHERE {where}", values)[0][0]
    if number and not dry:
        with store.write() as connection:
            connection.execute(f"DELETE FROM calls WHERE {where}", values)
            # Results may use deleted calls, so all go; those of remaining calls are recomputed for free.
            connection.execute("DELETE FROM selections")
            connection.execute("DELETE FROM attempts")
            connection.execute(
                "DELETE FROM texts WHERE id NOT IN (SELECT part.value FROM calls, "
                "json_each(calls.messages) AS message, json_each(message.value, '$.content') AS part "
                "WHERE part.type = 'integer')"
            )
    return number


def verify(store: Store) -> list[str]:
    """A line for each damaged page, changed text, and call that was changed since it was stored."""
    problems = [f"page: {line}" for (line,) in store.read("PRAGMA integrity_check") if line != "ok"]
    problems += [
        f"text {number} was changed"
        for number, text in store.read("SELECT id, text FROM texts")
        if text_id(text) != number
    ]
    for (key,) in store.read("SELECT key FROM calls ORDER BY key"):
        row = store.read(f"SELECT checksum, {COLUMNS} FROM calls WHERE key = ?", (key,))[0]
        if row[0] is not None and row[0] != checksum(*row[1:]):
            problems.append(f"{key}: its answer or another field was changed")
        try:
            (call,) = calls(store, Select(keys=(key,)))
            if _key(call) != key:
                problems.append(f"{key}: its request was changed")
        except KeyError:
            problems.append(f"{key}: a part of its request is missing")
        except ValueError:
            problems.append(f"{key}: its request or reply is not JSON")
    return problems
