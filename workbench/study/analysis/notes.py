"""Notes below a table of runs: unknown prices, gold queries that fail, questions that a revision lacks."""

from collections.abc import Iterable

import pandas as pd

from workbench.study.runs import BY_GOLD, FAILED_BY_GOLD, Run

_MOST_NAMED = 5  # questions that a note names


def notes_on(runs: Iterable[Run]) -> str:
    """Sentences for the caption of a table of runs on the same questions."""
    several = list(runs)
    if not several:
        return ""
    unpriced = {run.name: int(run.questions["unpriced"].sum()) for run in several}
    prices = [
        f"The price of {calls:,} call{'s' * (calls > 1)} of {name} is unknown, and so are its dollars."
        for name, calls in unpriced.items()
        if calls
    ]
    return " ".join([*prices, *_on_golds(several[0].questions)])


def _on_golds(questions: pd.DataFrame) -> list[str]:
    """Sentences about the gold queries of the questions."""
    total = len(questions)
    notes = _failing_golds(questions, "gold_failed", f"{total} questions", "right")
    for column in questions.columns[questions.columns.str.startswith(BY_GOLD)]:
        name = column.removeprefix(BY_GOLD)
        revised = questions[column].notna().sum()
        if revised < total:
            notes.append(
                f"{name} has {revised} of the {total} questions: its EX and change are of these."
            )
        notes += _failing_golds(
            questions, FAILED_BY_GOLD + name, f"{revised} questions of {name}", "right by it"
        )
    return notes


def _failing_golds(questions: pd.DataFrame, column: str, among: str, right: str) -> list[str]:
    """A list of one sentence about the questions whose gold query fails; empty if all gold queries run."""
    failed = questions["question_id"][questions[column]]
    if failed.empty:
        return []
    named = ", ".join(failed[:_MOST_NAMED]) + ", ..." * (len(failed) > _MOST_NAMED)
    fails = f"The gold query of {len(failed)} of {among} fails ({named})"
    return [f"{fails}: no answer to them is {right}."]
