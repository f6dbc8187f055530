"""Figures of a question's candidates: how good the best choice could be, who solves what, and what became of each."""

from collections.abc import Collection
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import to_rgb
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from workbench.errors import BadInputError, one_of
from workbench.evaluate import stats
from workbench.report import style
from workbench.report.names import SEVERAL, TOGETHER, ordered, shown
from workbench.report.published import Published
from workbench.report.stamp import question_ids, runs
from workbench.report.style import ONE, TWO, Look, Picture, series
from workbench.report.tables import ResultTable, sentence

RIGHT, LOST = "right one chosen", "right one there, another chosen"
NONE, WRONG_GOLD = "no right candidate", "gold is wrong"
_WAYS = {
    RIGHT: Look(RIGHT, style.BLUE),
    LOST: Look(LOST, style.ORANGE),
    NONE: Look(NONE, style.GREY),
    WRONG_GOLD: Look(WRONG_GOLD, style.PURPLE),
}
_MEAN = "A bound is the mean over all choices of k candidates."
_SAME = "Bounds and choice are of the same first k candidates."


def bounds(trials: DataFrame, by: str = "generator", *, first: bool = False) -> DataFrame:
    """Return the bounds in percent for every k, for each value of a column and for all rows together.

    A bound is the exact mean over all choices of k candidates or, with `first`, that of the first k.
    """
    if not isinstance(by, str):
        raise BadInputError("`by` is the name of a column; `bounds_by_generator` takes a stamp")
    style.need(trials, "question_id", "correct", by)
    groups = {str(name): trials[trials[by] == name] for name in ordered(trials[by])}
    if len(groups) > 1:
        groups[TOGETHER] = trials
    tables = []
    for name, group in groups.items():
        verdicts = group.groupby("question_id")["correct"]
        if first:
            rows = _first_bounds(group.assign(k=verdicts.cumcount() + 1))
        else:
            rows = stats.bounds({str(question): part.tolist() for question, part in verdicts})
        rows.insert(0, by, name)
        tables.append(rows.assign(run=runs(group), counted="all"))
    return pd.concat(tables, ignore_index=True)


def _first_bounds(trials: DataFrame) -> DataFrame:
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
    """Draw figure 2, a to c: a panel for each generator and one for all, with both bounds and the selector's EX.

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
        ink = looks[name].colour
        marked = style.regular(part["k"])
        axes.fill_between(part["k"], part["lower"], part["upper"], color=ink, alpha=0.12, lw=0)
        axes.plot(part["k"], part["upper"], "^-", c=ink, label="upper bound", markevery=marked)
        axes.plot(part["k"], part["lower"], "v--", c=ink, label="lower bound", markevery=marked)
        if selected is not None:
            chosen = part.dropna(subset="selected")
            axes.plot(chosen["k"], chosen["selected"], "D:", c=style.BLACK, label="selected")
        axes.set_title(style.text(shown(name), 40))
    if paper is not None:
        theirs = paper.frame()
        panels[-1].plot(theirs["k"], theirs["EX"], **style.printed_look(paper))
    last = data.iloc[-1]
    title = f"Among {last['k']} candidates {last['upper']:.0f}% of the questions have a right one"
    if selected is not None and pd.notna(last["selected"]):
        title += f", and {last['selected']:.0f}% are answered"
    _name_axes(figure)
    return style.finish(figure, data, stamp, title, _MEAN if selected is None else _SAME)


@style.settings
def bounds_by_difficulty(trials: DataFrame, *, stamp: object) -> Picture:
    """Draw figure 2d: the upper and the lower bound of all candidates by difficulty."""
    data = bounds(trials, "difficulty")
    parts = series(data, "difficulty")
    looks = style.looks(parts)
    figure, panels = style.panels(1.9, 2)
    for axes, side in zip(panels, ("upper", "lower"), strict=True):
        for name, part in parts.items():
            marked = style.regular(part["k"])
            axes.plot(part["k"], part[side], markevery=marked, **looks[name].mark)
        axes.set_title(f"{side} bound")
    _name_axes(figure)
    style.name_lines(panels[-1], parts, looks, "k", "lower")
    ends = data.groupby("difficulty", sort=False)["upper"].agg(["first", "last"])
    ends = ends.drop(TOGETHER, errors="ignore")
    level: Any = (ends["last"] - ends["first"]).idxmax()
    first, last = ends.loc[level]
    title = f"More candidates could help {level} questions most: from {first:.0f} to {last:.0f}%"
    return style.finish(figure, data, stamp, title, _MEAN)


def _name_axes(figure: Picture) -> None:
    for axes in figure.axes:
        axes.set_xlabel("candidates k")
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
        axes.set_xlim(left=0.5)
        style.percent(axes.yaxis, "EX")


def solved(trials: DataFrame) -> DataFrame:
    """Return a row for each question, a column for each generator: whether any of its candidates is right."""
    style.need(trials, "question_id", "correct", "generator")
    right = trials.pivot_table("correct", "question_id", "generator", "max", sort=False)
    return (right == 1)[trials["generator"].unique()]


def _regions(wide: DataFrame, run: str) -> DataFrame:
    """Return a row for each set of generators: the questions that these solve and no other does."""
    rows = []
    for who in product((True, False), repeat=len(wide.columns)):
        theirs = wide.index[(wide == list(who)).all(axis=1)]
        solvers = SEVERAL.join(map(str, wide.columns[list(who)]))
        row = {"solved_by": solvers, "n": len(theirs), "percent": 100 * len(theirs) / len(wide)}
        row |= {"run": run, "generator": SEVERAL.join(map(str, wide))}
        rows.append(row | {"question_ids": " ".join(map(str, theirs)), "counted": "all"})
    return DataFrame(rows)


def _printed_regions(paper: Published) -> dict[frozenset[str], str]:
    """Return a paper's counts by the generators that solve the questions."""
    counts = {}
    every: set[str] = set()
    for row in paper.frame().itertuples():
        names = set(str(row.label).split(" + "))
        if row.label in {"all three", "none"}:
            names = every if row.label == "all three" else set()
        every = every | names
        counts[frozenset(names)] = f"{row.questions:,}"
    return counts


