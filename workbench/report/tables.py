"""Tables of our numbers, alone or beside a paper's, as HTML, Markdown and CSV.

Every text may come from a database or a model, so it is escaped. A class keeps MathJax away: a `$`
is a dollar.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from math import floor, inf, log10
from typing import Any

import pandas as pd

from workbench.errors import BadInputError
from workbench.evaluate.stats import mean_interval
from workbench.report.display import Html, join, paragraph, table_html, view
from workbench.report.engines import same_engine
from workbench.report.names import shown
from workbench.report.published import Published
from workbench.report.stamp import Stamp, measured, stamped
from workbench.terminal import visible

# Columns for `trace`, which only the CSV has.
_BEHIND = {"run", "question_ids", "counted"}
_PAIRED = {"difference", "change"}  # columns whose intervals are over pairs of verdicts
_bold = Html("<p><b>{}</b></p>").format
_left = Html('<div style="text-align: left; white-space: pre-wrap">{}</div>').format


@dataclass(frozen=True, slots=True, eq=False)
class ResultTable:
    """A frame with a title and lines that explain it.

    The frame has every number in full and the runs behind each row; it is written as the CSV. The
    displayed table is rounded, shows each interval beside its number, and leaves the runs out. The
    first column labels the rows.
    """

    title: str
    caption: tuple[str, ...]
    frame: pd.DataFrame

    def __getitem__(self, column: str) -> "pd.Series[Any]":
        """Return our values of a column, by the labels of their rows."""
        return self.frame.set_index(self.frame.columns[0])[column].dropna()

    def to_html(self) -> Html:
        texts, places_of_words = _texts(self.frame)
        # Not in a frame: with Arrow, pandas makes plain texts of these.
        rows = texts.to_numpy().tolist()
        for row in rows:
            for place in places_of_words:
                row[place] = _left(row[place])
        table = table_html([*texts.columns], rows)
        lines = join(paragraph(said) for said in self.caption)
        return view(_bold(self.title) + table + lines)

    def to_markdown(self) -> str:
        return f"**{markdown(self.title)}**\n\n{self.rows_and_caption()}"

    def rows_and_caption(self) -> str:
        """Return the table as Markdown, without its title."""
        texts, places_of_words = _texts(self.frame)
        sides = ["right"] * texts.shape[1]
        for place in places_of_words:
            sides[place] = "left"
        cells = texts.map(markdown).rename(columns=markdown)
        rows = cells.to_markdown(index=False, colalign=sides, disable_numparse=True)
        # Two blanks break a line.
        below = "\n".join(f"{markdown(said)}  " for said in self.caption)
        return f"{rows}\n\n{below}"

    _repr_html_ = to_html


def share(correct: "pd.Series[Any]", databases: "pd.Series[str]") -> dict[str, Any]:
    """Return the mean of verdicts in percent, its interval clustered by database, and N."""
    mean = mean_interval(correct.astype(float).tolist(), databases.tolist())
    ends = {"low": 100 * mean.low, "high": 100 * mean.high}
    return {"n": mean.n, "EX": 100 * mean.mean} | ends


def markdown(text: str) -> str:
    """Return the text on one line, with a backslash before each mark of Markdown and HTML."""
    on_one_line = " ".join(text.split())
    return visible(re.sub(r"([\\`*_{}\[\]$|~#<>&])", r"\\\1", on_one_line))


def _intervals(frame: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Return the columns with an interval: `low` and `high`, or `X low` and `X high`, follow X."""
    names = [str(name) for name in frame]
    intervals = {}
    for name, low, high in zip(names, names[1:], names[2:], strict=False):
        follows = (low, high)
        if follows in {("low", "high"), (f"{name} low", f"{name} high")}:
            intervals[name] = follows
    return intervals


def _texts(table: pd.DataFrame) -> tuple[pd.DataFrame, list[int]]:
    """Return the cells as they are shown, and the places of the columns that hold words."""
    frame = table.rename(columns=str)
    intervals = _intervals(frame)
    hidden = {*_BEHIND, *chain.from_iterable(intervals.values())}
    texts: dict[str, list[str]] = {}
    places_of_words = []
    for name in frame.columns.drop(hidden, errors="ignore"):
        column = frame[name]
        numbers = pd.to_numeric(column, errors="coerce")
        is_no_number = column.notna() & numbers.isna()
        if column.dtype == bool or is_no_number.any():
            values = column.where(column.notna(), "")
            if not texts:  # the labels of the rows
                values = values.map(shown)
            places_of_words.append(len(texts))
            texts[name] = [visible(str(value)) for value in values]
            continue
        decimals = _decimals(numbers)
        texts[name] = [_number(value, decimals) for value in numbers]
        if name in intervals:
            low, high = intervals[name]
            ends = zip(texts[name], frame[low], frame[high], strict=True)
            texts[name] = [_interval(*three, decimals) for three in ends]
    return pd.DataFrame(texts, index=range(len(frame))), places_of_words


def _decimals(column: "pd.Series[Any]") -> int:
    """Return how many decimals the numbers of a column have.

    Counts have none. If one or two decimals say the numbers exactly, these. Else one from 10 on,
    and below as many as show two digits of the largest.
    """
    values = column.dropna().abs()
    if pd.api.types.is_integer_dtype(column) or values.empty:
        return 0
    for places in (1, 2):
        if (values == values.round(places)).all():
            return places
    top = values[values != inf].max()
    if top >= 10:
        return 1
    return max(2, 1 - floor(log10(top)))


def _number(value: Any, decimals: int) -> str:
    if pd.isna(value):
        return ""
    least = 10**-decimals
    if 0 < value < least / 2:
        return f"<{least:.{decimals}f}"
    return f"{value:,.{decimals}f}"


