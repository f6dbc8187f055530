"""Labels in an SQLite file, to which rows are only added: undo adds a row to `retractions`.

A label names its question and its query by their texts, so it is found again after a rerun, under new question ids,
and for another layout of the query. Several programs may write to one file: each writes in a transaction of its own,
and reads the labels that the others added.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from sqlite_utils import Database

from workbench.errors import BadInputError, StoreError
from workbench.label.store.label import FIELDS, Label, now, record_of
from workbench.store import home

_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,100}")
_WAIT = 60  # seconds that a write waits for another program's lock
_Subject: TypeAlias = tuple[str, str, tuple[str, str]]  # taxonomy, annotator and key of the case


class LabelStore:
    """The labels in an SQLite file, which is made when the first label is added."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database: Database | None = None
        self._size = (0, 0)  # the numbers of labels and of retractions when they were last read
        self._labels: dict[int, Label] = {}  # by number, without those taken back
        self._latest: dict[_Subject, int] = {}  # the number of the last label on each subject
        self.refresh()

    @classmethod
    def named(cls, name: str) -> "LabelStore":
        """The labels of that name in the workbench's home."""
        if not _NAME.fullmatch(name) or not name.strip("."):
            raise BadInputError(
                f"labels {name!r}: a name has letters, digits, '_', '-' and '.' only"
            )
        return cls(_folder() / f"{name}.sqlite")

    @staticmethod
    def names() -> list[str]:
        """The names of all labels in the workbench's home."""
        return sorted(path.stem for path in _folder().glob("*.sqlite"))

    def add(self, labels: Iterable[Label]) -> int:
        """Add the labels that the store does not have, commit them to disk, and return their number."""
        with self._transaction() as database:
            ids = {label.id for label in self._labels.values()}
            new = {label.id: record_of(label) for label in labels if label.id not in ids}
            database.table("labels").insert_all(new.values())
        self.refresh()
        return len(new)

    def undo(self, annotator: str, *taxonomies: str) -> Label | None:
        """Take back the last label that the annotator gave by hand; the label before it counts again."""
        with self._transaction() as database:
            mine = [
                number
                for number, label in self._labels.items()
                if label.taxonomy in taxonomies
                and (label.annotator, label.automatic) == (annotator, False)
            ]
            if not mine:
                return None
            undone = self._labels[mine[-1]]
            database.table("retractions").insert({"label": mine[-1], "at": now()})
        self.refresh()
        return undone

    def labels(
        self,
        *,
        taxonomy: str | None = None,
        annotator: str | None = None,
        automatic: bool | None = None,
        latest: bool = True,
    ) -> tuple[Label, ...]:
        """The labels that count, in the order in which they were given.

        With `latest`, only the last label that an annotator gave to a case.
        """
        self.refresh()
        last = set(self._latest.values())
        return tuple(
            label
            for number, label in self._labels.items()
            if (not latest or number in last)
            and taxonomy in {None, label.taxonomy}
            and annotator in {None, label.annotator}
            and automatic in {None, label.automatic}
        )

    def of(self, key: tuple[str, str], taxonomy: str, annotator: str) -> Label | None:
        """The annotator's label of the case with that key, as of the last refresh."""
        number = self._latest.get((taxonomy, annotator, key))
        return None if number is None else self._labels[number]

    def refresh(self) -> None:
        """Read what this and other programs added."""
        if self._database or self.path.exists():
            with self._naming_errors():
                self._read(self._open())

    @contextmanager
    def _naming_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"labels {self.path}: {error}; nothing was added, and the stored labels are unchanged"
            ) from error

    @contextmanager
    def _transaction(self) -> Iterator[Database]:
        """An atomic write that waits for other writers and reads their labels before it adds any."""
        with self._naming_errors():
            database = self._open()
            with _immediate(database):
                self._read(database)
                yield database

    def _open(self) -> Database:
        """The database; the first call makes its tables."""
        if self._database is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=_WAIT, check_same_thread=False)
            database = Database(connection)
            if "retractions" not in database.table_names():
                with _immediate(database):
                    _make_tables(database)
            self._database = database
        return self._database

    def _read(self, database: Database) -> None:
        """Read the labels if the numbers of rows changed; rows are never changed or deleted."""
        size = database.table("labels").count, database.table("retractions").count
        if size == self._size:
            return
        query = "SELECT * FROM labels WHERE number NOT IN (SELECT label FROM retractions)"
        read = {row.pop("number"): row for row in database.query(f"{query} ORDER BY number")}
        self._labels = {  # labels that were read before stay, since building one parses its SQL
            number: self._labels.get(number) or Label(**row | {"automatic": bool(row["automatic"])})
            for number, row in read.items()
        }
        self._latest = {
            (label.taxonomy, label.annotator, label.key): number
            for number, label in self._labels.items()
        }
        self._size = size


def _make_tables(database: Database) -> None:
    columns: dict[str, type] = dict.fromkeys(FIELDS, str) | {"automatic": int}
    options: dict[str, Any] = {"if_not_exists": True, "strict": True}
    database.table("labels").create(
        {"number": int, **columns}, pk="number", not_null=set(columns), **options
    )
    database.table("retractions").create(
        {"number": int, "label": int, "at": str},
        pk="number", foreign_keys=[("label", "labels", "number")], not_null={"label", "at"}, **options,
    )  # fmt: skip


@contextmanager
def _immediate(database: Database) -> Iterator[None]:
    """One transaction that locks out other writers from its start; sqlite-utils' own writes nest in it."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        database.rollback()
        raise
    database.commit()


def _folder() -> Path:
    return home() / "labels"
