"""The best and the worst accuracy of a selection among k candidates: CHASE-SQL's figure 2.

The bounds are exact expectations over all choices of k candidates (`evaluate.stats`).
"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from workbench.evaluate import stats
from workbench.report.drawing import lettering, palette
from workbench.report.drawing.palette import BLACK, Look
from workbench.report.drawing.style import ONE, TWO, Picture, canvas, need, runs
from workbench.report.figures.marks import by_series, legend, line_key, percent

TOGETHER = "all together"
_FIRST = (
    "A bound is the mean over all choices of k candidates. A selected point is one run, on the first k, and may lie"
    " outside: at k = 1 there is nothing to select."
)
_SIDES = {"upper": ("-", "^"), "lower": ((0, (4, 2)), "v")}  # line and marker of each bound


def bounds(trials: pd.DataFrame, by: str = "generator") -> pd.DataFrame:
    """Upper and lower bound in percent for every k, by a column's values, and for all rows together."""
    need(trials, "question_id", "correct", by)
    groups = {str(name): trials[trials[by] == name] for name in palette.ordered(trials[by])}
    if len(groups) > 1:
        groups[TOGETHER] = trials
    rows = []
    for name, group in groups.items():
        verdicts = {str(q): right.tolist() for q, right in group.groupby("question_id")["correct"]}
        found = stats.bounds(verdicts).assign(run=runs(group), counted="all")
        found.insert(0, by, name)
        rows.append(found)
    return pd.concat(rows, ignore_index=True)


def bounds_by_generator(
    trials: pd.DataFrame, selected: pd.DataFrame | None = None, *, stamp: object
) -> Picture:
    """Figure 2, a to c: a panel for each generator and one for all, with both bounds and the selector's EX.

    `selected` has the columns `generator` ("all together" for all), `k` and `EX`, in percent.
    """
    data = bounds(trials)
    if selected is not None:
        need(selected, "generator", "k", "EX")
        picked = selected[["generator", "k", "EX"]].rename(columns={"EX": "selected"})
        data = data.merge(picked, on=["generator", "k"], how="left")
    parts = by_series(data, "generator")
    looks = palette.looks(parts)
    across = min(2, len(parts))
    down = -(-len(parts) // across)
    curve_selected = (
        selected is not None and (data["selected"].notna() & (data["k"] < data["k"].max())).any()
    )
    wide, high = TWO if across > 1 else ONE, 0.1 + 1.75 * down
    with canvas(wide, high, data, stamp, _FIRST if curve_selected else "") as figure:
        panels = figure.subplots(down, across, squeeze=False, sharey=True).ravel()
        for axes in panels[len(parts) :]:
            axes.remove()
        for axes, (name, part) in zip(panels, parts.items(), strict=False):
            _band(axes, part, looks[name].colour)
            axes.set_title(lettering.text(palette.shown(name), 210), loc="left")
            if "selected" in part:
                picked = part.dropna(subset="selected")
                axes.plot(picked["k"], picked["selected"], color=BLACK, marker="D", linestyle=":")
        _label_axes(figure)
        black = palette.look(TOGETHER)
        keys = {f"{side} bound": line_key(black, *drawn) for side, drawn in _SIDES.items()}
        if selected is not None:
            keys["selected"] = line_key(black, ":", "D")
        legend(figure, keys)
    return figure


def bounds_by_difficulty(trials: pd.DataFrame, by: str = "difficulty", *, stamp: object) -> Picture:
    """Figure 2d: the upper and the lower bound of all candidates by difficulty."""
    data = bounds(trials, by)
    parts = by_series(data, by)
    looks = palette.looks(parts)
    with canvas(TWO, 2.0, data, stamp) as figure:
        for axes, side in zip(figure.subplots(1, 2, sharey=True), _SIDES, strict=True):
            for number, (name, part) in enumerate(parts.items()):
                # Marks of lines that lie on each other stand at different k.
                every = max(1, len(part) // 8)
                marks = (number % every, every)
                axes.plot(part["k"], part[side], **looks[name].curve, markevery=marks)
            axes.set_title(f"{side} bound", loc="left")
        _label_axes(figure)
        legend(figure, {name: line_key(look) for name, look in looks.items()})
    return figure


def _band(axes: Axes, part: pd.DataFrame, colour: str) -> None:
    axes.fill_between(part["k"], part["lower"], part["upper"], color=colour, alpha=0.12)
    for side, (line, marker) in _SIDES.items():
        look = Look(colour, marker, "", line)
        axes.plot(part["k"], part[side], **look.curve, markevery=max(1, len(part) // 8))


def _label_axes(figure: Picture) -> None:
    for axes in figure.axes:
        axes.set_xlabel("candidates k")
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
        axes.set_xlim(left=0.5)
        axes.grid(axis="y")
        percent(axes, "y", "EX")
