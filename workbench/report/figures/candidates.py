"""A question's candidates: how good the best choice could be, who solves what, and what became of each question.

CHASE-SQL's figures 2 (bounds), 3 and 5 (generators), 6 and 7 (outcomes); regret and agreement are ours.
"""

from collections.abc import Collection, Mapping
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from workbench.errors import BadInputError, one_of
from workbench.evaluate import stats
from workbench.report import style
from workbench.report.stamp import question_ids, runs
from workbench.report.style import ONE, TWO, Look, Picture

TOGETHER = "all together"
SEVERAL = " & "
"""Joins the names of generators that solve a question together."""
_SIDES = {"upper": (Look(style.BLACK, "^"), "-"), "lower": (Look(style.BLACK, "v"), "--")}
_MEAN = "A bound is the mean over all choices of k candidates."
RIGHT, LOST = "right one chosen", "right one there, another chosen"
NONE, WRONG_GOLD = "no right candidate", "gold is wrong"
_WAYS = {
    RIGHT: Look(style.BLUE),
    LOST: Look(style.ORANGE, "s", "////"),
    NONE: Look(style.GREY, "^", "...."),
    WRONG_GOLD: Look(style.PURPLE, "D", "xxxx"),
}


def bounds(trials: pd.DataFrame, by: str = "generator", *, first: bool = False) -> pd.DataFrame:
    """Upper and lower bound in percent for every k, by a column's values, and for all rows together.

    A bound is the exact expectation over all choices of k candidates or, with `first`, that of the first k.
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
            rows = 100 * pd.DataFrame({"lower": lower.mean(), "upper": upper.mean()})
            rows = rows.reset_index()
        else:
            rows = stats.bounds({str(question): part.tolist() for question, part in verdicts})
        rows.insert(0, by, name)
        found.append(rows.assign(run=runs(group), counted="all"))
    return pd.concat(found, ignore_index=True)


@style.settings
def bounds_by_generator(
    trials: pd.DataFrame, selected: pd.DataFrame | None = None, *, stamp: object
) -> Picture:
    """Figure 2, a to c: a panel for each generator and one for all, with both bounds and the selector's EX.

    `selected` has the columns `generator` ("all together" for all), `k` and `EX`, in percent, of the choice among the
    first k candidates. The bounds then are of these same candidates, so that no choice lies outside.
    """
    data = bounds(trials, first=selected is not None)
    keys, note = {f"{side} bound": style.line_key(*how) for side, how in _SIDES.items()}, _MEAN
    if selected is not None:
        style.need(selected, "generator", "k", "EX")
        picked = selected[["generator", "k", "EX"]].rename(columns={"EX": "selected"})
        data = data.merge(picked, on=["generator", "k"], how="left")
        keys["selected"] = style.line_key(Look(style.BLACK, "D"), ":")
        note = "Bounds and choice are of the same first k candidates."
    parts = style.series(data, "generator")
    across = min(2, len(parts))
    high = 1.75 * -(-len(parts) // across)
    figure, panels = style.panels((ONE, TWO)[across - 1], high, len(parts), across)
    for axes, (name, part) in zip(panels, parts.items(), strict=True):
        colour, k = style.looks(parts)[name].colour, part["k"]
        axes.fill_between(k, part["lower"], part["upper"], color=colour, alpha=0.12, lw=0)
        for side, (look, line) in _SIDES.items():
            axes.plot(k, part[side], line, c=colour, marker=look.marker, markevery=_every(k))
        if "selected" in part:
            chosen = part.dropna(subset="selected")
            axes.plot(chosen["k"], chosen["selected"], color=style.BLACK, marker="D", linestyle=":")
        axes.set_title(style.text(style.shown(name), 40))
    return _finished(figure, data, keys, stamp, note)


@style.settings
def bounds_by_difficulty(trials: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 2d: the upper and the lower bound of all candidates by difficulty."""
    data = bounds(trials, "difficulty")
    parts = style.series(data, "difficulty")
    looks = style.looks(parts)
    figure, panels = style.panels(TWO, 1.9, 2, 2)
    for axes, side in zip(panels, _SIDES, strict=True):
        for number, (name, part) in enumerate(parts.items()):
            every = _every(part["k"])  # marks of lines on each other stand at different k
            axes.plot(part["k"], part[side], markevery=(number % every, every), **looks[name].mark)
        axes.set_title(f"{side} bound")
    keys = {name: style.line_key(look) for name, look in looks.items()}
    return _finished(figure, data, keys, stamp, _MEAN)


