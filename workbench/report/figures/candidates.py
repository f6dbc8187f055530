"""A question's candidates: how good the best choice could be, who solves what, and what became of each question.

CHASE-SQL's figures 2 (bounds), 3 and 5 (generators), 6 and 7 (outcomes); regret and agreement are ours.
"""

from collections.abc import Collection, Mapping
from itertools import product
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from workbench.errors import BadInputError, one_of
from workbench.evaluate import stats
from workbench.report import style
from workbench.report.figures.frames import bars, need, question_ids, series
from workbench.report.stamp import runs
from workbench.report.style import BLACK, BLUE, ONE, TWO, Look, Picture, shown, text

TOGETHER = "all together"
SEVERAL = " & "
"""Joins the names of generators that solve a question together."""
_SIDES = {"upper": Look(BLACK, "^"), "lower": Look(BLACK, "v", "", (0, (4, 2)))}
RIGHT, LOST = "right one chosen", "right one there, another chosen"
NONE, WRONG_GOLD = "no right candidate", "gold is wrong"
_COLOURS = {RIGHT: BLUE, LOST: style.ORANGE, NONE: style.GREY, WRONG_GOLD: style.PURPLE}
_WAYS = {
    way: Look(colour, *shape)
    for (way, colour), shape in zip(_COLOURS.items(), style.SHAPES, strict=False)
}


