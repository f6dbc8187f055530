"""`workbench train selector` and `train pairs`, and the selector at work in `workbench evaluate`."""

import json
import sys

import pytest

from tests.train.pools import write_answers
from workbench.benchmarks.bird import load_bird
from workbench.cli import main


@pytest.fixture
def run(monkeypatch, capsys):
    """`workbench ...` in this process: (exit code, standard output, standard error)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["workbench", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code
        return code, *capsys.readouterr()

    return run


@pytest.fixture(scope="module")
def files(tmp_path_factory, tiny):
    """The arguments that name the benchmark and three files of predictions."""
    root = tiny.write_bird(tmp_path_factory.mktemp("bird"))
    folder = write_answers(tmp_path_factory.mktemp("answers"), load_bird(root))
    return ("bird-dev", "--root", root, "--predictions", folder)


def test_a_selector_is_learned_told_and_used(run, files, tmp_path):
    pytest.importorskip("sklearn", reason="the extra train is not installed")
    out = tmp_path / "selector.json"
    code, told, _ = run("train", "selector", *files, "--out", out, "--cross-validate")
    assert code == 0
    assert "learned from 12 questions by 3 generators" in told
    assert "trained, leaving one database out" in told

    code, told, _ = run("evaluate", *files, "--pool", "--selector", out, "--json")
    assert code == 0
    report = json.loads(told)
    found = {file["file"]: file["ex_bird"] for file in report["files"]}
    assert found["picked by selector.json"] == 100
    assert found["picked by majority"] == 0
    assert [bound["k"] for bound in report["bounds"]] == [1, 2, 3]  # of the files alone


def test_pairs_are_written_for_whose_tuning_is_asked(run, files, tmp_path):
    out = tmp_path / "pairs.jsonl"
    code, told, _ = run("train", "pairs", *files, "--out", out, "--format", "gemini")
    assert (code, told) == (0, f"{out}: 12 pairs\n")
    assert {"systemInstruction", "contents"} == json.loads(out.read_text().splitlines()[0]).keys()


def test_a_selector_without_a_pool_is_refused(run, files, tmp_path):
    code, out, err = run("evaluate", *files, "--selector", tmp_path / "selector.json")
    assert (code, out) == (2, "")
    assert "add --pool" in err


def test_a_selector_that_is_none_is_refused_before_any_query_runs(run, files, tmp_path):
    (tmp_path / "selector.json").write_text("{}x")
    code, out, err = run("evaluate", *files, "--pool", "--selector", tmp_path / "selector.json")
    assert (code, out) == (2, "")
    assert "train selector" in err
