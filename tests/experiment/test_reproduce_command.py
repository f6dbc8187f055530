"""`workbench reproduce` as a command: what it keeps to, and what it leaves behind."""

import orjson
import pytest
from click.testing import CliRunner

from workbench.cli.reproduce import preview, reproduce
from workbench.store import home

TIMES = """import pathlib, time
began = time.time()
time.sleep(1)
path = pathlib.Path({folder!r}) / f"{{name}}.time"
path.write_text(f"{{began}} {{time.time()}}")"""

RUNS = """from workbench.study import open_study
from workbench.systems.baselines import direct
run = open_study(experiment, limit=limit).run(direct())"""


@pytest.fixture
def run():
    def run(command, *words):
        done = CliRunner().invoke(command, [str(word) for word in words])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done

    return run


@pytest.mark.slow  # four kernels
def test_a_manifest_lists_every_notebook_and_runs_with_a_limit_have_their_own(
    checkout, run, tmp_path
):
    def manifest(folder):
        manifest = orjson.loads((home() / "runs" / folder / "manifest.json").read_bytes())
        return [(one["notebook"], one["parameters"].get("limit")) for one in manifest["notebooks"]]

    path = checkout(one=["1"], two=["2"]).path
    run(reproduce, path)
    run(reproduce, path, "--only", "two", "--again")
    run(reproduce, path, "--only", "one", "--limit", 3)
    assert manifest("mine") == [("one", None), ("two", None)]
    assert manifest("mine-3") == [("one", 3)]


@pytest.mark.slow  # two kernels that each run a system
def test_what_was_paid_stands_beside_the_preview_and_in_the_manifest(
    checkout, run, monkeypatch, tmp_path
):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))  # its cache holds no call yet
    monkeypatch.setenv("WORKBENCH_PREVIEW", "2")
    path = checkout(one=[RUNS]).path
    path.write_text(path.read_text() + "limit: 4\n")
    table = run(preview, path, "--questions", 2).output
    assert "generate/direct  parser      4       0" in table
    monkeypatch.delenv("WORKBENCH_PREVIEW")
    lines = run(reproduce, path).output.splitlines()
    (paid,) = [number for number, line in enumerate(lines) if line.startswith("asked:   4 calls")]
    assert lines[paid + 1].startswith("preview: 4 calls, ")
    written = orjson.loads((home() / "runs" / "mine" / "manifest.json").read_bytes())
    assert written["preview"]["calls"] == 4


@pytest.mark.parametrize("questions", [0, -1])
def test_a_preview_of_no_questions_is_refused(checkout, run, questions):
    done = run(preview, checkout(one=["1"]).path, "--questions", questions)
    assert done.exit_code == 2
    assert "x>=1" in done.output
