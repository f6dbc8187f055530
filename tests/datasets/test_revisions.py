"""Revisions of a benchmark: which of its questions a file has, and what the file changes."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.bundled import load_bundled
from workbench.benchmarks.revisions import read_revision
from workbench.benchmarks.spider import load_spider
from workbench.errors import BadInputError, MisalignedError
from workbench.types import Gold, Question


@pytest.fixture(scope="module")
def bundled():
    return load_bundled("dev")


@pytest.fixture
def items(bundled):
    """The bundled questions as BIRD's file has them."""
    return [
        {
            "question_id": int(question.id),
            "db_id": question.db_id,
            "question": question.text,
            "evidence": question.evidence,
            "SQL": bundled.golds[question.id].sql,
        }
        for question in bundled.questions
    ]


@pytest.fixture
def read(tmp_path, bundled):
    def read(items, benchmark=bundled):
        path = tmp_path / "revision.json"
        path.write_text(json.dumps(items))
        return read_revision("made up", path, benchmark)

    return read


def changed(revision):
    return Counter(part for parts in revision.changes.values() for part in parts)


def test_a_file_of_the_same_ids_changes_what_it_says_otherwise(read, items, bundled):
    items[3]["SQL"] = "SELECT 1"
    items[5] |= {"question": "Another question?", "SQL": "SELECT 2"}
    items[7]["evidence"] = "another hint"
    revision = read(items)
    assert len(revision.golds) == len(bundled.questions)
    assert {key: parts for key, parts in revision.changes.items() if parts} == {
        bundled.questions[3].id: ("SQL",),
        bundled.questions[5].id: ("question", "SQL"),
        bundled.questions[7].id: ("hint",),
    }


def test_another_layout_of_a_query_is_no_change(read, items):
    items[0]["SQL"] = "\n ".join(items[0]["SQL"].split(" ")) + " ;"
    assert changed(read(items)) == {}


@pytest.mark.parametrize("field", ["question", "SQL"])
def test_an_empty_text_is_refused(read, items, field):
    with pytest.raises(BadInputError, match=f"item 0 .*: {field} is empty"):
        read([items[0] | {field: " "}])


def test_an_item_without_an_id_is_found_by_its_question(read, items, bundled):
    part = [{k: v for k, v in item.items() if k != "question_id"} for item in items[10:20]]
    part[0]["SQL"] = "SELECT 1"
    revision = read(part)
    assert list(revision.golds) == [question.id for question in bundled.questions[10:20]]
    assert {key for key, parts in revision.changes.items() if parts} == {bundled.questions[10].id}


def test_a_reworded_question_is_found_by_the_original_that_the_item_states(read, items, bundled):
    asked = items[0]["question"]
    item = {"db_id": items[0]["db_id"], "question": "Said anew?", "original_question": asked}
    revision = read([item])
    assert revision.changes == {bundled.questions[0].id: ("question",)}
    assert revision.golds[bundled.questions[0].id] == bundled.golds[bundled.questions[0].id]


def test_one_question_asked_twice_is_revised_twice(read, bundled):
    first, second = bundled.questions[0], replace(bundled.questions[0], id="again")
    golds = {first.id: Gold(first.id, "SELECT 1"), "again": Gold("again", "SELECT 2")}
    twice = replace(bundled, questions=(first, second), golds=golds)
    about = {"db_id": first.db_id, "question": first.text}
    revision = read([about | {"SQL": "SELECT 3"}, about | {"SQL": "SELECT 4"}], twice)
    assert [gold.sql for gold in revision.golds.values()] == ["SELECT 3", "SELECT 4"]


def test_items_about_other_questions_are_counted(read, items):
    items[0]["question_id"] = 99_999
    revision = read(items)
    assert (revision.others, len(revision.golds)) == (1, len(items) - 1)


def test_the_revised_questions_are_a_benchmark_to_be_asked(read, items, bundled):
    items[0] |= {"question": "Another question?", "SQL": "SELECT 1"}
    benchmark = read(items[:4]).of(bundled)
    assert benchmark.name == "bundled-dev (made up)"
    assert [question.text for question in benchmark.questions] == [
        item["question"] for item in items[:4]
    ]
    assert benchmark.golds[bundled.questions[0].id].sql == "SELECT 1"
    assert len(benchmark.every) == len(bundled.questions)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"db_id": "elsewhere"}, MisalignedError, "item 0: database 'elsewhere', but question"),
        ({"SQL": 7}, BadInputError, "item 0: no text field SQL"),
        ({"question_id": 1}, BadInputError, "question 1 occurs twice"),
    ],
)
def test_a_wrong_item_is_refused_by_its_number(read, items, change, error, words):
    items[0] |= change
    with pytest.raises(error, match=words):
        read(items)


def test_a_file_about_another_benchmark_is_refused(read):
    with pytest.raises(BadInputError, match="none of its 1 items is about a question of bundled-d"):
        read([{"db_id": "zoo", "question": "How many animals?", "SQL": "SELECT 1"}])


# The published files


@pytest.mark.parametrize(
    ("file", "queries", "questions", "hints"),
    [
        ("arcwise_plat_sql_only_with_diff.json", 70, 0, 0),
        ("arcwise_plat_full_with_diff.json", 121, 86, 94),
    ],
)
def test_arcwise_plat_changes_what_its_fields_tell(
    real_golds, tmp_path, file, queries, questions, hints
):
    items = json.loads((real_golds / file).read_text())
    before = Benchmark(
        "bird-mini-dev",
        "bird",
        tmp_path,
        tuple(
            Question(
                str(item["question_id"]),
                item["db_id"],
                item.get("original_question", item["question"]),
                item.get("original_evidence", item["evidence"]) or "",
            )
            for item in items
        ),
        {
            str(item["question_id"]): Gold("", item.get("original_SQL", item["SQL"]))
            for item in items
        },
    )
    revision = read_revision("arcwise", real_golds / file, before)
    assert len(revision.golds) == 446
    found = changed(revision)
    assert (found["SQL"], found["question"], found["hint"]) == (queries, questions, hints)


def test_spider_syn_revises_every_question(real_golds, real_spider):
    benchmark = load_spider(real_spider)
    path = real_golds / "spider_syn_dev.json"
    revision = read_revision("syn", path, benchmark)
    items = json.loads(path.read_text())
    assert [q.text for q in revision.questions.values()] == [i["SpiderSynQuestion"] for i in items]
    assert len(revision.golds) == 471
