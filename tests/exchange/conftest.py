"""A run of six bundled questions in a cache of its own, and its export by the command line."""

import pytest
from click.testing import CliRunner

from workbench.cli.data.export import export
from workbench.study import open_study
from workbench.study.settings import Experiment
from workbench.systems.mac_sql import mac_sql


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        folder = tmp_path_factory.mktemp("folder")
        with open_study(Experiment("small", folder=folder), limit=6) as opened:
            yield opened


@pytest.fixture(scope="module")
def run(study):
    return study.run(mac_sql())


def write(run, path, *options):
    arguments = [run, str(path), *options]
    CliRunner().invoke(export, arguments, catch_exceptions=False, standalone_mode=False)
    return path


@pytest.fixture
def exported(run, tmp_path):
    """Export the run to a file of that name."""
    return lambda name, *options: write(run.id, tmp_path / name, *options)