@style.settings
def venn(trials: DataFrame, *, paper: Published | None = None, stamp: object) -> Picture:
    """Draw figure 3a: the questions that each of two or three generators solves at least once.

    A paper's counts stand in brackets below ours.
    """
    from matplotlib_venn import layout, venn2, venn3  # noqa: PLC0415  it imports SciPy

    wide = solved(trials)
    if len(wide.columns) not in {2, 3}:
        given = len(wide.columns)
        raise BadInputError(f"a Venn diagram shows two or three, not {given}: use `agreement`")
    data = _regions(wide, runs(trials))
    three = len(wide.columns) == 3
    # Circles to scale would hide small regions: the questions that one alone solves, which matter most.
    algorithm = (layout.venn3 if three else layout.venn2).DefaultLayoutAlgorithm
    even = algorithm(fixed_subset_sizes=(1,) * (len(data) - 1))
    looks = style.looks(wide)
    figure, (axes,) = style.panels(2.1 if paper is None else 2.7)
    solvers = [set(wide.index[right]) for _, right in wide.items()]
    names = [""] * len(solvers)
    drawn = (venn3 if three else venn2)(solvers, names, alpha=1, ax=axes, layout_algorithm=even)
    printed = {} if paper is None else _printed_regions(paper)
    for who, count in zip(product("10", repeat=len(names)), data["n"], strict=True):
        members = [str(name) for name, is_in in zip(wide, who, strict=True) if is_in == "1"]
        if not members:
            continue
        patch = drawn.get_patch_by_id("".join(who))
        ground = _overlap([looks[name].colour for name in members])
        patch.set(facecolor=ground, edgecolor="white")
        theirs = printed.get(frozenset(map(shown, members)))
        label = drawn.get_label_by_id("".join(who))
        label.set_text(f"{count:,}\n({theirs})" if theirs else f"{count:,}")
        label.set(color=style.ink_on(ground), fontsize=style.SMALL if theirs else 8)
    for look in looks.values():
        axes.fill([], [], color=_overlap([look.colour]), label=look.label)
    none = data.iloc[-1]
    told = f"none: {none['n']:,} of {len(wide):,} ({none['percent']:.1f}%)"
    if frozenset() in printed:
        told += f"\n({printed[frozenset()]} of {paper.n:,})" if paper is not None else ""
    axes.set_title(told)
    together, most = int(wide.any(axis=1).sum()), wide.sum()
    title = f"Together they solve {together:,} of {len(wide):,} questions; "
    title += f"the best of them, {shown(most.idxmax())}, {most.max():,}"
    note = "Questions; areas not to scale."
    if paper is not None:
        note += f" In brackets: {style.printed_name(paper)}."
    return style.finish(figure, data, stamp, title, note)


def _overlap(colours: list[Any]) -> Any:
    """Return the colour of tinted glasses that lie on each other: darker than each of them."""
    tints = [0.5 + 0.5 * np.array(to_rgb(colour)) for colour in colours]
    return tuple(np.prod(tints, axis=0))


