"""The papers' published numbers: a YAML file for each paper, laid out as it prints them."""

from collections.abc import Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Self

import pandas as pd
from pydantic import BaseModel, ValidationError, model_validator

from workbench.errors import BadInputError, one_of, read_yaml


class Published(BaseModel, extra="forbid", frozen=True):
    """A paper's table or figure: its numbers, and the notes that belong beside them."""

    paper: str
    source: str  # the paper's name of the table or figure, in lower case: `table 4`, `figure 3a`
    at: str = ""  # the page or section that prints it
    title: str
    benchmark: str
    metric: str
    # The benchmark's questions, of several splits those of dev; None: not printed.
    n: int | None
    model: str  # empty if the column `model` names one for each row
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]  # first the paper's name
    ours: Mapping[str, str] = {}  # from the paper's name of a row to that of our tables
    note: str = ""  # to compare: where the text and a table, or two tables, disagree

    @model_validator(mode="after")
    def _check_rows(self) -> Self:
        names = {name for name, *_ in self.rows}
        if len(names) < len(self.rows):
            raise ValueError("two rows have the same name")
        if unknown := self.ours.keys() - names:
            raise ValueError(f"`ours` names {min(unknown)!r}, which is no row")
        for name, *cells in self.rows:
            if len(cells) != len(self.columns):
                raise ValueError(
                    f"row {name!r} does not have {len(self.columns)} cells"
                )
        return self

    def frame(self) -> pd.DataFrame:
        """Return the rows, with our names in `label` and the paper's own in `printed`."""
        frame = pd.DataFrame(self.rows, columns=["printed", *self.columns])
        frame.insert(
            0,
            "label",
            frame["printed"].map(lambda name: self.ours.get(str(name), name)),
        )
        return frame

    @property
    def engine(self) -> str:
        """The paper with the one model that all rows are of: "CHASE-SQL, Gemini 1.5 Pro"."""
        return f"{self.paper}, {self.model}" if self.model else self.paper


def read_paper(path: Path) -> tuple[Published, ...]:
    data = read_yaml(path)
    try:
        return tuple(
            Published(paper=data["paper"], **table) for table in data["tables"]
        )
    except (KeyError, TypeError, ValidationError) as error:
        raise BadInputError(f"{path}: {' '.join(str(error).split())}") from error


@cache
def all_published() -> tuple[Published, ...]:
    """Return every table and figure of every paper."""
    paths = sorted(Path(__file__).with_name("papers").glob("*.yaml"))
    return tuple(chain.from_iterable(map(read_paper, paths)))


def published(paper: str, source: str) -> Published:
    """Return the numbers of a paper's table or figure, such as "CHASE-SQL" and "table 4".

    >>> wb.published("CHASE-SQL", "table 4").title
    'One candidate of each generator, before and after the fixer'
    """
    one_of(sorted({table.paper for table in all_published()}), paper=paper)
    tables = {table.source: table for table in all_published() if table.paper == paper}
    one_of(tables, source=source)
    return tables[source]
