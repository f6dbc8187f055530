"""Figures of accuracy: by feature or database, of two systems, against cost, against a size."""

from collections import Counter
from math import inf
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from workbench.errors import BadInputError, one_of
from workbench.evaluate import stats
from workbench.report import style
from workbench.report.names import leaders, ordered, shown
from workbench.report.published import Published
from workbench.report.stamp import question_ids, runs
from workbench.report.style import (
    BLUE,
    GREY,
    ONE,
    PALE,
    SMALL,
    TWO,
    Looks,
    Picture,
    blank,
    finish,
    logarithmic,
    name_rows,
    need,
    percent,
    printed_look,
    series,
    spread,
)
from workbench.report.tables import ResultTable, sentence, share

_COSTS = {"calls": "model calls", "tokens": "tokens", "dollars": "US dollars"}
_SIZES = {"columns": "columns in the schema", "tests": "unit tests per question"}
_FEWEST = 10  # questions of a row that is drawn
# Columns by which `trace` finds answers.
_TRACED = {"system", "generator", "db_id", "difficulty"}
# The word and the colour for an interval of a difference, by what `stats.decide` says of it.
_DECISIONS = {
    "holds": ("better", BLUE),
    "fails": ("worse", style.RED),
    "not decided": ("not decided", GREY),
}


def accuracies(questions: DataFrame, by: list[str]) -> DataFrame:
    """Return EX in percent with its interval for each combination of values of some columns.

    A question whose value is a list counts for each value in it.
    """
    need(questions, "correct", "db_id", *by)
    for column in by:
        questions = questions.explode(column)
    rows = []
    for values, part in questions.groupby(by, sort=False):
        row = dict(zip(by, values, strict=True)) | share(part["correct"], part["db_id"])
        row["run"] = runs(part)
        # By these `trace` finds the answers that the row counts. `questions` may be those chosen or
        # candidates, of one sample or all; and `by` may be a column that `trace` does not know.
        if "chosen" in part:
            row["counted"] = "all"
        if "sample" in part and len(set(part["sample"])) == 1:
            row["sample"] = part["sample"].iloc[0]
        if "question_id" in part and not _TRACED.issuperset(by):
            row["question_ids"] = question_ids(part)
        rows.append(row)
    return DataFrame(rows)


@style.settings
def accuracy_by(
    questions: DataFrame, by: str, label: str, *, stamp: object
) -> Picture | ResultTable:
    """Draw EX with its interval by SQL feature, difficulty or database; a mark for each `label`.

    A row of fewer than ten questions is left out, unless all are, and the figure says so. Where EX
    is the same everywhere, a table says so.
    """
    data = accuracies(questions, [by, label])
    if _is_flat(data):
        return sentence(f"EX is {data['EX'].iloc[0]:.0f}% in every row", data, stamp)
    count_of = data.groupby(by)["n"].max()
    is_small = count_of < _FEWEST
    few = count_of[is_small]
    drawn = data
    if not is_small.all():
        drawn = data[~data[by].isin(few.index)]
    rows = ordered(drawn[by])
    parts = series(drawn, label)
    row_high = max(0.2, 0.1 + 0.1 * len(parts))
    wide = TWO if len(parts) > 2 else ONE
    figure, axes = blank(0.65 + row_high * len(rows), wide)
    _draw_intervals(axes, parts, by, rows)
    name_rows(axes, [f"{row} (N = {count_of[row]:,})" for row in rows], 30)
    percent(axes.xaxis, "EX with 95% interval")

    title = _title_of_rows(drawn.groupby(by)["EX"].mean())
    note = "Intervals are clustered by database."
    if by == "db_id":
        note = "Intervals are over the questions of each database."
    if len(drawn) < len(data):
        left_out = [f"{shown(name)} ({count})" for name, count in few.items()]
        note += (
            f" Left out, with fewer than {_FEWEST} questions: {', '.join(left_out)}."
        )
    return finish(figure, data, stamp, title, note, beside=True)


def _is_flat(rows: DataFrame) -> bool:
    return len(rows) > 1 and len(set(rows["EX"])) == 1


def _title_of_rows(means: "pd.Series[float]") -> str:
    return (
        f"EX is lowest for {leaders(-means)}, {means.min():.0f}% on average, "
        f"and highest for {leaders(means)}, {means.max():.0f}%"
    )


