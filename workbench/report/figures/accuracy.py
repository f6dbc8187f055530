"""Accuracies with their intervals, by system or slice; paired differences of systems; accuracy against cost or size."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.ticker import MaxNLocator

from workbench.errors import BadInputError, one_of
from workbench.evaluate.stats import compare, mean_interval, too_few
from workbench.report import style
from workbench.report.stamp import question_ids, runs
from workbench.report.style import ONE, TWO, Look, Picture

# Columns by which `trace` finds the questions of a row.
_TRACED = {"system", "generator", "db_id", "difficulty"}
_COSTS = {"calls": "model calls", "tokens": "tokens", "dollars": "US dollars"}


def accuracies(questions: pd.DataFrame, by: str | Sequence[str] = "system") -> pd.DataFrame:
    """EX in percent with its interval for each value of one or more columns.

    A row whose column holds a list (a question's SQL features) counts for each of its values.
    """
    keys = [by] if isinstance(by, str) else list(by)
    style.need(questions, "correct", "db_id", *keys)
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
        if "sample" in part and len(set(part["sample"])) == 1:
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
    rows, parts = style.ordered(data[by]), style.series(data, label)
    sizes = data.groupby(by)["n"].max()
    looks, count = style.looks(parts), len(parts)
    figure, (axes,) = style.panels(ONE if count < 3 else TWO, 0.5 + len(rows) * (0.1 + 0.1 * count))
    for place, (name, part) in enumerate(parts.items()):
        at = part[by].map(rows.index) + (place - (count - 1) / 2) * 0.8 / count
        axes.errorbar(part["EX"], at, xerr=style.spread(part), ls="", ms=5, **looks[name].mark)
    style.name_rows(axes, [f"{row} (N = {sizes[row]:,})" for row in rows], 30)
    for line in range(len(rows) - 1):
        axes.axhline(line + 0.5, color=style.PALE, linewidth=0.5)
    style.percent(axes, "x", "EX with 95% interval")
    axes.grid(axis="x")
    if label:
        style.legend(figure, {name: style.line_key(look, "") for name, look in looks.items()})
    return style.finish(figure, data, stamp, "Intervals are clustered by database.")


def differences(questions: pd.DataFrame, against: str | None = None) -> pd.DataFrame:
    """Each system minus the one `against` (by default the first) on the same questions, in points."""
    style.need(questions, "question_id", "db_id", "correct", "system")
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
    for name in (name for name in names if name != base):
        found = compare(verdicts[name], verdicts[base], clusters)
        row: dict[str, Any] = {"system": name, "against": base}
        row |= {one: 100 * getattr(found, one) for one in ("difference", "low", "high")}
        row |= {"p_value": found.p_value, "won": len(found.won), "lost": len(found.lost)}
        if found.clustered:
            row["clustered low"], row["clustered high"] = (100 * end for end in found.clustered)
        both = questions[questions["system"].isin([name, base])]
        rows.append(row | {"n": found.n, "run": runs(both)})
    return pd.DataFrame(rows)


@style.settings
def paired_differences(
    questions: pd.DataFrame, against: str | None = None, *, stamp: object
) -> Picture:
    """The `differences` as a figure: intervals and McNemar's exact p, both over questions.

    The pale interval is clustered by database. With fewer than ten databases there is none, and the figure says so. A
    row has the colour of the system or generator in its name.
    """
    data = differences(questions, against)
    note = f"Intervals: 95%, over questions, paired. {too_few(questions['db_id'].nunique())}."
    figure, (axes,) = style.panels(TWO, 0.6 + 0.24 * len(data))
    axes.axvline(0, color=style.GREY, linewidth=0.8)
    if "clustered low" in data:
        note = "Intervals: 95%, over questions, paired; the pale ones are clustered by database."
        axes.hlines(data.index, data["clustered low"], data["clustered high"], style.PALE, lw=5)
    for place in data.index:
        row, ink = data.loc[[place]], style.colour(data["system"][place])
        ends = style.spread(row, "difference")
        axes.errorbar(row["difference"], [place], xerr=ends, fmt="o", color=ink)
    style.name_rows(axes, data["system"].tolist(), 33)
    aside = axes.secondary_yaxis("right")
    form = "{difference:+.1f}  won {won}, lost {lost}, p = {p_value:.3g}"
    notes = [form.format_map(row).replace("-", "\N{MINUS SIGN}") for row in data.to_dict("records")]
    aside.set_yticks(range(len(data)), notes)
    aside.tick_params(length=0, labelsize=style.SMALL)
    aside.spines["right"].set_visible(False)
    base = style.text(style.shown(data["against"].iloc[0]), 40)
    axes.set_xlabel(f"EX minus that of {base}, percentage points")
    axes.grid(axis="x")
    return style.finish(figure, data, stamp, note)


@style.settings
def pareto(rows: pd.DataFrame, cost: str = "tokens", *, per: str = "", stamp: object) -> Picture:
    """Accuracy against cost, with intervals, and the frontier: filled marks, which no cheaper system beats.

    `rows` have `system`, EX in percent, `low` and `high`, and calls, tokens or dollars. `per` is the unit of the cost:
    "question" or "benchmark". `data` has a column `best`: False if another row is better at no higher cost.
    """
    one_of(_COSTS, cost=cost)
    style.need(rows, "system", "EX", cost)
    data = rows.reset_index(drop=True)
    data = data.sort_values([cost, "EX"], ascending=[True, False], kind="stable")
    before = data["EX"].astype(float).cummax().shift(fill_value=float("-inf"))
    data = data.assign(best=data["EX"] > before).sort_index()
    known = data[data[cost].notna()].sort_values([cost, "EX"])
    if known.empty:
        raise BadInputError(f"no row has its {cost}: the price of the model may be unknown")
    at = known[cost].astype(float).tolist()
    for place in range(1, len(at)):
        at[place] = max(at[place], 1.12 * at[place - 1])
    moved = at != known[cost].tolist()
    known = known.assign(at=at)
    looks, keys = style.looks(data["system"].tolist()), {}
    figure, (axes,) = style.panels(TWO, 2.4)
    best = known[known["best"]]
    axes.step(best["at"], best["EX"], where="post", color=style.PALE, linewidth=2, zorder=0)
    for name, part in style.series(known, "system").items():
        face = {"mfc": looks[name].colour if part["best"].all() else "white", "ms": 6}
        look: dict[str, Any] = looks[name].mark | face
        axes.errorbar(part["at"], part["EX"], yerr=style.spread(part), linestyle="", **look)
        keys[name] = style.line_key(looks[name], "", **face)
    if known[cost].min() > 0:
        style.logarithmic(axes)
    axes.set_xlabel(_COSTS[cost] + (f" per {style.text(per, 30)}" if per else ""))
    axes.grid()
    style.percent(axes, "y", "EX")
    keys["frontier (filled marks)"] = style.line_key(Look(style.PALE, ""), linewidth=2)
    style.legend(figure, keys, right=True)
    note = "A mark of nearly the same cost as another stands at its right."
    return style.finish(figure, data, stamp, note if moved else "")


def accuracy_by_columns(points: pd.DataFrame, *, stamp: object) -> Picture:
    """CHESS's figure 3: EX against the number of `columns`, on a logarithmic axis; a line for each `metric`."""
    return _lines(points, "columns", "metric", "columns in the schema", stamp)


def accuracy_by_tests(points: pd.DataFrame, *, stamp: object) -> Picture:
    """CHESS's figure 4: EX against the number of unit `tests`."""
    return _lines(points, "tests", None, "unit tests per question", stamp)


@style.settings
def _lines(points: pd.DataFrame, x: str, label: str | None, x_label: str, stamp: object) -> Picture:
    style.need(points, x, "EX", *([label] if label else []))
    parts = style.series(points, label)
    looks, many = style.looks(parts), len(parts) > 2
    figure, (axes,) = style.panels(TWO if many else ONE, 1.9)
    for place, (name, rows) in enumerate(parts.items()):
        part = rows.sort_values(x)
        # On a logarithmic axis intervals stand beside each other.
        at = part[x] * (1.03 ** (place - (len(parts) - 1) / 2) if x == "columns" else 1)
        axes.errorbar(at, part["EX"], yerr=style.spread(part), elinewidth=0.8, **looks[name].mark)
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
    if x == "columns":
        style.logarithmic(axes)
    style.percent(axes, "y", "EX")
    axes.set_xlabel(x_label)
    axes.grid(axis="y")
    if label:
        keys = {name: style.line_key(look) for name, look in looks.items()}
        style.legend(figure, keys, right=many)
    return style.finish(figure, points, stamp)
