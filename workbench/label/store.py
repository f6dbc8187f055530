"""Labels in an SQLite file, the agreement of annotators beyond chance, and the label that counts.

Rows are only added: undo adds a row to `retractions`. A label has the texts of its question and
query, from which its case's key is made. Several programs may write at once.
"""

import io
import math
import re
import sqlite3
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import orjson
import pandas as pd
from scipy.stats import binomtest
from sqlite_utils import Database

from workbench.canonical import plain
from workbench.errors import BadInputError, StoreError, content_of, fault, naming
from workbench.label.cases import Case, case_key
from workbench.store import home

ADJUDICATOR = "adjudicator"  # the annotator whose label settles a dispute
# Verdicts on gold queries are labels of a taxonomy of their own, like any other.
GOLD = "gold"
CORRECTED = "corrected"  # the note has the right query
# Gold and the prediction answer the question in two readings of it.
BOTH_RIGHT = "both right"


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
    at: str = field(
        default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds")
    )
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @classmethod
    def of(
        cls,
        case: Case,
        annotator: str,
        taxonomy: str,
        categories: Iterable[str],
        note: str = "",
    ) -> Self:
        question = case.question
        return cls(
            annotator=annotator,
            taxonomy=taxonomy,
            categories=tuple(categories),
            note=note,
            db_id=question.db_id,
            question_id=question.id,
            question=question.text,
            sql=case.predicted,
        )

    @cached_property
    def key(self) -> str:
        return case_key(self.db_id, self.question, self.sql)

    @property
    def row(self) -> dict[str, str]:
        """Return the fields as text: categories as JSON, `?` for what UTF-8 cannot encode."""
        texts = asdict(self) | {"categories": orjson.dumps(self.categories).decode()}
        return {
            name: text.encode("utf-8", "replace").decode()
            for name, text in texts.items()
        }


FIELDS = [part.name for part in fields(Label)]
_LEAST = 5  # cases, below which no interval is given
_NOT_RETRACTED = "id NOT IN (SELECT label FROM retractions)"


@dataclass
class LabelStore:
    """The labels in an SQLite file, which is made when the first label is added."""

    path: Path

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the labels of that name in the workbench's home."""
        if not re.fullmatch(r"(?!\.*$)[\w.() -]{1,100}", name):
            raise BadInputError(
                f"labels {name!r}: letters, digits, spaces, _, -, . and () only"
            )
        return cls(home() / "labels" / f"{name}.sqlite")

    def add(self, labels: Iterable[Label]) -> int:
        """Write the labels that are new to the store, and return their number."""
        with self._database() as database:
            table = database.table("labels")
            before = table.count
            table.insert_all((label.row for label in labels), ignore=True)
            return int(table.count - before)

    def undo(self, annotator: str, *taxonomies: str) -> Label | None:
        """Take back the annotator's last label; the one before it counts again."""
        its_labels = f"annotator = ? AND {_NOT_RETRACTED}"
        with self._database() as database, database.conn:
            # So that no other program takes back the same label.
            database.execute("BEGIN IMMEDIATE")
            table = database.table("labels")
            rows = table.rows_where(its_labels, [annotator], order_by="rowid")
            labels = [
                label for label in map(_label, rows) if label.taxonomy in taxonomies
            ]
            if not labels:
                return None
            at = datetime.now(UTC).isoformat(timespec="seconds")
            database.execute(
                "INSERT INTO retractions VALUES (?, ?)", [labels[-1].id, at]
            )
        return labels[-1]

    def labels(self, taxonomy: str = "") -> tuple[Label, ...]:
        """Return the labels that count: each annotator's last one of each case and taxonomy."""
        if not self.path.exists():
            return ()
        with self._database() as database:
            table = database.table("labels")
            rows = list(table.rows_where(_NOT_RETRACTED, order_by="rowid"))
        latest = {}
        for label in map(_label, rows):
            if taxonomy in {"", label.taxonomy}:
                latest[label.taxonomy, label.annotator, label.key] = label
        return tuple(latest.values())

    def write_csv(self, path: Path) -> int:
        """Write the labels that count as a CSV that no spreadsheet runs; return their number."""
        table = pd.DataFrame([label.row for label in self.labels()], columns=FIELDS)
        with naming(path):
            table.map(plain).to_csv(path, index=False)
        return len(table)

    def read_csv(self, path: Path) -> int:
        """Add the labels of a file that `write_csv` wrote; return the number of new ones."""
        content = io.BytesIO(content_of(path))
        try:
            table = pd.read_csv(
                content, dtype=str, keep_default_na=False, encoding_errors="replace"
            )
            rows = table[FIELDS].replace("^'", "", regex=True).to_dict("records")
            labels = list(map(_label, rows))
        except (KeyError, ValueError) as error:
            raise BadInputError(
                f"{path}: no file of `write_csv`, with the columns"
                f" {','.join(FIELDS)}: {fault(error)}"
            ) from error
        return self.add(labels)

    @contextmanager
    def _database(self) -> Iterator[Database]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path)) as connection:
                database = Database(connection)
                labels = dict.fromkeys(FIELDS, str)
                database.table("labels").create(labels, pk="id", if_not_exists=True)
                retractions = {"label": str, "at": str}
                database.table("retractions").create(retractions, if_not_exists=True)
                yield database
        except (sqlite3.Error, OSError) as error:
            text = f"labels {self.path}: {error}; nothing was written"
            raise StoreError(text) from error


