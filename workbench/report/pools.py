"""Figures of a question's candidates: the best choice there could be, who solves what, outcomes."""

from collections.abc import Collection, Mapping
from itertools import product
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from workbench.errors import BadInputError, one_of
from workbench.evaluate import stats
from workbench.report import style
from workbench.report.names import SEVERAL, TOGETHER, leaders, ordered, shown
from workbench.report.published import Published
from workbench.report.stamp import question_ids, runs
from workbench.report.style import (
    BLUE,
    GREY,
    ONE,
    SMALL,
    TWO,
    Look,
    Picture,
    blank,
    finish,
    need,
    panels,
    percent,
    printed_look,
    printed_name,
    series,
)
from workbench.report.tables import ResultTable, sentence

RIGHT, LOST = "right one chosen", "right one there, another chosen"
NONE, WRONG_GOLD = "no right candidate", "gold is wrong"
_COLOURS = {RIGHT: BLUE, LOST: style.ORANGE, NONE: GREY, WRONG_GOLD: style.PURPLE}
_SPACE = 0.1  # of the panel between the marks of a line


def bounds(
    trials: DataFrame, by: str = "generator", *, first: bool = False
) -> DataFrame:
    """Return the bounds in percent for every k, for each value of a column and for all together.

    A bound is the exact mean over all choices of k candidates; with `first` of the first k alone.
    """
    need(trials, "question_id", "correct", by)
    groups = {str(name): trials[trials[by] == name] for name in ordered(trials[by])}
    if len(groups) > 1:
        groups[TOGETHER] = trials
    tables = []
    for name, group in groups.items():
        verdicts = group.groupby("question_id")["correct"]
        if first:
            rows = _first_bounds(group.assign(k=verdicts.cumcount() + 1))
        else:
            rows = stats.bounds(verdicts.agg(list).to_dict())
        rows.insert(0, by, name)
        tables.append(rows.assign(run=runs(group), counted="all"))
    return pd.concat(tables, ignore_index=True)


def _first_bounds(trials: DataFrame) -> DataFrame:
    # A candidate that is not there takes no right answer away, and adds none.
    right = trials.pivot_table("correct", "question_id", "k", "max").astype(float)
    lower = right.fillna(1).cummin(axis=1).mean()
    upper = right.fillna(0).cummax(axis=1).mean()
    return (100 * DataFrame({"lower": lower, "upper": upper})).reset_index()


@style.settings
def bounds_by_generator(
    trials: DataFrame,
    selected: DataFrame | None = None,
    *,
    paper: Published | None = None,
    stamp: object,
) -> Picture:
    """Draw figure 2, a to c: both bounds and the selector's EX, for each generator and for all.

    `selected` has for each `generator` ("all together" for all) and `k` the `EX`, in percent, of
    the choice among the first k candidates. The bounds are then of the same candidates, so that EX
    lies between them.
    """
    data = bounds(trials, first=selected is not None)
    if selected is not None:
        need(selected, "generator", "k", "EX")
        picked = selected[["generator", "k", "EX"]].rename(columns={"EX": "selected"})
        data = data.merge(picked, on=["generator", "k"], how="left")
    parts = series(data, "generator")
    looks = style.looks(parts)
    figure, grid = panels(1.75, len(parts))
    for axes, (name, part) in zip(grid, parts.items(), strict=True):
        axes.set_title(style.text(shown(name), 40))
        _draw_bounds(axes, part, looks[name].colour)
        _name_axes(axes, first=selected is not None)
    if paper is not None:
        theirs = paper.frame()
        grid[-1].plot(theirs["k"], theirs["EX"], **printed_look(paper))
    last = data.iloc[-1]
    title = f"Among {last['k']} candidates {last['upper']:.0f}% of the questions have a right one"
    answered = last.get("selected")
    if pd.notna(answered):
        title += f", and {answered:.0f}% are answered"
    return finish(figure, data, stamp, title)


