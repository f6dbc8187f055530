"""Two runs side by side: the questions that only one of them answers right."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.evaluate.ex import pool_verdicts
from workbench.explore.prompt.steps import Step
from workbench.html.parts import Html, line, table, view
from workbench.lab import Lab
from workbench.llm.budget import dollars
from workbench.pool import pool_of
from workbench.replies.sql import read_sql
from workbench.types import Candidate, Completion, Question, Trial

if TYPE_CHECKING:
    from workbench.study.runs import Run


def verdicts(
    lab: Lab, benchmark: Benchmark, steps: Sequence[Step], answers: Sequence[Completion]
) -> pd.DataFrame:
    """A row for each step, which belong to different questions: the SQL in its reply, and whether the SQL is right."""
    trials = [Trial(Candidate(read_sql(answer.text).sql, "reply")) for answer in answers]
    asked = list(zip((step.request.question for step in steps), trials, strict=True))
    right = pool_verdicts(benchmark, pool_of(asked), lab.executor)
    rows = [(key, trial.candidate.sql, *right[key]) for key, trial in asked if key in right]
    return pd.DataFrame(rows, columns=["question_id", "sql", "correct"])


def _both(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """The questions that both tables have, with `change`: "won", "lost", or "" where nothing flipped."""
    names = ["question_id", "sql", "correct"]
    both = before[names].merge(after[names], on="question_id", suffixes=("_before", "_after"))
    was, now = both["correct_before"].astype(bool), both["correct_after"].astype(bool)
    changes = pd.Series("", both.index).mask(now & ~was, "won").mask(was & ~now, "lost")
    both.insert(1, "change", changes)
    return both


def flips(
    before: pd.DataFrame, after: pd.DataFrame, questions: Iterable[Question] = ()
) -> pd.DataFrame:
    """The questions that only one of two runs answers right: the won ones first, then the lost ones.

    Both tables have question_id, sql and correct, such as a run's `questions`; only questions that both have are
    compared. `questions` give the texts.
    """
    both = _both(before, after)
    flipped = both[both["change"] != ""].sort_values("change", ascending=False, kind="stable")
    texts = {question.id: question.text for question in questions}
    flipped.insert(1, "question", [texts.get(key, "") for key in flipped["question_id"]])
    names = ["question_id", "question", "change", "sql_before", "sql_after"]
    return flipped[names].reset_index(drop=True)


def flips_html(
    before: pd.DataFrame,
    after: pd.DataFrame,
    questions: Iterable[Question] = (),
    title: str = "Questions that flip",
) -> Html:
    """The number of right answers before and after, and the flipped questions with both queries."""
    both, flipped = _both(before, after), flips(before, after, questions)
    was, now = int(both["correct_before"].sum()), int(both["correct_after"].sum())
    won = int((flipped["change"] == "won").sum())
    summary = (
        f"Of {len(both):,} questions, {was:,} were right before and {now:,} are after: "
        f"{won:,} won, {len(flipped) - won:,} lost."
    )
    marks = ["plus" if change == "won" else "minus" for change in flipped["change"]]
    flipped["change"] = flipped["change"].map({"won": "+ won", "lost": "- lost"})
    rows = flipped.itertuples(index=False)
    changes = table(("id", "question", "change", "before", "after"), rows, marks=marks)
    return view(title, line(summary), *([changes] if marks else []), kind="wb-flips")


def costs_html(runs: Sequence["Run"]) -> Html:
    """What each run would cost without the cache."""
    names = ("calls", "input_tokens", "output_tokens")
    rows = [
        (
            run.name,
            run.id,
            *(f"{run.questions[name].sum():,.10g}" for name in names),
            dollars(run.questions["dollars"].sum(), int(run.questions["unpriced"].sum())),
        )
        for run in runs
    ]
    columns = ("system", "run", *names, "dollars")
    return view("What each would cost without the cache", table(columns, rows))
