"""Every notebook of the embedded experiment runs on a few questions, and its figures and tables can be read.

The notebooks run as in `workbench reproduce`: two at a time in one WORKBENCH_HOME, so that they share runs.
"""

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import papermill
import pytest

from workbench.store import Store
from workbench.study.experiment import Session, load_experiment
from workbench.study.reproduce import plan, run
from workbench.study.saved import read_index
from workbench.study.trace import trace

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parents[2]
EMBEDDED = load_experiment(str(CHECKOUT / "experiments" / "embedded.yaml"))
LIMIT = 4
NO_QUESTIONS = {"chase_figure_25", "mac_figure_6_shares"}
"""Figures whose column `n` counts queries or labels, and not questions."""
SMALL = {
    "sweep": 2,
    "sizes": [100],
    "counts": [2, 5],
}
"""Small values for the parameters that cost more than the number of questions does."""


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """All notebooks by name, after they ran; the figures' folder."""
    folder = tmp_path_factory.mktemp("small")
    notebooks = {}
    for name, parameters in EMBEDDED.notebooks.items():
        known = papermill.inspect_notebook(
            str(CHECKOUT / "notebooks" / f"{name}.ipynb")
        )
        notebooks[name] = parameters | {
            key: value for key, value in SMALL.items() if key in known
        }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(folder / "home"))
        small = Session(replace(EMBEDDED, notebooks=notebooks), folder / "figures")
        ready = plan(small, limit=LIMIT)
        run(ready, at_once=2)
    return {job.name: job for job in ready}, folder / "figures"


@pytest.mark.parametrize("name", EMBEDDED.notebooks)
def test_a_notebook_runs_and_leaves_what_it_saved(name, jobs):
    job, figures = jobs[0][name], jobs[1]
    assert (job.state, job.error) == ("done", "")
    saved = [name for name, record in job.records.items() if record]
    assert saved
    records = {one: read_index(figures)[one] for one in saved}
    for one, record in records.items():
        assert record["stamp"]
        assert record["table"] or (figures / f"{one}.png").stat().st_size
        assert len(pd.read_csv(figures / f"{one}.csv").columns)
    assert any(record["claims"] for record in records.values())


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("chase_table_4", 8),
        ("chase_table_6", 30),
        ("chase_table_9", 4),
        ("mac_table_1", 10),
    ],
)
def test_each_accuracy_and_efficiency_of_ours_has_its_interval(name, cells, jobs):
    body = read_index(jobs[1])[name]["table"]
    assert len(re.findall(r" \d+\.\d \(\d+\.\d to \d+\.\d\) \|", body)) == cells


def test_both_figures_of_a_pools_bounds_agree_at_every_k(jobs):
    figures = [
        pd.read_csv(jobs[1] / f"pool_bounds{by}.csv") for by in ("", "_by_difficulty")
    ]
    whole = figures[1][figures[1]["difficulty"] == "all together"]
    for bound in ("k", "lower", "upper"):
        assert figures[0][bound].tolist() == pytest.approx(whole[bound].tolist())


def test_every_row_of_ours_leads_to_the_questions_that_it_counts(jobs):
    figures = jobs[1]
    with Store(figures.parent / "home" / "lab.sqlite") as store:
        for path in sorted(figures.glob("*.csv")):
            rows = pd.read_csv(path, dtype=str, keep_default_na=False).to_dict(
                "records"
            )
            for number, row in enumerate(rows):
                if row.get("run"):
                    found = trace(path, number, store)
                    asked = set(found["question_id"])
                    assert asked or row.get("question_ids") == "", (path.name, row)
                    if "n" in row and path.stem not in NO_QUESTIONS:
                        assert len(asked) == int(row["n"]), (path.name, row)
