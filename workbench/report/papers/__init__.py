"""The numbers that the papers published: one YAML file a paper, laid out as the paper prints them."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from workbench.errors import BadInputError
from workbench.yamlfile import read_yaml

__all__ = ["Published", "all_published", "published", "read_paper"]

_FOLDER = Path(__file__).parent
Cell = str | int | float | None


class Published(BaseModel):
    """One table or figure of a paper: its numbers, and the notes that belong beside them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paper: str
    source: str
    """The paper's name of the table or figure, in lower case: `table 4`, `figure 3a`."""
    at: str = ""
    """The page or section that prints it."""
    title: str
    benchmark: str
    metric: str
    n: int | None
    """The benchmark's questions; with several splits, those of dev. None if the paper does not say."""
    model: str
    """The model that answered; empty if the column `model` names one for each row."""
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """The row's name as the paper spells it, then a cell for each column; None where none is printed."""
    ours: Mapping[str, str] = {}
    """From the paper's name of a row to the name that our tables use for the same thing."""
    note: str = ""
    """What a reader must know to compare: where the text and a table, or two tables, disagree."""

    @model_validator(mode="after")
    def _check_rows(self) -> "Published":
        names = [row[0] for row in self.rows]
        if len(set(names)) < len(names):
            raise ValueError("two rows have the same name")
        if narrow := [row[0] for row in self.rows if len(row) != 1 + len(self.columns)]:
            raise ValueError(f"row {narrow[0]!r} does not have {len(self.columns)} cells")
        if unknown := self.ours.keys() - set(names):
            raise ValueError(f"`ours` names {min(unknown)!r}, which is no row")
        return self

    def frame(self) -> pd.DataFrame:
        """The rows under our names, which stand in the column `label`."""
        rows = [(self.ours.get(str(name), name), *cells) for name, *cells in self.rows]
        return pd.DataFrame(rows, columns=["label", *self.columns])


def read_paper(path: Path) -> tuple[Published, ...]:
    """The tables and figures of one paper's file."""
    data = read_yaml(path)
    if not isinstance(data, dict) or not isinstance(data.get("tables"), list):
        raise BadInputError(f"{path}: expected `paper` and a list `tables`")
    tables = []
    for number, table in enumerate(data["tables"], 1):
        if not isinstance(table, dict):
            raise BadInputError(f"{path}, entry {number}: not a mapping")
        try:
            tables.append(Published.model_validate(table | {"paper": data.get("paper")}))
        except ValidationError as error:
            raise BadInputError(
                f"{path}, {table.get('source', f'entry {number}')}: {_reason(error)}"
            ) from error
    return tuple(tables)


def _reason(error: ValidationError) -> str:
    first = error.errors()[0]
    field = "".join(f"{part}: " for part in first["loc"][:1])
    return field + first["msg"].removeprefix("Value error, ")


@cache
def all_published() -> tuple[Published, ...]:
    """Every table and figure of every paper."""
    return tuple(table for path in sorted(_FOLDER.glob("*.yaml")) for table in read_paper(path))


def published(paper: str, source: str) -> Published:
    """The numbers of a paper's table or figure, such as "CHASE-SQL" and "table 4"."""
    tables = [table for table in all_published() if table.paper.casefold() == paper.casefold()]
    if not tables:
        known = ", ".join(dict.fromkeys(table.paper for table in all_published()))
        raise BadInputError(f"no numbers of a paper {paper!r}; there are those of {known}")
    for table in tables:
        if table.source == source.casefold():
            return table
    known = ", ".join(table.source for table in tables)
    raise BadInputError(f"no numbers of {source!r} in {paper}; there are {known}")
