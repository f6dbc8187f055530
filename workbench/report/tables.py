"""The papers' published numbers, and tables of ours, alone or beside them, as HTML, Markdown and CSV.

`papers/` has a YAML file for each paper, laid out as the paper prints its tables and figures. Every text may come from a database or a model, so it is escaped. A class keeps MathJax away: a `$` is a dollar.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from math import floor, log10
from pathlib import Path
from typing import Any, Self

import pandas as pd
from pydantic import BaseModel, ValidationError, model_validator

from workbench.canonical import content_hash
from workbench.errors import BadInputError, one_of, read_yaml
from workbench.report.display import Html, view
from workbench.report.style import Stamp, measured, shown
from workbench.terminal import visible

_BEHIND = {"run", "question_ids", "counted"}  # columns for `trace`, which only the CSV has
_PAIRED = {"difference", "change"}  # columns whose intervals are over pairs of verdicts
_LEFT = {"props": "text-align: left; white-space: pre-wrap"}
_STYLE: Any = [
    {"selector": "caption", "props": "font-weight: 600; text-align: left; white-space: normal"},
    {"selector": "th, td", "props": "text-align: right; padding: .2em .6em"},
    {"selector": "thead th", "props": "max-width: 11em"},
    {"selector": "td", "props": "font-variant-numeric: tabular-nums; max-width: 32em"},
]


class Published(BaseModel, extra="forbid", frozen=True):
    """A paper's table or figure: its numbers, and the notes that belong beside them."""

    paper: str
    source: str  # the paper's name of the table or figure, in lower case: `table 4`, `figure 3a`
    at: str = ""  # the page or section that prints it
    title: str
    benchmark: str
    metric: str
    n: int | None  # the benchmark's questions, of several splits those of dev; None: not printed
    model: str  # empty if the column `model` names one for each row
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]  # first the row's name in the paper
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


def read_paper(path: Path) -> tuple[Published, ...]:
    data = read_yaml(path)
    try:
        return tuple(Published(paper=data["paper"], **table) for table in data["tables"])
    except (KeyError, TypeError, ValidationError) as error:
        raise BadInputError(f"{path}: {' '.join(str(error).split())}") from error


@cache
def all_published() -> tuple[Published, ...]:
    """Every table and figure of every paper."""
    return sum(map(read_paper, sorted(Path(__file__).with_name("papers").glob("*.yaml"))), ())


def published(paper: str, source: str) -> Published:
    """The numbers of a paper's table or figure, such as "CHASE-SQL" and "table 4".

    >>> wb.published("CHASE-SQL", "table 4").title
    'One candidate of each generator, before and after the fixer'
    """
    one_of(sorted({table.paper for table in all_published()}), paper=paper)
    tables = {table.source: table for table in all_published() if table.paper == paper}
    one_of(tables, source=source)
    return tables[source]


def _intervals(frame: pd.DataFrame) -> dict[str, list[str]]:
    """The columns X that have an interval: `X low` and `X high`, or `low` and `high`, are the two columns after X."""
    names = list(map(str, frame))
    trios = zip(names, names[1:], names[2:], strict=False)
    return {
        name: ends
        for name, *ends in trios
        if ends in (["low", "high"], [f"{name} low", f"{name} high"])
    }


