"""The rows of the cache that travel from a worker to the driver: calls, executions, results and verdicts.

Rows are only added to a cache and their keys are hashes of what they depend on, so a row that comes twice, from two
workers or from a task that ran twice, is stored once. The calls that a worker answered travel, too, so that the
driver's ledger counts them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.llm.budget import Ledger
from workbench.store import Store
from workbench.types import Completion, Fault, Request, Usage

Rows = Mapping[str, Sequence[Sequence[Any]]]  # by table
_TABLES = ("calls", "executions", "attempts", "selections", "verdicts")
_MANY = 200  # rows that are read at once
_BYTES = 16_000_000  # of rows in one message, unless one row is larger


class NewRows:
    """The rows of a cache file that have not been taken yet."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last = dict.fromkeys(_TABLES, 0)
        self._texts: set[int] = set()

    def take(self) -> Iterator[tuple[Rows, bool]]:
        """The new rows in parts, each with whether it is the last; there is always one, and it may be empty.

        A part counts as taken when the next one is asked for.
        """
        part: dict[str, list[Sequence[Any]]] = {}
        last: dict[str, int] = {}
        size = 0
        for table, number, row in self._new():
            if size > _BYTES:
                yield part, False
                self._taken(part, last)
                part, last, size = {}, {}, 0
            part.setdefault(table, []).append(row)
            last[table] = number
            size += sum(len(cell) for cell in row if isinstance(cell, str | bytes))
        yield part, True
        self._taken(part, last)

    def _taken(self, part: Rows, last: Mapping[str, int]) -> None:
        self._texts.update(id_ for id_, _ in part.get("texts", ()))
        self._last |= {table: number for table, number in last.items() if table in self._last}

    def _new(self) -> Iterator[tuple[str, int, Sequence[Any]]]:
        """Each new row after its table and its number in it."""
        # Threads may add calls meanwhile, whose texts are not among those that are read now.
        ends = {
            table: self._store.read(f"SELECT max(rowid) FROM {table}")[0][0] for table in _TABLES
        }
        # The shared parts of prompts come first, as calls refer to them; their ids are hashes and tell no order.
        ids = {id_ for (id_,) in self._store.read("SELECT id FROM texts")} - self._texts
        for row in self._store.read_keys("SELECT id, text FROM texts WHERE id IN", sorted(ids)):
            yield "texts", row[0], row
        for table, end in ends.items():
            last = self._last[table]
            while rows := self._store.read(
                f"SELECT rowid, * FROM {table} WHERE rowid > ? AND rowid <= ? ORDER BY rowid LIMIT {_MANY}",
                (last, end),
            ):
                for last, *row in rows:
                    yield table, last, row


def insert(store: Store, rows: Rows) -> None:
    """Add the rows to a cache, in one transaction; rows that it has stay as they are."""
    if store.read_only or not any(rows.values()):
        return
    if unknown := rows.keys() - {"texts", *_TABLES}:
        raise ValueError(f"workers send no rows of {', '.join(unknown)}")
    with store.write(paid=False) as connection:
        for table, added in rows.items():
            marks = ", ".join("?" * len(added[0]))
            connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", added)


Answered = tuple[str, str, str, str, int, int, float | None, bool, Fault]
"""A call's prompt, question, system and model; tokens in and out, cost; whether it was cached, and its fault."""


def count(ledger: Ledger, request: Request, answer: Completion) -> None:
    """Count an answer as a client that asks by itself does: a question's cost is read from its ledger."""
    if answer.fault and answer.fault != "filtered":
        ledger.fault(answer.fault, again=False)
    elif answer.cached:
        ledger.hit(request, answer)
    else:
        ledger.paid(request, answer)


def request_and_answer(call: Sequence[Any]) -> tuple[Request, Completion]:
    """As much of a call and its answer as a ledger counts."""
    prompt, question, system, model, read, written, cost, cached, fault = call
    request = Request(prompt, model, (), question=question, system=system)
    usage = Usage(read, written)
    return request, Completion("", model, "stop", usage, cost, cached=cached, fault=fault)
