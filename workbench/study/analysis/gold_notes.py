"""What a reader must know of the gold queries behind an accuracy: which fail, and which questions a revision lacks."""

from collections.abc import Iterable

import pandas as pd

from workbench.study.runs import BY_GOLD, FAILED_BY_GOLD, Run

_MOST_NAMED = 5  # questions that a note names


def gold_notes(runs: Iterable[Run]) -> str:
    """Sentences for the caption of a table of runs on the same questions."""
    run = next(iter(runs), None)
    if run is None:
        return ""
    questions = run.questions
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
    return " ".join(notes)


def _failing_golds(questions: pd.DataFrame, column: str, among: str, right: str) -> list[str]:
    """A list of one sentence about the questions whose gold query fails; empty if all gold queries run."""
    failed = questions["question_id"][questions[column]]
    if failed.empty:
        return []
    named = ", ".join(failed[:_MOST_NAMED]) + ", ..." * (len(failed) > _MOST_NAMED)
    fails = f"The gold query of {len(failed)} of {among} fails ({named})"
    return [f"{fails}: no answer to them is {right}."]