@dataclass(frozen=True, slots=True, eq=False)
class ResultTable:
    """A frame with a title and lines that explain it.

    The frame has every number in full and the runs behind each row; it is written as the CSV. The displayed table is
    rounded, shows each interval beside its number, and leaves the runs out. The first column labels the rows.
    """

    title: str
    caption: tuple[str, ...]
    frame: pd.DataFrame

    def __getitem__(self, column: str) -> "pd.Series[Any]":
        """Our values of a column, by the labels of their rows."""
        return self.frame.set_index(self.frame.columns[0])[column].dropna()

    def to_html(self) -> Html:
        texts, words = self._texts()
        styler = texts.rename(columns=visible).style.format(escape="html")
        styler.format_index(escape="html", axis=1)
        styler.set_table_styles(_STYLE + [{"selector": f".col{n}", **_LEFT} for n in words])
        styler.set_table_attributes('class="mathjax_ignore tex2jax_ignore"')
        styler.set_uuid(content_hash("table", [self.title, *texts.to_numpy().tolist()])[-8:])
        styler.hide(axis="index").set_caption(Html.escape(self.title))
        lines = Html("").join(map(Html("<p>{}</p>").format, self.caption))
        return view(Html(styler.to_html()) + lines)

    def to_markdown(self) -> str:
        texts, words = self._texts()
        sides = ["left" if number in words else "right" for number in range(len(texts.columns))]
        texts = texts.map(markdown).rename(columns=markdown)
        rows = texts.to_markdown(index=False, colalign=sides, disable_numparse=True)
        below = "\n".join(f"{markdown(line)}  " for line in self.caption)  # two blanks break a line
        return f"**{markdown(self.title)}**\n\n{rows}\n\n{below}"

    _repr_html_ = to_html

    def _texts(self) -> tuple[pd.DataFrame, list[int]]:
        """The shown cells as text, and the places of the columns that hold words."""
        frame = self.frame.rename(columns=str)
        bounds = _intervals(frame)
        cells: dict[str, list[str]] = {}
        words = []
        for name in frame.columns.drop(_BEHIND.union(*bounds.values()), errors="ignore"):
            column = frame[name]
            numbers = pd.to_numeric(column, errors="coerce")
            if column.dtype == bool or numbers[column.notna()].isna().any():
                words.append(len(cells))
                write: Callable[[Any], str] = str if cells else shown
                cells[name] = [visible(write(one)) for one in column.where(column.notna(), "")]
                continue
            write = partial(_number, decimals=_decimals(numbers))
            cells[name] = list(map(write, numbers))
            if name in bounds:
                ends = (map(write, frame[bound]) for bound in bounds[name])
                trio = zip(cells[name], *ends, strict=True)
                cells[name] = [mean and f"{mean} ({least} to {most})" for mean, least, most in trio]
        return pd.DataFrame(cells, index=range(len(frame))), words


def markdown(text: str) -> str:
    """The text on one line, with a backslash before each mark of Markdown and HTML."""
    return visible(re.sub(r"([\\`*_{}\[\]$|~#<>&])", r"\\\1", " ".join(text.split())))


def _decimals(column: "pd.Series[Any]") -> int:
    """None for counts, one or two if these are exact, else by the largest value."""
    values = column.dropna().abs()
    if pd.api.types.is_integer_dtype(column) or values.empty:
        return 0
    exact = [places for places in (1, 2) if (values == values.round(places)).all()]
    top = values[values != float("inf")].max()
    return exact[0] if exact else 1 if top >= 10 else 2 if top >= 0.1 else 1 - floor(log10(top))


def _number(value: Any, decimals: int) -> str:
    if pd.isna(value):
        return ""
    least = 10**-decimals
    return f"<{least:.{decimals}f}" if 0 < value < least / 2 else f"{value:,.{decimals}f}"


def alone(ours: pd.DataFrame, stamp: Stamp, title: str, *notes: str) -> ResultTable:
    """A table of our numbers, whose caption says whose they are and what its intervals mean."""
    stamp, known = stamp.of(ours), _intervals(ours)
    said = [f"Here: {stamp}."]
    if known.keys() - _PAIRED:
        said.append("Intervals: 95%, clustered by database.")
    if paired := ", ".join(name for name in known if name in _PAIRED):
        said.append(f"Intervals of {paired}: 95%, over questions, paired.")
    if {"n", "change", "change high"} <= set(ours) and stamp.models.startswith("embedded/"):
        # Tango's interval of a change of 0 is shortest, z^2 / (n + z^2), where no verdict differs.
        shortest = ours["change high"] < 100.1 * 3.8415 / (ours["n"] + 3.8415)
        if same := ", ".join(map(str, ours.iloc[:, 0][shortest & (ours["change"] == 0)])):
            said.append(f"No effect with the parser (no verdict differs): {same}.")
    return ResultTable(title, (" ".join(said), *filter(None, notes)), ours)


