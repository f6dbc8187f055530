"""A frame as a reader sees it: rounded, intervals with their numbers, nothing that acts as markup.

All text may come from databases and models. `$` would be typeset as mathematics where a page has MathJax,
so tables carry the class that tells it to keep out.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from numbers import Real
from typing import Any

import pandas as pd

from workbench.report.markup import esc
from workbench.report.palette import shown

Heads = Mapping[str, tuple[str, str]]
Cell = tuple[str, str]
"""What is shown, and the interval that belongs to it."""

_MANY = 9  # columns; more of them stand closer
_BEHIND = {"run", "question_ids", "counted"}  # what leads back to the SQL; for the CSV alone
_CSS = """<style>
.workbench-table table { border-collapse: collapse; table-layout: auto; margin: 0.3em 0; font-size: 13px;
  font-variant-numeric: tabular-nums; }
.workbench-table caption { text-align: left; font-weight: bold; padding: 0.3em 0; }
.workbench-table th, .workbench-table td { text-align: right; vertical-align: baseline; white-space: normal;
  padding: 0.2em 0.7em; max-width: 32em; overflow-wrap: break-word; }
.workbench-table thead th { vertical-align: bottom; max-width: 11em; }
.workbench-table thead th.over { text-align: center; border-bottom: 1px solid #9996; }
.workbench-table thead { border-bottom: 1px solid #999; }
.workbench-table table th.words, .workbench-table table td.words { text-align: left; }
.workbench-table tbody th { font-weight: normal; }
.workbench-table span { white-space: nowrap; }
.workbench-table span.interval { opacity: 0.75; font-size: 92%; }
.workbench-table.wide th, .workbench-table.wide td { padding: 0.2em 0.25em; }
.workbench-table.wide table { font-size: 12px; }
.workbench-table.wide tr + tr th[scope=col] { font-size: 10px; }
.workbench-table.wide span.interval { display: block; font-size: 10px; }
.workbench-table p { margin: 0.1em 0; font-size: 12px; max-width: 72em; }
</style>"""


def bounds_of(name: str, names: Sequence[str]) -> tuple[str, ...]:
    """The two columns that hold the interval of a column, where they stand right after it."""
    place = list(names).index(name)
    after = tuple(names[place + 1 : place + 3])
    return after if after in {("low", "high"), (f"{name} low", f"{name} high")} else ()


def html_table(title: str, caption: Sequence[str], frame: pd.DataFrame, heads: Heads) -> str:
    """The table, its style and its caption as one piece of HTML."""
    names, words, rows = _grid(frame)
    body = "".join(
        "<tr>"
        + "".join(
            _html_cell("th" if place == 0 else "td", cell, name in words)
            for place, (name, cell) in enumerate(zip(names, row, strict=True))
        )
        + "</tr>\n"
        for row in rows
    )
    lines = "".join(f"<p>{esc(line)}</p>\n" for line in caption)
    wide = " wide" if len(names) > _MANY else ""
    return (
        f'<div class="workbench-table{wide} tex2jax_ignore mathjax_ignore">{_CSS}\n'
        f"<table><caption>{esc(title)}</caption>\n"
        f"<thead>{_html_head(names, words, heads)}</thead>\n<tbody>{body}</tbody></table>\n{lines}</div>"
    )


def markdown_table(title: str, caption: Sequence[str], frame: pd.DataFrame, heads: Heads) -> str:
    """The table as Markdown that GitHub renders."""
    names, words, rows = _grid(frame)
    table = [
        _markdown_row(": ".join(heads.get(name, (name,))) for name in names),
        "|" + "|".join(":--" if name in words else "--:" for name in names) + "|",
        *(_markdown_row(f"{text} ({aside})" if aside else text for text, aside in r) for r in rows),
    ]
    below = (f"{_markdown(line)}  " for line in caption)  # two blanks break a line
    return "\n".join([f"**{_markdown(title)}**", "", *table, "", *below])


def _grid(frame: pd.DataFrame) -> tuple[list[str], set[str], list[list[Cell]]]:
    """The columns that are shown, those of them that hold words, and the rows."""
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


def _html_head(names: Sequence[str], words: set[str], heads: Heads) -> str:
    """One row of names, or two where neighbours have a common head."""

    def th(text: str, name: str, more: str = "") -> str:
        kind = ' class="words"' if name in words else ""
        return f'<th scope="col"{kind}{more}>{esc(text).replace("/", "/<wbr>")}</th>'

    if not any(name in heads for name in names):
        return f"<tr>{''.join(th(name, name) for name in names)}</tr>"
    above, below = "", ""
    for (head, alone), group in groupby(
        names, lambda name: (heads[name][0], "") if name in heads else ("", name)
    ):
        if alone:
            above += th(alone, alone, ' rowspan="2"')
            continue
        under = list(group)
        above += f'<th scope="colgroup" class="over" colspan="{len(under)}">{esc(head)}</th>'
        below += "".join(th(heads[name][1], name) for name in under)
    return f"<tr>{above}</tr>\n<tr>{below}</tr>"


def _html_cell(tag: str, cell: Cell, words: bool) -> str:
    text, aside = (esc(part) for part in cell)
    scope = ' scope="row"' if tag == "th" else ""
    if words:
        return f'<{tag}{scope} class="words">{text}</{tag}>'
    interval = f' <span class="interval">({aside})</span>' if aside else ""
    return f"<{tag}{scope}><span>{text}</span>{interval}</{tag}>"


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_markdown, cells))} |"


def _markdown(text: str) -> str:
    return esc(re.sub(r"([\\`*_{}\[\]$|~#])", r"\\\1", " ".join(text.split())))


def _missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _decimals(column: Sequence[Any]) -> int:
    """No decimals for counts; one or two where they show all there is; else by the size."""
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
