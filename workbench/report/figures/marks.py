"""Parts that several figures share: bars, dots with intervals, legends, percent axes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, floor, log10
from typing import Any, Literal

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator, PercentFormatter

from workbench.report.drawing import lettering, palette
from workbench.report.drawing.palette import Look
from workbench.report.drawing.style import Picture

ROW = 0.145
"""The height of a bar with its number beside it, in inches."""


def by_series(rows: pd.DataFrame, label: str | None) -> dict[str, pd.DataFrame]:
    """The rows of each value of the column `label`; without a label, one series whose name is empty."""
    if label is None:
        return {"": rows}
    return {str(name): part for name, part in rows.groupby(label, sort=False)}


def rows_high(rows: int, bars: int = 1) -> float:
    """The height of axes with this many rows of this many bars, with room for the axis."""
    return 0.65 + rows * (bars * ROW + 0.06)


def name_rows(axes: Axes, names: Sequence[object], points: float = 110) -> None:
    """Name the rows of horizontal bars, the first one on top."""
    axes.set_yticks(range(len(names)), [lettering.text(name, points) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def grouped_bars(
    axes: Axes,
    rows: Sequence[object],
    series: Mapping[str, Sequence[float]],
    looks: Mapping[str, Look],
    form: str = "{:g}",
) -> None:
    """Horizontal bars, one of each series in every row, with their numbers at their ends."""
    high = 0.86 / len(series)
    for index, (name, values) in enumerate(series.items()):
        at = [row + (index - (len(series) - 1) / 2) * high for row in range(len(rows))]
        bars = axes.barh(at, values, high * 0.92, **looks[name].bar)
        numbers = ["" if value != value else form.format(value) for value in values]  # noqa: PLR0124  NaN
        axes.bar_label(bars, numbers, padding=2, fontsize=lettering.SMALL)
    name_rows(axes, rows)
    axes.grid(axis="x")


def interval(axes: Axes, row: float, low: float, value: float, high: float, look: Look) -> None:
    """A dot with its interval on a row; the dot alone if low or high is NaN."""
    axes.plot([low, high], [row, row], color=look.colour, linewidth=1.2, solid_capstyle="butt")
    axes.plot(value, row, look.marker, color=look.colour, markersize=5)


def percent(axes: Axes, which: Literal["x", "y"], label: str, *, whole: bool = False) -> None:
    """An axis in percent: from 0 to 100 if `whole`, else as far as the data reach."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(PercentFormatter(decimals=0))
    axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10], integer=True))
    set_limits = axes.set_xlim if which == "x" else axes.set_ylim
    if whole:
        set_limits(0, 112 if which == "x" else 100)  # room for the number beside a full bar
        axis.set_ticks(range(0, 101, 25))
    else:
        shared = axes.get_shared_x_axes() if which == "x" else axes.get_shared_y_axes()
        limits = [getattr(a.dataLim, f"interval{which}") for a in shared.get_siblings(axes)]
        low, high = min(low for low, _ in limits), max(high for _, high in limits)
        margin = max(2.5, (high - low) * 0.08)
        set_limits(max(-3.0, low - margin), min(103.0, high + margin))
    axis.set_label_text(label)


def counts(axes: Axes, label: str) -> None:
    """A horizontal axis of whole numbers from 0, with room for the numbers at the bars' ends."""
    most = max(1.0, float(axes.dataLim.x1))
    axes.set_xlim(0, most * 1.12)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10], integer=True))
    axes.set_xlabel(label)


def round_ticks(axes: Axes) -> None:
    """A logarithmic horizontal axis with a few round numbers on it, 1500 as 1.5k."""
    low, high = axes.dataLim.intervalx
    axes.set_xscale("log")
    axes.set_xlim(low / 1.3, high * 1.3)
    powers = range(floor(log10(low)) - 1, ceil(log10(high)) + 2)
    for digits in ((1, 2, 5), (1, 3), (1,)):
        ticks = [
            d * 10.0**p for p in powers for d in digits if low / 1.3 <= d * 10.0**p <= high * 1.3
        ]
        if len(ticks) <= 6:
            break
    axes.set_xticks(ticks[:: -(-len(ticks) // 6) or 1])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.xaxis.set_minor_locator(NullLocator())


def short(value: float) -> str:
    """A number of any size in a few characters."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def notes_beside(axes: Axes, notes: Sequence[str]) -> None:
    aside = axes.secondary_yaxis("right")
    aside.set_yticks(range(len(notes)), notes, fontsize=lettering.SMALL)
    aside.tick_params(length=0)
    aside.spines["right"].set_visible(False)


def bar_key(look: Look) -> Patch:
    """A bar's sign in the legend."""
    return Patch(facecolor=look.colour, hatch=look.hatch, edgecolor="white", linewidth=0)


def line_key(look: Look, line: Any = None, marker: str | None = None) -> Line2D:
    """A line's sign in the legend; a dot's if `line` is "none"."""
    look = replace(look, line=line or look.line, marker=marker or look.marker)
    return Line2D([], [], **look.curve)


def legend(
    figure: Picture, keys: Mapping[str, Any], side: Literal["above", "right"] = "above"
) -> None:
    """A legend outside the axes: above, in as many columns as fit, or at the right, beside many marks.

    The figure grows by the height of a legend above it.
    """
    inside = figure.get_figwidth() * 72 - 12
    room = inside / 2 if side == "right" else inside
    names = [lettering.text(palette.shown(name), room - 40) for name in keys]
    wide = [lettering.width(name) + 36 for name in names]
    columns = len(names) if side == "above" else 1
    while columns > 1 and _across(wide, columns) > inside:
        columns -= 1
    if side == "above":
        figure.set_figheight(figure.get_figheight() + 0.155 * -(-len(names) // columns))
    place: Any = "outside upper left" if side == "above" else "outside right upper"
    tight: dict[str, Any] = {"columnspacing": 1.2, "borderpad": 0, "borderaxespad": 0.5}
    figure.legend([*keys.values()], names, loc=place, ncols=columns, **tight)


def _across(wide: Sequence[float], columns: int) -> float:
    """The width of a legend that is filled column by column."""
    rows, longer = divmod(len(wide), columns)
    start, total = 0, 0.0
    for column in range(columns):
        end = start + rows + (column < longer)
        total += max(wide[start:end])
        start = end
    return total
