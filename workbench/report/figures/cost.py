"""Accuracy against cost: a Pareto plot over calls, tokens or dollars."""

import pandas as pd
from matplotlib.ticker import FuncFormatter

from workbench.errors import BadInputError
from workbench.report.drawing import lettering, palette
from workbench.report.drawing.style import ONE, Picture, canvas, need
from workbench.report.figures.marks import legend, line_key, percent, round_ticks, short

_AXES = {"calls": "model calls", "tokens": "tokens", "dollars": "US dollars"}


def frontier(rows: pd.DataFrame, cost: str = "tokens") -> pd.DataFrame:
    """The rows with a column `best`: False if another row is better at no higher cost."""
    need(rows, "EX", cost)
    ordered = rows.sort_values([cost, "EX"], ascending=[True, False], kind="stable")
    before = ordered["EX"].cummax().shift(fill_value=float("-inf"))
    return rows.assign(best=(ordered["EX"] > before).reindex(rows.index))


def pareto(
    rows: pd.DataFrame, cost: str = "tokens", label: str = "system", *, per: str = "", stamp: object
) -> Picture:
    """Accuracy against cost, with intervals; the line is the frontier.

    `rows` are those of `Run.row`: a name, EX in percent, `low` and `high`, calls, tokens, dollars. `per` is
    the unit of the cost: "question" or "benchmark".
    """
    if cost not in _AXES:
        raise BadInputError(f"the cost is {cost!r}: calls, tokens or dollars")
    need(rows, label, "EX", cost)
    data = frontier(rows.reset_index(drop=True), cost)
    known = data[data[cost].notna()]
    if known.empty:
        raise BadInputError(f"no row has its {cost}: the price of the model may be unknown")
    names = [str(name) for name in known[label]]
    looks = palette.looks(names)
    with canvas(ONE, 2.3, data, stamp) as figure:
        axes = figure.subplots()
        best = known[known["best"]].sort_values(cost)
        axes.step(best[cost], best["EX"], where="post", color=palette.PALE, linewidth=2, zorder=0)
        for name, (_, row) in zip(names, known.iterrows(), strict=True):
            look = looks[name]
            if "low" in known and "high" in known:
                axes.vlines(row[cost], row["low"], row["high"], color=look.colour, linewidth=1)
            axes.plot(row[cost], row["EX"], color=look.colour, marker=look.marker, markersize=6)
        least, most = known[cost].min(), known[cost].max()
        if least > 0 and most >= 10 * least:
            round_ticks(axes)
        else:
            axes.set_xlim(-0.03 * (most or 1), 1.1 * (most or 1))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
        axes.set_xlabel(_AXES[cost] + (f" per {lettering.text(per, 120)}" if per else ""))
        axes.grid()
        percent(axes, "y", "EX")
        legend(figure, {name: line_key(look, "none") for name, look in looks.items()})
    return figure
