"""The answers behind an experiment's numbers are written down with them."""

import csv

import pandas as pd

from workbench.experiment.answers import runs_behind, write_answers
from workbench.report.tables import alone
from workbench.study import open_study
from workbench.study.settings import Experiment
from workbench.systems.baselines import direct


def test_the_answers_of_each_run_are_written_to_a_file(tmp_path):
    with open_study(Experiment("small"), limit=4, figures=tmp_path) as study:
        run = study.run(direct(), "the baseline")
        study.save("a_table", alone(pd.DataFrame([run.row()]), study.stamp, "A table"))
        path = write_answers(tmp_path, runs_behind(tmp_path), study.lab.client.store)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["question_id"] for row in rows] == run.questions["question_id"].tolist()
    assert [row["sql"] for row in rows] == run.questions["sql"].tolist()
    assert {row["system"] for row in rows} == {"the baseline"}
    assert {row["run"] for row in rows} == {run.id}
