"""The numbers that the papers published: one YAML file a paper, laid out as the paper prints them."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Self

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from workbench.errors import BadInputError, one_of, read_yaml

Cell = str | int | float | None


class Published(BaseModel):
    """One table or figure of a paper: its numbers, and the notes that belong beside them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paper: str
    source: str  # the paper's name of the table or figure, in lower case: `table 4`, `figure 3a`
    at: str = ""  # the page or section that prints it
    title: str
    benchmark: str
    metric: str
    n: int | None  # the benchmark's questions, of several splits those of dev; None: not printed
    model: str  # empty if the column `model` names one for each row
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """The row's name as the paper spells it, then a cell for each column; None where none is printed."""
    ours: Mapping[str, str] = {}  # from the paper's name of a row to that of our tables
    note: str = ""  # to compare: where the text and a table, or two tables, disagree

    @model_validator(mode="after")
    def _check_rows(self) -> Self:
        names = [row[0] for row in self.rows]
        if len(set(names)) < len(names):
            raise ValueError("two rows have the same name")
        if narrow := [row[0] for row in self.rows if len(row) != 1 + len(self.columns)]:
            raise ValueError(f"row {narrow[0]!r} does not have {len(self.columns)} cells")
        if unknown := self.ours.keys() - set(names):
            raise ValueError(f"`ours` names {min(unknown)!r}, which is no row")
        return self

    def frame(self) -> pd.DataFrame:
        """The rows under our names, which stand in the column `label`; rows of several models may share one."""
        rows = [(self.ours.get(str(name), name), *cells) for name, *cells in self.rows]
        return pd.DataFrame(rows, columns=["label", *self.columns])


def nearest_model(printed: Sequence[object], asked: Sequence[str]) -> int:
    """The place of the printed model that is most like the models asked; the first if none is like them.

    "Claude 3.5 Sonnet" is like anthropic/claude-3-5-sonnet-20240620, since all of its words stand in that name.
    """
    names = [_words(name) for name in asked]
    parts = [[_words(part) for part in str(cell).split(", ")] for cell in printed]
    alike = [sum(len(p) for p in of if any(p <= name for name in names)) for of in parts]
    return alike.index(max(alike))


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+|\d+[a-z]*", name.casefold()))


def read_paper(path: Path) -> tuple[Published, ...]:
    data = read_yaml(path)
    try:
        return tuple(Published(paper=data["paper"], **table) for table in data["tables"])
    except (KeyError, TypeError, ValidationError) as error:
        raise BadInputError(f"{path}: {' '.join(str(error).split())}") from error


@cache
def all_published() -> tuple[Published, ...]:
    """Every table and figure of every paper."""
    return sum(map(read_paper, sorted(Path(__file__).parent.glob("*.yaml"))), ())


def published(paper: str, source: str) -> Published:
    """The numbers of a paper's table or figure, such as "CHASE-SQL" and "table 4"."""
    one_of(sorted({table.paper for table in all_published()}), paper=paper)
    tables = {table.source: table for table in all_published() if table.paper == paper}
    one_of(tables, source=source)
    return tables[source]
