"""The papers' figures and a few more, by subject, and the numbers that they show.

A function that draws takes a tidy DataFrame and a `stamp`, whose text is the footer: the model, the benchmark, the
number of questions and the sense of EX. Its Picture has the numbers as `data`. There the columns `run`, `question_ids`
and `counted` ("all" for all candidates, else the chosen ones) lead `study.trace` from a row to the answers behind it.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from workbench.errors import BadInputError, one_of
from workbench.evaluate import stats
from workbench.report import style
from workbench.report.style import ONE, TWO, Look, Picture, question_ids, runs, series
from workbench.report.style import shown as shown  # noqa: PLC0414  exported
from workbench.sql.facts import features
from workbench.types import Schema, lower_name

TOGETHER = "all together"
SEVERAL = " & "  # joins the names of generators that solve a question together
RIGHT, LOST = "right one chosen", "right one there, another chosen"
NONE, WRONG_GOLD = "no right candidate", "gold is wrong"
_WAYS = {
    RIGHT: Look(RIGHT, style.BLUE),
    LOST: Look(LOST, style.ORANGE),
    NONE: Look(NONE, style.GREY),
    WRONG_GOLD: Look(WRONG_GOLD, style.PURPLE),
}

# Accuracies with their intervals; paired differences of systems; accuracy against cost or size.

_COSTS = {"calls": "model calls", "tokens": "tokens", "dollars": "US dollars"}


def accuracies(questions: DataFrame, by: list[str]) -> DataFrame:
    """EX in percent with its interval for each combination of values of some columns, of a list for each value in it."""
    style.need(questions, "correct", "db_id", *by)
    for key in by:
        questions = questions.explode(key)
    rows = []
    for names, part in questions.groupby(by, sort=False):
        found = stats.mean_interval(part["correct"].astype(float).tolist(), part["db_id"].tolist())
        ex = {"EX": 100 * found.mean, "low": 100 * found.low, "high": 100 * found.high}
        row = dict(zip(by, names, strict=True)) | {"n": found.n} | ex | {"run": runs(part)}
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
    """EX with its interval by SQL feature, difficulty or database; a mark for each value of `label`."""
    data = accuracies(questions, [by, label])
    rows, parts = style.ordered(data[by]), series(data, label)
    sizes, looks, count = data.groupby(by)["n"].max(), style.looks(parts), len(parts)
    high = 0.5 + len(rows) * (0.1 + 0.1 * count)
    figure, (axes,) = style.panels(high, wide=TWO if count > 2 else ONE)
    for place, (name, part) in enumerate(parts.items()):
        at = part[by].map(rows.index) + (place - (count - 1) / 2) * 0.8 / count
        axes.errorbar(part["EX"], at, xerr=style.spread(part), ls="", ms=5, **looks[name].mark)
    style.name_rows(axes, [f"{row} (N = {sizes[row]:,})" for row in rows], 30)
    lines, across = np.arange(0.5, len(rows) - 1), axes.get_yaxis_transform()
    axes.hlines(lines, 0, 1, style.PALE, linewidth=0.5, transform=across)
    style.percent(axes.xaxis, "EX with 95% interval")
    return style.finish(figure, data, stamp, "Intervals are clustered by database.")


def differences(questions: DataFrame, against: str | None = None) -> DataFrame:
    """Each system minus the one `against` (by default the first) on the same questions, in points."""
    style.need(questions, "question_id", "db_id", "correct", "system")
    verdicts = {
        name: dict(zip(part["question_id"], part["correct"].astype(float), strict=True))
        for name, part in questions.groupby("system", sort=False)
    }
    base = next(iter(verdicts)) if against is None else against
    if base not in verdicts or len(verdicts) < 2:
        given = ", ".join(map(str, verdicts))
        raise BadInputError(
            f"the rows are of {given}: give two or more systems, one of them {base!r}"
        )
    clusters = dict(zip(questions["question_id"], questions["db_id"], strict=True))
    rows = []
    for name in [name for name in verdicts if name != base]:
        found = stats.compare(verdicts[name], verdicts[base], clusters)
        row: dict[str, Any] = {"system": name, "against": base}
        row |= {one: 100 * getattr(found, one) for one in ("difference", "low", "high")}
        row |= {"p_value": found.p_value, "won": len(found.won), "lost": len(found.lost)}
        if found.clustered:
            row["clustered low"], row["clustered high"] = (100 * end for end in found.clustered)
        both = questions[questions["system"].isin([name, base])]
        rows.append(row | {"n": found.n, "run": runs(both)})
    return DataFrame(rows)


@style.settings
def paired_differences(
    questions: DataFrame, against: str | None = None, *, stamp: object
) -> Picture:
    """The `differences` as a figure: intervals and McNemar's exact p, both over questions.

    A pale interval is clustered by database; with fewer than ten databases the figure says that there is none.
    """
    data = differences(questions, against)
    note = f"{stats.too_few(questions['db_id'].nunique())}."
    figure, (axes,) = style.panels(0.6 + 0.24 * len(data), wide=TWO)
    axes.axvline(0, color=style.GREY, linewidth=0.8)
    if "clustered low" in data:
        note = "The pale ones are clustered by database."
        axes.hlines(data.index, data["clustered low"], data["clustered high"], style.PALE, lw=5)
    form = "{difference:+.1f}  won {won}, lost {lost}, p = {p_value:.3g}"
    for place, row in enumerate(data.to_dict("records")):
        ends = style.spread(data.loc[[place]], "difference")
        ink = style.colour(row["system"])
        axes.errorbar(row["difference"], place, xerr=ends, fmt="o", color=ink)
        said, at = form.format_map(row).replace("-", "\N{MINUS SIGN}"), axes.get_yaxis_transform()
        axes.text(1.02, place, said, transform=at, va="center", fontsize=style.SMALL)
    style.name_rows(axes, data["system"].tolist(), 33)
    base = style.text(shown(data["against"].iloc[0]), 40)
    axes.set_xlabel(f"EX minus that of {base}, percentage points")
    note = f"Intervals: 95%, over questions, paired. {note}"
    return style.finish(figure, data, stamp, note)


@style.settings
def pareto(rows: DataFrame, cost: str = "tokens", *, per: str = "", stamp: object) -> Picture:
    """Accuracy against cost, and the frontier: filled marks, `best` in `data`, which no cheaper system beats.

    `rows` have `system`, EX in percent, `low` and `high`, and calls, tokens or dollars `per` question or benchmark.
    """
    one_of(_COSTS, cost=cost)
    style.need(rows, "system", "EX", cost)
    data = rows.reset_index(drop=True).sort_values([cost, "EX"], ascending=[True, False])
    before = data["EX"].astype(float).cummax().shift(fill_value=float("-inf"))
    data = data.assign(best=data["EX"] > before)
    known = data.dropna(subset=cost)
    if known.empty:
        raise BadInputError(f"no row has its {cost}: the price of the model may be unknown")
    at = known[cost].astype(float).tolist()
    for place in range(1, len(at)):
        at[place] = max(at[place], 1.12 * at[place - 1])
    moved, known = at != known[cost].tolist(), known.assign(at=at)
    note = "A mark of nearly the same cost as another stands at its right." if moved else ""
    looks, best = style.looks(rows["system"]), known[known["best"]]
    figure, (axes,) = style.panels(2.4, wide=TWO)
    for name, part in series(known, "system").items():
        face = looks[name].colour if part["best"].all() else "white"
        axes.errorbar(part["at"], part["EX"], style.spread(part), ls="", mfc=face, ms=6, **looks[name].mark)  # fmt: skip
    label = "frontier (filled marks)"
    axes.step(best["at"], best["EX"], where="post", zorder=0, c=style.PALE, lw=2, label=label)
    if known[cost].min() > 0:
        style.logarithmic(axes)
    axes.set_xlabel(_COSTS[cost] + (f" per {style.text(per, 30)}" if per else ""))
    style.percent(axes.yaxis, "EX")
    return style.finish(figure, data.sort_index(), stamp, note)


@style.settings
def accuracy_against(points: DataFrame, x: str, label: str = "", *, stamp: object) -> Picture:
    """CHESS's figures 3 and 4: EX against `columns`, on a logarithmic axis, or unit `tests`; a line for each `label`."""
    style.need(points, x, "EX", *([label] if label else []))
    parts = series(points, label)
    looks = style.looks(parts)
    figure, (axes,) = style.panels(1.9, wide=TWO if len(parts) > 2 else ONE)
    for place, (name, rows) in enumerate(parts.items()):
        part = rows.sort_values(x)
        # On a logarithmic axis intervals stand beside each other.
        at = part[x] * (1.03 ** (place - (len(parts) - 1) / 2) if x == "columns" else 1)
        axes.errorbar(at, part["EX"], style.spread(part), elinewidth=0.8, **looks[name].mark)
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
    if x == "columns":
        style.logarithmic(axes)
    style.percent(axes.yaxis, "EX")
    axes.set_xlabel(f"unit {x} per question" if x == "tests" else f"{x} in the schema")
    return style.finish(figure, points, stamp)


