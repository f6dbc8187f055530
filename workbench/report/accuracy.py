"""Figures of accuracy: by feature or database, of two systems, against cost, and against a size."""

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import to_rgba
from matplotlib.ticker import FuncFormatter
from pandas import DataFrame

from workbench.errors import BadInputError, one_of
from workbench.evaluate import stats
from workbench.report import style
from workbench.report.names import ordered, shown
from workbench.report.published import Published
from workbench.report.stamp import question_ids, runs
from workbench.report.style import ONE, TWO, Picture, series
from workbench.report.tables import ResultTable, sentence

_COSTS = {"calls": "model calls", "tokens": "tokens", "dollars": "US dollars"}
_FEWEST = 10  # questions of a row that is drawn


def accuracies(questions: DataFrame, by: list[str]) -> DataFrame:
    """Return EX in percent with its interval for each combination of values of some columns.

    A question whose value is a list counts for each value in it.
    """
    style.need(questions, "correct", "db_id", *by)
    for key in by:
        questions = questions.explode(key)
    rows = []
    for names, part in questions.groupby(by, sort=False):
        ex = stats.mean_interval(part["correct"].astype(float).tolist(), part["db_id"].tolist())
        row: dict[str, Any] = dict(zip(by, names, strict=True))
        row |= {"n": ex.n, "EX": 100 * ex.mean, "low": 100 * ex.low, "high": 100 * ex.high}
        row["run"] = runs(part)
        # By these `trace` finds the answers that the row counts, where the columns `by` do not tell them.
        if "chosen" in part:
            row["counted"] = "all"
        if "sample" in part and len(set(part["sample"])) == 1:
            row["sample"] = part["sample"].iloc[0]
        if "question_id" in part and set(by) - {"system", "generator", "db_id", "difficulty"}:
            row["question_ids"] = question_ids(part)
        rows.append(row)
    return DataFrame(rows)


@style.settings
def accuracy_by(questions: DataFrame, by: str, label: str, *, stamp: object) -> Picture:
    """Draw EX with its interval by SQL feature, difficulty or database; a mark for each `label`.

    A row of fewer than ten questions is left out, and the figure says so.
    """
    data = accuracies(questions, [by, label])
    count_of = data.groupby(by)["n"].max()
    few = count_of.index[count_of < _FEWEST]
    drawn = data if len(few) == len(count_of) else data[~data[by].isin(few)]
    rows = ordered(drawn[by])
    parts = series(drawn, label)
    looks = style.looks(parts)
    high = len(rows) * max(0.2, 0.1 + 0.1 * len(parts))
    figure, (axes,) = style.panels(0.65 + high, wide=TWO if len(parts) > 2 else ONE)
    offsets = np.linspace(-0.4, 0.4, 2 * len(parts) + 1)[1::2]
    for offset, (name, part) in zip(offsets, parts.items(), strict=True):
        places = part[by].map(rows.index) + offset
        axes.errorbar(part["EX"], places, xerr=style.spread(part), ls="", ms=5, **looks[name].mark)
    style.name_rows(axes, [f"{row} (N = {count_of[row]:,})" for row in rows], 30)
    lines, across = np.arange(0.5, len(rows) - 1), axes.get_yaxis_transform()
    axes.hlines(lines, 0, 1, style.PALE, linewidth=0.5, transform=across)
    style.percent(axes.xaxis, "EX with 95% interval")
    means = drawn.groupby(by)["EX"].mean()
    title = f"EX is lowest for {shown(means.idxmin())}, {means.min():.0f}% on average, "
    title += f"and highest for {shown(means.idxmax())}, {means.max():.0f}%"
    if means.max() - means.min() < 0.5:
        title = f"EX is {means.mean():.0f}% in every row"
    notes = ["Intervals are over the questions of each database."]
    if by != "db_id":
        notes = ["Intervals are clustered by database."]
    if len(drawn) < len(data):
        left_out = ", ".join(f"{shown(name)} ({count_of[name]})" for name in few)
        notes.append(f"Left out, with fewer than {_FEWEST} questions: {left_out}.")
    return style.finish(figure, data, stamp, title, " ".join(notes))


