"""What the selector reaches with one generator alone, between the bounds of the same candidates."""

from dataclasses import replace

import pytest

from workbench.report.figures.candidates import TOGETHER, bounds_by_generator
from workbench.study import open_study
from workbench.study.measures import selected_alone
from workbench.study.settings import Experiment
from workbench.systems.chase_sql import chase_sql
from workbench.systems.select import Majority

WHOLE = chase_sql(samples=3, temperature=1.5)
SYSTEM = replace(WHOLE, generate=WHOLE.generate[:2], select=Majority())


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(folder / "home"))
        with open_study(Experiment("small"), limit=6, figures=folder) as study:
            run = study.run(SYSTEM, "whole")
            yield run, selected_alone(study, run)


def test_each_generator_is_selected_from_alone_and_all_together(found):
    _, rows = found
    asked = list(zip(rows["generator"], rows["k"], strict=True))
    of_each = [(who, k) for who in ("divide_and_conquer", "query_plan") for k in (1, 3)]
    assert asked == [*of_each, (TOGETHER, 6)]
    assert rows["run"].nunique() == len(rows)


def test_the_selector_ends_between_the_bounds(found):
    _, rows = found
    assert (rows["lower bound"] <= rows["EX"]).all()
    assert (rows["EX"] <= rows["upper bound"]).all()


def test_figure_2_shows_the_selector_in_every_panel(found):
    run, rows = found
    figure = bounds_by_generator(run.trials, rows, stamp="a test")
    shown = figure.data.dropna(subset="selected")
    assert set(shown["generator"]) == {"divide_and_conquer", "query_plan", TOGETHER}