def _draw_intervals(
    axes: Axes, parts: dict[str, DataFrame], by: str, rows: list[Any]
) -> None:
    """Draw in each row a mark with its interval for each part, one below the other."""
    looks = style.looks(parts)
    step = 0.8 / len(parts)
    below = step / 2 - 0.4  # of the first mark, from the middle of the row
    for name, part in parts.items():
        places = part[by].map(rows.index) + below
        ends = spread(part)
        axes.errorbar(
            part["EX"],
            places,
            xerr=ends,
            ls="",
            ms=5,
            **looks[name].mark,
        )
        below += step
    for row in range(1, len(rows)):
        axes.axhline(row - 0.5, color=PALE, linewidth=0.5)


def differences(questions: DataFrame, against: str | None = None) -> DataFrame:
    """Return each system minus the one `against`, by default the first, on the same questions."""
    need(questions, "question_id", "db_id", "correct", "system")
    data = stats.differences(questions, against)
    pairs = data[["system", "against"]].to_numpy().tolist()
    data["run"] = [runs(questions[questions["system"].isin(pair)]) for pair in pairs]
    return data


@style.settings
def paired_differences(
    questions: DataFrame, against: str | None = None, *, stamp: object
) -> Picture | ResultTable:
    """Draw the `differences`: intervals and McNemar's exact p, both over questions.

    Blue is better, red worse, and grey not decided: the interval holds 0. Where no verdict differs,
    there is no interval. A pale interval is clustered by database; with fewer than ten databases
    the figure says that there is none.
    """
    data = differences(questions, against)
    base = style.text(shown(data["against"].iloc[0]), 40)
    if not data[["won", "lost"]].any(axis=None):
        return sentence(f"No verdict differs from those of {base}", data, stamp)
    figure, axes = blank(0.45 + 0.2 * len(data), TWO)
    axes.axvline(0, color=GREY, linewidth=0.8)
    decided: Counter[str] = Counter()
    for place, row in enumerate(data.to_dict("records")):
        way, ink = _DECISIONS[stats.decide(row["low"], row["high"])]
        decided[way] += 1
        _draw_difference(axes, place, row, ink)
    name_rows(axes, data["system"].tolist(), 33)
    axes.set_xlabel(f"EX minus that of {base}, percentage points")

    counts = [
        f"{decided[way]} {way}" for way, _ in _DECISIONS.values() if way in decided
    ]
    title = f"Beside {base}: {', '.join(counts)}"
    clusters = "The pale ones are clustered by database"
    if "clustered low" not in data:
        databases = questions["db_id"].nunique()
        clusters = stats.too_few(databases)
    note = f"Intervals: 95%, over questions, paired. {clusters}."
    return finish(figure, data, stamp, title, note)


def _draw_difference(axes: Axes, place: int, row: dict[Any, Any], ink: str) -> None:
    """Draw a difference with its intervals, and write its numbers beside it."""
    numbers = "no verdict differs"
    if row["won"] or row["lost"]:
        if "clustered low" in row:
            axes.hlines(place, row["clustered low"], row["clustered high"], PALE, lw=5)
        axes.hlines(place, row["low"], row["high"], ink)
        axes.plot(row["difference"], place, "o", color=ink)
        numbers = "{difference:+.1f}  won {won}, lost {lost}, p = {p_value:.3g}"
        numbers = numbers.format_map(row).replace("-", "\N{MINUS SIGN}")
    else:
        axes.plot(0, place, "o", color=GREY, mfc="white")
    beside = axes.get_yaxis_transform()
    axes.text(1.02, place, numbers, transform=beside, va="center", fontsize=SMALL)