# A question's candidates: how good the best choice could be, who solves what, and what became of each question.


def bounds(trials: DataFrame, by: str = "generator", *, first: bool = False) -> DataFrame:
    """Upper and lower bound in percent for every k, for each value of a column and for all rows together.

    A bound is the exact mean over all choices of k candidates or, with `first`, that of the first k.
    """
    style.need(trials, "question_id", "correct", by)
    groups = {str(name): trials[trials[by] == name] for name in style.ordered(trials[by])}
    if len(groups) > 1:
        groups[TOGETHER] = trials
    found = []
    for name, group in groups.items():
        verdicts = group.groupby("question_id")["correct"]
        if first:
            keyed = group.assign(k=verdicts.cumcount() + 1)
            right = keyed.pivot_table("correct", "question_id", "k", "max").astype(float)
            lower, upper = right.fillna(1).cummin(axis=1), right.fillna(0).cummax(axis=1)
            rows = 100 * DataFrame({"lower": lower.mean(), "upper": upper.mean()})
            rows = rows.reset_index()
        else:
            rows = stats.bounds({str(question): part.tolist() for question, part in verdicts})
        rows.insert(0, by, name)
        found.append(rows.assign(run=runs(group), counted="all"))
    return pd.concat(found, ignore_index=True)


_MEAN = "A bound is the mean over all choices of k candidates."


