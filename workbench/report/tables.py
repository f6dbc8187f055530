"""Tables of our numbers, alone or beside the paper's: intervals beside numbers, all text escaped.

All text may come from databases and models. Where a page has MathJax, `$` would be typeset as mathematics, so tables
carry the class that tells MathJax to ignore them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import floor, log10
from typing import Any

import pandas as pd

from workbench.canonical import content_hash
from workbench.errors import BadInputError, one_of
from workbench.report.display import Html
from workbench.report.papers import Published, nearest_model
from workbench.report.stamp import Stamp, measured
from workbench.report.style import shown
from workbench.terminal import visible

_BEHIND = {"run", "question_ids", "counted"}  # columns for `trace`, which only the CSV has
_STYLE: Any = [
    {"selector": "caption", "props": "font-weight: 600; text-align: left; white-space: normal"},
    {
        "selector": "th, td",
        "props": "text-align: right; vertical-align: baseline; padding: .2em .6em",
    },
    {"selector": "thead th", "props": "vertical-align: bottom; max-width: 11em"},
    {"selector": ".level0:not(:empty)", "props": "text-align: center"},
    {"selector": "td", "props": "font-variant-numeric: tabular-nums; max-width: 32em"},
]
_LEFT = "text-align: left; white-space: pre-wrap"


def bounds_of(name: str, names: Sequence[str]) -> tuple[str, ...]:
    """The two columns with the interval of a column, if they come right after it."""
    place = list(names).index(name)
    after = tuple(names[place + 1 : place + 3])
    return after if after in {("low", "high"), (f"{name} low", f"{name} high")} else ()


@dataclass(frozen=True, slots=True, eq=False)
class ResultTable:
    """A frame with a title and lines that explain it.

    The frame has every number in full and the runs behind each row; it is written as the CSV. The displayed table is
    rounded, shows each interval beside its number, and leaves the runs out. The first column labels the rows. Columns
    `X low` and `X high` (or `low` and `high`) right after a column X are its interval.
    """

    title: str
    caption: tuple[str, ...]
    frame: pd.DataFrame
    heads: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """For a column: the head that it shares with its neighbours, and its own name below the head."""

    def to_html(self) -> Html:
        """HTML with its own style; every cell, head and line is escaped."""
        texts, words = self._texts()
        names = [tuple(map(visible, self.heads.get(name, ("", name)))) for name in map(str, texts)]
        flat = [below for _, below in names]
        texts.columns = pd.MultiIndex.from_tuples(names) if self.heads else pd.Index(flat)
        styler = texts.style.format(escape="html").format_index(escape="html", axis=1)
        left: Any = [{"selector": f".col{n}", "props": _LEFT} for n in words]
        styler.set_table_styles(_STYLE + left)
        styler.set_table_attributes('class="mathjax_ignore tex2jax_ignore"')
        styler.set_uuid(content_hash("table", [self.title, *texts.to_numpy().tolist()])[-8:])
        styler.hide(axis="index").set_caption(Html.escape(self.title))
        lines = Html("").join(Html("<p>{}</p>").format(line) for line in self.caption)
        section = Html('<section class="mathjax_ignore tex2jax_ignore">{}{}</section>')
        return section.format(Html(styler.to_html()), lines)

    def to_markdown(self) -> str:
        """Markdown as GitHub renders it."""
        texts, words = self._texts()
        sides = ["left" if number in words else "right" for number in range(len(texts.columns))]
        names = [markdown(": ".join(self.heads.get(name, (name,)))) for name in map(str, texts)]
        texts = texts.map(markdown).set_axis(names, axis=1)
        rows = texts.to_markdown(index=False, colalign=sides, disable_numparse=True)
        below = "\n".join(f"{markdown(line)}  " for line in self.caption)  # two blanks break a line
        return f"**{markdown(self.title)}**\n\n{rows}\n\n{below}"

    _repr_html_ = to_html

    def _texts(self) -> tuple[pd.DataFrame, list[int]]:
        """The shown cells as text, and the places of the columns that hold words."""
        every = list(map(str, self.frame))
        bounds = {name: bounds_of(name, every) for name in every}
        hidden = _BEHIND.union(*bounds.values())
        cells: dict[str, list[str]] = {}
        words = []
        for name in (name for name in every if name not in hidden):
            column = self.frame[name]
            numbers = pd.to_numeric(column, errors="coerce")
            if column.dtype == bool or numbers[column.notna()].isna().any():
                words.append(len(cells))
                write: Callable[[Any], str] = str if cells else shown
                cells[name] = [visible(write(one)) for one in column.where(column.notna(), "")]
                continue
            write = partial(_number, decimals=_decimals(numbers))
            cells[name] = list(map(write, numbers))
            if bounds[name]:
                low, high = (map(write, self.frame[bound]) for bound in bounds[name])
                trio = zip(cells[name], low, high, strict=True)
                cells[name] = [mean and f"{mean} ({least} to {most})" for mean, least, most in trio]
        return pd.DataFrame(cells, index=range(len(self.frame))), words


def markdown(text: str) -> str:
    """The text on one line, with a backslash before each mark of Markdown and HTML."""
    return visible(re.sub(r"([\\`*_{}\[\]$|~#<>&])", r"\\\1", " ".join(text.split())))


def _decimals(column: "pd.Series[Any]") -> int:
    """No decimals for counts, one or two if that loses nothing, else by the size of the values."""
    values = column.dropna().abs()
    if pd.api.types.is_integer_dtype(column) or values.empty:
        return 0
    for decimals in (1, 2):
        if (values == values.round(decimals)).all():
            return decimals
    top = values[values != float("inf")].max()
    return 1 if top >= 10 else 2 if top >= 0.1 else 1 - floor(log10(top))


def _number(value: Any, decimals: int) -> str:
    if pd.isna(value):
        return ""
    least = 10**-decimals
    return f"<{least:.{decimals}f}" if 0 < value < least / 2 else f"{value:,.{decimals}f}"


def alone(ours: pd.DataFrame, stamp: Stamp, title: str, note: str = "") -> ResultTable:
    """A table of our numbers alone."""
    return ResultTable(title, tuple(filter(None, (_our_caption(ours, stamp.of(ours)), note))), ours)


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
    """Our rows beside the paper's rows of the same label, then the rows that only the paper has.

    Labels are compared by their words, in any case. Of the paper's rows with the same label, ours stands beside the one
    whose model is most like a model that the row's run asked. `columns` names the paper's columns to show beside each
    of ours; by default those of the same name. All of our columns stay. If the paper's rows are of several models, a
    column names them.
    """
    pairs = _pairs(ours, published, label, columns)
    theirs = published.frame().convert_dtypes()
    matched = [_row_beside(ours.iloc[[at]], theirs, label, stamp) for at in range(len(ours))]
    if (twice := pd.Series(matched, dtype="Int64").dropna()).duplicated().any():
        name = theirs["label"][twice[twice.duplicated()].iloc[0]]
        raise BadInputError(
            f"two of our rows are {name!r} of {published.paper}, {published.source}: give one of them another label"
        )
    rest = [row for row in theirs.index if row not in matched]
    left = ours.astype(dict.fromkeys(ours.select_dtypes("integer"), "Int64"))
    left = left.reset_index(drop=True).reindex(range(len(ours) + len(rest)))
    right = theirs.reindex([*(-1 if row is None else row for row in matched), *rest]).reset_index(
        drop=True
    )

    stamp = stamp.of(ours)
    heads: dict[str, tuple[str, str]] = {}
    parts = {label: left[label].fillna(right["label"])}
    names = list(map(str, ours))
    for name in names:
        if name in {label, "run"}:
            continue
        parts.setdefault(name, left[name])
        if name in pairs:
            parts |= {bound: left[bound] for bound in bounds_of(name, names)}
            heads[name] = (name, stamp.models)
        for one in pairs.get(name, ()):
            parts[f"{published.paper}: {one}"] = right[one]
            whose = published.paper if one == name else f"{published.paper}, {one}"
            heads[f"{published.paper}: {one}"] = (name, whose)
    if not published.model and "model" in published.columns:
        parts[f"{published.paper}: model"] = right["model"]
    if "run" in names:
        parts["run"] = left["run"]
    if "EX" not in published.metric:
        stamp = replace(stamp, ex="")  # the table has another metric
    what = f"{published.model} on {published.benchmark}" if published.model else published.benchmark
    paper = f"{published.paper}, {published.source}: {measured(what, published.n, published.metric)}. {published.note}"
    caption = tuple(filter(None, (_our_caption(ours, stamp), paper.strip(), note)))
    return ResultTable(title or published.title, caption, pd.DataFrame(parts), heads)


def _row_beside(ours: pd.DataFrame, theirs: pd.DataFrame, label: str, stamp: Stamp) -> int | None:
    """The paper's row beside one row of ours: that of its label and, of several, that of its model."""
    same = theirs[theirs["label"].map(_words) == _words(ours[label].iloc[0])]
    if same.empty:
        return None
    own = stamp.of(ours)
    models = same["model"].tolist() if "model" in same else [""] * len(same)
    return int(same.index[nearest_model(models, (own.model, *own.others))])