def _interval(mean: str, low: Any, high: Any, decimals: int) -> str:
    if not mean:
        return ""
    return f"{mean} ({_number(low, decimals)} to {_number(high, decimals)})"


def alone(ours: pd.DataFrame, stamp: Stamp, title: str, *notes: str) -> ResultTable:
    """Make a table of our numbers; its caption says whose they are and what its intervals mean."""
    stamp = stamp.of(ours)
    lines = [f"Here: {stamp}."]
    intervals = _intervals(ours)
    paired = [name for name in intervals if name in _PAIRED]
    if len(paired) < len(intervals):
        lines.append("Intervals: 95%, clustered by database.")
    if paired:
        lines.append(f"Intervals of {', '.join(paired)}: 95%, over questions, paired.")
    return ResultTable(title, (" ".join(lines), *filter(None, notes)), ours)


def sentence(title: str, data: pd.DataFrame, stamp: object, *notes: str) -> ResultTable:
    """Make a table in place of a picture that would show nothing; its title says what there is."""
    return ResultTable(
        title, (f"Here: {stamped(stamp, data)}.", *filter(None, notes)), data
    )


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
    """Make a table of our rows beside the paper's of the same label, then the paper's other rows.

    Where the paper names a model for each row, ours stands beside it only if our run asked that
    model (`same_engine`); else the paper's row stands by itself, under the name that the paper
    prints. Where all of its rows are of one model, the head of its column names it. `columns` says
    for each of our columns which of the paper's stand beside it; by default those of the same name.
    """
    pairs = _pairs(ours, published, label, columns)
    theirs = published.frame().convert_dtypes()
    matched = _matched(ours, theirs, label, stamp)
    others = theirs.index.difference(matched)
    # -1 is no label of theirs: its row is empty.
    right = theirs.reindex([*matched, *others]).reset_index(drop=True)
    # A row of the paper's own has our name for it, unless it is of a model that is not ours.
    names = right["printed" if "model" in theirs else "label"]
    table = ours.astype(dict.fromkeys(ours.select_dtypes("integer"), "Int64"))
    table = table.reset_index(drop=True).reindex(right.index)
    table[label] = table[label].fillna(names)
    intervals = _intervals(ours)
    for name, wanted in pairs.items():
        last = name
        if name in intervals:
            _, last = intervals[name]
        behind = list(table).index(last) + 1
        for column in reversed(wanted):
            table.insert(behind, f"{published.engine}: {column}", right[column])
    if "model" in theirs:
        table[f"{published.paper}: model"] = right["model"]
    if "run" in ours:  # stays last
        table["run"] = table.pop("run")
    if "EX" not in published.metric:
        stamp = replace(stamp, ex="")  # a sense of EX says nothing of another metric
    captioned = alone(ours, stamp, title or published.title, _origin(published), note)
    return replace(captioned, frame=table)


def _origin(published: Published) -> str:
    what = " on ".join(filter(None, [published.model, published.benchmark]))
    numbers = measured(what, published.n, published.metric)
    return f"{published.paper}, {published.source}: {numbers}. {published.note}".strip()


def _pairs(
    ours: pd.DataFrame,
    published: Published,
    label: str,
    columns: Mapping[str, str | tuple[str, ...]] | None,
) -> dict[str, tuple[str, ...]]:
    """Return for each of our columns those of the paper beside it; refuse what does not fit."""
    names = [str(name) for name in ours]
    if not columns:
        columns = {name: name for name in names if name in published.columns}
    pairs = {}
    for name, theirs in columns.items():
        pairs[name] = (theirs,) if isinstance(theirs, str) else theirs
    wanted = [*chain.from_iterable(pairs.values())]
    is_once = 0 < len(wanted) == len(set(wanted))
    is_known = {label, *pairs} <= {*names} and {*wanted} <= {*published.columns}
    if not (is_once and is_known):
        raise BadInputError(
            f"{published.paper}, {published.source} has the columns"
            f" {', '.join(published.columns)} and ours {', '.join(names)}: say with `columns`"
            f" ({columns}) which belong together, each of the paper's beside one of ours,"
            f" and with `label` ({label!r}) which of ours names the rows"
        )
    return pairs


def _matched(
    ours: pd.DataFrame, theirs: pd.DataFrame, label: str, stamp: Stamp
) -> list[int]:
    """Return for each of our rows the paper's row beside it, -1 without one."""
    matched: list[int] = []
    for place, name in enumerate(ours[label]):
        asked = stamp.of(ours.iloc[[place]]).asked
        row = _row_of(name, asked, theirs)
        if row >= 0 and row in matched:
            raise BadInputError(
                f"two of our rows are {name!r}: give one of them another label"
            )
        matched.append(row)
    return matched


def _row_of(name: str, asked: tuple[str, ...], theirs: pd.DataFrame) -> int:
    """Return the paper's first row of that name, of the model asked if it names one; else -1."""
    for row, their_name in enumerate(theirs["label"]):
        if _words(their_name) != _words(name):
            continue
        if "model" not in theirs or _same_models(str(theirs["model"][row]), asked):
            return row
    return -1


def _same_models(printed: str, asked: tuple[str, ...]) -> bool:
    """Say whether all of the row's engines were asked, and our run's first model is one of them."""
    engines = printed.split(", ")
    for engine in engines:
        if not any(same_engine(engine, model) for model in asked):
            return False
    return any(same_engine(engine, asked[0]) for engine in engines)


def _words(name: object) -> list[str]:
    return re.findall(r"\w+", shown(name).casefold().replace("_", " "))
