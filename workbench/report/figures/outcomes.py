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
        wedges, *_ = axes.pie(
            sizes,
            startangle=90,
            counterclock=False,
            colors=[_LOOKS[way].colour for way in ways],
            wedgeprops={"edgecolor": "white", "linewidth": 1.0},
        )
        for wedge, way in zip(wedges, ways, strict=True):
            wedge.set_hatch(_LOOKS[way].hatch)
        legend(
            figure,
            {
                f"{way}: {n:,} ({share:.1f}%)": bar_key(_LOOKS[way])
                for way, n, share in zip(ways, sizes, data["percent"], strict=True)
            },
        )
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

    `data` has how many questions each lost, `outcomes` which ones.
    """
    need(questions, by)
    found = outcomes(questions)
    shares = 100 * pd.crosstab(found[by], found["outcome"], normalize="index").reindex(
        index=list(dict.fromkeys(found[by])), columns=[RIGHT, LOST, NONE], fill_value=0.0
    )
    names = [str(name) for name in shares.index]
    lost = (found["outcome"] == LOST).groupby(found[by], sort=False).sum()
    data = pd.DataFrame(
        {
            by: names,
            "right": shares[RIGHT].tolist(),
            "lost": shares[LOST].tolist(),
            "no right candidate": shares[NONE].tolist(),
            "n_lost": [int(lost[name]) for name in shares.index],
            "run": [runs(found[found[by] == name]) for name in shares.index],
            "counted": "all",
        }
    )
    with canvas(TWO, rows_high(len(names), 1) + 0.06 * len(names), data, stamp) as figure:
        axes = figure.subplots()
        start = [0.0] * len(names)
        for way in (RIGHT, LOST, NONE):
            look, values = _LOOKS[way], shares[way].tolist()
            axes.barh(
                range(len(names)),
                values,
                0.75,
                left=start,
                color=look.colour,
                hatch=look.hatch,
                edgecolor="white",
                linewidth=0,
            )
            for row, (left, value) in enumerate(zip(start, values, strict=True)):
                if value >= 5:  # a narrower piece cannot hold its number
                    axes.text(
                        left + value / 2,
                        row,
                        f"{value:.1f}",
                        ha="center",
                        va="center",
                        fontsize=lettering.SMALL,
                        bbox={"boxstyle": "square,pad=0.15", "facecolor": "white", "linewidth": 0},
                    )
            start = [left + value for left, value in zip(start, values, strict=True)]
        name_rows(axes, [palette.shown(name) for name in names], 150)
        percent(axes, "x", "questions", whole=True)
        axes.set_xlim(0, 100)
        legend(figure, {way: bar_key(_LOOKS[way]) for way in (RIGHT, LOST, NONE)})
    return figure
