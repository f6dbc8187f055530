"""Workers that share no folder give the verdicts and the index files of a single process."""

import json

import pytest
from click.testing import CliRunner

from workbench.benchmarks.load import open_benchmark
from workbench.cli.evaluate import evaluate


@pytest.fixture
def command(monkeypatch, tmp_path):
    """Runs a command in a home of its own; returns its output."""

    def run(home, program, *arguments):
        monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / home))
        done = CliRunner().invoke(program, list(map(str, arguments)), catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    return run


@pytest.fixture
def files(tmp_path):
    """Five files of predictions: gold queries, some of them of another question about the same database."""
    benchmark = open_benchmark("bundled-dev")
    written = []
    for wrong in range(5):
        chosen = {}
        for number, question in enumerate(benchmark.questions):
            same = [q for q in benchmark.questions if q.db_id == question.db_id]
            other = same[number % len(same)] if number % 5 < wrong else question
            chosen[question.id] = benchmark.golds[other.id].sql
        path = tmp_path / f"system{wrong}.json"
        path.write_text(json.dumps(chosen))
        written.append(path)
    return written


def test_a_pool_has_the_verdicts_of_one_process(machines, command, files, tmp_path, cached_rows):
    machines.add(), machines.add()
    given = ["bundled-dev", "--predictions", *files, "--pool", "--json", "--verdicts"]
    here = command("here", evaluate, *given, tmp_path / "here.jsonl")
    cluster = ["--cluster", machines.file]
    there = command("there", evaluate, *given, tmp_path / "there.jsonl", *cluster)
    assert json.loads(there) == json.loads(here)
    verdicts = [(tmp_path / f"{name}.jsonl").read_bytes() for name in ("here", "there")]
    assert verdicts[0] == verdicts[1]
    assert cached_rows(tmp_path / "here") == cached_rows(tmp_path / "there")
    for worker in machines.workers:
        worker.kill()  # cached executions need no worker
    machines.add()
    assert command("there", evaluate, *given, tmp_path / "again.jsonl", *cluster) == there


def test_thirty_real_systems_have_the_verdicts_of_one_process(
    machines, command, real_spider, tmp_path, cached_rows
):
    machines.add(), machines.add()
    files = sorted((real_spider / "predictions").glob("*.sql"))
    assert len(files) == 30
    given = ["spider-dev", "--root", real_spider, "--predictions", *files, "--pool", "--json"]
    here = command("here", evaluate, *given, "--verdicts", tmp_path / "here.jsonl")
    cluster = ["--cluster", machines.file]
    there = command("there", evaluate, *given, "--verdicts", tmp_path / "there.jsonl", *cluster)
    assert json.loads(there) == json.loads(here)
    verdicts = [(tmp_path / f"{name}.jsonl").read_bytes() for name in ("here", "there")]
    assert verdicts[0].count(b"\n") >= 30 * 471
    assert verdicts[0] == verdicts[1]
    assert cached_rows(tmp_path / "here") == cached_rows(tmp_path / "there")
