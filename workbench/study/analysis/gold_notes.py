"""What a reader must know of the gold queries behind an accuracy: which fail, and which questions a revision lacks."""

from collections.abc import Iterable

from workbench.study.runs import BY_GOLD, Run

_NAMED = 5  # questions that a note names


def gold_notes(runs: Iterable[Run]) -> str:
    """Sentences for the caption of a table of runs on the same questions."""
    run = next(iter(runs), None)
    if run is None:
        return ""
    asked = run.questions
    failed, total = asked["question_id"][asked["gold_failed"]], len(asked)
    notes = []
    if len(failed):
        named = ", ".join(failed[:_NAMED]) + ", ..." * (len(failed) > _NAMED)
        notes.append(
            f"The gold query of {len(failed)} of {total} questions fails ({named}): no answer to them is right."
        )
    for column in asked.columns[asked.columns.str.startswith(BY_GOLD)]:
        if (there := asked[column].notna().sum()) < total:
            name = column.removeprefix(BY_GOLD)
            notes.append(
                f"{name} has {there} of the {total} questions: its EX and change are of these."
            )
    return " ".join(notes)