def _draw_bounds(axes: Axes, rows: DataFrame, ink: Any) -> None:
    k, lower, upper = rows["k"], rows["lower"], rows["upper"]
    axes.fill_between(k, lower, upper, color=ink, alpha=0.12, lw=0)
    axes.plot(k, upper, "^-", color=ink, label="upper bound", markevery=_SPACE)
    axes.plot(k, lower, "v--", color=ink, label="lower bound", markevery=_SPACE)
    if "selected" in rows:
        chosen = rows.dropna(subset="selected")
        selected = chosen["selected"]
        axes.plot(chosen["k"], selected, "D:", c=style.BLACK, label="selected")


@style.settings
def bounds_by_difficulty(trials: DataFrame, *, stamp: object) -> Picture:
    """Draw figure 2d: the upper and the lower bound of all candidates by difficulty."""
    data = bounds(trials, "difficulty")
    parts = series(data, "difficulty")
    looks = style.looks(parts)
    # The legend has the order in which the lines end.
    best_first = sorted(parts, key=lambda name: -parts[name]["upper"].iloc[-1])
    figure, grid = panels(1.9, 2)
    for axes, side in zip(grid, ("upper", "lower"), strict=True):
        axes.set_title(f"{side} bound")
        for name in best_first:
            part = parts[name]
            axes.plot(part["k"], part[side], markevery=_SPACE, **looks[name].mark)
        _name_axes(axes)

    levels = data[data["difficulty"] != TOGETHER]
    uppers = levels.groupby("difficulty", sort=False)["upper"].agg(["first", "last"])
    gains = uppers["last"] - uppers["first"]
    title = (
        f"More candidates could help {leaders(gains)} questions most, "
        f"by {gains.max():.0f} points"
    )
    return finish(figure, data, stamp, title, beside=True)


def _name_axes(axes: Axes, *, first: bool = False) -> None:
    axes.set_xlabel(
        "the first k candidates" if first else "any k candidates, on average"
    )
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
    axes.set_xlim(left=0.5)
    percent(axes.yaxis, "EX")


def solved(trials: DataFrame) -> DataFrame:
    """Return for each question and generator, in its column, whether any candidate is right."""
    need(trials, "question_id", "correct", "generator")
    right = trials.pivot_table("correct", "question_id", "generator", "max", sort=False)
    return (right == 1)[trials["generator"].unique()]


def _regions(wide: DataFrame, run: str) -> DataFrame:
    """Return a row for each set of generators: the questions that these solve and no other does.

    A row's index has a digit for each generator, as matplotlib_venn names its regions.
    """
    rows = {}
    for digits in product("10", repeat=len(wide.columns)):
        solves = [digit == "1" for digit in digits]
        theirs = wide.index[(wide == solves).all(axis=1)]
        rows["".join(digits)] = {
            "solved_by": SEVERAL.join(wide.columns[solves]),
            "n": len(theirs),
            "percent": 100 * len(theirs) / len(wide),
            "run": run,
            "generator": SEVERAL.join(wide.columns),
            "question_ids": " ".join(theirs.astype(str)),
            "counted": "all",
        }
    return DataFrame.from_dict(rows, orient="index")


@style.settings
def venn(
    trials: DataFrame, *, paper: Published | None = None, stamp: object
) -> Picture:
    """Draw figure 3a: the questions that each of two or three generators solves at least once.

    A paper's counts stand in brackets below ours.
    """
    wide = solved(trials)
    number = len(wide.columns)
    if number not in {2, 3}:
        raise BadInputError(
            f"a Venn diagram shows two or three, not {number}: use `agreement`"
        )
    data = _regions(wide, runs(trials))
    printed = {}
    if paper is not None:
        rows = paper.frame()
        solvers = [frozenset(label.split(" + ")) for label in rows["label"]]
        printed = dict(zip(solvers, rows["questions"], strict=True))
    figure, axes = blank(2.8)
    _draw_circles(axes, wide, data["n"], printed)

    total = len(wide)
    none = data.iloc[-1]
    told = (
        f"none: {none['n']:,} of {total:,} ({none['percent']:.1f}%); areas not to scale"
    )
    if paper is not None:
        nobody = printed[frozenset([""])]
        told += f"\n({printed_name(paper)}: {nobody:,} of {paper.n:,})"
    axes.set_title(told, loc="center", pad=26)  # above the names of the circles
    solves = wide.sum()
    title = (
        f"Together they solve {total - none['n']:,} of {total:,} questions; "
        f"the best of them, {leaders(solves)}, {solves.max():,}"
    )
    return finish(figure, data, stamp, title)


