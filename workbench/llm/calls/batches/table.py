"""The batches of a cache file whose answers are not all read yet, and their requests.

They are on disk before anything is sent, so a run that is killed leaves a record of what it paid for.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson

from workbench.store import Store
from workbench.types import Request


@dataclass(slots=True)
class Batch:
    """A row of `batches`; `batch` is the provider's id, and `asked` when the provider was asked to create it."""

    name: str
    endpoint: str
    model: str
    file: str = ""
    asked: float | None = None
    batch: str = ""


class BatchTable:
    """The tables `batches` and `batch_items` of a cache file."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def batch_of(self, key: str) -> str:
        """The name of the unread batch that has the call; "" if none has it."""
        rows = self._store.read("SELECT batch FROM batch_items WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else ""

    def has_unread(self) -> bool:
        """Whether any batch is unread."""
        return bool(self._store.read("SELECT 1 FROM batches LIMIT 1"))

    def unread(self) -> list[str]:
        """A line for each unread batch, the oldest first: nobody reads its answers until its command runs again."""
        rows = self._store.read(
            "SELECT model, batch, asked, created, (SELECT count(*) FROM batch_items WHERE batch = name) "
            "FROM batches ORDER BY created"
        )
        return [
            f"{number:,} call{'s' * (number != 1)} of {model}, "
            + ("not sent, prepared " if asked is None else f"batch {id_ or 'without an id'} of ")
            + f"{datetime.fromtimestamp(asked or created, UTC):%Y-%m-%d %H:%M} UTC"
            for model, id_, asked, created, number in rows
        ]

    def load(self, name: str) -> Batch | None:
        """The batch as stored on disk; None once it is read."""
        columns = "SELECT name, endpoint, model, file, asked, batch FROM batches WHERE name = ?"
        rows = self._store.read(columns, (name,))
        return Batch(*rows[0]) if rows else None

    def add(self, batch: Batch, requests: Mapping[str, Request]) -> None:
        """Write a batch and its requests, by key."""
        items = [(key, batch.name, orjson.dumps(asked).decode()) for key, asked in requests.items()]
        row = (batch.name, batch.endpoint, batch.model, time.time())
        with self._store.write() as connection:
            connection.execute(
                "INSERT INTO batches(name, endpoint, model, created) VALUES (?, ?, ?, ?)", row
            )
            connection.executemany(
                "INSERT INTO batch_items(key, batch, request) VALUES (?, ?, ?)", items
            )

    def update(self, batch: Batch) -> None:
        """Write the progress of a batch: its file, its id, and when it was asked for."""
        with self._store.write() as connection:
            connection.execute(
                "UPDATE batches SET file = ?, asked = ?, batch = ? WHERE name = ?",
                (batch.file, batch.asked, batch.batch, batch.name),
            )

    def requests(self, batch: Batch) -> dict[str, Request]:
        """The requests of a batch that have no answer yet, by key, in the order of its file."""
        select = "SELECT key, request FROM batch_items WHERE batch = ? ORDER BY number"
        rows = self._store.read(select, (batch.name,))
        return {key: Request(**orjson.loads(request)) for key, request in rows}

    def remove(self, batch: Batch, keys: Iterable[str] | None = None) -> None:
        """Remove these requests of a batch, without `keys` all, and then the batch if it has no request left."""
        with self._store.write() as connection:
            if keys is None:
                connection.execute("DELETE FROM batch_items WHERE batch = ?", (batch.name,))
            else:
                rows: Sequence[tuple[str]] = [(key,) for key in keys]
                connection.executemany("DELETE FROM batch_items WHERE key = ?", rows)
            left = "SELECT 1 FROM batch_items WHERE batch = name"
            delete = f"DELETE FROM batches WHERE name = ? AND NOT EXISTS ({left})"
            connection.execute(delete, (batch.name,))
