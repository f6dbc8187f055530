"""Which questions to look at: by their words, difficulty, database, and what became of them."""

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark

_LOST = "wrong: chosen badly"
_NONE = "wrong: none right"
OUTCOMES = ("right", "wrong", _LOST, _NONE)


def questions(
    benchmark: Benchmark,
    text: str = "",
    difficulty: str = "",
    db_id: str = "",
    outcome: str = "",
    outcomes: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """One row a question: question_id, db_id, difficulty, outcome, question, hint. Empty choices mean all.

    `text` is looked for in question, hint and id, in any case. `outcomes` is a run's table of questions;
    without it no outcome is known.
    """
    known = {} if outcomes is None else {str(r.question_id): r for r in outcomes.itertuples()}
    rows = []
    for question in benchmark.questions:
        ran = known.get(question.id)
        row = {
            "question_id": question.id,
            "db_id": question.db_id,
            "difficulty": benchmark.golds[question.id].difficulty,
            "outcome": "" if ran is None else _outcome(bool(ran.correct), bool(ran.oracle)),
            "question": question.text,
            "hint": question.evidence,
        }
        words = f"{question.id}\n{question.text}\n{question.evidence}".casefold()
        if (
            text.casefold() in words
            and difficulty in {"", row["difficulty"]}
            and db_id in {"", row["db_id"]}
            and row["outcome"].startswith(outcome)
        ):
            rows.append(row)
    names = ["question_id", "db_id", "difficulty", "outcome", "question", "hint"]
    return pd.DataFrame(rows, columns=names)


def _outcome(correct: bool, oracle: bool) -> str:
    return "right" if correct else _LOST if oracle else _NONE