@style.settings
def bounds_by_generator(
    trials: DataFrame, selected: DataFrame | None = None, *, stamp: object
) -> Picture:
    """Figure 2, a to c: a panel for each generator and one for all, with both bounds and the selector's EX.

    `selected` has for each `generator` ("all together" for all) and `k` the `EX`, in percent, of the choice among the
    first k candidates. The bounds are then of the same candidates, so that EX lies between them.
    """
    data = bounds(trials, first=selected is not None)
    if selected is not None:
        style.need(selected, "generator", "k", "EX")
        picked = selected[["generator", "k", "EX"]].rename(columns={"EX": "selected"})
        data = data.merge(picked, on=["generator", "k"], how="left")
    parts = series(data, "generator")
    looks = style.looks(parts)
    figure, panels = style.panels(1.75, len(parts))
    for axes, (name, part) in zip(panels, parts.items(), strict=True):
        own = looks[name].colour
        axes.fill_between(part["k"], part["lower"], part["upper"], color=own, alpha=0.12, lw=0)
        for side, form in (("upper", "^-"), ("lower", "v--")):
            axes.plot(part["k"], part[side], form, c=own, label=f"{side} bound", markevery=0.1)
        if selected is not None:
            chosen = part.dropna(subset="selected")
            axes.plot(chosen["k"], chosen["selected"], "D:", c=style.BLACK, label="selected")
        axes.set_title(style.text(shown(name), 40))
    same = "Bounds and choice are of the same first k candidates."
    return _finished(figure, data, stamp, _MEAN if selected is None else same)


