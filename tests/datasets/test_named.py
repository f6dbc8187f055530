"""Benchmarks are opened by name; one table says all that there is to know of each."""

import re
import shutil

import pytest

from workbench.benchmarks.named import BENCHMARKS, open_benchmark
from workbench.errors import BadInputError


def test_each_benchmark_has_its_name_and_an_existing_train_split():
    for name, record in BENCHMARKS.items():
        assert record.name == name
        assert record.train in BENCHMARKS
        assert BENCHMARKS[record.train].sense == record.sense


@pytest.mark.parametrize("name", ["bundled-dev", "bundled-train"])
def test_a_bundled_benchmark_has_as_many_questions_as_its_record_says(name):
    opened = open_benchmark(name)
    record = BENCHMARKS[name]
    assert (opened.name, opened.sense) == (name, record.sense)
    assert len(opened.questions) == record.questions


def test_short_names_are_those_of_the_dev_splits(tiny, tmp_path):
    assert open_benchmark("bundled").name == "bundled-dev"
    assert open_benchmark("bird", tiny.write_bird(tmp_path / "bird")).name == "bird-dev"
    spider = open_benchmark("spider", tiny.write_spider(tmp_path / "spider"))
    assert (spider.name, spider.sense) == ("spider-dev", "spider")


@pytest.mark.parametrize("name", ["", "bird-test", "BIRD"])
def test_another_name_is_refused(name):
    with pytest.raises(BadInputError, match=r"no benchmark .*; there are bird-dev, bird-mini-dev"):
        open_benchmark(name)


def test_a_root_with_some_of_the_databases_serves_their_questions_and_says_what_is_missing(
    tiny, tmp_path
):
    root = tiny.write_bird(tmp_path)
    shutil.rmtree(root / "dev_databases" / "shop")
    with pytest.warns(UserWarning, match="is no database shop") as caught:
        opened = open_benchmark("bird-dev", root)
    assert "bird-dev: 4 of 12 questions are left out" in str(caught[0].message)
    assert [question.db_id for question in opened.questions] == ["zoo"] * 4 + ["pond"] * 4
    assert len(opened.every) == 12


def test_a_root_without_any_of_its_databases_is_refused(tiny, tmp_path):
    root = tiny.write_bird(tmp_path)
    for name in ("zoo", "shop", "pond"):
        (root / "dev_databases" / name).rename(root / "dev_databases" / f"other_{name}")
    with pytest.raises(BadInputError, match="bird-dev: none of its databases is in"):
        open_benchmark("bird-dev", root)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_questions_that_an_editor_saved_with_a_mark_are_read(tiny, tmp_path, encoding):
    file = tiny.write_bird(tmp_path) / "dev.json"
    file.write_bytes(file.read_text().encode(encoding))
    assert len(open_benchmark("bird-dev", tmp_path).questions) == 12


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "expected a list with an object for each item"),
        ('["é"]'.encode("latin-1"), "not UTF-8 text (invalid continuation byte at byte 2); save"),
    ],
)
def test_questions_that_cannot_be_read_are_one_line(tiny, tmp_path, content, complaint):
    (tiny.write_bird(tmp_path) / "dev.json").write_bytes(content)
    with pytest.raises(BadInputError, match=re.escape(complaint)):
        open_benchmark("bird-dev", tmp_path)


def test_what_is_not_bundled_needs_its_folder():
    with pytest.raises(BadInputError, match="spider-train is not bundled: give --root"):
        open_benchmark("spider-train")
