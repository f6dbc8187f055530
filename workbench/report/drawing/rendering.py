"""A frame as an HTML or Markdown table: rounded, intervals beside their numbers, all text escaped.

All text may come from databases and models. Where a page has MathJax, `$` would be typeset as mathematics, so
tables carry the class that tells MathJax to ignore them.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from numbers import Real
from typing import Any

import pandas as pd

from workbench.html.parts import Html, line, written
from workbench.html.tree import Element, Node, element, escape, visible
from workbench.report.drawing.palette import shown

Cell = tuple[str, str]
"""The text of a cell, and its interval."""

PAPERS = ": "
"""Separates the paper from the column in the name of each column with a paper's numbers."""
_MANY = 9  # a table with more columns is set more tightly
_BEHIND = {"run", "question_ids", "counted"}  # columns for `trace`, which only the CSV has


def bounds_of(name: str, names: Sequence[str]) -> tuple[str, ...]:
    """The two columns with the interval of a column, if they come right after it."""
    index = list(names).index(name)
    after = tuple(names[index + 1 : index + 3])
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
        """HTML with its own style."""
        names, words, rows = _grid(self.frame)
        body = []
        for row in rows:
            head, *others = zip(names, row, strict=True)
            cells = [_html_cell("td", *one, words) for one in others]
            body.append(element("tr", _html_cell("th", *head, words), *cells))
        table = element(
            "table",
            element("caption", self.title),
            element("thead", *_html_head(names, words, self.heads)),
            element("tbody", *body),
            class_="numbers dense" if len(names) > _MANY else "numbers",
        )
        return written(table, *map(line, self.caption), label=self.title, kind="wb-table")

    def to_markdown(self) -> str:
        """Markdown as GitHub renders it."""
        names, words, rows = _grid(self.frame)
        table = [
            _markdown_row(": ".join(self.heads.get(name, (name,))) for name in names),
            "|" + "|".join(":--" if name in words else "--:" for name in names) + "|",
            *(
                _markdown_row(f"{text} ({aside})" if aside else text for text, aside in r)
                for r in rows
            ),
        ]
        below = (f"{_markdown(text)}  " for text in self.caption)  # two blanks break a line
        return "\n".join([f"**{_markdown(self.title)}**", "", *table, "", *below])

    _repr_html_ = to_html


def _grid(frame: pd.DataFrame) -> tuple[list[str], set[str], list[list[Cell]]]:
    """The shown columns, those of them that hold words, and the rows."""
    every = [str(name) for name in frame.columns]
    bounds = {name: bounds_of(name, every) for name in every}
    hidden = _BEHIND.union(*bounds.values())
    names = [name for name in every if name not in hidden]
    values = {name: frame[name].tolist() for name in every}
    values[names[0]] = [shown(v) if isinstance(v, str) else v for v in values[names[0]]]
    words = {n for n in names if not all(_missing(v) or _is_number(v) for v in values[n])}
    columns: list[list[Cell]] = []
    for name in names:
        if name in words:
            columns.append([("" if _missing(value) else str(value), "") for value in values[name]])
            continue
        write = partial(_number, decimals=_decimals(values[name]))
        sides = zip(*(values[bound] for bound in bounds[name]), strict=True)
        asides = [" to ".join(map(write, side)) for side in sides] or [""] * len(frame)
        columns.append(
            [
                (write(value), "" if _missing(value) else aside)
                for value, aside in zip(values[name], asides, strict=True)
            ]
        )
    return names, words, [list(row) for row in zip(*columns, strict=True)]


def _html_head(
    names: Sequence[str], words: set[str], heads: Mapping[str, tuple[str, str]]
) -> list[Element]:
    """One row of names, or two if neighbours have a common head."""

    def th(text: str, name: str, rowspan: str | None = None) -> Element:
        first, *rest = text.split("/")
        parts: list[Node] = [first]
        for part in rest:
            parts += ["/", element("wbr"), part]  # a long name may wrap after a slash
        kind = "words" if name in words else None
        return element("th", *parts, scope="col", class_=kind, rowspan=rowspan)

    if not any(name in heads for name in names):
        return [element("tr", *(th(name, name) for name in names))]
    above: list[Element] = []
    below: list[Element] = []
    for (head, alone), group in groupby(
        names, lambda name: (heads[name][0], "") if name in heads else ("", name)
    ):
        if alone:
            above.append(th(alone, alone, rowspan="2"))
            continue
        under = list(group)
        span = str(len(under))
        above.append(element("th", head, scope="colgroup", class_="over", colspan=span))
        below += [th(heads[name][1], name) for name in under]
    return [element("tr", *above), element("tr", *below)]


def _html_cell(tag: str, name: str, cell: Cell, words: set[str]) -> Element:
    text, interval = cell
    scope = "row" if tag == "th" else None
    if name in words:
        return element(tag, text, scope=scope, class_="words")
    aside = element("span", f"({interval})", class_="interval") if interval else None
    whose = "paper" if PAPERS in name else None
    number = element("span", text)
    return element(tag, number, " " if aside else None, aside, scope=scope, class_=whose)


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_markdown, cells))} |"


def _markdown(text: str) -> str:
    return escape(backslashed(text))


def backslashed(text: str) -> str:
    """The text on one line, with a backslash before each character that is a mark in Markdown, HTML's aside."""
    return visible(re.sub(r"([\\`*_{}\[\]$|~#])", r"\\\1", " ".join(text.split())))


def _missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _decimals(column: Sequence[Any]) -> int:
    """No decimals for counts, one or two if that loses nothing, else by the size of the values."""
    values = [abs(value) for value in column if not _missing(value)]
    if all(isinstance(value, int) for value in values):
        return 0
    for decimals in (1, 2):
        if all(value == round(value, decimals) for value in values):
            return decimals
    top = max(value for value in values if math.isfinite(value))
    return 1 if top >= 10 else 2 if top >= 0.1 else 1 - math.floor(math.log10(top))


def _number(value: Any, decimals: int) -> str:
    if _missing(value):
        return ""
    least = 10**-decimals
    return f"<{least:.{decimals}f}" if 0 < value < least / 2 else f"{value:,.{decimals}f}"