def _draw_circles(
    axes: Axes,
    wide: DataFrame,
    counts: "pd.Series[int]",
    printed: Mapping[frozenset[str], int],
) -> None:
    """Draw a circle for each generator, and write each region's count into it."""
    from matplotlib_venn import layout, venn2, venn3  # noqa: PLC0415  it imports SciPy

    # Circles to scale would hide small regions: the questions that one alone solves.
    if len(wide.columns) == 3:
        draw, algorithm = venn3, layout.venn3.DefaultLayoutAlgorithm
    else:
        draw, algorithm = venn2, layout.venn2.DefaultLayoutAlgorithm
    counts = counts.iloc[:-1]  # without the questions that nobody solves
    even = algorithm(fixed_subset_sizes=(1,) * len(counts))
    looks = style.looks(wide)
    names = [fill(look.label, 18) for look in looks.values()]
    solvers = [set(wide.index[right]) for _, right in wide.items()]
    diagram = draw(solvers, names, alpha=1, ax=axes, layout_algorithm=even)
    for look, label in zip(looks.values(), diagram.set_labels, strict=True):
        label.set(color=look.colour, fontsize=8)
    for region, count in counts.items():
        inside = [
            name for name, digit in zip(looks, str(region), strict=True) if digit == "1"
        ]
        text = f"{count:,}"
        theirs = printed.get(frozenset(map(shown, inside)))
        if theirs:
            text += f"\n({theirs:,})"
        ground = _overlap([looks[name].colour for name in inside])
        diagram.get_patch_by_id(region).set(facecolor=ground, edgecolor="white")
        label = diagram.get_label_by_id(region)
        label.set(text=text, color="black", fontsize=SMALL)


def _overlap(colours: list[Any]) -> Any:
    """Return the colour of tinted glasses that lie on each other: darker than each of them.

    Three of them are pale enough for black text.
    """
    tints = [0.6 + 0.4 * np.array(to_rgb(colour)) for colour in colours]
    return tuple(np.prod(tints, axis=0))


def solved_alone(trials: DataFrame, by: str = "difficulty") -> DataFrame:
    """Return for each value of `by` and each generator the questions that it alone solves."""
    need(trials, by)
    wide = solved(trials)
    group_of = trials.drop_duplicates("question_id").set_index("question_id")[by]
    lone = wide[wide.sum(axis=1) == 1]
    rows = []
    for group, name in product(ordered(group_of), wide):
        theirs = lone.index[lone[name] & (group_of[lone.index] == group)]
        row = {
            by: group,
            "generator": str(name),
            "n": len(theirs),
            "run": runs(trials),
            "question_ids": " ".join(theirs.astype(str)),
            "counted": "all",
        }
        rows.append(row)
    return DataFrame(rows)