def differences(questions: DataFrame, against: str | None = None) -> DataFrame:
    """Return each system minus the one `against` (by default the first) on the same questions, in points."""
    style.need(questions, "question_id", "db_id", "correct", "system")
    verdicts = {}
    for name, part in questions.groupby("system", sort=False):
        verdicts[name] = dict(zip(part["question_id"], part["correct"].astype(float), strict=True))
    base = next(iter(verdicts)) if against is None else against
    if base not in verdicts or len(verdicts) < 2:
        given = ", ".join(map(str, verdicts))
        raise BadInputError(
            f"the rows are of {given}: give two or more systems, one of them {base!r}"
        )
    clusters = dict(zip(questions["question_id"], questions["db_id"], strict=True))
    rows = []
    for name, theirs in verdicts.items():
        if name == base:
            continue
        paired = stats.compare(theirs, verdicts[base], clusters)
        row: dict[str, Any] = {"system": name, "against": base}
        row["difference"] = 100 * paired.difference
        row["low"], row["high"] = 100 * paired.low, 100 * paired.high
        row |= {"p_value": paired.p_value, "won": len(paired.won), "lost": len(paired.lost)}
        if paired.clustered:
            row["clustered low"], row["clustered high"] = (100 * end for end in paired.clustered)
        both = questions[questions["system"].isin([name, base])]
        rows.append(row | {"n": paired.n, "run": runs(both)})
    return DataFrame(rows)


@style.settings
def paired_differences(
    questions: DataFrame, against: str | None = None, *, stamp: object
) -> Picture | ResultTable:
    """Draw the `differences`: intervals and McNemar's exact p, both over questions.

    Blue is better, red worse, and grey not decided: the interval holds 0. Where no verdict differs, there is no
    interval. A pale interval is clustered by database; with fewer than ten databases the figure says that there is
    none.
    """
    data = differences(questions, against)
    base = style.text(shown(data["against"].iloc[0]), 40)
    differs = data["won"] + data["lost"] > 0
    if not differs.any():
        return sentence(f"No verdict differs from those of {base}", data, stamp)
    note = f"{stats.too_few(questions['db_id'].nunique())}."
    figure, (axes,) = style.panels(0.45 + 0.2 * len(data), wide=TWO)
    axes.axvline(0, color=style.GREY, linewidth=0.8)
    if "clustered low" in data:
        note = "The pale ones are clustered by database."
        ends = data[differs]
        axes.hlines(ends.index, ends["clustered low"], ends["clustered high"], style.PALE, lw=5)
    inks = pd.Series(style.GREY, data.index).mask(data["low"] > 0, style.BLUE)
    inks = inks.mask(data["high"] < 0, style.RED)
    beside = axes.get_yaxis_transform()
    for place, row in enumerate(data.to_dict("records")):
        told = "no verdict differs"
        if differs.iloc[place]:
            interval = style.spread(data.iloc[[place]], "difference")
            ink = inks.iloc[place]
            axes.errorbar(row["difference"], place, xerr=interval, fmt="o", color=ink)
            told = f"{row['difference']:+.1f}  won {row['won']}, lost {row['lost']}, "
            told += f"p = {row['p_value']:.3g}"
        else:
            axes.plot(0, place, "o", color=style.GREY, mfc="white")
        told = told.replace("-", "\N{MINUS SIGN}")
        axes.text(1.02, place, told, transform=beside, va="center", fontsize=style.SMALL)
    style.name_rows(axes, data["system"].tolist(), 33)
    axes.set_xlabel(f"EX minus that of {base}, percentage points")
    counts = inks.value_counts()
    ways = {style.BLUE: "better", style.RED: "worse", style.GREY: "not decided"}
    said = [f"{counts[ink]} {way}" for ink, way in ways.items() if ink in counts]
    title = f"Beside {base}: {', '.join(said)}"
    note = f"Intervals: 95%, over questions, paired. {note}"
    return style.finish(figure, data, stamp, title, note)


@style.settings
def pareto(rows: DataFrame, cost: str = "tokens", *, per: str = "", stamp: object) -> Picture:
    """Draw accuracy against cost, and the frontier: filled marks, `best`, which no cheaper system beats.

    `rows` have `system`, EX in percent, `low` and `high`, and calls, tokens or dollars `per` question or benchmark.
    A mark that lies on another one is smaller.
    """
    one_of(_COSTS, cost=cost)
    style.need(rows, "system", "EX", cost)
    data = rows.reset_index(drop=True).sort_values([cost, "EX"], ascending=[True, False])
    cheaper = data["EX"].astype(float).cummax().shift(fill_value=float("-inf"))
    data = data.assign(best=data["EX"] > cheaper)
    known = data.dropna(subset=cost)
    if known.empty:
        raise BadInputError(f"no row has its {cost}: the price of the model may be unknown")
    looks = style.looks(rows["system"])
    figure, (axes,) = style.panels(2.4, wide=TWO)
    before = known.iloc[:0]
    for place in range(len(known)):
        row = known.iloc[[place]]
        name = str(row["system"].iloc[0])
        near = before[cost].between(0.9 * row[cost].iloc[0], row[cost].iloc[0])
        near &= (before["EX"] - row["EX"].iloc[0]).abs() < 4
        face = looks[name].colour if row["best"].all() else "white"
        size = max(2.5, 9 - 2.5 * near.sum())
        axes.errorbar(
            row[cost],
            row["EX"],
            style.spread(row),
            ls="",
            mfc=face,
            ms=size,
            elinewidth=size / 6,
            zorder=3 + place,
            **looks[name].mark,
        )
        before = known.iloc[: place + 1]
    best = known[known["best"]]
    line: dict[str, Any] = {
        "color": style.PALE,
        "linewidth": 2,
        "zorder": 0,
        "label": "frontier (filled marks)",
    }
    axes.step(best[cost], best["EX"], where="post", **line)
    if known[cost].min() > 0:
        style.logarithmic(axes)
    axes.set_xlabel(f"{_COSTS[cost]} per {style.text(per, 30)}" if per else _COSTS[cost])
    style.percent(axes.yaxis, "EX with 95% interval")
    top = known.sort_values("EX", kind="stable").iloc[-1]
    spent = f"{top[cost]:,.0f}" if top[cost] >= 1000 else f"{top[cost]:,.3g}"
    title = f"{style.text(shown(top['system']), 40)} is most accurate, {top['EX']:.1f}%, "
    title += f"with {spent} {axes.get_xlabel()}"
    return style.finish(figure, data.sort_index(), stamp, title)


