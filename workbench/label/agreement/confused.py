"""The confusion table of two annotators, each cell of which opens its cases."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pandas as pd

from workbench.errors import BadInputError
from workbench.html.parts import details, line, listed, table, view
from workbench.html.tree import Element, element
from workbench.label.agreement.disputes import Key
from workbench.label.agreement.tables import confusion
from workbench.label.case import Case
from workbench.label.store import Label


@dataclass(frozen=True, slots=True)
class Confused:
    """Two annotators' labels of the cases that both labelled."""

    first: str
    second: str
    labels: dict[Key, tuple[Label, Label]] = field(repr=False)
    sample: Sequence[Case] = field(default=(), repr=False)

    def table(self) -> pd.DataFrame:
        """The number of cases with each pair of categories: rows are the first annotator's, columns the second's."""
        pairs = self.labels.items()
        return confusion(
            {key: one.category for key, (one, _) in pairs},
            {key: other.category for key, (_, other) in pairs},
        )

    def cases(self, row: str, column: str) -> tuple[Case, ...]:
        """The cases of a cell, for a labeller: the first annotator chose `row`, the second `column`."""
        names = self.table().index
        if row not in names or column not in names:
            raise BadInputError(
                f"no cell {row!r}, {column!r}; the categories are {', '.join(names)}"
            )
        cell = self._cell(row, column)
        return tuple(case for case in self.sample if case.key in cell)

    def _cell(self, row: str, column: str) -> dict[Key, tuple[Label, Label]]:
        return {
            key: (one, other)
            for key, (one, other) in self.labels.items()
            if (one.category, other.category) == (row, column)
        }

    def _repr_html_(self) -> str:
        names = self.table().index.tolist()
        rows: list[list[str | Element]] = []
        for row in names:
            cells = [list(map(_described, self._cell(row, name).values())) for name in names]
            counts = [details(f"{len(cell):,}", listed(cell)) if cell else "" for cell in cells]
            rows.append([element("th", row, scope="row"), *counts])
        return view(
            f"{self.first} (rows) and {self.second} (columns)",
            line(f"{len(self.labels):,} cases are labelled by both. A number opens its cases."),
            table(("", *names), rows),
            kind="wb-confused",
        )


def _described(pair: tuple[Label, Label]) -> str:
    """The case of two labels, with the notes of both annotators."""
    one, _ = pair
    notes = [f"{label.annotator}: {label.note}" for label in pair if label.note]
    return " ".join([f"question {one.question_id} on {one.db_id}: {one.question}", *notes])


def confused(
    labels: Iterable[Label], first: str, second: str, sample: Sequence[Case] = ()
) -> Confused:
    """Compare two annotators on the cases that both labelled; `sample` has the cases to open."""
    given: dict[str, dict[Key, Label]] = {}
    for label in labels:
        if not label.automatic:
            given.setdefault(label.annotator, {})[label.key] = label
    for name in (first, second):
        if name not in given:
            raise BadInputError(
                f"no labels by {name!r}; the annotators are {', '.join(sorted(given)) or 'none'}"
            )
    both = sorted(given[first].keys() & given[second].keys())
    return Confused(
        first, second, {key: (given[first][key], given[second][key]) for key in both}, sample
    )
