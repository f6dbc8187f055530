"""Labels in an SQLite file, the agreement of annotators beyond chance, and the label that counts.

Rows are only added: undo adds a row to `retractions`. A label has the texts of its question and
query, from which its case's key is made. Several programs may write at once.
"""

import io
import math
import re
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import orjson
import pandas as pd
from scipy.stats import binomtest, bootstrap
from sqlite_utils import Database

from workbench.canonical import plain
from workbench.errors import BadInputError, content_of, fault, naming
from workbench.label.cases import Case, case_key
from workbench.store import home
from workbench.widgets import desk_file

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
_NOT_RETRACTED = "id NOT IN (SELECT label FROM retractions)"


@dataclass
class LabelStore:
    """The labels in an SQLite file, which is made when the first label is added."""

    path: Path

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the labels of that name in the workbench's home."""
        if not re.fullmatch(r"(?!\.*$)[A-Za-z0-9_.\-]{1,100}", name):
            raise BadInputError(
                f"labels {name!r}: letters, digits, '_', '-' and '.' only"
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
        retract_last = f"""
            INSERT INTO retractions (label, at) SELECT id, datetime() FROM labels
            WHERE annotator = ? AND taxonomy IN (SELECT value FROM json_each(?))
            AND {_NOT_RETRACTED} ORDER BY rowid DESC LIMIT 1 RETURNING label"""
        with self._database() as database, database.conn:
            values = [annotator, orjson.dumps(taxonomies).decode()]
            retractions = list(database.query(retract_last, values))
            if not retractions:
                return None
            return _label(database.table("labels").get(retractions[0]["label"]))

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
        with desk_file(self.path, "labels") as database:
            labels = dict.fromkeys(FIELDS, str)
            database.table("labels").create(labels, pk="id", if_not_exists=True)
            retractions = {"label": str, "at": str}
            database.table("retractions").create(retractions, if_not_exists=True)
            yield database


def _label(row: dict[Any, Any]) -> Label:
    values = {name: row[name] for name in FIELDS}
    categories = orjson.loads(values["categories"])
    if not categories or not all(type(name) is str for name in categories):
        raise ValueError("categories must be a list of names")
    return Label(**values | {"categories": tuple(categories)})


def agreement(labels: Iterable[Label]) -> dict[str, Any]:
    """Return Cohen's kappa (1960) of two annotators, Krippendorff's alpha (1970) of more.

    `cases` counts those that two or more labelled, `agree` those with the same set of labels. The
    interval is a percentile bootstrap over cases, NaN below five; it held the true kappa of
    simulated annotators (five labels, right in 80%) in 93 to 98% of 150 data sets of 10 to 100
    cases. The adjudicator, who sees the others' labels, does not count.
    """
    # By annotator: each case's label.
    said: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for label in labels:
        if label.annotator != ADJUDICATOR:
            said[label.annotator][label.key] = "; ".join(sorted(label.categories))
    opinions = pd.DataFrame(said)
    opinions = opinions[opinions.notna().sum(axis=1) > 1]
    value, low, high = _with_interval(opinions)
    return {
        "cases": len(opinions),
        "agree": int((opinions.nunique(axis=1) < 2).sum()),
        "value": value,
        "low": low,
        "high": high,
        "sign": "κ" if len(said) == 2 else "α",  # noqa: RUF001
    }


def sentence(row: Mapping[str, Any]) -> str:
    """Return an `agreement` in words: "8 of 10 agree, κ 0.74 [0.30, 1.00]"."""
    text = f"{row['agree']} of {row['cases']} agree"
    sign = row["sign"]
    value = row["value"]
    low, high = row["low"], row["high"]
    if math.isnan(value):
        return text
    if math.isnan(low):
        return f"{text}, too few for {sign}"
    return f"{text}, {sign} {value:.2f} [{low:.2f}, {high:.2f}]"


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


_LEAST = 5  # cases, below which no interval is given


def _with_interval(opinions: pd.DataFrame) -> tuple[float, float, float]:
    """Return the coefficient of a table of cases by annotators, and the ends of its interval."""
    n = len(opinions)
    if not n:
        return math.nan, math.nan, math.nan
    names = opinions.melt()["value"].dropna().unique().astype(object)
    # A one where an annotator gives a case a name; these are the axes.
    uses = (opinions.to_numpy(object)[..., None] == names).astype(float)
    value = float(_coefficient(uses))
    if n < _LEAST or math.isnan(value):
        return value, math.nan, math.nan
    # No resample differs: the interval is that of a rate of disagreement of none.
    if value == 1:
        shares = uses.sum((0, 1)) / uses.sum()
        chance = float((shares**2).sum())
        most_disagree = binomtest(0, n).proportion_ci().high
        return value, max(-1.0, 1 - most_disagree / (1 - chance)), 1.0

    def statistic(drawn: Any, axis: int) -> Any:  # noqa: ARG001  the last: cases that were drawn
        return np.nan_to_num(_coefficient(uses[drawn]), nan=1.0)

    low, high = bootstrap(
        (np.arange(n),),
        statistic,
        vectorized=True,
        batch=max(1, 2_000_000 // uses.size),
        n_resamples=999,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return value, float(low), float(high)


@np.errstate(invalid="ignore", divide="ignore")
def _coefficient(uses: Any) -> Any:
    """Return agreement beyond chance, as a share of what chance leaves; NaN if it leaves nothing.

    `uses` has ones where an annotator gives a case a name; its last axes are cases, annotators and
    names.
    """
    counts = uses.sum(-2)  # of each name for each case
    annotators = counts.sum(-1, keepdims=True)  # of each case
    total = counts.sum((-2, -1))
    pairs = counts * (counts - 1)
    agreed = (pairs / (annotators - 1)).sum((-2, -1)) / total
    if uses.shape[-2] == 2:
        shares = uses.mean(-3)  # of the names, by annotator
        chance = shares.prod(-2).sum(-1)
    else:
        totals = counts.sum(-2)  # two labels are drawn, and the first is not put back
        same_twice = (totals * (totals - 1)).sum(-1)
        chance = same_twice / (total * (total - 1))
    beyond_chance = (agreed - chance) / (1 - chance)
    return np.where(chance < 1 - 1e-9, beyond_chance, math.nan)