def beside(
    ours: pd.DataFrame,
    published: Published,
    stamp: Stamp,
    *,
    label: str = "system",
    columns: Mapping[str, str | tuple[str, ...]] | None = None,
    title: str = "",
    note: str = "",
) -> ResultTable:
    """Our rows beside the paper's rows of the same label, in any case, then the rows that only the paper has.

    Where the paper has a label for several models, our row stands beside that of the model most like those that our run
    asked. `columns` says for each of our columns which of the paper's stand beside it; by default those of the same name.
    """
    paper, names = published.paper, list(map(str, ours))
    given = columns or {name: name for name in names if name in published.columns}
    pairs = {name: (one,) if isinstance(one, str) else one for name, one in given.items()}
    wanted = [one for several in pairs.values() for one in several]
    if not pairs or len(set(wanted)) < len(wanted):
        raise BadInputError(
            f"{paper}, {published.source} has the columns {', '.join(published.columns)} and ours {', '.join(names)}:"
            " say with `columns` which belong together, each of the paper's beside one of ours"
        )
    one_of(names, **{f"our column {name}": name for name in (label, *pairs)})
    one_of(published.columns, **{f"column {one} of {published.source}": one for one in wanted})
    theirs = published.frame().convert_dtypes()
    matched = [_row_beside(ours.iloc[[at]], theirs, label, stamp) for at in range(len(ours))]
    order = [*matched, *theirs.index.difference(matched)]
    if twice := [row for row in matched if row >= 0 and matched.count(row) > 1]:
        raise BadInputError(
            f"two of our rows are {theirs['label'][twice[0]]!r} of {paper}, {published.source}:"
            " give one of them another label"
        )
    table = ours.astype(dict.fromkeys(ours.select_dtypes("integer"), "Int64"))
    table = table.reset_index(drop=True).reindex(range(len(order)))
    right, bounds = theirs.reindex(order).reset_index(drop=True), _intervals(ours)
    table[label] = table[label].fillna(right["label"])
    for name, several in pairs.items():
        at = list(table).index(bounds[name][1] if name in bounds else name) + 1
        for one in reversed(several):
            table.insert(at, f"{paper}: {one}", right[one])
    if not published.model and "model" in published.columns:
        table[f"{paper}: model"] = right["model"]
    if "run" in names:
        table["run"] = table.pop("run")
    if "EX" not in published.metric:
        stamp = replace(stamp, ex="")  # the table has another metric
    what = " on ".join(filter(None, (published.model, published.benchmark)))
    told = f"{paper}, {published.source}: {measured(what, published.n, published.metric)}. {published.note}"
    made = alone(ours, stamp, title or published.title, told.strip(), note)
    return replace(made, frame=table)


def _row_beside(ours: pd.DataFrame, theirs: pd.DataFrame, label: str, stamp: Stamp) -> int:
    """The paper's row beside one row of ours, the first of those most like its models; -1 without one.

    "Claude 3.5 Sonnet" is like anthropic/claude-3-5-sonnet-20240620, since all of its words stand in that name.
    """

    def words(name: object) -> list[str]:
        return re.findall(r"[^\W\d_]+|\d+[^\W\d_]*", shown(name).casefold())

    asked = [{*words(model)} for model in stamp.of(ours).models.split(", ")]

    def likeness(row: int) -> int:
        printed = str(theirs["model"][row]).split(", ") if "model" in theirs else []
        known = [own for own in map(words, printed) if any({*own} <= one for one in asked)]
        return sum(map(len, known))

    own = words(ours[label].iloc[0])
    same = [row for row, name in enumerate(theirs["label"]) if words(name) == own]
    return max(same, key=likeness, default=-1)
