"""An experiment's `cheaper` makes every system that it runs cheaper, and orders its prompts for providers' caches."""

import pytest

from workbench.errors import BadInputError
from workbench.prompts.order import CACHEABLE
from workbench.study import open_study
from workbench.study.settings import load_experiment
from workbench.systems.chase_sql import chase_sql
from workbench.systems.cheaper import cheaper


@pytest.fixture
def opened(tmp_path):
    (tmp_path / "experiments" / "mine").mkdir(parents=True)

    def study(text):
        path = tmp_path / "experiments" / "mine.yaml"
        path.write_text(text)
        return open_study(str(path), limit=1, figures=tmp_path / "figures")

    return study


def test_its_systems_are_the_cheaper_ones_with_the_filtering_model(opened):
    with opened("cheaper: true\nmodels: {filtering: m/cheap}") as study:
        assert study.with_settings(chase_sql()) == cheaper(chase_sql(), "m/cheap")
        assert study.lab.prompts == CACHEABLE


def test_without_it_they_are_the_papers(opened):
    with opened("models: {filtering: m/cheap}") as study:
        assert study.with_settings(chase_sql()) == chase_sql()
        assert study.lab.prompts is None


def test_prompts_of_the_user_s_own_stay(opened, tmp_path):
    (tmp_path / "experiments" / "mine" / "generate").mkdir(parents=True)
    (tmp_path / "experiments" / "mine" / "generate" / "own.md").touch()
    with opened("cheaper: true\nprompts: mine") as study:
        assert study.lab.prompts == tmp_path / "experiments" / "mine"


def test_it_is_true_or_false(opened):
    with pytest.raises(BadInputError, match="cheaper is 3, and should be true or false"):
        opened("cheaper: 3")


def test_the_papers_experiments_leave_it_out():
    for name in ("chase_bird_gemini", "chess_bird", "mac_bird"):
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("BIRD", "/bird")
            assert not load_experiment(name).cheaper
