"""An index in memory, and a lab whose model has scripted replies."""

from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path

from rapidfuzz import fuzz

from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.scripted import scripted
from workbench.retrieve.index.values import Hit
from workbench.sql.executor import Executor
from workbench.types import Column, Schema, Table


class Shelf:
    """Compares with everything it holds, which stands in `{(table, column): values}`."""

    skipped: tuple[str, ...] = ()

    def __init__(self, values: dict[tuple[str, str], Sequence[str]]) -> None:
        self.values = values
        self.columns = tuple(values)

    def search(self, text: str, limit: int) -> list[Hit]:
        found = [
            Hit(table, column, value, fuzz.WRatio(text.lower(), value.lower()) / 100)
            for (table, column), values in self.values.items()
            for value in values
        ]
        found = [hit for hit in found if hit.score > 0]
        return sorted(found, key=lambda hit: (-hit.score, hit.table, hit.column, hit.value))[:limit]


def schema_of(places: Iterable[tuple[str, str]]) -> Schema:
    tables: dict[str, list[Column]] = {}
    for table, column in places:
        tables.setdefault(table, []).append(Column(column, "TEXT"))
    return Schema("d", tuple(Table(name, tuple(columns)) for name, columns in tables.items()))


@contextmanager
def scripted_lab(folder: Path, replies: Iterable[object] = (), database: Path | None = None):
    model = scripted(replies)
    with Cache(folder / "lab.sqlite") as store, Executor(store, workers=1) as executor:
        yield Lab(Client(store, send=model, retries=0), executor, lambda _: database), model
