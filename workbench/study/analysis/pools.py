"""Pools of candidates from prediction files or from runs, and questions whose right candidates were not chosen."""

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from workbench.benchmarks.load import open_benchmark
from workbench.benchmarks.predictions import candidates, read_predictions
from workbench.study.runs import Run
from workbench.study.study import Study
from workbench.types import Candidate

Candidates = dict[str, tuple[Candidate, ...]]


def predicted(study: Study) -> tuple[Study, Candidates]:
    """The candidates in the files that the experiment's setting `predictions` names: folders and files.

    The returned study names the files in place of its model, since no model was called.
    """
    benchmark = open_benchmark(study.experiment.benchmark, study.experiment.root)
    found = read_predictions(benchmark, *study.experiment.predictions)
    systems = found["generator"].nunique()
    return _with_model(study, f"predictions of {systems} systems"), candidates(found)


def answers(study: Study, runs: Iterable[Run]) -> tuple[Study, Candidates]:
    """The queries that systems chose; the returned study names the systems in place of its model."""
    listed = list(runs)
    models = study.stamp.of(pd.DataFrame({"run": [run.id for run in listed]})).models
    found: Candidates = {}
    for run in listed:
        for selection in run.selections:
            if trial := selection.trial:
                own = replace(trial.candidate, generator=run.name, sample=0)
                found[selection.question_id] = (*found.get(selection.question_id, ()), own)
    return _with_model(study, f"{models}, the answers of {len(listed)} systems"), found


def lost(run: Run, study: Study) -> pd.DataFrame:
    """A row for each question with a right candidate that was not chosen.

    A row has the chosen query, the right candidate with most votes, and the generators of right candidates. `votes`
    and `right votes` count the candidates with the same result as the chosen and as the right query.
    """
    texts = {question.id: question.text for question in study.benchmark.questions}
    rows = []
    questions = run.questions
    possible = questions.loc[
        questions["oracle"].astype(bool) & ~questions["correct"].astype(bool), "question_id"
    ]
    # Each question takes milliseconds, so questions without a right candidate, or answered correctly, are skipped.
    candidates = run.trials[run.trials["question_id"].isin(possible)]
    for question_id, trials in candidates.groupby("question_id", sort=False):
        sizes = trials.loc[trials["group"] >= 0, "group"].value_counts()
        votes = trials["group"].map(sizes).fillna(0).astype(int)
        right, answer = trials[trials["correct"]], trials[trials["chosen"]]
        if right.empty or answer["correct"].any():
            continue
        best = right.iloc[int(votes[right.index].argmax())]
        rows.append(
            {
                "question_id": question_id,
                "db_id": best["db_id"],
                "difficulty": best["difficulty"],
                "question": texts[str(question_id)],
                "chosen": "".join(answer["sql"]),
                "votes": votes[answer.index].sum(),
                "right": best["sql"],
                "right votes": votes[right.index].max(),
                "right by": ", ".join(right["generator"].unique()),
                "run": run.id,
                "counted": "all",
            }
        )
    names = ["question_id", "db_id", "difficulty", "question", "chosen", "votes"]
    more = ["right", "right votes", "right by", "run", "counted"]
    return pd.DataFrame(rows, columns=[*names, *more])


def _with_model(study: Study, model: str) -> Study:
    return replace(study, experiment=replace(study.experiment, model=model))
