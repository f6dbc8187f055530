"""The questions that one generator alone solves: CHASE-SQL's figures 3b and 5.

They are drawn as bars, and few questions as a table, since bars would exaggerate one or two questions.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from workbench.report.drawing import lettering, palette
from workbench.report.drawing.style import ONE, Picture, canvas, need, runs
from workbench.report.figures.marks import bar_key, counts, grouped_bars, legend, rows_high
from workbench.report.figures.overlap import solved

_FEW, _COLUMNS = 10, 5  # fewer questions than 10, of at most 5 generators, are a table
_WHITE = {"facecolor": "white", "linewidth": 0, "pad": 1}


def unique_solves(
    trials: pd.DataFrame, by: str = "difficulty", *, alone: bool = True, stamp: object
) -> Picture:
    """Figures 3b (by difficulty) and 5 (by `db_id`): questions that one generator alone solves.

    Unless `alone`, every question that the generator solves counts.
    """
    need(trials, by)
    wide = solved(trials)
    if alone:
        wide = wide[wide.sum(axis=1) == 1]
    where = trials.drop_duplicates("question_id").set_index("question_id")[by]
    rows = palette.ordered(where)
    names = [str(name) for name in solved(trials)]
    here = where.reindex(wide.index)
    counted = []
    for row, name in product(rows, names):
        theirs = wide.index[(here == row) & wide[name]]
        line = {by: row, "generator": name, "n": len(theirs), "run": runs(trials)}
        counted.append(line | {"question_ids": " ".join(map(str, theirs)), "counted": "all"})
    data = pd.DataFrame(counted)
    looks = palette.looks(names)
    each = {name: data.loc[data["generator"] == name, "n"].tolist() for name in names}
    what = "questions it alone solves" if alone else "questions it solves"
    if data["n"].max() < _FEW and len(names) <= _COLUMNS:
        return _counted(data, rows, each, what, stamp)
    with canvas(ONE, rows_high(len(rows), len(names)), data, stamp) as figure:
        axes = figure.subplots()
        grouped_bars(axes, rows, each, looks)
        counts(axes, what)
        legend(figure, {name: bar_key(looks[name]) for name in names})
    return figure


def _counted(
    data: pd.DataFrame,
    rows: Sequence[object],
    each: Mapping[str, Sequence[int]],
    what: str,
    stamp: object,
) -> Picture:
    """The numbers as a table, under the names of the generators."""
    names, looks = list(each), palette.looks(each)
    lines = [*zip(*each.values(), strict=True), tuple(map(sum, each.values()))]
    labels = [*rows, "all"] if len(rows) > 1 else list(rows)
    with canvas(ONE, 0.3 + 0.17 * (len(names) + len(labels)), data, stamp) as figure:
        axes = figure.subplots()
        axes.set_axis_off()
        # The names of the columns stand one above the other, each with a line down to its numbers.
        top = len(names) + 0.2
        small: dict[str, Any] = {"fontweight": "bold", "fontsize": lettering.SMALL}
        axes.text(0, len(names) - 0.5, what, va="center", **small)
        left = 0.97 - 0.11 * (len(names) - 1)
        for column, name in enumerate(names):
            at, over = left + 0.11 * column, column - 0.5
            label = lettering.text(palette.shown(name), 230 * at - 12)
            axes.plot([at, at], [over + 0.5, len(names) - 0.2], color=palette.PALE, linewidth=0.5)
            axes.plot(at, over + 0.25, looks[name].marker, color=looks[name].colour, markersize=5)
            axes.text(at - 0.03, over + 0.25, label, va="center", ha="right", bbox=_WHITE)
        for line, (row, numbers) in enumerate(zip(labels, lines, strict=False)):
            weight = "bold" if line == len(rows) else "normal"
            named = lettering.text(palette.shown(row), 110)
            axes.text(0, top + line + 0.5, named, va="center", fontweight=weight)
            for column, number in enumerate(numbers):
                middle: dict[str, Any] = {"va": "center", "ha": "center", "fontweight": weight}
                axes.text(left + 0.11 * column, top + line + 0.5, f"{number:,}", **middle)
        axes.set(xlim=(0, 1), ylim=(top + len(labels), -0.5))
    return figure
