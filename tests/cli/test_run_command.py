"""`workbench run`: one system over a benchmark; its table and its answers can be judged and traced."""

import re
import sys
from types import SimpleNamespace

import pytest

from workbench.cli import main


@pytest.fixture
def workbench(tmp_path, monkeypatch, capsys):
    """Runs a command in an empty folder, and gives its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))

    def workbench(*words):
        monkeypatch.setattr(sys, "argv", ["workbench", *map(str, words)])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code
        out, err = capsys.readouterr()
        return SimpleNamespace(returncode=code, stdout=out, stderr=err)

    return workbench


def test_it_prints_the_table_and_where_the_answers_lie(workbench, tmp_path):
    done = workbench("run", "direct", "--limit", 4)
    assert done.returncode == 0, done.stderr
    ex, low, high = map(
        float, re.search(r"\| 4 \| (\S+) \((\S+) to (\S+)\) \|", done.stdout).groups()
    )
    assert 0 <= low <= ex <= high <= 100
    assert "embedded/parser (a small statistical parser, no language model)" in done.stdout
    commands = re.findall(r"^ +workbench (.*)$", done.stdout, re.MULTILINE)
    judged, traced = (workbench(*command.split()) for command in commands)
    assert judged.returncode == traced.returncode == 0, judged.stderr + traced.stderr
    (row,) = [line for line in judged.stdout.splitlines() if line.startswith("direct")]
    assert float(row.split()[5]) == ex
    assert traced.stdout.count(", chosen") == 4
    again = workbench("run", "direct", "--limit", 4)
    assert again.stdout == done.stdout


def test_answers_to_the_users_own_prompts_have_their_own_file(workbench, tmp_path):
    (tmp_path / "mine").mkdir()
    done = workbench("run", "direct", "--limit", 1, "--prompts", "mine")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs/bundled-dev-1/direct_embedded_parser_mine.csv").is_file()


def test_a_benchmark_that_is_not_bundled_needs_its_folder(workbench):
    done = workbench("run", "mac", "--benchmark", "bird-dev")
    assert done.returncode == 2
    assert "bird-dev is not bundled: give --root" in done.stderr


def test_it_runs_on_bird_where_it_was_unpacked(workbench, tiny, tmp_path):
    root = tiny.write_bird(tmp_path / "bird")
    done = workbench("run", "direct", "--benchmark", "bird-dev", "--root", root)
    assert done.returncode == 0, done.stderr
    assert "| 12 |" in done.stdout
    assert "on bird-dev, N = 12, EX (BIRD)" in done.stdout
