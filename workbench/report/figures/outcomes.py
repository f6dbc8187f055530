"""The outcome of each question: CHASE-SQL's figures 6 and 7, and the questions lost in selection (regret)."""

from collections.abc import Collection

import pandas as pd

from workbench.report.drawing import lettering, palette
from workbench.report.drawing.palette import Look
from workbench.report.drawing.style import ONE, TWO, Picture, canvas, need, question_ids, runs
from workbench.report.figures.marks import (
    bar_key,
    grouped_bars,
    legend,
    name_rows,
    percent,
    rows_high,
)

RIGHT, LOST, NONE, WRONG_GOLD = (
    "right one chosen",
    "right one there, another chosen",
    "no right candidate",
    "gold is wrong",
)
_LOOKS = {
    RIGHT: Look(palette.BLUE, "o", "", "-"),
    LOST: Look(palette.ORANGE, "s", "////", "--"),
    NONE: Look(palette.GREY, "^", "....", ":"),
    WRONG_GOLD: Look(palette.PURPLE, "D", "xxxx", "-."),
}


def outcomes(questions: pd.DataFrame, wrong_gold: Collection[str] = ()) -> pd.DataFrame:
    """Each question with its `outcome`; `wrong_gold` are the ids of questions whose gold query is wrong."""
    need(questions, "question_id", "correct", "oracle")
    correct, oracle = questions["correct"].astype(bool), questions["oracle"].astype(bool)
    outcome = pd.Series(NONE, index=questions.index).mask(oracle, LOST).mask(correct, RIGHT)
    doubted = questions["question_id"].isin(list(wrong_gold)) & ~correct
    return questions.assign(outcome=outcome.mask(doubted, WRONG_GOLD))


def outcome_pie(
    questions: pd.DataFrame, wrong_gold: Collection[str] = (), *, stamp: object
) -> Picture:
    """Figure 6: the number of questions with each outcome.

    A question counts as `gold is wrong` only if the chosen answer was judged wrong.
    """
    found = outcomes(questions, wrong_gold)
    parts = {way: found[found["outcome"] == way] for way in _LOOKS}
    ways = [way for way in _LOOKS if len(parts[way]) or way != WRONG_GOLD]
    sizes = [len(parts[way]) for way in ways]
    data = pd.DataFrame(
        {
            "outcome": ways,
            "n": sizes,
            "percent": [100 * size / len(questions) for size in sizes],
            "run": runs(questions),
            "question_ids": [question_ids(parts[way]) for way in ways],
            "counted": "all",
        }
    )
    with canvas(ONE, 1.9, data, stamp) as figure:
        axes = figure.subplots()
        axes.pie(
            sizes,
            startangle=90,
            counterclock=False,
            colors=[_LOOKS[way].colour for way in ways],
            hatch=[_LOOKS[way].hatch for way in ways],
            wedgeprops={"edgecolor": "white", "linewidth": 1.0},
        )
        shares = zip(ways, sizes, data["percent"], strict=True)
        legend(figure, {f"{w}: {n:,} ({s:.1f}%)": bar_key(_LOOKS[w]) for w, n, s in shares})
    return figure


def exists_and_chosen(questions: pd.DataFrame, by: str = "db_id", *, stamp: object) -> Picture:
    """Figure 7: the percentage of questions with a right candidate, and with a right one chosen."""
    need(questions, by, "correct", "oracle")
    means = questions.astype({"correct": float, "oracle": float}).groupby(by, sort=False)
    data = pd.DataFrame(
        [
            {
                by: name,
                "n": len(group),
                "exists": 100 * group["oracle"].mean(),
                "chosen": 100 * group["correct"].mean(),
                "run": runs(group),
                "counted": "all",
            }
            for name, group in means
        ]
    )
    looks = {
        "a right candidate exists": Look(palette.SKY, "o", "", "-"),
        "a right candidate is chosen": Look(palette.BLUE, "s", "////", "-"),
    }
    with canvas(ONE, rows_high(len(data), 2), data, stamp) as figure:
        axes = figure.subplots()
        series = dict(zip(looks, (data["exists"].tolist(), data["chosen"].tolist()), strict=True))
        grouped_bars(axes, data[by].tolist(), series, looks, "{:.1f}")
        percent(axes, "x", "questions", whole=True)
        legend(figure, {name: bar_key(look) for name, look in looks.items()})
    return figure


def regret(questions: pd.DataFrame, by: str = "system", *, stamp: object) -> Picture:
    """For each selector or system the share that is right, lost in selection, or without a right candidate.

    `data` has the number of lost questions; `outcomes` shows which questions are lost.
    """
    need(questions, by)
    columns = {"right": RIGHT, "lost": LOST, "no right candidate": NONE}
    rows = []
    for name, group in outcomes(questions).groupby(by, sort=False):
        shares = 100 * group["outcome"].value_counts(normalize=True)
        row = {by: str(name)} | {column: shares.get(way, 0.0) for column, way in columns.items()}
        row |= {"n_lost": int((group["outcome"] == LOST).sum())}
        rows.append(row | {"run": runs(group), "counted": "all"})
    data = pd.DataFrame(rows)
    with canvas(TWO, rows_high(len(data), 1) + 0.06 * len(data), data, stamp) as figure:
        axes = figure.subplots()
        start = pd.Series(0.0, data.index)
        for column, way in columns.items():
            bars = axes.barh(data.index, data[column], 0.75, left=start, **_LOOKS[way].bar)
            # A piece narrower than 4 % cannot hold its number.
            numbers = [f"{value:.1f}" if value >= 4 else "" for value in data[column]]
            axes.bar_label(
                bars,
                numbers,
                label_type="center",
                fontsize=lettering.SMALL,
                bbox={"boxstyle": "square,pad=0.15", "facecolor": "white", "linewidth": 0},
            )
            start += data[column]
        name_rows(axes, [palette.shown(name) for name in data[by]], 150)
        percent(axes, "x", "questions", whole=True)
        axes.set_xlim(0, 100)
        legend(figure, {way: bar_key(_LOOKS[way]) for way in columns.values()})
    return figure
