"""What a reader must know of the gold queries behind an accuracy: which fail, and which questions a revision lacks."""

from collections.abc import Iterable

import pandas as pd

from workbench.study.runs import BY_GOLD, FAILED_BY_GOLD, Run

_NAMED = 5  # questions that a note names


def gold_notes(runs: Iterable[Run]) -> str:
    """Sentences for the caption of a table of runs on the same questions."""
    run = next(iter(runs), None)
    if run is None:
        return ""
    asked = run.questions
    total = len(asked)
    notes = _failing(asked, "gold_failed", f"{total} questions", "right")
    for column in asked.columns[asked.columns.str.startswith(BY_GOLD)]:
        name = column.removeprefix(BY_GOLD)
        there = asked[column].notna().sum()
        if there < total:
            notes.append(
                f"{name} has {there} of the {total} questions: its EX and change are of these."
            )
        notes += _failing(
            asked, FAILED_BY_GOLD + name, f"{there} questions of {name}", "right by it"
        )
    return " ".join(notes)


def _failing(asked: pd.DataFrame, column: str, among: str, right: str) -> list[str]:
    """A list of one sentence about the questions whose gold query fails; empty if all gold queries run."""
    failed = asked["question_id"][asked[column]]
    if failed.empty:
        return []
    named = ", ".join(failed[:_NAMED]) + ", ..." * (len(failed) > _NAMED)
    fails = f"The gold query of {len(failed)} of {among} fails ({named})"
    return [f"{fails}: no answer to them is {right}."]
