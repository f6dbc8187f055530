"""The rows of the cache that a worker sends to the driver: calls, executions, results and verdicts.

The key of a row is a hash of its inputs, and rows are never changed. So a row that arrives twice, from two workers
or from a task that ran twice, is stored once. A worker also sends the list of the calls that it answered, which the
driver's ledger counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.llm.budget import Ledger
from workbench.store import Store
from workbench.types import Completion, Request, Usage

Rows = Mapping[str, Sequence[Sequence[Any]]]  # by table
_TABLES = ("calls", "executions", "attempts", "selections", "verdicts")
_ROWS = 200  # rows that are read at once
_BYTES = 16_000_000  # bytes of rows in one message, unless one row is larger


class UnsentRows:
    """The rows of a worker's cache file that the driver has not received yet."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sent = dict.fromkeys(_TABLES, 0)  # the last row of each table that was sent
        self._sent_texts: set[int] = set()

    def parts(self) -> Iterator[tuple[Rows, bool]]:
        """The rows in parts, each with whether it is the last part; there is always a part, which may be empty.

        A part counts as sent when the caller takes the next one.
        """
        part: dict[str, list[Sequence[Any]]] = {}
        last: dict[str, int] = {}
        size = 0
        for table, number, row in self._rows():
            if size > _BYTES:
                yield part, False
                self._mark_sent(part, last)
                part, last, size = {}, {}, 0
            part.setdefault(table, []).append(row)
            last[table] = number
            size += sum(len(cell) for cell in row if isinstance(cell, str | bytes))
        yield part, True
        self._mark_sent(part, last)

    def _mark_sent(self, part: Rows, last: Mapping[str, int]) -> None:
        self._sent_texts.update(id_ for id_, _ in part.get("texts", ()))
        self._sent |= {table: number for table, number in last.items() if table in self._sent}

    def _rows(self) -> Iterator[tuple[str, int, Sequence[Any]]]:
        """Each unsent row with its table and its number there."""
        # A thread may add a call meanwhile. It is sent the next time, as its texts are not read now.
        ends = {
            table: self._store.read(f"SELECT max(rowid) FROM {table}")[0][0] for table in _TABLES
        }
        # The shared parts of prompts come first, as calls refer to them. Their ids are hashes, so all are compared.
        ids = {id_ for (id_,) in self._store.read("SELECT id FROM texts")} - self._sent_texts
        for row in self._store.read_keys("SELECT id, text FROM texts WHERE id IN", sorted(ids)):
            yield "texts", row[0], row
        for table, end in ends.items():
            last = self._sent[table]
            while rows := self._store.read(
                f"SELECT rowid, * FROM {table} WHERE rowid > ? AND rowid <= ? ORDER BY rowid LIMIT {_ROWS}",
                (last, end),
            ):
                for last, *row in rows:
                    yield table, last, row


def insert(store: Store, rows: Rows) -> None:
    """Add the rows to a cache, in one transaction; rows that the cache has already stay as they are."""
    if store.read_only or not any(rows.values()):
        return
    if unknown := rows.keys() - {"texts", *_TABLES}:
        raise ValueError(f"workers send no rows of {', '.join(unknown)}")
    with store.write(durable=False) as connection:
        for table, added in rows.items():
            marks = ", ".join("?" * len(added[0]))
            connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", added)


def completion_of(fields: Mapping[str, Any]) -> Completion:
    """The completion that was sent as JSON."""
    return Completion(**{**fields, "usage": Usage(**fields["usage"])})


def count(ledger: Ledger, request: Request, answer: Completion) -> None:
    """Count an answer in a ledger, as a client counts its own: a question's cost is read from the ledger."""
    if answer.fault and answer.fault != "filtered":
        ledger.fault(answer.fault, again=False)
    elif answer.cached:
        ledger.hit(request, answer)
    else:
        ledger.paid(request, answer)