def bounds(trials: pd.DataFrame, by: str = "generator", *, first: bool = False) -> pd.DataFrame:
    """Upper and lower bound in percent for every k, by a column's values, and for all rows together.

    A bound is the exact expectation over all choices of k candidates or, with `first`, that of the first k.
    """
    need(trials, "question_id", "correct", by)
    groups = {str(name): trials[trials[by] == name] for name in style.ordered(trials[by])}
    if len(groups) > 1:
        groups[TOGETHER] = trials
    found = []
    for name, group in groups.items():
        if first:
            ordinal = group.groupby("question_id").cumcount() + 1
            wide = group.assign(k=ordinal).pivot(index="question_id", columns="k", values="correct")
            ends = {"lower": wide.astype(float).fillna(1).cummin(axis=1)}
            ends["upper"] = wide.astype(float).fillna(0).cummax(axis=1)
            rows = pd.DataFrame({end: 100 * right.mean() for end, right in ends.items()})
            rows = rows.reset_index()
        else:
            verdicts = {str(q): v.tolist() for q, v in group.groupby("question_id")["correct"]}
            rows = stats.bounds(verdicts)
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
    keys = {f"{side} bound": style.line_key(look) for side, look in _SIDES.items()}
    note = "A bound is the mean over all choices of k candidates."
    if selected is not None:
        need(selected, "generator", "k", "EX")
        picked = selected[["generator", "k", "EX"]].rename(columns={"EX": "selected"})
        data = data.merge(picked, on=["generator", "k"], how="left")
        keys["selected"] = style.line_key(Look(BLACK, "D", "", ":"))
        note = "Bounds and choice are of the same first k candidates."
    parts = series(data, "generator")
    across = min(2, len(parts))
    down = -(-len(parts) // across)
    figure, panels = style.panels((ONE, TWO)[across - 1], 1.75 * down, len(parts), across)
    for axes, (name, part) in zip(panels, parts.items(), strict=True):
        colour, every = style.looks(parts)[name].colour, max(1, len(part) // 8)
        axes.fill_between(part["k"], part["lower"], part["upper"], color=colour, alpha=0.12, lw=0)
        for side, look in _SIDES.items():
            axes.plot(part["k"], part[side], **look.curve | {"color": colour}, markevery=every)
        axes.set_title(text(shown(name), 210))
        if "selected" in part:
            chosen = part.dropna(subset="selected")
            axes.plot(chosen["k"], chosen["selected"], color=BLACK, marker="D", linestyle=":")
    return _finished(figure, data, keys, stamp, note)


@style.settings
def bounds_by_difficulty(trials: pd.DataFrame, by: str = "difficulty", *, stamp: object) -> Picture:
    """Figure 2d: the upper and the lower bound of all candidates by difficulty."""
    data = bounds(trials, by)
    parts = series(data, by)
    looks = style.looks(parts)
    figure, panels = style.panels(TWO, 1.9, 2)
    for axes, side in zip(panels, _SIDES, strict=True):
        for number, (name, part) in enumerate(parts.items()):
            every = max(1, len(part) // 8)  # marks of lines on each other stand at different k
            place = (number % every, every)
            axes.plot(part["k"], part[side], **looks[name].curve, markevery=place)
        axes.set_title(f"{side} bound")
    keys = {name: style.line_key(look) for name, look in looks.items()}
    note = "A bound is the mean over all choices of k candidates."
    return _finished(figure, data, keys, stamp, note)


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
    need(frame, "question_id", "correct", by)
    names = list(dict.fromkeys(frame[by]))
    any_right = frame.astype({"correct": bool}).groupby(["question_id", by], sort=False)["correct"]
    return any_right.max().unstack(fill_value=False).astype(bool)[names]


def overlap(frame: pd.DataFrame, by: str = "generator") -> pd.DataFrame:
    """For each combination of solvers the questions that exactly these solve: number, percent and ids."""
    wide, rows = solved(frame, by), []
    for who in product((True, False), repeat=len(wide.columns)):
        theirs = wide.index[(wide == list(who)).all(axis=1)]
        solvers = SEVERAL.join(str(name) for name, has in zip(wide, who, strict=True) if has)
        row = {"solved_by": solvers, "n": len(theirs), "percent": 100 * len(theirs) / len(wide)}
        row |= {"run": runs(frame), by: SEVERAL.join(map(str, wide))}
        rows.append(row | {"question_ids": " ".join(map(str, theirs)), "counted": "all"})
    return pd.DataFrame(rows)


@style.settings
def venn(frame: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 3a: the questions that each of two or three generators solves at least once."""
    from matplotlib_venn import layout, venn2, venn3  # noqa: PLC0415  it imports SciPy

    data = overlap(frame)
    names = str(data["generator"][0]).split(SEVERAL)
    if len(names) not in {2, 3}:
        raise BadInputError(
            f"a Venn diagram shows two or three, and there are {len(names)}: use `agreement` for more"
        )
    draw, module = (venn2, layout.venn2) if len(names) == 2 else (venn3, layout.venn3)
    keys = ["".join("01"[has] for has in who) for who in product((True, False), repeat=len(names))]
    sizes = dict(zip(keys[:-1], data["n"], strict=False))
    looks = style.looks(names)
    figure, axes = style.canvas(ONE, 2.1)
    # Circles to scale would hide the regions that matter most, of a few questions that one alone solves.
    even = module.DefaultLayoutAlgorithm(fixed_subset_sizes=(1,) * len(sizes))
    colours = [look.colour for look in looks.values()]
    drawn = draw(sizes, None, colours, alpha=0.45, ax=axes, layout_algorithm=even)
    for key, size in sizes.items():
        drawn.get_label_by_id(key).set(text=f"{size:,}", fontsize=8)
    none = data.iloc[-1]
    axes.set_title(f"none: {none['n']:,} of {data['n'].sum():,} ({none['percent']:.1f}%)")
    style.legend(figure, {name: Look(look.colour) for name, look in looks.items()})
    return style.finish(figure, data, stamp, "Questions; areas not to scale.")


def solved_alone(trials: pd.DataFrame, by: str = "difficulty") -> pd.DataFrame:
    """Figure 3b: for each value of `by` and each generator, the questions that this generator alone solves."""
    need(trials, by)
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
    looks = style.looks(list(dict.fromkeys(data["generator"])))
    figure, axes = bars(ONE, data.assign(value=data["n"]), by, "generator", looks, "{:,.0f}")
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set(xlim=(0, 1.12 * max(1, data["n"].max())), xlabel="questions it alone solves")
    style.legend(figure, looks)
    return style.finish(figure, data, stamp)


Measure = Literal["same verdict", "row alone"]
_TITLES = {"same verdict": "both right or both wrong", "row alone": "row right, column wrong"}


@style.settings
def agreement(
    frame: pd.DataFrame, by: str = "generator", measure: Measure = "same verdict", *, stamp: object
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
        rows.append({by: a, "other": b, "percent": share, "run": runs(frame)})
    data, count = pd.DataFrame(rows), len(wide.columns)
    values = data["percent"].to_numpy().reshape(count, count)
    own = np.eye(count, dtype=bool)  # another measure, so it has no colour
    pairs = values[~own] if count > 1 else values
    figure, axes = style.canvas(ONE if count < 4 else TWO, 1.4 + 0.26 * count)
    heatmap(
        values, vmin=pairs.min(), vmax=max(pairs.max(), pairs.min() + 1), cmap="Blues", annot=True,
        fmt=".0f", ax=axes, mask=own, cbar_kws={"label": "questions, %", "shrink": 0.9},
    )  # fmt: skip
    for place, value in enumerate(values.diagonal(), 0):
        at = place + 0.5
        axes.text(at, at, f"{value:.0f}", va="center", ha="center", fontweight="bold")
    labels = [text(shown(name), 115) for name in wide]
    axes.tick_params(length=0)
    axes.set_yticklabels(labels, rotation=0)
    axes.set_xticklabels(labels, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_title(f"{_TITLES[measure]}\n(diagonal: solved)")
    return style.finish(figure, data, stamp)


def outcomes(questions: pd.DataFrame, wrong_gold: Collection[str] = ()) -> pd.DataFrame:
    """Each question with its `outcome`; `wrong_gold` are the ids of questions whose gold query is wrong."""
    need(questions, "question_id", "correct", "oracle")
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
    figure, axes = style.canvas(ONE, 1.6)
    wedges, *_ = axes.pie(data["n"].tolist(), startangle=90, counterclock=False)
    for wedge, way in zip(wedges, data["outcome"], strict=True):
        wedge.set(**_WAYS[way].bar | {"linewidth": 1})
    numbers = zip(data["outcome"], data["n"], data["percent"], strict=True)
    style.legend(figure, {f"{way}: {n:,} ({p:.1f}%)": _WAYS[way] for way, n, p in numbers})
    return style.finish(figure, data, stamp)


@style.settings
def exists_and_chosen(questions: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 7: the percentage of questions with a right candidate, and with a right one chosen."""
    need(questions, "db_id", "correct", "oracle")
    rows = []
    for name, group in questions.groupby("db_id", sort=False):
        shares = {"exists": 100 * group["oracle"].mean(), "chosen": 100 * group["correct"].mean()}
        row = {"db_id": name, "n": len(group)} | shares
        rows.append(row | {"run": runs(group), "counted": "all"})
    data = pd.DataFrame(rows)
    looks = {"exists": Look(style.SKY), "chosen": Look(BLUE, "s", "////")}
    long = data.melt("db_id", list(looks), "what").astype({"value": float})
    figure, axes = bars(ONE, long, "db_id", "what", looks, "{:.1f}")
    style.percent(axes, "x", "questions", whole=True)
    words = ("a right candidate exists", "a right candidate is chosen")
    style.legend(figure, dict(zip(words, looks.values(), strict=True)))
    return style.finish(figure, data, stamp)


@style.settings
def regret(questions: pd.DataFrame, *, stamp: object) -> Picture:
    """For each `system`, which may be a selector: the share that is right, lost in selection, or without a right candidate.

    `data` has the number of lost questions; `outcomes` shows which questions are lost.
    """
    need(questions, "system")
    columns = {"right": RIGHT, "lost": LOST, "no right candidate": NONE}
    rows = []
    for name, group in outcomes(questions).groupby("system", sort=False):
        counts = group["outcome"].value_counts()
        shares = {part: 100 * counts.get(way, 0) / len(group) for part, way in columns.items()}
        row = {"system": str(name)} | shares | {"n_lost": int(counts.get(LOST, 0))}
        rows.append(row | {"run": runs(group), "counted": "all"})
    data = pd.DataFrame(rows)
    figure, axes = style.canvas(TWO, 0.5 + 0.22 * len(data))
    start = pd.Series(0.0, data.index)
    box = {"boxstyle": "square,pad=0.15", "facecolor": "white", "linewidth": 0}
    for column, way in columns.items():
        drawn = axes.barh(data.index, data[column], 0.75, left=start, **_WAYS[way].bar)
        # A piece narrower than 4 % cannot hold its number.
        numbers = [f"{value:.1f}" if value >= 4 else "" for value in data[column]]
        axes.bar_label(drawn, numbers, label_type="center", fontsize=style.SMALL, bbox=box)
        start += data[column]
    style.name_rows(axes, data["system"].tolist(), 160)
    style.percent(axes, "x", "questions", whole=True)
    axes.set_xlim(0, 100)
    style.legend(figure, {way: _WAYS[way] for way in columns.values()})
    return style.finish(figure, data, stamp)
