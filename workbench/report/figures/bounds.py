"""The best and the worst that selection among k candidates can do: CHASE-SQL's figure 2.

The bounds are exact expectations over all choices of k candidates (`evaluate.bounds`).
"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from workbench.evaluate.bounds import curve
from workbench.report.drawing import lettering, palette
from workbench.report.drawing.palette import BLACK, Look
from workbench.report.drawing.style import ONE, TWO, Picture, canvas, need, runs
from workbench.report.figures.marks import legend, line_key, percent

TOGETHER = "all together"


def bounds(trials: pd.DataFrame, by: str = "generator") -> pd.DataFrame:
    """Upper and lower bound in percent for every k, by a column's values, and for all rows together."""
    need(trials, "question_id", "correct", by)
    groups = [(str(name), trials[trials[by] == name]) for name in palette.ordered(trials[by])]
    if len(groups) > 1:
        groups.append((TOGETHER, trials))
    return pd.DataFrame(
        [
            {by: name, "k": b.k, "lower": b.lower, "upper": b.upper}
            | {"run": runs(group), "counted": "all"}
            for name, group in groups
            for b in curve(
                {str(q): rows.tolist() for q, rows in group.groupby("question_id")["correct"]}
            )
        ]
    )


def bounds_by_generator(
    trials: pd.DataFrame, selected: pd.DataFrame | None = None, *, stamp: object
) -> Picture:
    """Figure 2, a to c: a panel for each generator and one for all, with both bounds and the selector's EX.

    `selected` has the columns `generator` ("all together" for all), `k` and `EX`, in percent.
    """
    data = bounds(trials)
    if selected is not None:
        need(selected, "generator", "k", "EX")
        data = data.merge(
            selected[["generator", "k", "EX"]].rename(columns={"EX": "selected"}),
            on=["generator", "k"],
            how="left",
        )
    names = data["generator"].unique().tolist()
    looks = palette.looks(names)
    across = min(2, len(names))
    down = -(-len(names) // across)
    with canvas(TWO if across > 1 else ONE, 0.1 + 1.75 * down, data, stamp) as figure:
        panels = figure.subplots(down, across, squeeze=False, sharey=True).ravel()
        for axes, name in zip(panels, names, strict=False):
            part = data[data["generator"] == name]
            _band(axes, part, looks[name])
            axes.set_title(lettering.text(palette.shown(name), 210), loc="left")
            if "selected" in part:
                picked = part.dropna(subset="selected")
                axes.plot(picked["k"], picked["selected"], color=BLACK, marker="D", linestyle=":")
        for axes in panels:
            percent(axes, "y", "EX")
        for axes in panels[len(names) :]:
            axes.remove()
        keys = {
            "upper bound": line_key(palette.look(TOGETHER), "-", "^"),
            "lower bound": line_key(palette.look(TOGETHER), (0, (4, 2)), "v"),
        }
        if selected is not None:
            keys["selected"] = line_key(palette.look(TOGETHER), ":", "D")
        legend(figure, keys)
    return figure


def bounds_by_difficulty(trials: pd.DataFrame, by: str = "difficulty", *, stamp: object) -> Picture:
    """Figure 2d: the upper and the lower bound of all candidates by difficulty."""
    data = bounds(trials, by)
    names = data[by].unique().tolist()
    looks = palette.looks(names)
    with canvas(TWO, 2.0, data, stamp) as figure:
        for axes, side in zip(figure.subplots(1, 2, sharey=True), ("upper", "lower"), strict=True):
            for name in names:
                part, look = data[data[by] == name], looks[name]
                axes.plot(
                    part["k"],
                    part[side],
                    color=look.colour,
                    linestyle=look.line,
                    marker=look.marker,
                    markevery=max(1, len(part) // 8),
                )
            axes.set_title(f"{side} bound", loc="left")
            _candidates(axes)
        for axes in figure.axes:
            percent(axes, "y", "EX")
        legend(figure, {name: line_key(looks[name]) for name in names})
    return figure


def _band(axes: Axes, part: pd.DataFrame, look: Look) -> None:
    every = max(1, len(part) // 8)
    axes.fill_between(part["k"], part["lower"], part["upper"], color=look.colour, alpha=0.12)
    axes.plot(part["k"], part["upper"], color=look.colour, marker="^", markevery=every)
    axes.plot(
        part["k"],
        part["lower"],
        color=look.colour,
        marker="v",
        linestyle=(0, (4, 2)),
        markevery=every,
    )
    _candidates(axes)


def _candidates(axes: Axes) -> None:
    axes.set_xlabel("candidates k")
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
    axes.set_xlim(left=0.5)
    axes.grid(axis="y")
