"""Labels in an SQLite file, to which rows are only added: undo adds a row to `retractions`.

A label names its question and its query by their texts, so it is found again after a rerun, under new question ids,
and for another layout of the query. Several programs may write to one file.
"""

import csv
import re
import sqlite3
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
from sqlite_utils import Database

from workbench.errors import BadInputError, StoreError, content_of, naming
from workbench.label.cases import Case, case_key
from workbench.spreadsheet import csv_lines, plain
from workbench.store import home

ADJUDICATOR = "adjudicator"  # the annotator whose label settles a dispute
# Verdicts on gold queries are labels of a taxonomy of their own, so they are stored, undone and exported like any label.
GOLD = "gold"
CORRECTED = "corrected"  # the note has the right query
BOTH_RIGHT = "both right"  # gold and the prediction answer the question in two readings of it
STAYS = "gold stays"  # takes an earlier verdict back
_NAME = re.compile(r"(?!\.*$)[A-Za-z0-9_.\-]{1,100}")
_WAIT = 5  # seconds that a write waits for another program's lock


@dataclass(frozen=True)
class Label:
    """An annotator's label of a case: one category, or several where the taxonomy says so."""

    annotator: str
    taxonomy: str
    categories: tuple[str, ...]  # such as "Vague Question / Column"
    note: str
    db_id: str
    question_id: str
    question: str
    sql: str
    at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @cached_property
    def key(self) -> str:
        """The case's key, see `case_key`."""
        return case_key(self.db_id, self.question, self.sql)


FIELDS = tuple(one.name for one in fields(Label))
_TABLES = f"""
    CREATE TABLE IF NOT EXISTS labels (
        number INTEGER PRIMARY KEY, {" TEXT NOT NULL, ".join(FIELDS)} TEXT NOT NULL UNIQUE
    ) STRICT;
    CREATE TABLE IF NOT EXISTS retractions (
        number INTEGER PRIMARY KEY, label INTEGER REFERENCES labels (number), at TEXT
    ) STRICT;"""


def label_of(case: Case, taxonomy: str, *categories: str, annotator: str, note: str = "") -> Label:
    question = case.question
    about = (question.db_id, question.id, question.text, case.predicted)
    return Label(annotator, taxonomy, categories, note, *about)


class LabelStore:
    """The labels in an SQLite file, which is made when the first label is added."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._opened: Database | None = None

    @classmethod
    def named(cls, name: str) -> "LabelStore":
        """The labels of that name in the workbench's home."""
        if not _NAME.fullmatch(name):
            raise BadInputError(f"labels {name!r}: letters, digits, '_', '-' and '.' only")
        return cls(home() / "labels" / f"{name}.sqlite")

    def add(self, labels: Iterable[Label]) -> int:
        """Commit the labels that the store does not have to disk, and return their number."""
        rows = [{name: _stored(value) for name, value in asdict(one).items()} for one in labels]
        with self._database() as database:
            before = database.table("labels").count
            database.table("labels").insert_all(rows, ignore=True)
            return int(database.table("labels").count - before)

    def undo(self, annotator: str, *taxonomies: str) -> Label | None:
        """Take back the annotator's last label; the one before it counts again."""
        given = ", ".join("?" * len(taxonomies))
        last = f"""
            INSERT INTO retractions (label, at) SELECT number, datetime() FROM labels
            WHERE annotator = ? AND taxonomy IN ({given}) AND number NOT IN (SELECT label FROM retractions)
            ORDER BY number DESC LIMIT 1 RETURNING label"""
        with self._database() as database, database.conn:
            taken = [*database.query(last, [annotator, *taxonomies])]
            return _label(database.table("labels").get(taken[0]["label"])) if taken else None

    def labels(self, taxonomy: str = "", annotator: str = "") -> tuple[Label, ...]:
        """The labels that count, in the order in which they were given: an annotator's last one of each case."""
        if not self._opened and not self.path.exists():
            return ()
        count = "number NOT IN (SELECT label FROM retractions) ORDER BY number"
        with self._database() as database:
            rows = [*database.query(f"SELECT * FROM labels WHERE {count}")]
        latest: dict[tuple[str, str, str], Label] = {}
        for one in map(_label, rows):
            if taxonomy in {"", one.taxonomy} and annotator in {"", one.annotator}:
                subject = (one.taxonomy, one.annotator, one.key)
                latest.pop(subject, None)  # so that it moves to the end
                latest[subject] = one
        return tuple(latest.values())

    def write_csv(self, path: Path) -> int:
        """Write the labels that count as CSV, whose cells no spreadsheet runs; return their number."""
        labels = self.labels()
        with naming(path), path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(FIELDS)
            for one in labels:
                writer.writerow([plain(_stored(value)) for value in asdict(one).values()])
        return len(labels)

    def read_csv(self, path: Path) -> int:
        """Add the labels of a file that `write_csv` wrote, perhaps elsewhere; return the number of new ones."""
        lines = csv_lines(content_of(path).decode("utf-8-sig", "replace"))
        if tuple(next(lines, ())) != FIELDS:
            raise BadInputError(f"{path}: the first line must be {','.join(FIELDS)}")
        labels = []
        for number, cells in enumerate(lines, 2):
            try:
                given = (cell.removeprefix("'") for cell in cells)
                labels.append(_label(dict(zip(FIELDS, given, strict=True))))
            except (ValueError, TypeError) as error:
                raise BadInputError(f"{path}, line {number}: {error}") from error
        return self.add(labels)

    @contextmanager
    def _database(self) -> Iterator[Database]:
        """The database; the first call makes its tables."""
        try:
            if not self._opened:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                connection = sqlite3.connect(self.path, timeout=_WAIT, check_same_thread=False)
                self._opened = Database(connection)
                if "retractions" not in self._opened.table_names():
                    connection.executescript(_TABLES)
            yield self._opened
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"labels {self.path}: {error}; nothing was written") from error


def _stored(value: Any) -> str:
    """A field as text: categories as JSON, and `?` for half of a surrogate pair, which UTF-8 cannot encode."""
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text.encode("utf-8", "replace").decode()


def _label(row: dict[str, Any]) -> Label:
    own = {name: row[name] for name in FIELDS}
    categories = tuple(orjson.loads(own["categories"]))
    if not categories or not all(type(name) is str for name in categories):
        raise ValueError("categories must be a list of names")
    return Label(**own | {"categories": categories})