def _every(k: "pd.Series[int]") -> int:
    return max(1, len(k) // 8)


def _finished(
    figure: Picture, data: pd.DataFrame, keys: Mapping[str, object], stamp: object, note: str
) -> Picture:
    for axes in figure.axes:
        axes.set_xlabel("candidates k")
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
        axes.set_xlim(left=0.5)
        axes.grid(axis="y")
        style.percent(axes, "y", "EX")
    style.legend(figure, keys)
    return style.finish(figure, data, stamp, note)


def solved(frame: pd.DataFrame, by: str = "generator") -> pd.DataFrame:
    """A row for each question and a column for each value of `by`: whether any of its rows is right."""
    style.need(frame, "question_id", "correct", by)
    names = list(dict.fromkeys(frame[by]))
    found = frame.pivot_table("correct", "question_id", by, "max", sort=False)
    return (found == 1)[names]


def _overlap(frame: pd.DataFrame, wide: pd.DataFrame) -> pd.DataFrame:
    """For each combination of generators the questions that exactly these solve: number, percent and ids."""
    rows = []
    for who in product((True, False), repeat=len(wide.columns)):
        theirs = wide.index[(wide == list(who)).all(axis=1)]
        solvers = SEVERAL.join(str(name) for name, has in zip(wide, who, strict=True) if has)
        row = {"solved_by": solvers, "n": len(theirs), "percent": 100 * len(theirs) / len(wide)}
        row |= {"run": runs(frame), "generator": SEVERAL.join(map(str, wide))}
        rows.append(row | {"question_ids": " ".join(map(str, theirs)), "counted": "all"})
    return pd.DataFrame(rows)


@style.settings
def venn(frame: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 3a: the questions that each of two or three generators solves at least once."""
    from matplotlib_venn import layout, venn2, venn3  # noqa: PLC0415  it imports SciPy

    wide = solved(frame)
    data, count = _overlap(frame, wide), len(wide.columns)
    if count not in {2, 3}:
        raise BadInputError(f"a Venn diagram shows two or three, not {count}: use `agreement`")
    draw, module = (venn2, layout.venn2) if count == 2 else (venn3, layout.venn3)
    # Circles to scale would hide the regions that matter most, of a few questions that one alone solves.
    even = module.DefaultLayoutAlgorithm(fixed_subset_sizes=(1,) * (len(data) - 1))
    looks = {name: Look(look.colour) for name, look in style.looks(wide).items()}
    figure, (axes,) = style.panels(ONE, 2.1)
    draw(
        [set(wide.index[right]) for _, right in wide.items()], None,
        [look.colour for look in looks.values()], alpha=0.45, ax=axes, layout_algorithm=even,
        subset_label_formatter="{:,}".format,
    )  # fmt: skip
    none = data.iloc[-1]
    axes.set_title(f"none: {none['n']:,} of {data['n'].sum():,} ({none['percent']:.1f}%)")
    style.legend(figure, looks)
    return style.finish(figure, data, stamp, "Questions; areas not to scale.")


def solved_alone(trials: pd.DataFrame, by: str = "difficulty") -> pd.DataFrame:
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
    return pd.DataFrame(rows)


@style.settings
def unique_solves(trials: pd.DataFrame, by: str = "db_id", *, stamp: object) -> Picture:
    """Figure 5: the questions that one generator alone solves, by database."""
    data = solved_alone(trials, by)
    wide = data.pivot_table("n", by, "generator", "sum", sort=False)
    looks = style.looks(wide)
    figure, axes = style.bars(ONE, wide, looks, "{:,.0f}")
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set(xlim=(0, 1.12 * max(1, data["n"].max())), xlabel="questions it alone solves")
    style.legend(figure, looks)
    return style.finish(figure, data, stamp)


_TITLES = {"same verdict": "both right or both wrong", "row alone": "row right, column wrong"}


@style.settings
def agreement(
    frame: pd.DataFrame, by: str = "generator", measure: str = "same verdict", *, stamp: object
) -> Picture:
    """A heat map over pairs, in percent of the questions; the diagonal has the questions that each solves.

    "same verdict": both right or both wrong. "row alone": the row's is right and the column's is wrong.
    """
    from seaborn import heatmap  # noqa: PLC0415  it takes half a second

    one_of(_TITLES, measure=measure)
    wide, rows = solved(frame, by), []
    for (a, ours), (b, theirs) in product(wide.items(), repeat=2):
        pair = ours == theirs if measure == "same verdict" else ours & ~theirs
        share = 100 * (ours if a == b else pair).mean()
        rows.append({by: a, "other": b, "percent": share, "run": runs(frame), "counted": "all"})
    data, names = pd.DataFrame(rows), [style.text(style.shown(name), 28) for name in wide]
    values = data["percent"].to_numpy().reshape(len(names), -1)
    own = np.eye(len(names), dtype=bool)  # another measure, so it has no colour
    pairs = values[~own] if len(names) > 1 else values
    figure, (axes,) = style.panels(TWO, 0.5 + 0.26 * len(names) + 0.05 * max(map(len, names)))
    heatmap(
        values, vmin=pairs.min(), vmax=max(pairs.max(), pairs.min() + 1), mask=own, annot=True,
        fmt=".0f", cmap="Blues", ax=axes, xticklabels=names,
        yticklabels=names, cbar_kws={"label": "questions, %", "shrink": 0.9},
    )  # fmt: skip
    for place, value in enumerate(values.diagonal()):
        at = place + 0.5
        axes.text(at, at, f"{value:.0f}", va="center", ha="center", weight="bold")
    axes.tick_params(length=0)
    axes.tick_params("y", rotation=0)
    for label in axes.get_xticklabels():
        label.set(rotation=40, ha="right", rotation_mode="anchor")
    axes.set_title(f"{_TITLES[measure]}\n(diagonal: solved)")
    return style.finish(figure, data, stamp)


def outcomes(questions: pd.DataFrame, wrong_gold: Collection[str] = ()) -> pd.DataFrame:
    """Each question with its `outcome`; `wrong_gold` are the ids of questions whose gold query is wrong."""
    style.need(questions, "question_id", "correct", "oracle")
    correct, oracle = questions["correct"].astype(bool), questions["oracle"].astype(bool)
    outcome = pd.Series(NONE, index=questions.index).mask(oracle, LOST).mask(correct, RIGHT)
    doubted = questions["question_id"].isin(list(wrong_gold)) & ~correct
    return questions.assign(outcome=outcome.mask(doubted, WRONG_GOLD))


@style.settings
def outcome_pie(
    questions: pd.DataFrame, wrong_gold: Collection[str] = (), *, stamp: object
) -> Picture:
    """Figure 6: the number of questions with each outcome.

    A question counts as `gold is wrong` only if the chosen answer was judged wrong.
    """
    found, rows = outcomes(questions, wrong_gold), []
    for way in _WAYS:
        part = found[found["outcome"] == way]
        row = {"outcome": way, "n": len(part), "percent": 100 * len(part) / len(found)}
        row |= {"run": runs(questions), "question_ids": question_ids(part), "counted": "all"}
        rows.append(row)
    data = pd.DataFrame(rows if rows[-1]["n"] else rows[:-1])
    figure, (axes,) = style.panels(ONE, 2.4)
    style.pie(axes, data["n"], [_WAYS[way] for way in data["outcome"]], data["outcome"])
    return style.finish(figure, data, stamp)


@style.settings
def exists_and_chosen(questions: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 7: the percentage of questions with a right candidate, and with a right one chosen."""
    style.need(questions, "db_id", "correct", "oracle")
    by_database = questions.groupby("db_id", sort=False)
    shares = 100 * by_database[["oracle", "correct"]].mean()
    shares.insert(0, "n", by_database.size())
    data = shares.reset_index().rename(columns={"oracle": "exists", "correct": "chosen"})
    data = data.assign(run=runs(questions), counted="all")
    looks = {"exists": Look(style.SKY), "chosen": Look(style.BLUE, "s", "////")}
    figure, axes = style.bars(ONE, data.set_index("db_id"), looks, "{:.1f}")
    style.percent(axes, "x", "questions", whole=True)
    words = ("a right candidate exists", "a right candidate is chosen")
    style.legend(figure, dict(zip(words, looks.values(), strict=True)))
    return style.finish(figure, data, stamp)


@style.settings
def regret(questions: pd.DataFrame, *, stamp: object) -> Picture:
    """For each `system`, which may be a selector: the share that is right, lost in selection, or without a right candidate.

    `data` has the number of lost questions; `outcomes` shows which questions are lost.
    """
    style.need(questions, "system")
    columns, rows = {"right": RIGHT, "lost": LOST, "no right candidate": NONE}, []
    for name, group in outcomes(questions).groupby("system", sort=False):
        counts = group["outcome"].value_counts().reindex([*_WAYS], fill_value=0)
        shares = {part: 100 * counts[way] / len(group) for part, way in columns.items()}
        row = {"system": str(name)} | shares | {"n_lost": counts[LOST]}
        rows.append(row | {"run": runs(group), "counted": "all"})
    data = pd.DataFrame(rows)
    looks = {column: _WAYS[way] for column, way in columns.items()}
    figure, axes = style.bars(TWO, data.set_index("system"), looks, "{:.1f}", stacked=True)
    style.percent(axes, "x", "questions", whole=True)
    axes.set_xlim(0, 100)
    style.legend(figure, {way: _WAYS[way] for way in columns.values()})
    return style.finish(figure, data, stamp)
