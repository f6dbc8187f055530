"""The option `--cluster`: Dask is imported only with it, and a wrong address is refused in one line."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from workbench.cli.evaluate import evaluate
from workbench.cli.reproduce import reproduce
from workbench.cli.run import run
from workbench.errors import BadInputError, ClusterError

COMMANDS = {
    run: ["direct"],
    reproduce: ["embedded"],
    evaluate: ["bundled-dev", "--predictions", "p.json"],
}
PLAIN = """
import sys, workbench.cli.evaluate, workbench.cli.reproduce
from workbench.study import open_study
from workbench.systems.baselines import direct
with open_study("bundled-dev", limit=1) as study:
    study.run(direct(study.model))
print(*{"dask", "distributed", "workbench.cluster.tasks"} & set(sys.modules))
"""


def test_without_a_cluster_nothing_of_dask_is_imported(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_FIGURES", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", PLAIN], check=True, stdout=subprocess.PIPE, text=True
    )
    assert done.stdout.split() == []


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    for module in ("workbench.cluster.opening", "workbench.study.solving.on_cluster"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(BadInputError, match=r"pip install 'workbench\[cluster\]'"):
        CliRunner().invoke(run, ["direct", "--cluster", "local:2"], catch_exceptions=False)


@pytest.fixture
def dask():
    pytest.importorskip("distributed", reason="needs the extra `cluster`: make test-extras")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_file_that_does_not_exist_is_refused(dask, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.json").write_text('{"0": "SELECT 1"}')
    given = [*COMMANDS[command], "--cluster", "missing.json"]
    with pytest.raises(BadInputError, match=r"'missing\.json': give the address"):
        CliRunner().invoke(command, given, catch_exceptions=False)


@pytest.mark.parametrize("count", ["local:", "local:0", "local:two"])
def test_local_without_a_number_of_workers_is_refused(dask, count):
    with pytest.raises(BadInputError, match="a number of workers, as local:4"):
        CliRunner().invoke(run, ["direct", "--cluster", count], catch_exceptions=False)


def test_a_scheduler_that_does_not_answer_is_named(dask, monkeypatch):
    monkeypatch.setattr("workbench.cluster.opening._CONNECT", 0.5)
    with pytest.raises(ClusterError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        CliRunner().invoke(
            run, ["direct", "--cluster", "tcp://127.0.0.1:9"], catch_exceptions=False
        )
