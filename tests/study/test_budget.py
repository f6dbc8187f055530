"""What an experiment may spend is one budget, however many notebooks it has."""

import time
from dataclasses import replace

import pytest

from workbench.errors import BudgetError
from workbench.study import open_study
from workbench.systems.baselines import direct


def test_what_other_notebooks_of_a_run_spent_is_spent(experiment, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(experiment.folder / "home"))
    monkeypatch.setenv("WORKBENCH_BEGAN", str(time.time()))
    few = replace(experiment, calls=3)
    with open_study(few, limit=2) as first:
        first.run(direct(first.model))
    with (
        open_study(few, limit=2) as second,
        pytest.raises(BudgetError, match="the budget of 3 calls is used up"),
    ):
        second.run(direct(second.model, think=False))
    with open_study(few, limit=2) as third:
        assert third.run(direct(third.model)).questions["calls"].tolist() == [1, 1], "cached"
