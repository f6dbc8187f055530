"""The bundled benchmark: built once, whole or not at all, and sound."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time

import pytest

from workbench.benchmarks import bundled
from workbench.benchmarks.bundled import load_bundled
from workbench.db.catalog import describe
from workbench.db.execute import Executor
from workbench.db.schema import read_schema
from workbench.errors import BadInputError, StoreError


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def no_building(monkeypatch):
    def refuse(folder):
        raise AssertionError(f"{folder} was built again")

    return lambda: monkeypatch.setattr(bundled, "_build", refuse)


def test_it_is_in_birds_layout():
    benchmark = load_bundled()
    assert (benchmark.name, benchmark.family) == ("bundled-dev", "bird")
    for db_id in {question.db_id for question in benchmark.questions}:
        assert (benchmark.database(db_id).parent / "database_description").is_dir()


def test_a_second_load_builds_nothing_and_takes_milliseconds(home, no_building):
    first = load_bundled()
    no_building()
    started = time.perf_counter()
    assert load_bundled() == first
    assert time.perf_counter() - started < 0.1


def test_a_changed_text_builds_anew_beside_the_old(home, tmp_path, monkeypatch):
    source = tmp_path / "source"
    shutil.copytree(bundled._SOURCE, source)
    monkeypatch.setattr(bundled, "_SOURCE", source)
    old = load_bundled()
    schema = next(source.rglob("schema.sql"))
    schema.write_text(schema.read_text() + "CREATE TABLE one_more(x);")
    new = load_bundled()
    assert new.databases != old.databases
    db_id = schema.parent.name
    assert read_schema(new.database(db_id)).table("one_more")
    assert not read_schema(old.database(db_id)).table("one_more")


def test_a_build_that_fails_leaves_nothing_that_would_be_taken_for_one(home, monkeypatch):
    def fail(folder):
        raise sqlite3.OperationalError("disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(bundled, "_build", fail)
        with pytest.raises(StoreError, match="disk is full; set WORKBENCH_HOME to another folder"):
            load_bundled()
    assert list((home / "bundled").iterdir()) == []
    assert load_bundled().questions


def test_two_processes_that_build_at_once_both_get_it(home):
    code = "from workbench.benchmarks.bundled import load_bundled as l; print(l().fingerprint())"
    processes = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(2)
    ]
    said = {process.communicate()[0] for process in processes}
    assert [process.returncode for process in processes] == [0, 0]
    assert said == {load_bundled().fingerprint().encode() + b"\n"}
    assert len(list((home / "bundled").iterdir())) == 1


def test_a_process_that_was_slower_takes_what_the_faster_one_built(home, monkeypatch):
    build = bundled._build

    def overtaken(folder):
        build(folder)
        with monkeypatch.context() as patch:
            patch.setattr(bundled, "_build", build)
            load_bundled()

    monkeypatch.setattr(bundled, "_build", overtaken)
    assert load_bundled().questions
    assert len(list((home / "bundled").iterdir())) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="for root no folder is read-only")
def test_a_read_only_installation_can_be_built_from(home, tmp_path, monkeypatch):
    source = tmp_path / "source"
    shutil.copytree(bundled._SOURCE, source)
    for path in [source, *source.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    monkeypatch.setattr(bundled, "_SOURCE", source)
    assert load_bundled().questions


def test_what_is_built_can_be_read_from_a_read_only_copy(home, tmp_path):
    benchmark = load_bundled()
    shutil.copytree(benchmark.databases, tmp_path / "copy")
    for path in tmp_path.joinpath("copy").rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    question = benchmark.questions[0]
    database = tmp_path / "copy" / question.db_id / f"{question.db_id}.sqlite"
    with Executor(workers=1) as executor:
        assert executor.execute(database, benchmark.golds[question.id].sql).status == "ok"
    assert [path.suffix for path in database.parent.iterdir() if path.is_file()] == [".sqlite"]


def test_a_home_that_cannot_be_written_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "file"))
    with pytest.raises(StoreError, match="set WORKBENCH_HOME to another folder"):
        load_bundled()


@pytest.mark.parametrize("split", ["test", "", "..", "dev/dev_databases"])
def test_another_split_is_refused(split):
    with pytest.raises(BadInputError, match=r"nothing bundled is called .*; there is dev"):
        load_bundled(split)


def test_every_gold_query_returns_rows():
    benchmark = load_bundled()
    jobs = [(benchmark.database(q.db_id), benchmark.golds[q.id].sql) for q in benchmark.questions]
    with Executor() as executor:
        executions = executor.execute_many(jobs)
    assert {
        question.id: execution.error or execution.status
        for question, execution in zip(benchmark.questions, executions, strict=True)
        if execution.status != "ok"
    } == {}


def test_every_description_is_read_and_none_is_missing():
    benchmark = load_bundled()
    for db_id in {question.db_id for question in benchmark.questions}:
        database = benchmark.database(db_id)
        schema = describe(read_schema(database), database.parent / "database_description")
        assert schema.skipped == ()
        assert any(schema.column(*column).description for column in schema.columns())


def test_every_database_is_asked_about():
    benchmark = load_bundled()
    there = {path.name for path in benchmark.databases.iterdir()}
    assert there == {question.db_id for question in benchmark.questions}
