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


def flips_html(
    before: pd.DataFrame, after: pd.DataFrame, questions: Iterable[Question] = ()
) -> Html:
    """The number of right answers before and after, and the questions that flip with both queries, the won ones first.

    Both tables have question_id, sql and correct, such as a run's `questions`; only questions that both have are
    compared. `questions` give the texts.
    """
    names = ["question_id", "sql", "correct"]
    both = before[names].merge(after[names], on="question_id")
    texts = {question.id: question.text for question in questions}
    won, lost = [], []
    for key, old, was, new, now in both.itertuples(index=False):
        if now and not was:
            won.append((key, texts.get(key, ""), "+ won", old, new))
        elif was and not now:
            lost.append((key, texts.get(key, ""), "- lost", old, new))
    summary = (
        f"Of {len(both):,} questions, {both['correct_x'].sum():,} were right before and"
        f" {both['correct_y'].sum():,} are after: {len(won):,} won, {len(lost):,} lost."
    )
    marks = ["plus"] * len(won) + ["minus"] * len(lost)
    changes = table(("id", "question", "change", "before", "after"), won + lost, marks=marks)
    return view(
        "Questions that flip", line(summary), *([changes] if marks else []), kind="wb-flips"
    )


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
