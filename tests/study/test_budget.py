"""What an experiment may spend is one budget, however many notebooks it has."""

from dataclasses import replace

from workbench.study import open_study


def test_the_notebooks_of_one_run_share_a_budget(experiment, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(experiment.folder / "home"))
    few = replace(experiment, calls=3)
    names = []
    for began in ("1.5", "1.5", "2.5"):
        monkeypatch.setenv("WORKBENCH_BEGAN", began)
        with open_study(few, limit=2) as study:
            names.append(study.lab.client.budget.name)
    assert names == ["1.5", "1.5", "2.5"]