def _label(row: dict[Any, Any]) -> Label:
    values = {name: row[name] for name in FIELDS}
    categories = orjson.loads(values["categories"])
    if not categories or not all(type(name) is str for name in categories):
        raise ValueError("categories must be a list of names")
    return Label(**values | {"categories": tuple(categories)})


@dataclass(frozen=True)
class Agreement:
    """How often two annotators agree, and Cohen's kappa (1960): agreement beyond chance.

    Kappa is NaN where chance alone would always agree, and its interval below five cases.
    """

    cases: int  # that both labelled
    agree: int  # of these, with the same set of labels
    kappa: float = math.nan
    low: float = math.nan
    high: float = math.nan

    def __str__(self) -> str:
        """Return it in words: "8 of 10 agree, κ 0.74 [0.30, 0.93]"."""
        text = f"{self.agree} of {self.cases} agree"
        if math.isnan(self.kappa):
            return text
        if math.isnan(self.low):
            return f"{text}, too few for κ"
        return f"{text}, κ {self.kappa:.2f} [{self.low:.2f}, {self.high:.2f}]"


def agreement(labels: Iterable[Label], one: str, other: str) -> Agreement:
    """Return the agreement of two annotators.

    The interval is Wilson's for the share that agrees, with the agreement by chance as observed.
    Of simulated annotators whose kappa is 0.0 to 0.8, with two to nine labels of even and skewed
    shares, it held the true kappa in at least 92% of 1,500 data sets of 10, 20, 50 and 100 cases.
    Where annotators agree far less than chance, it holds it more seldom.
    """
    said = defaultdict[str, dict[str, frozenset[str]]](dict)
    for label in labels:
        said[label.annotator][label.key] = frozenset(label.categories)
    both = pd.DataFrame({name: said[name] for name in (one, other)}).dropna()
    n = len(both)
    agree = int((both[one] == both[other]).sum())
    shares = both.apply(lambda opinions: opinions.value_counts(normalize=True))
    chance = float(shares.fillna(0).prod(axis=1).sum())
    if not n or chance > 1 - 1e-9:
        return Agreement(n, agree)

    def beyond_chance(share: float) -> float:
        return (share - chance) / (1 - chance)

    kappa = beyond_chance(agree / n)
    if n < _LEAST:
        return Agreement(n, agree, kappa)
    share = binomtest(agree, n).proportion_ci(method="wilson")
    low = max(-1.0, beyond_chance(share.low))
    return Agreement(n, agree, kappa, low, beyond_chance(share.high))


def final(labels: Iterable[Label]) -> dict[str, Label | None]:
    """Return the label that counts for each case: the adjudicator's first; None while disputed."""
    by_case: defaultdict[str, list[Label]] = defaultdict(list)
    for label in labels:
        by_case[label.key].append(label)
    final_labels: dict[str, Label | None] = {}
    for key, said in by_case.items():
        counted = counting(said)
        opinions = {frozenset(label.categories) for label in counted}
        final_labels[key] = counted[-1] if len(opinions) == 1 else None
    return final_labels


def counting(labels: list[Label]) -> list[Label]:
    """Return the adjudicator's labels of a case, or else everybody's."""
    settled = [label for label in labels if label.annotator == ADJUDICATOR]
    return settled or labels