@style.settings
def pareto(
    rows: DataFrame, cost: str = "tokens", *, per: str = "", stamp: object
) -> Picture:
    """Draw accuracy against cost, and the frontier: filled marks, which no cheaper system beats.

    `rows` have `system`, EX in percent, `low` and `high`, and calls, tokens or dollars `per`
    question or benchmark. The column `best` of the data says which systems are the frontier.
    """
    one_of(_COSTS, cost=cost)
    need(rows, "system", "EX", cost)
    data = rows.reset_index(drop=True)
    data = data.sort_values([cost, "EX"], ascending=[True, False])
    best_of_cheaper = data["EX"].astype(float).cummax().shift(fill_value=-inf)
    data["best"] = data["EX"] > best_of_cheaper
    known = data.dropna(subset=cost)
    if known.empty:
        raise BadInputError(
            f"no row has its {cost}: the price of the model may be unknown"
        )

    figure, axes = blank(2.4, TWO)
    _draw_costs(axes, known, cost, style.looks(rows["system"]))
    best = known[known["best"]]
    line: Any = {"color": PALE, "linewidth": 2, "label": "frontier (filled marks)"}
    axes.step(best[cost], best["EX"], where="post", zorder=0, **line)
    if known[cost].min() > 0:
        logarithmic(axes)
    unit = _COSTS[cost]
    if per:
        unit += f" per {style.text(per, 30)}"
    axes.set_xlabel(unit)
    percent(axes.yaxis, "EX with 95% interval")

    top = best.iloc[-1]
    amount = "{:,.0f}" if top[cost] >= 1000 else "{:.4g}"
    price = amount.format(top[cost])
    system = style.text(shown(top["system"]), 40)
    title = f"{system} is most accurate, {top['EX']:.1f}%, with {price} {unit}"
    in_our_order = data.sort_index()
    return finish(figure, in_our_order, stamp, title, beside=True)


def _draw_costs(axes: Axes, known: DataFrame, cost: str, looks: Looks) -> None:
    """Draw the marks, those of the frontier filled; through the others those behind are seen."""
    for name, mark in known.groupby("system", sort=False):
        look = looks[str(name)]
        ground = look.colour if mark["best"].all() else "none"
        axes.errorbar(
            mark[cost], mark["EX"], spread(mark), ls="", ms=7, mfc=ground, **look.mark
        )


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
    one_of(_SIZES, x=x)
    need(points, x, "EX", label or x)
    if _is_flat(points):
        title = f"EX is {points['EX'].iloc[0]:.1f}% whatever the number of {x}"
        return sentence(title, points, stamp)
    parts = series(points.sort_values(x), label)
    figure, axes = blank(1.9, TWO if len(parts) > 2 else ONE)
    _draw_lines(axes, parts, x)
    sizes = {*points[x]}
    if paper is not None:
        theirs = _printed_points(paper, x)
        axes.plot(theirs[x], theirs["printed EX"], **printed_look(paper))
        sizes.update(theirs[x])
    percent(axes.yaxis, "EX with 95% interval")
    axes.set_xlabel(_SIZES[x])
    if x == "columns":
        logarithmic(axes)
        axes.set_xticks(list(sizes), [f"{size:,}" for size in sizes])
    else:
        axes.xaxis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10], integer=True))
    changes = [part["EX"].iloc[-1] - part["EX"].iloc[0] for part in parts.values()]
    title = _title_of(x, points[x], changes)
    return finish(figure, points, stamp, title, beside=True)


def _draw_lines(axes: Axes, parts: dict[str, DataFrame], x: str) -> None:
    looks = style.looks(parts)
    # The legend has the order in which the lines end.
    for name in sorted(parts, key=lambda name: -parts[name]["EX"].iloc[-1]):
        part, look = parts[name], looks[name]
        pale = style.fill(look.colour)
        axes.errorbar(part[x], part["EX"], spread(part), ecolor=pale, **look.mark)


def _title_of(x: str, sizes: "pd.Series[int]", changes: list[float]) -> str:
    least = sizes.min()
    most = sizes.max()
    if least == most:
        return f"EX with {least:,} {x}"
    by = f"{min(changes):+.0f}"
    highest = f"{max(changes):+.0f}"
    if by != highest:
        by = f"{by} to {highest}"
    title = f"From {least:,} to {most:,} {x} EX changes by {by} points"
    return title.replace("-", "\N{MINUS SIGN}")


def _printed_points(paper: Published, x: str) -> DataFrame:
    """Return a paper's points: its rows are named after `x`, or have a column of that name."""
    rows = paper.frame().drop(columns="printed")
    if x not in rows:
        rows[x] = pd.to_numeric(rows["label"])
    return rows.melt(["label", x], value_name="printed EX").dropna()
