"""A study of a few bundled questions in a home of its own, on a system that asks little."""

import pytest

from workbench.study import open_study
from workbench.study.experiment import Experiment


@pytest.fixture
def experiment(tmp_path):
    return Experiment("small", folder=tmp_path)


@pytest.fixture
def study(experiment):
    with open_study(experiment, limit=6) as opened:
        yield opened
