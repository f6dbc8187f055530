"""The bundled benchmark: built once, whole or not at all, and sound."""

import hashlib
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing

import pytest

from workbench.benchmarks import bundled
from workbench.benchmarks.bundled import load_bundled, load_flaws
from workbench.benchmarks.check import check
from workbench.errors import BadInputError, StoreError
from workbench.sql.executor import Executor
from workbench.sql.schema import read_schema


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
    assert (benchmark.name, benchmark.sense) == ("bundled-dev", "bird")
    for db_id in {question.db_id for question in benchmark.questions}:
        assert (benchmark.database(db_id).parent / "database_description").is_dir()


def test_a_second_load_does_not_build_the_databases(home, no_building):
    first = load_bundled()
    no_building()
    assert load_bundled() == first


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


def test_a_failed_build_leaves_no_folder_that_a_later_load_would_use(home, monkeypatch):
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
    outputs = {process.communicate()[0] for process in processes}
    assert [process.returncode for process in processes] == [0, 0]
    assert outputs == {load_bundled().fingerprint().encode() + b"\n"}
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


def test_a_read_only_installation_can_be_built_from_and_stays_as_it_is(home, tmp_path, monkeypatch):
    source = tmp_path / "source"
    shutil.copytree(bundled._SOURCE, source)
    for path in [source, *source.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    monkeypatch.setattr(bundled, "_SOURCE", source)
    before = sorted(source.rglob("*"))
    assert load_bundled().questions
    assert sorted(source.rglob("*")) == before  # modes do not stop root


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
    with pytest.raises(BadInputError, match=r"no bundled split .*; there are dev, train"):
        load_bundled(split)


both_splits = pytest.mark.parametrize("split", ["dev", "train"])


@both_splits
def test_it_is_sound(split):
    with Executor() as executor:
        report = check(load_bundled(split), executor)
    assert report.complaints == ()


@both_splits
def test_its_numbers_of_questions_and_difficulties_are_the_documented_ones(split):
    with Executor() as executor:
        report = check(opened := load_bundled(split), executor)
    levels = Counter(opened.golds[question.id].difficulty for question in opened.questions)
    questions = levels.total()
    assert questions >= 160
    assert len(report.databases) == 4
    for _, tables, columns, rows in report.databases:
        assert 4 <= tables <= 10
        assert 30 <= columns <= 120
        assert 300 <= rows <= 90_000
    shares = {name: count / questions for name, count in levels.items()}
    assert set(shares) == {"simple", "moderate", "challenging"}
    assert 0.5 < shares["simple"] < 0.7  # BIRD's dev has 60, 30 and 9%
    assert 0.05 < shares["challenging"] < 0.15
    none_has = [name for name, count in report.features if not count]
    assert none_has == ["set operation", "window"]


def test_train_and_dev_share_no_database_and_no_question():
    dev, train = load_bundled("dev"), load_bundled("train")
    assert not {q.db_id for q in dev.questions} & {q.db_id for q in train.questions}
    assert not {q.text.lower() for q in dev.questions} & {q.text.lower() for q in train.questions}


@both_splits
def test_every_database_is_asked_about(split):
    benchmark = load_bundled(split)
    there = {path.name for path in benchmark.databases.iterdir()}
    assert there == {question.db_id for question in benchmark.questions}


@both_splits
def test_the_flaws_are_of_questions_and_what_would_be_right_differs_from_gold(split):
    benchmark, flaws = load_bundled(split), load_flaws(split)
    questions = {question.id: question for question in benchmark.questions}
    assert len({flaw.kind for flaw in flaws}) == 3
    with Executor() as executor:
        for flaw in flaws:
            path = benchmark.database(questions[flaw.question_id].db_id)
            gold = executor.execute(path, benchmark.golds[flaw.question_id].sql)
            assert flaw.note
            if flaw.sql:
                right = executor.execute(path, flaw.sql)
                assert right.status == "ok"
                assert right.fingerprint != gold.fingerprint


CONTENT = {  # what every machine must have built, whatever its SQLite writes into a file's header
    "dev": "97e85a5a2c7e8b49",
    "train": "06c4a570ef77defc",
}


@both_splits
def test_what_is_built_is_the_same_everywhere(split):
    benchmark = load_bundled(split)
    digest = hashlib.sha256()
    for db_id in sorted({question.db_id for question in benchmark.questions}):
        with closing(sqlite3.connect(benchmark.database(db_id))) as database:
            tables = database.execute(
                "SELECT name, sql FROM sqlite_schema ORDER BY name"
            ).fetchall()
            for name, sql in tables:
                rows = database.execute(f'SELECT * FROM "{name}" ORDER BY rowid') if sql else []
                digest.update(repr([name, sql, *rows]).encode())
    assert digest.hexdigest()[:16] == CONTENT[split]
