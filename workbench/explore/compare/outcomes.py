"""The outcome of each question in each run, and the errors of candidates grouped by message."""

import re
from collections.abc import Sequence

import pandas as pd

from workbench.study.run import Run
from workbench.study.study import Study

RIGHT, WRONG, FAILED, ABSENT = "r", "w", "f", "-"
WORDS = {RIGHT: "✓ right", WRONG: "✗ wrong", FAILED: "! failed", ABSENT: "not asked"}
_RAN = ("ok", "empty")
# The parts in which messages of one kind differ: quoted text, numbers, and a name at the end.
_DETAILS = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`|\b\d+(?:\.\d+)?\b|(?<=: )\S+$")


def outcomes(study: Study, runs: Sequence[Run]) -> pd.DataFrame:
    """A row for each question and a column for each run: right, wrong, failed or not asked, as a letter.

    Questions with equal columns stand together; those on which the runs disagree come first.
    """
    ids = [question.id for question in study.benchmark.questions]
    found = {}
    for number, run in enumerate(runs):
        asked = run.questions.set_index("question_id")
        letters = asked["status"].isin(_RAN).map({True: WRONG, False: FAILED})
        found[number] = letters.mask(asked["correct"].astype(bool), RIGHT)
    frame = pd.DataFrame(found, index=ids).fillna(ABSENT)
    frame = frame[(frame != ABSENT).any(axis=1)]
    disagree = differ(frame)
    order = frame.assign(disagree=~disagree).sort_values(
        ["disagree", *frame.columns], kind="stable"
    )
    return frame.loc[order.index]


def differ(frame: pd.DataFrame) -> pd.Series:
    """Whether the columns of each row differ; computed column by column, since a loop over rows is slow."""
    return frame.ne(frame.iloc[:, 0], axis=0).any(axis=1)


def errors(study: Study, runs: Sequence[Run]) -> pd.DataFrame:
    """A row for each candidate that failed: run, question_id, its error's message, and the message's kind."""
    rows: list[tuple[str, str, str]] = []
    questions = [question.id for question in study.benchmark.questions]
    for run in runs:
        failed = run.trials[~run.trials["status"].isin(_RAN)]
        failed = failed[failed["question_id"].isin(questions)]
        asked = list(zip(failed["db_id"], failed["sql"], strict=True))
        pairs = [pair for pair in dict.fromkeys(asked) if pair[1]]
        paths = [(study.lab.database(str(db_id)), str(sql)) for db_id, sql in pairs]
        executions = study.lab.executor.execute_many(paths, study.lab.limits)
        error_of = {pair: found.error for pair, found in zip(pairs, executions, strict=True)}
        messages = [
            error_of[pair] if pair[1] else problem or "no query"
            for pair, problem in zip(asked, failed["problem"], strict=True)
        ]
        rows += zip([run.name] * len(failed), failed["question_id"], messages, strict=True)
    frame = pd.DataFrame(rows, columns=["run", "question_id", "message"])
    kinds = {message: _DETAILS.sub("…", message) for message in frame["message"].unique()}
    return frame.assign(kind=frame["message"].map(kinds))
