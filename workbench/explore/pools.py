"""Where a choice went wrong: the questions for which a right candidate was there."""

import pandas as pd

from workbench.report.markup import Html, table, view


def regrets(questions: pd.DataFrame, trials: pd.DataFrame) -> pd.DataFrame:
    """The questions where a right candidate was there and another was chosen: a run's two tables.

    One row a question: how many candidates were right, who proposed them, what was chosen instead, and
    one right query.
    """
    lost = questions[questions["oracle"].astype(bool) & ~questions["correct"].astype(bool)]
    rows = []
    for question in lost.itertuples():
        mine = trials[trials["question_id"] == question.question_id]
        right = mine[mine["correct"].astype(bool)]
        chosen = mine[mine["chosen"].astype(bool)]
        rows.append(
            {
                "question_id": question.question_id,
                "db_id": question.db_id,
                "difficulty": question.difficulty,
                "candidates": len(mine),
                "right": len(right),
                "right_by": ", ".join(dict.fromkeys(right["generator"])),
                "chosen_by": ", ".join(chosen["generator"]),
                "chosen_sql": question.sql,
                "right_sql": next(iter(right["sql"]), ""),
            }
        )
    names = "question_id db_id difficulty candidates right right_by chosen_by chosen_sql right_sql"
    return pd.DataFrame(rows, columns=names.split())


def regrets_html(questions: pd.DataFrame, trials: pd.DataFrame) -> Html:
    """The questions where a right candidate was there and another was chosen, as a table."""
    found = regrets(questions, trials)
    names = ["question_id", "difficulty", "right", "candidates", "right_by", "chosen_by"]
    rows = found[names].itertuples(index=False)
    return view(
        f"Regrets: {len(found)} of {len(questions)} questions",
        table(names, rows, "A right candidate was there, and another was chosen")
        if len(found)
        else "",
        kind="wb-regrets",
    )
