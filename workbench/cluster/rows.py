"""The rows of the cache that a worker sends to the driver: calls, executions and results.

The key of a row is a hash of its inputs, and rows are never changed. So a row that arrives twice, from two workers
or from a task that ran twice, is stored once. A worker also sends the list of the calls that it answered, which the
driver's ledger counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.store import Store

Rows = Mapping[str, Sequence[Sequence[Any]]]  # by table
_TABLES = ("calls", "executions", "attempts", "selections")
_ROWS = 200  # rows that are read at once
_BYTES = 16_000_000  # bytes of rows in one message, unless one row is larger


class UnsentRows:
    """The rows of a worker's cache file that the driver has not received yet."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sent = dict.fromkeys(_TABLES, 0)  # the last row of each table that was sent

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
                self._mark_sent(last)
                part, last, size = {}, {}, 0
            part.setdefault(table, []).append(row)
            last[table] = number
            size += sum(len(cell) for cell in row if isinstance(cell, str | bytes))
        yield part, True
        self._mark_sent(last)

    def _mark_sent(self, last: Mapping[str, int]) -> None:
        self._sent |= last

    def _rows(self) -> Iterator[tuple[str, int, Sequence[Any]]]:
        """Each unsent row with its table and its number there."""
        # A thread may add a call meanwhile. It is sent the next time.
        ends = {
            table: self._store.read(f"SELECT max(rowid) FROM {table}")[0][0] for table in _TABLES
        }
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
    if unknown := rows.keys() - set(_TABLES):
        raise ValueError(f"workers send no rows of {', '.join(unknown)}")
    with store.write(durable=False) as connection:
        for table, added in rows.items():
            marks = ", ".join("?" * len(added[0]))
            connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", added)
