"""Accuracy against cost: a Pareto plot over calls, tokens or dollars."""

from collections.abc import Sequence
from math import exp, log
from typing import Any

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from workbench.errors import BadInputError
from workbench.report.drawing import lettering, palette
from workbench.report.drawing.style import TWO, Picture, canvas, need
from workbench.report.figures.marks import legend, percent, round_ticks, short

_MARK = 0.03  # the width of a mark, as a share of the axis
_AXES = {"calls": "model calls", "tokens": "tokens", "dollars": "US dollars"}


def frontier(rows: pd.DataFrame, cost: str = "tokens") -> pd.DataFrame:
    """The rows with a column `best`: False if another row is better at no higher cost."""
    need(rows, "EX", cost)
    ordered = rows.sort_values([cost, "EX"], ascending=[True, False], kind="stable")
    before = ordered["EX"].cummax().shift(fill_value=float("-inf"))
    return rows.assign(best=(ordered["EX"] > before).reindex(rows.index))


def pareto(rows: pd.DataFrame, cost: str = "tokens", *, per: str = "", stamp: object) -> Picture:
    """Accuracy against cost, with intervals, and the frontier: filled marks, which no cheaper system beats.

    `rows` are those of `Run.row`: `system`, EX in percent, `low` and `high`, calls, tokens, dollars. `per` is
    the unit of the cost: "question" or "benchmark". Marks of nearly the same cost stand side by side.
    """
    if cost not in _AXES:
        raise BadInputError(f"the cost is {cost!r}: give calls, tokens or dollars")
    need(rows, "system", "EX", cost)
    data = frontier(rows.reset_index(drop=True), cost)
    known = data[data[cost].notna()].sort_values("EX", ascending=False, kind="stable")
    if known.empty:
        raise BadInputError(f"no row has its {cost}: the price of the model may be unknown")
    names = [str(name) for name in known["system"]]
    looks = palette.looks(names)
    least, most = float(known[cost].min()), float(known[cost].max())
    logarithmic = least > 0 and most >= 10 * least
    drawn_at = _side_by_side(known[cost].tolist(), logarithmic=logarithmic)
    moved = any(abs(at - own) > 1e-9 * own for at, own in zip(drawn_at, known[cost], strict=True))
    note = "Marks of nearly the same cost are moved apart." if moved else ""
    with canvas(TWO, 2.5, data, stamp, note) as figure:
        axes = figure.subplots()
        best = known.assign(at=drawn_at)[known["best"].tolist()].sort_values("at")
        axes.step(best["at"], best["EX"], where="post", color=palette.PALE, linewidth=2, zorder=0)
        keys = {}
        for name, at, (_, row) in zip(names, drawn_at, known.iterrows(), strict=True):
            look = looks[name]
            face = look.colour if row["best"] else "white"
            if "low" in known and "high" in known:
                axes.vlines(at, row["low"], row["high"], color=look.colour, linewidth=1)
            drawn: dict[str, Any] = {"color": look.colour, "marker": look.marker, "mfc": face}
            axes.plot(at, row["EX"], markersize=6, **drawn)
            keys[name] = Line2D([], [], linestyle="none", markersize=6, **drawn)
        if logarithmic:
            round_ticks(axes)
        else:
            axes.set_xlim(-0.03 * (most or 1), 1.1 * (most or 1))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
        axes.set_xlabel(_AXES[cost] + (f" per {lettering.text(per, 120)}" if per else ""))
        axes.grid()
        percent(axes, "y", "EX")
        line = Line2D([], [], color=palette.PALE, linewidth=2)
        legend(figure, keys | {"frontier (filled marks)": line}, "right")
    return figure


def _side_by_side(values: Sequence[float], *, logarithmic: bool) -> list[float]:
    """The values in their order; values closer than a mark's width are moved apart around their mean."""
    scale = [log(value) if logarithmic else value for value in values]
    gap = _MARK * ((max(scale) - min(scale)) or 1.0)
    order = sorted(range(len(scale)), key=lambda index: scale[index])
    groups: list[list[int]] = []
    for index in order:
        if groups and scale[index] - scale[groups[-1][-1]] < gap:
            groups[-1].append(index)
        else:
            groups.append([index])
    for group in groups:
        middle = sum(scale[index] for index in group) / len(group)
        for number, index in enumerate(group):
            if len(group) > 1:
                scale[index] = middle + (number - (len(group) - 1) / 2) * gap
    return [exp(value) if logarithmic else value for value in scale]
