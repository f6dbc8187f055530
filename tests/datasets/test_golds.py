"""Revised golds are another benchmark: found by id or by the original text, with what an item leaves out unchanged."""

import json
from dataclasses import replace

import pytest

from workbench.benchmarks.benchmark import Benchmark, open_benchmark
from workbench.benchmarks.golds import with_golds
from workbench.errors import BadInputError
from workbench.sql.reading import normalise_text
from workbench.types import Gold, Question


@pytest.fixture(scope="module")
def bundled():
    return open_benchmark("bundled-dev")


@pytest.fixture
def revised(bundled, tmp_path):
    def revised(items, benchmark=bundled):
        path = tmp_path / "made up.json"
        path.write_text(json.dumps(items))
        return with_golds(benchmark, path)

    return revised


@pytest.fixture
def items(bundled):
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


def changed(before, after):
    """How many questions, hints and queries differ; layout and letter case outside quotes are no difference."""
    old = {question.id: question for question in before.questions}
    pairs = [(old[new.id], new) for new in after.questions]
    sql = [
        [normalise_text(one.golds[new.id].sql) for one in (before, after)]
        for _, new in pairs
    ]
    return (
        sum(a != b for a, b in sql),
        sum(a.text.split() != b.text.split() for a, b in pairs),
        sum(a.evidence.split() != b.evidence.split() for a, b in pairs),
    )


def test_a_file_of_the_same_ids_changes_what_it_says_otherwise(revised, items, bundled):
    items[0] |= {"question": "Another question?", "SQL": "SELECT 1"}
    items[1] |= {"evidence": None}
    found = revised([*items[:4], {"question_id": 99_999}])
    assert found.name == "bundled-dev (made up)"
    assert [q.id for q in found.questions] == [q.id for q in bundled.questions[:4]]
    assert found.questions[0].text == "Another question?"
    assert found.questions[1].evidence == ""
    assert found.golds[bundled.questions[0].id].sql == "SELECT 1"
    assert (
        found.golds[bundled.questions[2].id] == bundled.golds[bundled.questions[2].id]
    )
    assert len(found.every) == len(bundled.questions)
    bare = revised([{"question_id": items[1]["question_id"]}])
    assert bare.questions == (bundled.questions[1],)


def test_an_item_without_an_id_is_found_by_the_original_question(
    revised, items, bundled
):
    part = [
        {k: v for k, v in item.items() if k != "question_id"} for item in items[10:20]
    ]
    assert revised(part).questions == bundled.questions[10:20]
    asked = items[0]["question"]
    item = {
        "db_id": items[0]["db_id"],
        "question": "Said anew?",
        "original_question": asked,
    }
    (question,) = revised([item]).questions
    assert (question.id, question.text) == (bundled.questions[0].id, "Said anew?")


def test_one_question_asked_twice_is_revised_twice(revised, bundled):
    first, second = bundled.questions[0], replace(bundled.questions[0], id="again")
    golds = {first.id: Gold(first.id, "SELECT 1"), "again": Gold("again", "SELECT 2")}
    twice = replace(bundled, questions=(first, second), golds=golds)
    about = {"db_id": first.db_id, "question": first.text}
    found = revised([about | {"SQL": "SELECT 3"}, about | {"SQL": "SELECT 4"}], twice)
    assert [gold.sql for gold in found.golds.values()] == ["SELECT 3", "SELECT 4"]


def test_a_whole_file_of_reworded_questions_revises_a_part_of_the_databases(
    revised, bundled
):
    """Spider-Syn corrects some of the original questions, so that only their places tell which they are."""
    items = [
        {
            "db_id": q.db_id,
            "SpiderQuestion": q.text,
            "SpiderSynQuestion": f"{q.text} Please.",
        }
        for q in bundled.questions
    ]
    items[3]["SpiderQuestion"] = "Corrected?"
    databases = {items[0]["db_id"], items[3]["db_id"]}
    part = bundled.of([q for q in bundled.questions if q.db_id in databases])
    part = replace(part, every=())  # its file has no others
    assert len(part.questions) < len(items)
    assert len(revised(items, part).questions) == len(part.questions)


def test_items_that_are_about_no_question_are_told(revised, bundled):
    first = bundled.questions[0]
    items = [
        {"db_id": first.db_id, "question": text} for text in (first.text, "Unknown?")
    ]
    with pytest.warns(
        UserWarning, match="1 of 2 items on its databases have no question's text"
    ):
        assert len(revised(items).questions) == 1


@pytest.mark.parametrize(
    "change", [{"db_id": "elsewhere"}, {"question_id": 1}, {"SQL": 7}, {"question": ""}]
)
def test_a_wrong_item_is_refused_by_its_number(revised, items, change):
    items[0] |= change
    with pytest.raises(BadInputError, match=r"item [01]:"):
        revised(items)


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("arcwise_plat_sql_only_with_diff.json", (70, 0, 0)),
        ("arcwise_plat_full_with_diff.json", (121, 86, 94)),
    ],
)
def test_arcwise_plat_changes_what_its_fields_tell(real_golds, tmp_path, file, counts):
    items = json.loads((real_golds / file).read_text())
    questions = tuple(
        Question(
            str(item["question_id"]),
            item["db_id"],
            item.get("original_question", item["question"]),
            item.get("original_evidence", item["evidence"]) or "",
        )
        for item in items
    )
    golds = {
        str(item["question_id"]): Gold("", item.get("original_SQL", item["SQL"]))
        for item in items
    }
    before = Benchmark("bird-mini-dev", "bird", tmp_path, questions, golds)
    after = with_golds(before, real_golds / file)
    assert (len(after.questions), changed(before, after)) == (446, counts)


@pytest.mark.parametrize(
    ("file", "questions", "counts"),
    [("spider_syn_dev.json", 471, (22, 372, 0)), ("spider_dk.json", 104, (0, 0, 0))],
)
@pytest.mark.filterwarnings(
    "ignore:.*70 of 174 items on its databases have no question's text"
)
def test_spiders_variants_revise_its_questions(
    real_golds, real_spider, file, questions, counts
):
    before = open_benchmark("spider", real_spider)
    after = with_golds(before, real_golds / file)
    assert (len(after.questions), changed(before, after)) == (questions, counts)
