"""Pools of candidates from prediction files or from runs, and questions whose right candidates were not chosen."""

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from workbench.benchmarks.named import open_benchmark
from workbench.benchmarks.predictions import file_names, load_pool, prediction_files
from workbench.pool import Pool, chosen, pool_of
from workbench.study.runs import Run
from workbench.study.study import Study


def predicted(study: Study) -> tuple[Study, Pool]:
    """The pool of the files that the experiment's option `predictions` names: a folder, a file or a list.

    The returned study names the files in place of its model, since no model was called.
    """
    option = study.options["predictions"]
    names = [option] if isinstance(option, str) else option
    files = prediction_files([str(study.experiment.folder / name) for name in names])
    whole = open_benchmark(study.experiment.benchmark, study.experiment.root)
    return _of(study, f"{len(files)} prediction files"), load_pool(file_names(files), whole)


def answers(study: Study, runs: Iterable[Run]) -> tuple[Study, Pool]:
    """The pool of the queries that systems chose; the returned study names the systems in place of its model."""
    ran = list(runs)
    asked = study.stamp.of(pd.DataFrame({"run": [run.id for run in ran]})).models
    pairs = (pair for run in ran for pair in chosen(run.name, run.selections).items())
    return _of(study, f"{asked}, the answers of {len(ran)} systems"), pool_of(pairs)


def lost(run: Run, study: Study) -> pd.DataFrame:
    """A row for each question with a right candidate that was not chosen.

    A row has the chosen query, the right candidate with most votes, and the generators of right candidates. `votes`
    and `right votes` count the candidates with the same result as the chosen and as the right query.
    """
    texts = {question.id: question.text for question in study.benchmark.questions}
    rows = []
    asked = run.questions
    possible = asked.loc[
        asked["oracle"].astype(bool) & ~asked["correct"].astype(bool), "question_id"
    ]
    # Each question takes milliseconds, so questions without a right candidate, or answered correctly, are skipped.
    some = run.trials[run.trials["question_id"].isin(possible)]
    for question_id, trials in some.groupby("question_id", sort=False):
        sizes = trials.loc[trials["group"] >= 0, "group"].value_counts()
        votes = trials["group"].map(sizes).fillna(0).astype(int)
        right, taken = trials[trials["correct"]], trials[trials["chosen"]]
        if right.empty or taken["correct"].any():
            continue
        best = right.iloc[int(votes[right.index].argmax())]
        rows.append(
            {
                "question_id": question_id,
                "db_id": best["db_id"],
                "difficulty": best["difficulty"],
                "question": texts[str(question_id)],
                "chosen": "".join(taken["sql"]),
                "votes": votes[taken.index].sum(),
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


def _of(study: Study, model: str) -> Study:
    return replace(study, experiment=replace(study.experiment, model=model))
