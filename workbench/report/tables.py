"""Tables of our numbers, alone or beside a paper's, as HTML, Markdown and CSV.

Every text may come from a database or a model, so it is escaped. A class keeps MathJax away: a `$` is a dollar.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, inf, log10
from typing import Any

import pandas as pd

from workbench.canonical import content_hash
from workbench.errors import BadInputError, one_of
from workbench.llm.calls import is_parser
from workbench.report.display import Html, view
from workbench.report.engines import same_engine
from workbench.report.names import shown
from workbench.report.published import Published
from workbench.report.stamp import Stamp, measured, stamped
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
        """Return our values of a column, by the labels of their rows."""
        return self.frame.set_index(self.frame.columns[0])[column].dropna()

    def to_html(self) -> Html:
        cells = _texts(self.frame)
        styler = cells.texts.rename(columns=visible).style.format(escape="html")
        styler.format_index(escape="html", axis=1)
        left = [{"selector": f".col{place}", **_LEFT} for place in cells.words]
        styler.set_table_styles(_STYLE + left)
        styler.set_table_attributes('class="mathjax_ignore tex2jax_ignore"')
        styler.set_uuid(content_hash("table", [self.title, *cells.texts.to_numpy().tolist()])[-8:])
        styler.hide(axis="index").set_caption(Html.escape(self.title))
        lines = Html("").join(map(Html("<p>{}</p>").format, self.caption))
        return view(Html(styler.to_html()) + lines)

    def to_markdown(self) -> str:
        cells = _texts(self.frame)
        places = range(len(cells.texts.columns))
        sides = ["left" if place in cells.words else "right" for place in places]
        texts = cells.texts.map(markdown).rename(columns=markdown)
        rows = texts.to_markdown(index=False, colalign=sides, disable_numparse=True)
        below = "\n".join(f"{markdown(line)}  " for line in self.caption)  # two blanks break a line
        return f"**{markdown(self.title)}**\n\n{rows}\n\n{below}"

    _repr_html_ = to_html


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cells of a table as they are shown, and the places of the columns that hold words."""

    texts: pd.DataFrame
    words: list[int]


def markdown(text: str) -> str:
    """Return the text on one line, with a backslash before each mark of Markdown and HTML."""
    return visible(re.sub(r"([\\`*_{}\[\]$|~#<>&])", r"\\\1", " ".join(text.split())))


