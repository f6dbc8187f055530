"""A benchmark in a JSON file of one's own, and the published variants of Spider."""

import json

import pytest

from workbench.benchmarks.named import open_benchmark
from workbench.errors import BadInputError
from workbench.types import Gold, Question


@pytest.fixture
def file(tmp_path, tiny):
    def file(items):
        tiny.write_databases(tmp_path / "data" / "databases")
        path = tmp_path / "mine.json"
        path.write_text(json.dumps(items))
        return str(path)

    return file


def test_items_in_birds_form_keep_their_ids_and_hints(file, tiny, tmp_path):
    benchmark = open_benchmark(file(tiny.bird_items(tiny.sparse)), tmp_path / "data")
    assert (benchmark.name, benchmark.sense) == ("mine", "bird")
    assert benchmark.questions[2] == Question("20", "zoo", "zoo, question 2?", "hint 20")
    assert benchmark.database("zoo").is_file()


def test_items_in_spiders_form_have_spiders_sense_and_positions_as_ids(file, tiny, tmp_path):
    benchmark = open_benchmark(file(tiny.spider_items()), tmp_path / "data" / "databases")
    assert benchmark.sense == "spider"
    assert benchmark.golds["11"] == Gold("11", "SELECT kind FROM fish WHERE grams > 1000")


def test_questions_on_databases_that_are_not_there_are_left_out_with_a_warning(
    file, tiny, tmp_path
):
    path = file([*tiny.spider_items(), {"db_id": "moon", "question": "?", "query": "SELECT 1"}])
    with pytest.warns(UserWarning, match="mine: 1 of 13 questions are left out"):
        assert len(open_benchmark(path, tmp_path / "data").questions) == 12


def test_without_its_databases_a_file_is_refused(file, tiny, tmp_path):
    path = file(tiny.spider_items())
    with pytest.raises(BadInputError, match=r"mine\.json: give --root"):
        open_benchmark(path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInputError, match=r"empty: no DB/DB\.sqlite in this folder"):
        open_benchmark(path, tmp_path / "empty")


@pytest.mark.parametrize(("file_name", "questions"), [("spider_dk", 174), ("spider_syn_dev", 471)])
def test_published_variants_of_spider_are_read_as_they_are(
    real_golds, real_spider, file_name, questions
):
    benchmark = open_benchmark(str(real_golds / f"{file_name}.json"), real_spider)
    assert (len(benchmark.questions), benchmark.sense) == (questions, "spider")
    assert all(question.text for question in benchmark.questions)
