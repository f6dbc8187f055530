"""A table or figure that a paper published: its numbers and what must be said beside them."""

from dataclasses import dataclass

import pandas as pd

Cell = str | float | None


@dataclass(frozen=True, slots=True)
class Published:
    """Rows as the paper prints them, labelled in the words of our systems where they are one of those.

    A cell is None where the paper prints none. `n` counts the benchmark's questions, where it has several
    splits those of dev; `model` is empty where a column names each row's own. `note` says what a reader
    who compares must know: where the text and the table, or two tables, disagree.
    """

    paper: str
    source: str
    title: str
    benchmark: str
    metric: str
    n: int | None
    model: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def frame(self) -> pd.DataFrame:
        """The rows, with their labels in a column `label`."""
        return pd.DataFrame(list(self.rows), columns=["label", *self.columns])