@style.settings
def unique_solves(
    trials: DataFrame,
    by: str = "db_id",
    *,
    paper: Published | None = None,
    stamp: object,
) -> Picture | ResultTable:
    """Draw figure 5: the questions that one generator alone solves, by database and all together.

    The paper prints the numbers of all databases together.
    """
    data = solved_alone(trials, by)
    wide = data.pivot_table("n", by, "generator", "sum", sort=False)
    totals = wide.sum()
    total = totals.sum()
    if total == 0:
        return sentence("No question is solved by one generator alone", data, stamp)
    wide.loc[TOGETHER] = totals
    theirs = None
    if paper is not None:
        printed = style.printed(paper, wide.columns).set_axis(wide.columns)
        theirs = printed[["questions"]].set_axis([TOGETHER], axis=1).T
    figure, axes = style.bars(wide, style.looks(wide), ONE, "{:,.0f}", theirs, paper)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10], integer=True))
    axes.set_xlabel("questions it alone solves")
    title = (
        f"{total:,} questions are solved by one alone, "
        f"most by {leaders(totals)} ({totals.max():,})"
    )
    return finish(figure, data, stamp, title)


_MEASURES = {
    "same verdict": "both right or both wrong",
    "row alone": "row right, column wrong",
}


@style.settings
def agreement(
    trials: DataFrame, measure: str = "same verdict", *, stamp: object
) -> Picture:
    """Draw a heat map over pairs of generators, in percent of the questions.

    "same verdict": both right or both wrong. "row alone": the row is right, the column is wrong.
    """
    one_of(_MEASURES, measure=measure)
    shares = _shares_of_pairs(solved(trials), measure)
    if len(shares) < 2:
        raise BadInputError("give two generators or more, to compare with each other")
    pairs = shares.T.rename_axis("other").rename_axis("generator", axis=1).reset_index()
    data = pairs.melt("other", value_name="percent")[["generator", "other", "percent"]]
    data = data[data["generator"] != data["other"]]
    data = data.assign(run=runs(trials), counted="all")
    need(data, "percent")
    labels = [style.text(shown(name), 28) for name in shares]
    has_room = len(labels) <= 14
    cell = 0.26 if has_room else 0.14  # inches
    longest = max(map(len, labels))
    figure, axes = blank(0.4 + cell * len(labels) + 0.05 * longest, TWO)
    shares = shares.set_axis(labels).set_axis(labels, axis=1)
    _draw_heat_map(axes, shares, annotated=has_room)
    axes.tick_params(length=0, grid_alpha=0, labelsize=8 if has_room else SMALL)

    by_share = data.sort_values("percent", kind="stable")
    if measure == "row alone":
        name, other, share = _pair(by_share.iloc[-1])
        title = f"None adds more than {name} to {other}: right where that is wrong in"
    else:
        name, other, share = _pair(by_share.iloc[0])
        title = f"No two agree less than {name} and {other}: on"
    title += f" {share:.0f}% of the questions"
    return finish(figure, data, stamp, title, f"Each cell: {_MEASURES[measure]}.")


def _pair(row: "pd.Series[Any]") -> tuple[str, str, float]:
    return shown(row["generator"]), shown(row["other"]), row["percent"]


def _shares_of_pairs(wide: DataFrame, measure: str) -> DataFrame:
    right = wide.astype(float)
    wrong = 1 - right
    counts = right.T @ wrong
    if measure == "same verdict":
        counts = right.T @ right + wrong.T @ wrong
    return 100 * counts / len(wide)


def _draw_heat_map(axes: Axes, shares: DataFrame, *, annotated: bool) -> None:
    from seaborn import heatmap  # noqa: PLC0415  it takes half a second

    others = shares.mask(np.eye(len(shares), dtype=bool))
    low: Any = others.min(axis=None)
    high: Any = others.max(axis=None)
    heatmap(
        others,
        ax=axes,
        vmin=low,
        # Where numbers are written, no cell is so dark that they are hard to read.
        vmax=low + (2 if annotated else 1) * max(1, high - low),
        cmap="Blues",
        annot=annotated,
        annot_kws={"color": "black"},
        fmt=".0f",
        cbar=not annotated,
        cbar_kws={"label": "questions, %", "shrink": 0.9},
        xticklabels=True,
        yticklabels=True,
    )
    axes.set(xlabel="", ylabel="")
    axes.tick_params(axis="x", rotation=40)
    for label in axes.get_xticklabels():
        label.set(ha="right", rotation_mode="anchor")