def _pairs(
    ours: pd.DataFrame,
    published: Published,
    label: str,
    columns: Mapping[str, str | tuple[str, ...]] | None,
) -> dict[str, tuple[str, ...]]:
    """The paper's columns to show beside each of ours; an error if one is missing or used twice."""
    names = list(map(str, ours))
    given = columns or {name: name for name in names if name in published.columns}
    pairs = {name: (one,) if isinstance(one, str) else one for name, one in given.items()}
    wanted = [one for several in pairs.values() for one in several]
    source = f"{published.paper}, {published.source}"
    if not pairs or len(set(wanted)) < len(wanted):
        raise BadInputError(
            f"{source} has the columns {', '.join(published.columns)} and ours {', '.join(names)}: say with `columns`"
            " which belong together, each of the paper's beside one of ours"
        )
    one_of(names, **{f"our column {name}": name for name in (label, *pairs)})
    one_of(published.columns, **{f"column {one} of {source}": one for one in wanted})
    return pairs


def _words(label: object) -> str:
    return re.sub(r"[\W_]+", " ", shown(label).casefold()).strip()


def _our_caption(ours: pd.DataFrame, stamp: Stamp) -> str:
    names = list(map(str, ours))
    intervals = any(bounds_of(name, names) for name in names)
    return f"Here: {stamp}." + (" Intervals: 95%, clustered by database." if intervals else "")
