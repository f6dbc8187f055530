"""Accuracies with their intervals, by system or slice; paired differences of systems; accuracy against cost or size."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from workbench.errors import BadInputError, one_of
from workbench.evaluate.stats import compare, mean_interval, too_few
from workbench.report import style
from workbench.report.figures.frames import need, question_ids, series
from workbench.report.stamp import runs
from workbench.report.style import ONE, PALE, TWO, Look, Picture, shown, text

# Columns by which `trace` finds the questions of a row.
_TRACED = {"system", "generator", "db_id", "difficulty"}
_COSTS = {"calls": "model calls", "tokens": "tokens", "dollars": "US dollars"}


def accuracies(questions: pd.DataFrame, by: str | Sequence[str] = "system") -> pd.DataFrame:
    """EX in percent with its interval for each value of one or more columns.

    A row whose column holds a list (a question's SQL features) counts for each of its values.
    """
    keys = [by] if isinstance(by, str) else list(by)
    need(questions, "correct", "db_id", *keys)
    for key in keys:
        questions = questions.explode(key)
    rows = []
    for names, part in questions.groupby(keys, sort=False):
        found = mean_interval(part["correct"].astype(float).tolist(), part["db_id"].tolist())
        ex = {"EX": 100 * found.mean, "low": 100 * found.low, "high": 100 * found.high}
        row = dict(zip(keys, names, strict=True)) | {"n": found.n} | ex | {"run": runs(part)}
        # Where a row's own columns do not determine the answers that it counts, these do for `trace`.
        if "chosen" in part:
            row["counted"] = "all"
        if "sample" in part and part["sample"].nunique() == 1:
            row["sample"] = part["sample"].iloc[0]
        if "question_id" in part and not _TRACED.issuperset(keys):
            row["question_ids"] = question_ids(part)
        rows.append(row)
    return pd.DataFrame(rows)


@style.settings
def accuracy_by(
    questions: pd.DataFrame, by: str = "feature", label: str | None = None, *, stamp: object
) -> Picture:
    """EX with its interval by SQL feature, difficulty or database; a mark for each value of `label`."""
    data = accuracies(questions, [by, label] if label else by)
    rows, parts, sizes = style.ordered(data[by]), series(data, label), data.groupby(by)["n"].max()
    looks, count = style.looks(parts), len(parts)
    figure, axes = style.canvas(ONE if count < 3 else TWO, 0.5 + len(rows) * (0.1 + 0.1 * count))
    for place, (name, part) in enumerate(parts.items()):
        at = part[by].map(rows.index) + (place - (count - 1) / 2) * 0.8 / count
        _intervals(axes, at, part, "EX", looks[name])
    style.name_rows(axes, rows)
    axes.set_yticks(range(len(rows)), [f"{text(row, 70)} (N = {sizes[row]:,})" for row in rows])
    for line in range(len(rows) - 1):
        axes.axhline(line + 0.5, color=PALE, linewidth=0.5)
    style.percent(axes, "x", "EX with 95% interval")
    axes.grid(axis="x")
    if label:
        marks = {name: style.line_key(look, linestyle="none") for name, look in looks.items()}
        style.legend(figure, marks)
    return style.finish(figure, data, stamp)


def _intervals(axes: Axes, at: Any, rows: pd.DataFrame, value: str, look: Look) -> None:
    """Dots with their intervals `low` to `high`, at places on the vertical axis."""
    ends = [rows[value] - rows["low"], rows["high"] - rows[value]]
    dots: dict[str, Any] = {"fmt": look.marker, "color": look.colour, "markersize": 5}
    axes.errorbar(rows[value], at, xerr=ends, elinewidth=1.2, **dots)


def differences(questions: pd.DataFrame, against: str | None = None) -> pd.DataFrame:
    """Each system minus the one `against` (by default the first) on the same questions, in points."""
    need(questions, "question_id", "db_id", "correct", "system")
    names = list(dict.fromkeys(questions["system"]))
    base = names[0] if against is None else against
    if base not in names or len(names) < 2:
        given = ", ".join(map(str, names))
        raise BadInputError(f"the rows have the system {given}: give two or more, one {base!r}")
    verdicts = {
        name: dict(zip(part["question_id"], part["correct"].astype(float), strict=True))
        for name, part in questions.groupby("system", sort=False)
    }
    clusters = dict(zip(questions["question_id"], questions["db_id"], strict=True))
    rows = []
    for name in names:
        if name == base:
            continue
        found = compare(verdicts[name], verdicts[base], clusters)
        points = {"difference": found.difference, "low": found.low, "high": found.high}
        row = {"system": name, "against": base} | {key: 100 * x for key, x in points.items()}
        row |= {"p_value": found.p_value, "won": len(found.won), "lost": len(found.lost)}
        pale = [100 * end for end in found.clustered or ()]
        row |= dict(zip(("clustered low", "clustered high"), pale, strict=False))
        both = questions[questions["system"].isin([name, base])]
        rows.append(row | {"n": found.n, "run": runs(both)})
    return pd.DataFrame(rows)


@style.settings
def paired_differences(
    questions: pd.DataFrame, against: str | None = None, *, stamp: object
) -> Picture:
    """The `differences` as a figure: intervals and McNemar's exact p, both over questions.

    The pale interval is clustered by database. With fewer than ten databases there is none, and the figure says so.
    """
    data = differences(questions, against)
    few = "" if "clustered low" in data else f"{too_few(questions['db_id'].nunique())}."
    figure, axes = style.canvas(TWO, 0.6 + 0.24 * len(data))
    axes.axvline(0, color=style.GREY, linewidth=0.8)
    for place, look in enumerate(style.looks(data["system"].tolist()).values()):
        if not few:
            pale = data.loc[place, ["clustered low", "clustered high"]]
            axes.plot(pale, [place, place], color=PALE, linewidth=4, solid_capstyle="butt")
        _intervals(axes, [place], data.iloc[[place]], "difference", look)
    style.name_rows(axes, data["system"].tolist(), 160)
    aside = axes.secondary_yaxis("right")
    notes = [
        f"{row['difference']:+.1f}  won {row['won']}, lost {row['lost']}, p = {row['p_value']:.3g}"
        for row in data.to_dict("records")
    ]
    aside.set_yticks(range(len(data)), [note.replace("-", "\N{MINUS SIGN}") for note in notes])
    aside.tick_params(length=0, labelsize=style.SMALL)
    aside.spines["right"].set_visible(False)
    base = text(shown(data["against"].iloc[0]), 180)
    axes.set_xlabel(f"EX minus that of {base}, percentage points")
    axes.grid(axis="x")
    return style.finish(figure, data, stamp, few)


def frontier(rows: pd.DataFrame, cost: str = "tokens") -> pd.DataFrame:
    """The rows with a column `best`: False if another row is better at no higher cost."""
    need(rows, "EX", cost)
    ordered = rows.sort_values([cost, "EX"], ascending=[True, False], kind="stable")
    before = ordered["EX"].astype(float).cummax().shift(fill_value=float("-inf"))
    return rows.assign(best=(ordered["EX"] > before).reindex(rows.index))


@style.settings
def pareto(rows: pd.DataFrame, cost: str = "tokens", *, per: str = "", stamp: object) -> Picture:
    """Accuracy against cost, with intervals, and the frontier: filled marks, which no cheaper system beats.

    `rows` have `system`, EX in percent, `low` and `high`, and calls, tokens or dollars. `per` is the unit of the cost:
    "question" or "benchmark". A mark of nearly the same cost as another stands at its right.
    """
    one_of(_COSTS, cost=cost)
    need(rows, "system", "EX", cost)
    data = frontier(rows.reset_index(drop=True), cost)
    known = data[data[cost].notna()].sort_values([cost, "EX"])
    if known.empty:
        raise BadInputError(f"no row has its {cost}: the price of the model may be unknown")
    costs = known[cost].to_numpy(dtype=float)
    logarithmic = bool(costs[0] > 0 and costs[-1] >= 10 * costs[0])
    at = np.log10(costs) if logarithmic else costs.copy()
    gap = 0.025 * (at[-1] - at[0] or 1)
    for place in range(1, len(at)):
        at[place] = max(at[place], at[place - 1] + gap)
    at = 10**at if logarithmic else at
    looks, keys = style.looks(data["system"].tolist()), {}
    figure, axes = style.canvas(TWO, 2.4)
    best = known["best"].to_numpy(dtype=bool)
    axes.step(at[best], known["EX"][best], where="post", color=PALE, linewidth=2, zorder=0)
    for x, (_, row) in zip(at, known.iterrows(), strict=True):
        look = looks[row["system"]]
        face: dict[str, Any] = {"markerfacecolor": look.colour if row["best"] else "white", "markersize": 6}
        if {"low", "high"} <= {*known}:
            axes.vlines(x, row["low"], row["high"], color=look.colour, linewidth=1)
        axes.plot(x, row["EX"], look.marker, color=look.colour, **face)
        keys[row["system"]] = style.line_key(look, linestyle="none", **face)
    if logarithmic:
        _logarithmic(axes, at)
    axes.xaxis.set_major_formatter(FuncFormatter(_short))
    axes.set_xlabel(_COSTS[cost] + (f" per {text(per, 120)}" if per else ""))
    axes.grid()
    style.percent(axes, "y", "EX")
    keys["frontier (filled marks)"] = style.line_key(Look(PALE, ""), linewidth=2)
    style.legend(figure, keys, "right")
    moved = "A mark of nearly the same cost as another stands at its right."
    return style.finish(figure, data, stamp, moved if (at > costs * (1 + 1e-9)).any() else "")


def _logarithmic(axes: Axes, at: Any) -> None:
    """A logarithmic horizontal axis with a few round numbers."""
    low, high = min(at), max(at)
    axes.set_xscale("log")
    axes.set_xlim(low / 1.3, high * 1.3)
    subs = (1, 2, 5) if high < 50 * low else (1, 3) if high < 1000 * low else (1,)
    axes.xaxis.set_major_locator(LogLocator(subs=subs))
    axes.xaxis.set_minor_locator(NullLocator())


def _short(value: float, _: object) -> str:
    """A number of any size in a few characters."""
    units = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (0, ""))
    size, unit = next(one for one in units if abs(value) >= one[0])
    return f"{value / (size or 1):g}{unit}"


def accuracy_by_columns(points: pd.DataFrame, *, stamp: object) -> Picture:
    """CHESS's figure 3: EX against the number of columns, on a logarithmic axis; a line for each `metric`.

    Columns `columns`, `EX` and `metric`; `low` and `high` are drawn where they are given.
    """
    return _lines(points, "columns", "metric", "columns in the schema", stamp)


def accuracy_by_tests(points: pd.DataFrame, label: str | None = None, *, stamp: object) -> Picture:
    """CHESS's figure 4: EX against the number of unit tests: columns `tests` and `EX`, `low` and `high`."""
    return _lines(points, "tests", label, "unit tests per question", stamp)


@style.settings
def _lines(points: pd.DataFrame, x: str, label: str | None, x_label: str, stamp: object) -> Picture:
    need(points, x, "EX", *([label] if label else []))
    parts = series(points, label)
    looks, many, sizes = style.looks(parts), len(parts) > 2, sorted(points[x].unique())
    figure, axes = style.canvas(TWO if many else ONE, 1.9)
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
    if x == "columns":
        _logarithmic(axes, sizes)
        if len(sizes) <= 7 and all(b >= 1.5 * a for a, b in pairwise(sizes)):
            axes.set_xticks(sizes)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    for place, (name, rows) in enumerate(parts.items()):
        part, look = rows.sort_values(x), looks[name]
        at = part[x]
        if "low" in part and many:  # bands would hide each other
            at = at * 1.03 ** (place - (len(parts) - 1) / 2) if x == "columns" else at
            axes.vlines(at, part["low"], part["high"], color=look.colour, linewidth=0.8)
        elif "low" in part:
            axes.fill_between(at, part["low"], part["high"], color=look.colour, alpha=0.12, lw=0)
        axes.plot(at, part["EX"], **look.curve)
    style.percent(axes, "y", "EX")
    axes.set_xlabel(x_label)
    axes.grid(axis="y")
    if label:
        keys = {name: style.line_key(look) for name, look in looks.items()}
        style.legend(figure, keys, "right" if many else "above")
    return style.finish(figure, points, stamp)