@style.settings
def bounds_by_difficulty(trials: DataFrame, *, stamp: object) -> Picture:
    """Figure 2d: the upper and the lower bound of all candidates by difficulty."""
    data = bounds(trials, "difficulty")
    parts = series(data, "difficulty")
    looks = style.looks(parts)
    figure, panels = style.panels(1.9, 2)
    for axes, side in zip(panels, ("upper", "lower"), strict=True):
        for number, (name, part) in enumerate(parts.items()):
            places = (0.02 * number, 0.1)  # lines that coincide have their marks side by side
            axes.plot(part["k"], part[side], markevery=places, **looks[name].mark)
        axes.set_title(f"{side} bound")
    return _finished(figure, data, stamp, _MEAN)


def _finished(figure: Picture, data: DataFrame, stamp: object, note: str) -> Picture:
    for axes in figure.axes:
        axes.set_xlabel("candidates k")
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
        axes.set_xlim(left=0.5)
        style.percent(axes.yaxis, "EX")
    return style.finish(figure, data, stamp, note)


def solved(frame: DataFrame) -> DataFrame:
    """A row for each question, a column for each generator: whether any of its candidates is right."""
    style.need(frame, "question_id", "correct", "generator")
    found = frame.pivot_table("correct", "question_id", "generator", "max", sort=False)
    return (found == 1)[frame["generator"].unique()]


@style.settings
def venn(frame: DataFrame, *, stamp: object) -> Picture:
    """Figure 3a: the questions that each of two or three generators solves at least once."""
    from matplotlib_venn import layout, venn2, venn3  # noqa: PLC0415  it imports SciPy

    wide, rows = solved(frame), []
    if len(wide.columns) not in {2, 3}:
        given = len(wide.columns)
        raise BadInputError(f"a Venn diagram shows two or three, not {given}: use `agreement`")
    for who in product((True, False), repeat=len(wide.columns)):  # the questions that these solve
        theirs = wide.index[(wide == list(who)).all(axis=1)]
        solvers = SEVERAL.join(map(str, wide.columns[list(who)]))
        row = {"solved_by": solvers, "n": len(theirs), "percent": 100 * len(theirs) / len(wide)}
        row |= {"run": runs(frame), "generator": SEVERAL.join(map(str, wide))}
        rows.append(row | {"question_ids": " ".join(map(str, theirs)), "counted": "all"})
    data = DataFrame(rows)
    draw, module = (venn3, layout.venn3) if len(rows) == 8 else (venn2, layout.venn2)
    # Circles to scale would hide small regions: the questions that one alone solves, which matter most.
    even = module.DefaultLayoutAlgorithm(fixed_subset_sizes=(1,) * (len(rows) - 1))
    looks = style.looks(wide).values()
    figure, (axes,) = style.panels(2.1)
    draw(
        [set(wide.index[right]) for _, right in wide.items()], None,
        [look.colour for look in looks], alpha=0.45, ax=axes, layout_algorithm=even,
        subset_label_formatter="{:,}".format,
    )  # fmt: skip
    for look in looks:
        axes.fill([], [], color=look.colour, label=look.label)
    none = "none: {n:,} of {of:,} ({percent:.1f}%)"
    axes.set_title(none.format_map(rows[-1] | {"of": len(wide)}))
    return style.finish(figure, data, stamp, "Questions; areas not to scale.")