def _intervals(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Return the columns X with an interval: `X low` and `X high`, or `low` and `high`, stand after X."""
    names = list(map(str, frame))
    intervals = {}
    for name, low, high in zip(names, names[1:], names[2:], strict=False):
        if [low, high] in (["low", "high"], [f"{name} low", f"{name} high"]):
            intervals[name] = [low, high]
    return intervals


def _texts(table: pd.DataFrame) -> _Cells:
    frame = table.rename(columns=str)
    bounds = _intervals(frame)
    columns = frame.columns.drop(_BEHIND.union(*bounds.values()), errors="ignore")
    texts: dict[str, Sequence[str]] = {}
    words = []
    for place, name in enumerate(columns):
        column = frame[name]
        numbers = pd.to_numeric(column, errors="coerce")
        if column.dtype == bool or numbers[column.notna()].isna().any():
            words.append(place)
            values = column.where(column.notna(), "")
            texts[name] = [visible(shown(value) if place == 0 else str(value)) for value in values]
            continue
        decimals = _decimals(numbers)
        texts[name] = [_number(value, decimals) for value in numbers]
        if name in bounds:
            low, high = bounds[name]
            ends = zip(texts[name], frame[low], frame[high], strict=True)
            texts[name] = [_interval(*three, decimals) for three in ends]
    return _Cells(pd.DataFrame(texts, index=range(len(frame))), words)


def _decimals(column: "pd.Series[Any]") -> int:
    """Return none for counts, one or two if these are exact, else as many as the largest value asks for."""
    values = column.dropna().abs()
    if pd.api.types.is_integer_dtype(column) or values.empty:
        return 0
    for places in (1, 2):
        if (values == values.round(places)).all():
            return places
    top = values[values != inf].max()
    if top >= 0.1:
        return 1 if top >= 10 else 2
    return 1 - floor(log10(top))


def _number(value: Any, decimals: int) -> str:
    if pd.isna(value):
        return ""
    least = 10**-decimals
    if 0 < value < least / 2:
        return f"<{least:.{decimals}f}"
    return f"{value:,.{decimals}f}"


def _interval(mean: str, low: Any, high: Any, decimals: int) -> str:
    return mean and f"{mean} ({_number(low, decimals)} to {_number(high, decimals)})"


def alone(ours: pd.DataFrame, stamp: Stamp, title: str, *notes: str) -> ResultTable:
    """Make a table of our numbers, whose caption says whose they are and what its intervals mean."""
    stamp = stamp.of(ours)
    intervals = _intervals(ours)
    lines = [f"Here: {stamp}."]
    if intervals.keys() - _PAIRED:
        lines.append("Intervals: 95%, clustered by database.")
    paired = ", ".join(name for name in intervals if name in _PAIRED)
    if paired:
        lines.append(f"Intervals of {paired}: 95%, over questions, paired.")
    if {"n", "change", "change high"} <= set(ours) and is_parser(stamp.model):
        without_effect = ", ".join(_without_effect(ours))
        if without_effect:
            lines.append(f"No effect with the parser (no verdict differs): {without_effect}.")
    return ResultTable(title, (" ".join(lines), *filter(None, notes)), ours)


def sentence(title: str, data: pd.DataFrame, stamp: object, *notes: str) -> ResultTable:
    """Make a table in place of a picture that would show nothing; its title says what there is to see."""
    return ResultTable(title, (f"Here: {stamped(stamp, data)}.", *notes), data)


def _without_effect(ours: pd.DataFrame) -> list[str]:
    """Return the rows whose verdicts are all those of the row that they are compared with.

    Tango's interval of a change of 0 is shortest, z^2 / (n + z^2), exactly where no verdict differs.
    """
    shortest = 100 * 3.8415 / (ours["n"] + 3.8415)
    same = (ours["change"] == 0) & (ours["change high"] < 1.001 * shortest)
    return ours.iloc[:, 0][same].astype(str).tolist()


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
    """Make a table of our rows beside the paper's rows of the same label, in any case, then the paper's other rows.

    Where the paper names a model for each row, ours stands beside it only if our run asked that model (`same_engine`);
    else the paper's row stands by itself, under the name that the paper prints. Where all of its rows are of one model,
    the head of its column names it. `columns` says for each of our columns which of the paper's stand beside it; by
    default those of the same name.
    """
    pairs = _pairs(ours, published, label, columns)
    theirs = published.frame().convert_dtypes()
    matched = [_row_beside(ours.iloc[[row]], theirs, label, stamp) for row in range(len(ours))]
    _check_matched(matched, theirs, published)
    right = theirs.reindex([*matched, *theirs.index.difference(matched)]).reset_index(drop=True)
    table = ours.astype(dict.fromkeys(ours.select_dtypes("integer"), "Int64"))
    table = table.reset_index(drop=True).reindex(right.index)
    table[label] = table[label].fillna(right["printed" if "model" in theirs else "label"])
    intervals = _intervals(ours)
    for name, several in pairs.items():
        last = intervals[name][1] if name in intervals else name
        place = list(table).index(last) + 1
        for column in reversed(several):
            table.insert(place, f"{published.engine}: {column}", right[column])
    if "model" in theirs:
        table[f"{published.paper}: model"] = right["model"]
    if "run" in ours:
        table["run"] = table.pop("run")
    if "EX" not in published.metric:
        stamp = replace(stamp, ex="")  # the table has another metric
    captioned = alone(ours, stamp, title or published.title, _origin(published), note)
    return replace(captioned, frame=table)


def _origin(published: Published) -> str:
    what = " on ".join(filter(None, (published.model, published.benchmark)))
    origin = measured(what, published.n, published.metric)
    return f"{published.paper}, {published.source}: {origin}. {published.note}".strip()


def _pairs(
    ours: pd.DataFrame,
    published: Published,
    label: str,
    columns: Mapping[str, str | tuple[str, ...]] | None,
) -> dict[str, tuple[str, ...]]:
    """Return for each of our columns those of the paper beside it; refuse what does not fit."""
    names = list(map(str, ours))
    if not columns:
        columns = {name: name for name in names if name in published.columns}
    pairs: dict[str, tuple[str, ...]] = {}
    wanted: list[str] = []
    for name, theirs in columns.items():
        pairs[name] = (theirs,) if isinstance(theirs, str) else theirs
        wanted.extend(pairs[name])
    where = f"{published.paper}, {published.source}"
    if not pairs or len(set(wanted)) < len(wanted):
        raise BadInputError(
            f"{where} has the columns {', '.join(published.columns)} and ours {', '.join(names)}: say with `columns`"
            " which belong together, each of the paper's beside one of ours"
        )
    for name in (label, *pairs):
        one_of(names, **{f"our column {name}": name})
    for name in wanted:
        one_of(published.columns, **{f"column {name} of {published.source}": name})
    return pairs


def _row_beside(ours: pd.DataFrame, theirs: pd.DataFrame, label: str, stamp: Stamp) -> int:
    """Return the paper's row beside one row of ours, -1 without one."""
    asked = stamp.of(ours).models.split(", ")
    name = _words(ours[label].iloc[0])
    for row, their_label in enumerate(theirs["label"]):
        if _words(their_label) != name:
            continue
        if "model" not in theirs or _same_models(theirs["model"][row], asked):
            return row
    return -1


def _check_matched(matched: list[int], theirs: pd.DataFrame, published: Published) -> None:
    for row in matched:
        if row >= 0 and matched.count(row) > 1:
            raise BadInputError(
                f"two of our rows are {theirs['label'][row]!r} of {published.paper}, {published.source}:"
                " give one of them another label"
            )


def _same_models(printed: Any, asked: list[str]) -> bool:
    """Say whether our run's first model is the row's, and each other model that the row names was asked."""
    if pd.isna(printed):
        return False
    engines = str(printed).split(", ")
    is_first = any(same_engine(engine, asked[0]) for engine in engines)
    for engine in engines:
        if not any(same_engine(engine, model) for model in asked):
            return False
    return is_first


def _words(name: object) -> list[str]:
    return re.findall(r"\w+", shown(name).casefold().replace("_", " "))
