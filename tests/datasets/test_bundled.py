"""The bundled benchmark: sound, and the same everywhere."""

import hashlib
import shutil
import sqlite3
from collections import Counter
from contextlib import closing

import pytest

from workbench.benchmarks.benchmark import (
    BENCHMARKS,
    bundled_splits,
    known_flaws,
    open_benchmark,
)
from workbench.benchmarks.check import incomplete, unreadable_parts
from workbench.errors import BadInputError
from workbench.evaluate.audit import undetermined
from workbench.sql.executor import Executor
from workbench.sql.facts import features

both_splits = pytest.mark.parametrize("split", ["dev", "train"])


def test_it_is_in_birds_layout_and_can_be_read_from_a_read_only_copy(tmp_path):
    benchmark = open_benchmark("bundled-dev")
    assert (benchmark.name, benchmark.sense, len(repr(benchmark)) < 300) == (
        "bundled-dev",
        "bird",
        True,
    )
    shutil.copytree(benchmark.databases, tmp_path / "copy")
    for path in tmp_path.joinpath("copy").rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    question = benchmark.questions[0]
    database = tmp_path / "copy" / question.db_id / f"{question.db_id}.sqlite"
    with Executor(workers=1) as executor:
        assert (
            executor.execute(database, benchmark.golds[question.id].sql).status == "ok"
        )
    assert [path.name for path in sorted(database.parent.iterdir())] == [
        "database_description", database.name,
    ]  # fmt: skip
    with pytest.raises(BadInputError, match="no benchmark 'bundled-test'"):
        open_benchmark("bundled-test")


@both_splits
def test_it_is_sound_and_covers_what_is_documented(split):
    opened = open_benchmark(f"bundled-{split}")
    assert [*incomplete(opened), *unreadable_parts(opened)] == []
    with Executor() as executor:
        assert undetermined(opened, executor).empty
    assert len(opened.questions) == BENCHMARKS[opened.name].questions
    there = {name for name, of in bundled_splits().items() if of == split}
    assert there == {question.db_id for question in opened.questions}
    levels = Counter(
        opened.golds[question.id].difficulty for question in opened.questions
    )
    shares = {name: count / levels.total() for name, count in levels.items()}
    assert set(shares) == {"simple", "moderate", "challenging"}
    assert 0.5 < shares["simple"] < 0.7  # BIRD's dev has 60, 30 and 9%
    assert 0.05 < shares["challenging"] < 0.15
    made_of = [features(gold.sql) for gold in opened.golds.values()]
    none_has = [
        name for name in made_of[0] if not any(counts[name] for counts in made_of)
    ]
    assert none_has == ["set operation", "window"]


@both_splits
def test_the_flaws_are_of_questions_and_what_would_be_right_differs_from_gold(split):
    benchmark = open_benchmark(f"bundled-{split}")
    flaws = known_flaws(benchmark)
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


CONTENT = {  # a hash of the schemas and rows, whatever a version of SQLite writes into a file's header
    "dev": "97e85a5a2c7e8b49",
    "train": "06c4a570ef77defc",
}


@both_splits
def test_its_content_is_that_of_the_committed_figures(split):
    benchmark = open_benchmark(f"bundled-{split}")
    digest = hashlib.sha256()
    for db_id in sorted({question.db_id for question in benchmark.questions}):
        with closing(sqlite3.connect(benchmark.database(db_id))) as database:
            tables = database.execute(
                "SELECT name, sql FROM sqlite_schema ORDER BY name"
            ).fetchall()
            for name, sql in tables:
                rows = (
                    database.execute(f'SELECT * FROM "{name}" ORDER BY rowid')
                    if sql
                    else []
                )
                digest.update(repr([name, sql, *rows]).encode())
    assert digest.hexdigest()[:16] == CONTENT[split]