def solved_alone(trials: DataFrame, by: str = "difficulty") -> DataFrame:
    """Figure 3b: for each value of `by` and each generator, the questions that this generator alone solves."""
    style.need(trials, by)
    wide = solved(trials)
    where = trials.drop_duplicates("question_id").set_index("question_id")[by]
    lone = wide[wide.sum(axis=1) == 1]
    rows = []
    for row, name in product(style.ordered(where), wide):
        theirs = lone.index[lone[name] & (where[lone.index] == row)]
        cells = {by: row, "generator": str(name), "n": len(theirs), "run": runs(trials)}
        rows.append(cells | {"question_ids": " ".join(map(str, theirs)), "counted": "all"})
    return DataFrame(rows)


@style.settings
def unique_solves(trials: DataFrame, by: str = "db_id", *, stamp: object) -> Picture:
    """Figure 5: the questions that one generator alone solves, by database."""
    data = solved_alone(trials, by)
    wide = data.pivot_table("n", by, "generator", "sum", sort=False)
    about: Any = {"label": "questions it alone solves", "data": data, "stamp": stamp}
    return style.bars(ONE, wide, style.looks(wide), counts=True, **about)


_TITLES = {"same verdict": "both right or both wrong", "row alone": "row right, column wrong"}


@style.settings
def agreement(frame: DataFrame, measure: str = "same verdict", *, stamp: object) -> Picture:
    """A heat map over pairs of generators, in percent of the questions; the diagonal has what each solves.

    "same verdict": both right or both wrong. "row alone": the row's is right and the column's is wrong.
    """
    from seaborn import heatmap  # noqa: PLC0415  it takes half a second

    one_of(_TITLES, measure=measure)
    wide, rows = solved(frame), []
    for (a, ours), (b, theirs) in product(wide.items(), repeat=2):
        pair = ours == theirs if measure == "same verdict" else ours & ~theirs
        share = 100 * (ours if a == b else pair).mean()
        rows.append({"generator": a, "other": b, "percent": share})
    data = DataFrame(rows).assign(run=runs(frame), counted="all")
    names = [style.text(shown(name), 28) for name in wide]
    values = data["percent"].to_numpy().reshape(len(names), -1)
    own = np.eye(len(names), dtype=bool)  # the diagonal has another measure, so no colour
    pairs = values[~own] if len(names) > 1 else values
    figure, (axes,) = style.panels(0.5 + 0.26 * len(names) + 0.05 * max(map(len, names)), wide=TWO)
    heatmap(
        values, vmin=pairs.min(), vmax=max(pairs.max(), pairs.min() + 1), mask=own, annot=True,
        fmt=".0f", cmap="Blues", ax=axes, cbar_kws={"label": "questions, %", "shrink": 0.9},
    )  # fmt: skip
    for n, value in enumerate(values.diagonal()):
        axes.text(n + 0.5, n + 0.5, f"{value:.0f}", va="center", ha="center", weight="bold")
    axes.tick_params(length=0, grid_alpha=0)
    axes.set_xticklabels(names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticklabels(names, rotation=0)
    axes.set_title(f"{_TITLES[measure]}\n(diagonal: solved)")
    return style.finish(figure, data, stamp)


def outcomes(questions: DataFrame, wrong_gold: Collection[str] = ()) -> DataFrame:
    """Each question with its `outcome`; `wrong_gold` has the ids of questions whose gold query is wrong."""
    style.need(questions, "question_id", "correct", "oracle")
    correct, oracle = questions["correct"].astype(bool), questions["oracle"].astype(bool)
    outcome = pd.Series(NONE, index=questions.index).mask(oracle, LOST).mask(correct, RIGHT)
    doubted = questions["question_id"].isin(list(wrong_gold)) & ~correct
    return questions.assign(outcome=outcome.mask(doubted, WRONG_GOLD))


@style.settings
def outcome_bar(
    questions: DataFrame, wrong_gold: Collection[str] = (), *, stamp: object
) -> Picture:
    """Figure 6: the share of questions with each outcome. Gold is wrong only where the chosen answer was judged wrong."""
    found, rows, looks = outcomes(questions, wrong_gold), [], {}
    for way, look in _WAYS.items():
        part = found[found["outcome"] == way]
        row = {"outcome": way, "n": len(part), "percent": 100 * len(part) / len(found)}
        row |= {"run": runs(questions), "question_ids": question_ids(part), "counted": "all"}
        if len(part) or way != WRONG_GOLD:
            rows.append(row)
            looks[way] = replace(look, label=f"{way} ({len(part):,})")
    data = DataFrame(rows)
    wide = data.set_index("outcome")[["percent"]].T.set_axis(["chosen"])
    return style.bars(TWO, wide, looks, "questions", data=data, stamp=stamp, stacked=True)


@style.settings
def exists_and_chosen(questions: DataFrame, *, stamp: object) -> Picture:
    """Figure 7: the percentage of questions with a right candidate, and with a right one chosen."""
    style.need(questions, "db_id", "correct", "oracle")
    sums = {"n": ("oracle", "size"), "exists": ("oracle", "mean"), "chosen": ("correct", "mean")}
    data = questions.groupby("db_id", sort=False).agg(**sums).reset_index()
    data[["exists", "chosen"]] *= 100
    data = data.assign(run=runs(questions), counted="all")
    looks = {
        "exists": Look("a right candidate exists", style.SKY),
        "chosen": Look("a right candidate is chosen", style.BLUE),
    }
    return style.bars(ONE, data.set_index("db_id"), looks, "questions", data=data, stamp=stamp)


@style.settings
def regret(questions: DataFrame, *, stamp: object) -> Picture:
    """For each `system` the shares of questions that are right, lost in selection, or without a right candidate."""
    style.need(questions, "system")
    looks, rows = {"right": _WAYS[RIGHT], "lost": _WAYS[LOST], NONE: _WAYS[NONE]}, []
    for name, group in outcomes(questions).groupby("system", sort=False):
        counts = group["outcome"].value_counts().reindex([*_WAYS], fill_value=0)
        shares = {part: 100 * counts[look.label] / len(group) for part, look in looks.items()}
        row = {"system": str(name)} | shares | {"n_lost": counts[LOST]}
        rows.append(row | {"run": runs(group), "counted": "all"})
    data = DataFrame(rows)
    wide = data.set_index("system")
    return style.bars(TWO, wide, looks, "questions", data=data, stamp=stamp, stacked=True)


# Figures of pruned schemas (CHESS, figures 5, 16 and 17) and of the features of queries (CHASE-SQL, figure 25).

_ACROSS = 4  # blocks side by side
_SURVIVAL = "table column stage place stages used primary_key foreign_key".split()  # noqa: SIM905


def sizes(stages: Mapping[str, Schema]) -> DataFrame:
    """The numbers of tables and columns of one question's schema that each stage leaves, by the stage's name."""
    rows = [(name, len(left.tables), len(left.columns())) for name, left in stages.items()]
    return DataFrame(rows, columns=["stage", "tables", "columns"])


@style.settings
def columns_left(stages: DataFrame, *, stamp: object) -> Picture:
    """Figure 5: the mean number of `columns` left after each `stage`, by `db_id`; a row for each question and stage."""
    style.need(stages, "db_id", "stage", "columns")
    each = stages.groupby(["db_id", "stage"], sort=False)["columns"]
    data = each.agg(columns="mean", n="size").reset_index().assign(run=runs(stages))
    rows, parts = list(dict.fromkeys(data["db_id"])), series(data, "stage")
    figure, (axes,) = style.panels(0.5 + 0.2 * len(rows))
    ends = data.groupby("db_id", sort=False)["columns"].agg(["min", "max"])
    axes.hlines(range(len(rows)), ends["min"], ends["max"], color=style.PALE, linewidth=1, zorder=0)
    for place, (name, part) in enumerate(parts.items(), 1):
        paler, marker = (style.BLUE, place / len(parts)), style.MARKERS[(place - 1) % 8]
        look = Look(style.text(name, 40), paler, marker)
        axes.plot(part["columns"], part["db_id"].map(rows.index), ls="", ms=5, mew=0, **look.mark)
    style.name_rows(axes, rows)
    style.logarithmic(axes)
    axes.set_xlabel("columns left (mean)")
    return style.finish(figure, data, stamp)


@style.settings
def funnel(stages: DataFrame, *, stamp: object) -> Picture:
    """Figure 16: one question's tables and columns after each stage: columns `stage`, `tables`, `columns`."""
    style.need(stages, "stage", "tables", "columns")
    figure, (axes,) = style.panels(0.2 + 0.36 * len(stages))
    wide = stages["columns"] / max(1, stages["columns"].max())
    shades = [(style.BLUE, place / len(stages)) for place in range(1, len(stages) + 1)]
    axes.barh(range(len(stages)), wide, left=-wide / 2, color=shades)
    for place, row in enumerate(stages.to_dict("records")):
        note = f"tables {row['tables']:,}\ncolumns {row['columns']:,}"
        axes.text(0.56, place, note, va="center", fontsize=style.SMALL)
    style.name_rows(axes, stages["stage"].tolist(), 16)
    axes.set(xlim=(-0.52, 0.86), xticks=[])
    axes.spines[:].set_visible(False)
    return style.finish(figure, stages, stamp)


def survival(stages: Mapping[str, Schema], used: Iterable[tuple[str, str]] = ()) -> DataFrame:
    """A row for each column: the last stage that kept it, its keys, and whether the gold query uses it.

    `stages` maps each stage's name to the schema that it left, the whole schema first.
    """
    if not stages:
        raise BadInputError("no stages: give the whole schema, and what each stage left of it")
    left = [{(lower_name(t), lower_name(c)) for t, c in s.columns()} for s in stages.values()]
    wanted = {(lower_name(table), lower_name(column)) for table, column in used}
    rows = []
    for table in next(iter(stages.values())).tables:
        for column in table.columns:
            key = (lower_name(table.name), lower_name(column.name))
            place = max(place for place, names in enumerate(left) if key in names)
            leads = [k.ref_table for k in table.foreign_keys if column.name in k.columns]
            about = (table.name, column.name, list(stages)[place], place, len(left), key in wanted)
            rows.append((*about, column.name in table.primary_key, ", ".join(leads)))
    return DataFrame(rows, columns=_SURVIVAL)


@style.settings
def pruned_schema(columns: DataFrame, *, stamp: object) -> Picture:
    """Figure 17: a block for each table; a column that more stages kept is darker. `survival` makes `columns`.

    Primary keys are bold, foreign keys in italics with the table that they refer to, and the gold query's columns have
    a star.
    """
    style.need(columns, *_SURVIVAL)
    last = max(1, int(columns["stages"].iloc[0]) - 1)
    blocks = columns.groupby("table", sort=False)
    heights = [0] * min(_ACROSS, len(blocks))
    figure, (axes,) = style.panels(1, wide=TWO)
    axes.set_axis_off()
    for name, block in blocks:  # each block under the shortest stack
        x = heights.index(min(heights))
        axes.text(x + 0.02, heights[x] + 0.5, style.text(name, 20), va="center", weight="bold")
        for y, row in enumerate(block.to_dict("records"), heights[x] + 1):
            fill = (style.BLUE, row["place"] / last)
            axes.add_patch(Rectangle((x, y), 0.94, 1, fc=fill, ec=style.GREY, lw=0.4))
            lead = f" \N{RIGHTWARDS ARROW} {row['foreign_key']}" if row["foreign_key"] else ""
            label = ("\N{BLACK STAR} " if row["used"] else "") + row["column"] + lead
            axes.text(
                x + 0.02, y + 0.5, style.text(label, 25), va="center", size=style.SMALL,
                weight="bold" if row["primary_key"] else "normal",
                style="italic" if lead else "normal",
                color="white" if row["place"] > 0.6 * last else style.INK,
            )  # fmt: skip
        heights[x] += len(block) + 2
    figure.set_figheight(0.1 + 0.135 * max(heights))
    axes.set(xlim=(0, _ACROSS), ylim=(max(heights), 0))
    for place, stage in sorted(set(zip(columns["place"], columns["stage"], strict=True))):
        label = style.text(f"left by {stage}" if place else f"only in {stage}", 40)
        axes.fill([], [], fc=(style.BLUE, place / last), ec=style.GREY, lw=0.5, label=label)
    if columns["used"].any():
        axes.plot([], [], "*", color=style.INK, ms=7, label="used by the gold query")
    return style.finish(figure, columns, stamp)


@style.settings
def feature_distribution(queries: DataFrame, *, stamp: object) -> Picture:
    """Figure 25: the percentage of each `source`'s queries that have each feature. Unreadable `sql` is not counted."""
    style.need(queries, "source", "sql")
    rows = []
    for name, group in queries.groupby("source", sort=False):
        counts = DataFrame([read for sql in group["sql"] if (read := features(str(sql)))])
        if counts.empty:
            raise BadInputError(f"none of the {len(group)} queries of {name} can be read as SQL")
        shares = (100 * (counts > 0).mean()).rename_axis("feature").reset_index(name="percent")
        shares.insert(0, "source", str(name))
        rows.append(shares.assign(n=len(counts), run=runs(group)))
    data = pd.concat(rows, ignore_index=True)
    wide = data.pivot_table("percent", "feature", "source", sort=False)
    looks = style.looks(wide, data.groupby("source")["n"].first())
    return style.bars(ONE, wide, looks, "queries that have it", data=data, stamp=stamp)


@style.settings
def error_bars(labels: DataFrame, panel: str | None = None, *, stamp: object) -> Picture:
    """The causes of wrong answers: figures 8 and 13 of CHASE-SQL, 18 of CHESS and 6 of MAC-SQL.

    `labels` have a row for each label: the `error`, its `detail`, and whether a rule gave it (`automatic`). Each value
    of the column `panel` has a bar, and so have people's labels and those of rules. The most frequent kind is on top.
    """
    style.need(labels, "error", "detail", "automatic", *([panel] if panel else []))
    of, by = (labels[panel].astype(str), panel) if panel else ("errors", "panel")
    rules = labels["automatic"].astype(bool) | (labels["error"] == "not labelled")
    if len(set(rules)) > 1:
        who = rules.map({True: "by rules", False: "by people"})
        of, by = (of + ", " + who if panel else who), "labelled"
    rows, keys = labels.fillna({"detail": ""}).assign(**{by: of}), [by, "error", "detail"]
    rows[by] = pd.Categorical(rows[by], rows[by].unique())
    for key in keys[1:]:
        often = rows.groupby(key).size().sort_values(ascending=False, kind="stable")
        rows[key] = pd.Categorical(rows[key], often.index)
    wide = pd.crosstab([rows["error"], rows["detail"]], rows[by])
    looks, shares = style.looks(wide, wide.sum()), 100 * wide / wide.sum()
    shares.index = [": ".join(filter(None, kind)) for kind in wide.index]
    data = rows.groupby(keys, observed=True).size().reset_index(name="count")
    data = data.astype(dict.fromkeys(keys, str))
    of_all = data.groupby(by)["count"].transform("sum")
    data = data.assign(percent=100 * data["count"] / of_all, run=runs(labels))
    return style.bars(TWO, shares, looks, "errors", data=data, stamp=stamp)
