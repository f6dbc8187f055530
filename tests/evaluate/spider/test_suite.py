"""A query that is right by chance is wrong on a suite's databases; another spelling of gold is right on all."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from workbench.benchmarks.benchmark import Benchmark
from workbench.db.execute import Executor
from workbench.evaluate.files import evaluate_files
from workbench.evaluate.spider import suite as module
from workbench.evaluate.spider.suite import Suite, suite_verdicts
from workbench.types import Gold, Question

GOLD = "SELECT name FROM pupil WHERE age > 12 ORDER BY age DESC LIMIT 1"
BY_CHANCE = "SELECT name FROM pupil ORDER BY name DESC LIMIT 1"
QUESTION = Question("1", "school", "Which pupil above 12 is the oldest?")


@pytest.fixture
def executor() -> Iterator[Executor]:
    with Executor(workers=1) as executor:
        yield executor


@pytest.fixture
def school(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Benchmark:
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    path = tmp_path / "school" / "school.sqlite"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE pupil (id INTEGER PRIMARY KEY, name TEXT, age INTEGER);"
            "INSERT INTO pupil VALUES (1, 'Ada', 12), (2, 'Bo', 13), (3, 'Cy', 14);"
        )
    golds = {"1": Gold("1", GOLD)}
    return Benchmark("school", "bird", tmp_path, (QUESTION,), golds)


def test_a_query_that_is_right_by_chance_is_rejected(school: Benchmark, executor: Executor) -> None:
    same = "SELECT p.name FROM pupil AS p WHERE 12 < p.age ORDER BY p.age DESC LIMIT 1"
    verdicts = suite_verdicts(Suite(), school, QUESTION, [same, BY_CHANCE, "SELECT x"], executor)
    assert verdicts == {same: True, BY_CHANCE: False, "SELECT x": False}


def test_rows_that_tie_at_golds_limit_reject_no_query(
    school: Benchmark, executor: Executor
) -> None:
    query = "SELECT name FROM (SELECT * FROM pupil ORDER BY id DESC) WHERE age > 12 ORDER BY age DESC LIMIT 1"
    assert suite_verdicts(Suite(), school, QUESTION, [query], executor)[query]


def test_a_suite_is_made_once(
    school: Benchmark, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Suite()(school, QUESTION, executor)
    monkeypatch.setattr(module, "mutants", lambda *_: pytest.fail("the suite is made again"))
    assert Suite()(school, QUESTION, executor) == made


def test_a_table_of_files_has_test_suite_accuracy(
    school: Benchmark, executor: Executor, tmp_path: Path
) -> None:
    files = []
    for name, sql in (("gold", GOLD), ("chance", BY_CHANCE)):
        files.append(tmp_path / f"{name}.sql")
        files[-1].write_text(f"{sql}\tschool\n")
    report = evaluate_files(school, files, executor, suite=Suite())
    assert report.summary[["ex_bird", "suite"]].to_numpy().tolist() == [[100, 100], [100, 0]]
    assert "test suite" in report.as_text()