def solved_alone(trials: DataFrame, by: str = "difficulty") -> DataFrame:
    """Return for each value of `by` and each generator the questions that this generator alone solves."""
    style.need(trials, by)
    wide = solved(trials)
    where = trials.drop_duplicates("question_id").set_index("question_id")[by]
    lone = wide[wide.sum(axis=1) == 1]
    rows = []
    for row, name in product(ordered(where), wide):
        theirs = lone.index[lone[name] & (where[lone.index] == row)]
        cells = {by: row, "generator": str(name), "n": len(theirs), "run": runs(trials)}
        rows.append(cells | {"question_ids": " ".join(map(str, theirs)), "counted": "all"})
    return DataFrame(rows)


@style.settings
def unique_solves(
    trials: DataFrame, by: str = "db_id", *, paper: Published | None = None, stamp: object
) -> Picture | ResultTable:
    """Draw figure 5: the questions that one generator alone solves, by database and all together.

    The paper prints the numbers of all databases together.
    """
    data = solved_alone(trials, by)
    wide = data.pivot_table("n", by, "generator", "sum", sort=False)
    totals = wide.sum()
    if not totals.any():
        return sentence("No question is solved by one generator alone", data, stamp)
    wide.loc[TOGETHER] = totals
    theirs = None
    if paper is not None:
        counts = style.printed(paper, wide.columns)["questions"].to_numpy()
        theirs = DataFrame([counts], index=[TOGETHER], columns=wide.columns)
    title = f"{totals.sum():,} questions are solved by one alone, most by {shown(totals.idxmax())}"
    title += f" ({totals.max():,})"
    looks = style.looks(wide)
    bars = style.Bars(ONE, "questions it alone solves", counts=True)
    return bars(wide, looks, data, stamp, title, paper=paper, theirs=theirs)


_TITLES = {"same verdict": "both right or both wrong", "row alone": "row right, column wrong"}