@style.settings
def accuracy_against(
    points: DataFrame,
    x: str,
    label: str = "",
    *,
    paper: Published | None = None,
    stamp: object,
) -> Picture | ResultTable:
    """Draw CHESS's figures 3 and 4: EX against `columns` or unit `tests`; a line for each `label`.

    The axis of `columns` is logarithmic. Where EX is the same everywhere, a table says so.
    """
    style.need(points, x, "EX", *([label] if label else []))
    what = f"unit {x} per question" if x == "tests" else f"{x} in the schema"
    if len(points) > 1 and len(set(points["EX"])) == 1:
        title = f"EX is {points['EX'].iloc[0]:.1f}% whatever the number of {x}"
        return sentence(title, points, stamp, *_printed_points(paper))
    parts = series(points.sort_values(x), label)
    looks = style.looks(parts)
    figure, (axes,) = style.panels(1.9, wide=TWO if len(parts) > 2 else ONE)
    for place, (name, part) in enumerate(parts.items()):
        # Intervals at the same place lie in each other, the last one thinnest.
        form: Any = {"elinewidth": 0.8 + 1.2 * (len(parts) - 1 - place)}
        pale = to_rgba(looks[name].colour, 0.35)
        axes.errorbar(
            part[x], part["EX"], style.spread(part), ecolor=pale, **form, **looks[name].mark
        )
    ticks = set(points[x])
    if paper is not None:
        theirs = _theirs(paper, x)
        axes.plot(theirs[x], theirs["EX"], **style.printed_look(paper))
        ticks |= set(theirs[x])
    if x == "columns":
        style.logarithmic(axes)
    axes.set_xticks(_apart(ticks, is_logarithmic=x == "columns"))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    style.percent(axes.yaxis, "EX with 95% interval")
    axes.set_xlabel(what)
    ends = [(part["EX"].iloc[0], part["EX"].iloc[-1]) for part in parts.values()]
    changes = sorted({round(last - first) for first, last in ends})
    least, most = points[x].min(), points[x].max()
    title = f"From {least:,} to {most:,} {x} EX changes by {changes[0]:+d}"
    title += f" to {changes[-1]:+d} points" if len(changes) > 1 else " points"
    if least == most:
        title = f"EX with {least:,} {x}"
    style.name_lines(axes, parts, looks, x, "EX")
    return style.finish(figure, points, stamp, title.replace("-", "\N{MINUS SIGN}"))


def _apart(ticks: set[int], *, is_logarithmic: bool) -> list[int]:
    """Return the ticks whose labels do not touch, the largest among them."""
    ordered_ticks = sorted(ticks)
    places = [math.log(tick) if is_logarithmic else tick for tick in ordered_ticks]
    gap = (places[-1] - places[0]) / 14
    kept: list[int] = []
    last = float("inf")
    for tick, place in sorted(zip(ordered_ticks, places, strict=True), reverse=True):
        if last - place >= gap:
            kept.append(tick)
            last = place
    return kept


def _theirs(paper: Published, x: str) -> DataFrame:
    """Return a paper's points: its rows are named after `x`, or have a column of that name."""
    rows = paper.frame()
    if x not in rows:
        rows[x] = rows["label"].astype(int)
    values = rows.drop(columns="printed").melt(["label", x], value_name="value").dropna()
    return values.rename(columns={"value": "EX"})


def _printed_points(paper: Published | None) -> list[str]:
    if paper is None:
        return []
    values = paper.frame().drop(columns="printed").melt("label", value_name="value").dropna()
    said = [
        f"{row}: {value:g}" for row, value in zip(values["label"], values["value"], strict=True)
    ]
    return [f"{paper.engine}, {paper.source}: {', '.join(said)}."]
