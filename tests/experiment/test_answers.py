"""The answers behind an experiment's numbers are written down with them, each run under a name of its own."""

import csv
from dataclasses import replace

import pandas as pd

from workbench.experiment.answers import runs_behind, write_answers
from workbench.report.tables import alone
from workbench.study import open_study
from workbench.study.experiment import Experiment
from workbench.systems.baselines import direct
from workbench.systems.select import Majority


def test_the_answers_of_each_run_are_written_to_a_file(tmp_path):
    with open_study(Experiment("small"), limit=4, figures=tmp_path) as study:
        run = study.run(direct(), "the baseline")
        study.save("a_table", alone(pd.DataFrame([run.row()]), study.stamp, "A table"))
        path = write_answers(tmp_path, runs_behind(study.saved.folder), study.lab.client.cache)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["question_id"] for row in rows] == run.questions["question_id"].tolist()
    assert [row["sql"] for row in rows] == run.questions["sql"].tolist()
    assert {row["system"] for row in rows} == {"the baseline"}
    assert {row["run"] for row in rows} == {run.id}


BASELINE = direct()
OTHER = replace(BASELINE, select=Majority(suspect="failed"))


def names(folder, *notebooks):
    """The names in `answers.csv` after these notebooks: each runs one system under one name and saves a table."""
    for number, (system, name, limit) in enumerate(notebooks):
        with open_study(Experiment("small"), limit=limit, figures=folder) as study:
            run = study.run(system, name)
            table = alone(pd.DataFrame([run.row()]), study.stamp, "A table")
            study.save(f"table_{number}", table)
            path = write_answers(folder, runs_behind(folder), study.lab.client.cache)
    with path.open(newline="") as file:
        return {row["run"]: row["system"] for row in csv.DictReader(file)}


def test_a_run_has_all_its_names_whichever_notebook_ends_last(tmp_path):
    notebooks = [(BASELINE, "zero-shot", 2), (BASELINE, "the baseline", 2)]
    found = names(tmp_path / "one", *notebooks)
    assert list(found.values()) == ["the baseline; zero-shot"]
    assert names(tmp_path / "other", *notebooks[::-1]) == found


def test_runs_of_one_name_are_told_apart_by_their_number_of_questions(tmp_path):
    found = names(tmp_path, (BASELINE, "zero-shot", 2), (BASELINE, "zero-shot", 3))
    assert sorted(found.values()) == ["zero-shot, 2 questions", "zero-shot, 3 questions"]


def test_runs_of_one_name_and_size_are_told_apart_by_their_ids(tmp_path):
    found = names(tmp_path, (BASELINE, "zero-shot", 2), (OTHER, "zero-shot", 2))
    assert len(found) == 2
    assert all(run in name for run, name in found.items())