def outcomes(questions: DataFrame, wrong_gold: Collection[str] = ()) -> DataFrame:
    """Return each question with its `outcome`; `wrong_gold` are ids of those with wrong gold."""
    need(questions, "question_id", "correct", "oracle")
    correct = questions["correct"].astype(bool)
    exists = questions["oracle"].astype(bool)
    doubted = questions["question_id"].isin(list(wrong_gold))
    # Of several that fit, the last one counts: a right answer is right, whatever the gold.
    outcome = pd.Series(NONE, index=questions.index)
    outcome[exists] = LOST
    outcome[doubted] = WRONG_GOLD
    outcome[correct] = RIGHT
    return questions.assign(outcome=outcome)


@style.settings
def exists_and_chosen(
    questions: DataFrame, *, paper: Published | None = None, stamp: object
) -> Picture:
    """Draw figure 7: the percentage of questions with a right candidate, and with one chosen."""
    need(questions, "db_id", "correct", "oracle")
    data = questions.groupby("db_id", sort=False).agg(
        n=("oracle", "size"), exists=("oracle", "mean"), chosen=("correct", "mean")
    )
    data[["exists", "chosen"]] *= 100
    data = data.reset_index().assign(run=runs(questions), counted="all")
    looks = {
        "exists": Look("a right candidate exists", style.SKY),
        "chosen": Look("a right candidate is chosen", BLUE),
    }
    wide = data.set_index("db_id")[[*looks]]
    theirs = None
    if paper is not None:
        theirs = style.printed(paper, wide.index).set_axis(wide.index)
    figure, axes = style.bars(wide, looks, ONE, theirs=theirs, paper=paper)
    percent(axes.xaxis, "questions")
    few = MaxNLocator(3, steps=[1, 2, 5, 10])  # long names leave no room for more
    axes.xaxis.set_major_locator(few)
    chosen, exists = questions["correct"].sum(), questions["oracle"].sum()
    title = "No question has a right candidate"
    if exists:
        title = f"Selection keeps {100 * chosen / exists:.0f}% of what generation finds"
    return finish(figure, data, stamp, title)


@style.settings
def regret(
    questions: DataFrame,
    wrong_gold: Collection[str] = (),
    *,
    paper: Published | None = None,
    stamp: object,
) -> Picture:
    """Draw figure 6: for each `system` the share of questions with each outcome, then the paper's.

    Gold is wrong only where the chosen answer was judged wrong.
    """
    need(questions, "system")
    looks = {way: Look(way, style.fill(ink)) for way, ink in _COLOURS.items()}
    if not len(wrong_gold) and paper is None:
        looks.pop(WRONG_GOLD)
    rows = []
    for system, group in outcomes(questions, wrong_gold).groupby("system", sort=False):
        for way in looks:
            part = group[group["outcome"] == way]
            row = {
                "system": str(system),
                "outcome": way,
                "n": len(part),
                "percent": 100 * len(part) / len(group),
                "run": runs(group),
                "question_ids": question_ids(part),
                "counted": "all",
            }
            rows.append(row)
    data = DataFrame(rows)
    wide = data.pivot_table("percent", "system", "outcome", sort=False)
    lost = wide[LOST]
    title = (
        f"Selection by {leaders(-lost)} loses least: {lost.min():.1f}% of the questions"
    )
    if f"{lost.min():.1f}" == f"{lost.max():.1f}":
        title = f"Selection loses {lost.mean():.1f}% of the questions"
        if len(lost) > 1:
            title += ", whoever selects"
    if paper is not None:
        printed = style.printed(paper, wide.columns)["share"]
        wide.loc[printed_name(paper)] = printed.to_numpy()
    return finish(style.stack(wide, looks), data, stamp, title)
