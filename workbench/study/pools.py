"""Pools that are there already, other systems' files or what our own chose, and what selection lost in a pool."""

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from workbench.benchmarks.named import open_benchmark
from workbench.benchmarks.predictions import file_names, load_pool, prediction_files
from workbench.pool import Pool, chosen, pool_of
from workbench.study.runs import Run
from workbench.study.study import Study


def predicted(study: Study) -> tuple[Study, Pool]:
    """What the experiment's option `predictions` names: a folder, a file or a list of them.

    The study comes back saying whose answers these are, and not its model's.
    """
    told = study.options["predictions"]
    names = [told] if isinstance(told, str) else told
    files = prediction_files([str(study.experiment.folder / name) for name in names])
    whole = open_benchmark(study.experiment.benchmark, study.experiment.root)
    whose = f"{len(files)} prediction files"
    return _of(study, whose), load_pool(file_names(files), whole)


def answers(study: Study, runs: Iterable[Run]) -> tuple[Study, Pool]:
    """What each of our own systems chose, as if it came from files; the study says so."""
    ran = list(runs)
    asked = study.stamp.of(pd.DataFrame({"run": [run.id for run in ran]})).models
    pairs = (pair for run in ran for pair in chosen(run.name, run.selections).items())
    return _of(study, f"{asked}, the answers of {len(ran)} systems"), pool_of(pairs)


def lost(run: Run, study: Study) -> pd.DataFrame:
    """A row for each question with a right candidate that was not chosen.

    It says what was chosen, what would have been right, and who proposed that. `votes` and `right votes`
    are the numbers of candidates with the result of each.
    """
    texts = {question.id: question.text for question in study.benchmark.questions}
    rows = []
    for question_id, trials in run.trials.groupby("question_id", sort=False):
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


def _of(study: Study, whose: str) -> Study:
    return replace(study, experiment=replace(study.experiment, model=whose))
