"""The outcome of each question: CHASE-SQL's figures 6 and 7, and the questions lost in selection (regret)."""

from collections.abc import Collection

import pandas as pd

from workbench.report.drawing import lettering, palette
from workbench.report.drawing.palette import Look
from workbench.report.drawing.style import ONE, TWO, Picture, canvas, need, question_ids, runs
from workbench.report.figures import marks

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
        marks.legend(
            figure, {f"{w}: {n:,} ({s:.1f}%)": marks.bar_key(_LOOKS[w]) for w, n, s in shares}
        )
    return figure


def exists_and_chosen(questions: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 7: the percentage of questions with a right candidate, and with a right one chosen."""
    need(questions, "db_id", "correct", "oracle")
    by_database = questions.astype({"correct": float, "oracle": float}).groupby("db_id", sort=False)
    rows = []
    for name, group in by_database:
        shares = (100 * group["oracle"].mean(), 100 * group["correct"].mean())
        rows.append((name, len(group), *shares, runs(group), "all"))
    data = pd.DataFrame(rows, columns=["db_id", "n", "exists", "chosen", "run", "counted"])
    looks = {
        "a right candidate exists": Look(palette.SKY, "o", "", "-"),
        "a right candidate is chosen": Look(palette.BLUE, "s", "////", "-"),
    }
    with canvas(ONE, marks.rows_high(len(data), 2), data, stamp) as figure:
        axes = figure.subplots()
        series = dict(zip(looks, (data["exists"].tolist(), data["chosen"].tolist()), strict=True))
        marks.grouped_bars(axes, data["db_id"].tolist(), series, looks, "{:.1f}")
        marks.percent(axes, "x", "questions", whole=True)
        marks.legend(figure, {name: marks.bar_key(look) for name, look in looks.items()})
    return figure


def regret(questions: pd.DataFrame, *, stamp: object) -> Picture:
    """For each `system`, which may be a selector, the share that is right, lost in selection, or without a right candidate.

    `data` has the number of lost questions; `outcomes` shows which questions are lost.
    """
    need(questions, "system")
    columns = {"right": RIGHT, "lost": LOST, "no right candidate": NONE}
    rows = []
    for name, group in outcomes(questions).groupby("system", sort=False):
        shares = 100 * group["outcome"].value_counts(normalize=True)
        row = {"system": str(name)} | {
            column: shares.get(way, 0.0) for column, way in columns.items()
        }
        row |= {"n_lost": int((group["outcome"] == LOST).sum())}
        rows.append(row | {"run": runs(group), "counted": "all"})
    data = pd.DataFrame(rows)
    with canvas(TWO, marks.rows_high(len(data), 1) + 0.06 * len(data), data, stamp) as figure:
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
        marks.name_rows(axes, [palette.shown(name) for name in data["system"]], 150)
        marks.percent(axes, "x", "questions", whole=True)
        axes.set_xlim(0, 100)
        marks.legend(figure, {way: marks.bar_key(_LOOKS[way]) for way in columns.values()})
    return figure