@style.settings
def agreement(trials: DataFrame, measure: str = "same verdict", *, stamp: object) -> Picture:
    """Draw a heat map over pairs of generators, in percent of the questions; the diagonal has what each solves.

    "same verdict": both right or both wrong. "row alone": the row's is right and the column's is wrong.
    """
    from seaborn import heatmap  # noqa: PLC0415  it takes half a second

    one_of(_TITLES, measure=measure)
    wide = solved(trials)
    rows = []
    for (a, ours), (b, theirs) in product(wide.items(), repeat=2):
        pair = ours == theirs if measure == "same verdict" else ours & ~theirs
        share = 100 * (ours if a == b else pair).mean()
        rows.append({"generator": a, "other": b, "percent": share})
    data = DataFrame(rows).assign(run=runs(trials), counted="all")
    names = [style.text(shown(name), 28) for name in wide]
    values = data["percent"].to_numpy().reshape(len(names), -1)
    diagonal = np.eye(len(names), dtype=bool)  # it has another measure, so no colour
    pairs = data[data["generator"] != data["other"]]
    low, high = pairs["percent"].min(), pairs["percent"].max()
    if pairs.empty:
        low, high = 0, 100
    cell = 0.26 if len(names) <= 14 else 0.14  # inches
    longest = max(map(len, names))
    figure, (axes,) = style.panels(0.4 + cell * len(names) + 0.05 * longest, wide=TWO)
    scale = {"vmin": low, "vmax": max(high, low + 1), "cmap": "Blues"}
    bar = {"label": "questions, %", "shrink": 0.9}
    fits = len(names) <= 14
    heatmap(values, mask=diagonal, annot=fits, fmt=".0f", ax=axes, cbar_kws=bar, **scale)
    if fits:
        for place, value in enumerate(values.diagonal(), 1):
            at = place - 0.5
            axes.text(at, at, f"{value:.0f}", va="center", ha="center", weight="bold")
    axes.set_xticks(np.arange(len(names)) + 0.5)
    axes.set_yticks(np.arange(len(names)) + 0.5)
    axes.tick_params(length=0, grid_alpha=0, labelsize=8 if fits else style.SMALL)
    axes.set_xticklabels(names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticklabels(names, rotation=0)
    note = f"Each cell: {_TITLES[measure]}. The diagonal: solved."
    title = f"{shown(wide.columns[0])} solves {values[0, 0]:.0f}% of the questions"
    if not pairs.empty and measure == "row alone":
        row = pairs.sort_values("percent").iloc[-1]
        title = f"{shown(row['generator'])} adds most to {shown(row['other'])}: right where that "
        title += f"is wrong in {row['percent']:.0f}% of the questions"
    elif not pairs.empty:
        row = pairs.sort_values("percent").iloc[0]
        title = f"{shown(row['generator'])} and {shown(row['other'])} agree least: on "
        title += f"{row['percent']:.0f}% of the questions"
    return style.finish(figure, data, stamp, title, note)


def outcomes(questions: DataFrame, wrong_gold: Collection[str] = ()) -> DataFrame:
    """Return each question with its `outcome`; `wrong_gold` has the ids of questions whose gold query is wrong."""
    style.need(questions, "question_id", "correct", "oracle")
    correct, oracle = questions["correct"].astype(bool), questions["oracle"].astype(bool)
    outcome = pd.Series(NONE, index=questions.index).mask(oracle, LOST).mask(correct, RIGHT)
    doubted = questions["question_id"].isin(list(wrong_gold)) & ~correct
    return questions.assign(outcome=outcome.mask(doubted, WRONG_GOLD))


def _kept(chosen: float, exists: float) -> str:
    """Say how much of what generation finds the selection keeps."""
    if not exists:
        return "No question has a right candidate"
    return f"Selection keeps {100 * chosen / exists:.0f}% of what generation finds"


@style.settings
def outcome_bar(
    questions: DataFrame,
    wrong_gold: Collection[str] = (),
    *,
    paper: Published | None = None,
    stamp: object,
) -> Picture:
    """Draw figure 6: the share of questions with each outcome, the paper's in a row below ours.

    Gold is wrong only where the chosen answer was judged wrong.
    """
    judged = outcomes(questions, wrong_gold)
    rows = []
    for way in _WAYS:
        part = judged[judged["outcome"] == way]
        row = {"outcome": way, "n": len(part), "percent": 100 * len(part) / len(judged)}
        row |= {"run": runs(questions), "question_ids": question_ids(part), "counted": "all"}
        rows.append(row)
    data = DataFrame(rows)
    wide = data.set_index("outcome")[["percent"]].T.set_axis(["here"])
    if paper is not None:
        theirs = style.printed(paper, wide.columns)["share"]
        wide.loc[style.printed_name(paper)] = theirs.to_numpy()
    if not wide[WRONG_GOLD].any():
        wide = wide.drop(columns=WRONG_GOLD)
        data = data[data["outcome"] != WRONG_GOLD]
    count_of = data.set_index("outcome")["n"]
    ways = [way for way in _WAYS if way in wide]
    looks = {way: replace(_WAYS[way], label=f"{way} ({count_of[way]:,})") for way in ways}
    title = _kept(count_of[RIGHT], count_of[RIGHT] + count_of[LOST])
    bars = style.Bars(TWO, "questions", stacked=True, pale=1)
    return bars(wide, looks, data, stamp, title)


@style.settings
def exists_and_chosen(
    questions: DataFrame, *, paper: Published | None = None, stamp: object
) -> Picture:
    """Draw figure 7: the percentage of questions with a right candidate, and with a right one chosen."""
    style.need(questions, "db_id", "correct", "oracle")
    sums = {"n": ("oracle", "size"), "exists": ("oracle", "mean"), "chosen": ("correct", "mean")}
    data = questions.groupby("db_id", sort=False).agg(**sums).reset_index()
    data[["exists", "chosen"]] *= 100
    data = data.assign(run=runs(questions), counted="all")
    looks = {
        "exists": Look("a right candidate exists", style.SKY),
        "chosen": Look("a right candidate is chosen", style.BLUE),
    }
    wide = data.set_index("db_id")[["exists", "chosen"]]
    theirs = None
    if paper is not None:
        theirs = style.printed(paper, wide.index)[["exists", "chosen"]].set_axis(wide.index)
    title = _kept(questions["correct"].sum(), questions["oracle"].sum())
    bars = style.Bars(ONE, "questions")
    return bars(wide, looks, data, stamp, title, paper=paper, theirs=theirs)


@style.settings
def regret(questions: DataFrame, *, stamp: object) -> Picture:
    """Draw for each `system` the shares of questions that are right, lost in selection, or without a right candidate."""
    style.need(questions, "system")
    looks = {"right": _WAYS[RIGHT], "lost": _WAYS[LOST], NONE: _WAYS[NONE]}
    rows: list[dict[str, Any]] = []
    for name, group in outcomes(questions).groupby("system", sort=False):
        counts = group["outcome"].value_counts().reindex([*_WAYS], fill_value=0)
        row: dict[str, Any] = {"system": str(name)}
        for part, look in looks.items():
            row[part] = 100 * counts[look.label] / len(group)
        rows.append(row | {"n_lost": counts[LOST], "run": runs(group), "counted": "all"})
    data = DataFrame(rows)
    wide = data.set_index("system")[[*looks]]
    lost = wide["lost"]
    title = f"{shown(lost.idxmin())} loses least in selection: {lost.min():.1f}% of the questions"
    if lost.max() - lost.min() < 0.05:
        title = f"Selection loses {lost.mean():.1f}% of the questions"
        title += ", whoever selects" if len(lost) > 1 else ""
    bars = style.Bars(TWO, "questions", stacked=True)
    return bars(wide, looks, data, stamp, title)
