"""The cache as a whole: counted, exported, imported, merged, pruned, checked.

An export is JSON lines, one call each with its request in full, in the order of their keys: equal caches
give equal files. It is also the frozen bundle with which somebody else replays a run offline. Since a row's
key is made of its request, merging cannot conflict: where both hold a reply to the same request, ours stays.
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
from workbench.errors import BadInputError, StoreError
from workbench.llm.cache import COLUMNS, Call, insert, request_key, text_id, unpack
from workbench.store import Store
from workbench.types import Request, Usage


@dataclass(frozen=True, slots=True)
class Select:
    """Which calls are meant; what is left empty chooses all."""

    prompt: str = ""
    model: str = ""
    finish_reason: str = ""
    before: float | None = None  # made before this time, in seconds since 1970
    keys: Collection[str] | None = None

    def where(self) -> tuple[str, list[Any]]:
        """As a condition of SQL, and the values in it."""
        terms = ["1"]
        values: list[Any] = []
        for name in ("prompt", "model", "finish_reason"):
            if value := getattr(self, name):
                terms.append(f"{name} = ?")
                values.append(value)
        if self.before is not None:
            terms.append("created < ?")
            values.append(self.before)
        if self.keys is not None:
            terms.append("key IN (SELECT value FROM json_each(?))")
            values.append(canonical(sorted(self.keys)).decode())
        return " AND ".join(terms), values


ALL = Select()


def calls(store: Store, select: Select = ALL) -> Iterator[Call]:
    """The calls with their requests in full, in the order of their keys."""
    where, values = select.where()
    last = ""
    query = f"SELECT {COLUMNS} FROM calls WHERE {where} AND key > ? ORDER BY key LIMIT 500"
    while rows := store.read(query, [*values, last]):
        numbers = {
            part
            for row in rows
            for message in orjson.loads(row[9])
            if isinstance(message.get("content"), list)
            for part in message["content"]
            if isinstance(part, int)
        }
        texts = dict(
            store.read(
                "SELECT id, text FROM texts WHERE id IN (SELECT value FROM json_each(?))",
                [canonical(sorted(numbers))],
            )
        )
        for row in rows:
            yield unpack(row, texts)
        last = rows[-1][0]


def stats(store: Store) -> list[dict[str, Any]]:
    """One record for each prompt and model: calls, tokens, dollars, how many are flagged or unpriced."""
    names = (
        "prompt", "model", "calls", "input_tokens", "output_tokens", "cost", "unpriced", "cut_off", "filtered",
    )  # fmt: skip
    return [
        dict(zip(names, row, strict=True))
        for row in store.read(
            "SELECT prompt, model, count(*), sum(input_tokens), sum(output_tokens), total(cost), "
            "sum(cost IS NULL), sum(finish_reason = 'length'), sum(finish_reason = 'content_filter') "
            "FROM calls GROUP BY prompt, model ORDER BY prompt, model"
        )
    ]


def export(store: Store, path: Path, select: Select = ALL) -> int:
    """Write the calls to a file of JSON lines, which is there whole or not at all; returns how many."""
    number = 0
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    try:
        with unfinished.open("wb") as file:
            for number, call in enumerate(calls(store, select), 1):  # noqa: B007  it is the answer
                file.write(canonical(call) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return number


def load(store: Store, path: Path) -> tuple[int, int]:
    """Take in an exported file, all of it or nothing; returns how many calls are new, and how many not."""
    new = known = 0
    with path.open("rb") as file, store.write() as book:
        for number, line in enumerate(file, 1):
            call = _parse(line, f"{path}, line {number}")
            if insert(book, call):
                new += 1
            else:
                known += 1
    return new, known


def _parse(line: bytes, place: str) -> Call:
    try:
        fields = orjson.loads(line)
        call = Call(**{**fields, "usage": Usage(**fields["usage"])})
    except (ValueError, TypeError, KeyError) as error:
        raise BadInputError(f"{place}: no exported call ({error}); nothing was imported") from error
    if _key(call) != call.key:
        raise BadInputError(
            f"{place}: the request was changed, its key does not fit; nothing was imported"
        )
    return call


def _key(call: Call) -> str:
    request = Request("", call.model, call.messages, call.parameters, call.sample)
    return request_key(request, call.endpoint)


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge did: rows that were new, rows that were here, and of those the calls that differ."""

    new: int
    known: int
    different: int


def merge(store: Store, other: Path) -> Merged:
    """Take in another lab book's calls and executions. It may be in use, and is not changed."""
    if not other.is_file():
        raise BadInputError(f"{other} is no file: name the lab book to merge")
    new = known = different = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.sqlite"
        _copy(other, copy)
        with Store(copy) as book, store.write() as ours:
            for key, text in book.read("SELECT key, text FROM calls"):
                found = ours.execute("SELECT text FROM calls WHERE key = ?", (key,)).fetchone()
                different += found is not None and found[0] != text
            for table in ("texts", "calls", "executions"):
                for row in book.read(f"SELECT * FROM {table}"):
                    marks = ", ".join("?" * len(row))
                    added = ours.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)
                    if table != "texts":
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
        raise StoreError(f"lab book {other} cannot be read: {error}") from error


def prune(store: Store, select: Select, *, dry: bool = False) -> int:
    """Delete calls, and the parts of messages that none uses any more; returns how many calls."""
    where, values = select.where()
    if where == "1":
        raise BadInputError(
            "prune needs a choice: a prompt, a model, a finish reason, keys or a date"
        )
    number: int = store.read(f"SELECT count(*) FROM calls WHERE {where}", values)[0][0]
    if number and not dry:
        with store.write() as book:
            book.execute(f"DELETE FROM calls WHERE {where}", values)
            book.execute("DELETE FROM selections")  # made of calls: again, from those that stay
            book.execute("DELETE FROM attempts")
            book.execute(
                "DELETE FROM texts WHERE id NOT IN (SELECT part.value FROM calls, "
                "json_each(calls.messages) AS message, json_each(message.value, '$.content') AS part "
                "WHERE part.type = 'integer')"
            )
    return number


def verify(store: Store) -> list[str]:
    """A line for everything that is wrong: pages, texts that changed, calls whose key does not fit."""
    wrong = [f"page: {line}" for (line,) in store.read("PRAGMA integrity_check") if line != "ok"]
    wrong += [
        f"text {number} was changed"
        for number, text in store.read("SELECT id, text FROM texts")
        if text_id(text) != number
    ]
    for (key,) in store.read("SELECT key FROM calls ORDER BY key"):
        try:
            (call,) = calls(store, Select(keys=(key,)))
            if _key(call) != key:
                wrong.append(f"{key}: its request was changed")
        except KeyError:
            wrong.append(f"{key}: a part of its request is missing")
        except ValueError:
            wrong.append(f"{key}: its request or reply is no JSON")
    return wrong
