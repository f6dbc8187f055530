"""The labeller's side in the kernel: messages, and what they change on disk and in the traits."""

import json
from types import SimpleNamespace

import pytest

from workbench.label.labels import label
from workbench.label.store import LabelStore

SCHEMA, WRONG = "Schema Linking Error", "Question Misunderstand"


@pytest.fixture
def widget(opened, store):
    """MAC-SQL's taxonomy, in which a case has several labels, over four cases."""
    return label(*opened, "MAC-SQL", "ann")


def save(widget, at, *names, **more):
    key = widget.rows[at]["key"]
    return widget.answer(
        {"do": "save", "ref": "x", "key": key, "categories": [*names], **more}
    )


def test_all_that_is_sent_is_json_and_the_next_five_cases_go_ahead(widget):
    state = widget.get_state(["rows", "detail", "taxonomy", "mine", "summary"])
    assert json.loads(json.dumps(state)) == state
    assert [row["key"] for row in widget.rows] == [*widget.detail]
    first = widget.detail[widget.rows[0]["key"]]
    assert first["result"]["columns"] == ["legs"]
    assert first["why"].startswith(
        "0 of 4 rows are shared; SELECT: gold has animal.name, the"
    )
    assert [row["same"] for row in first["sql"]] == [False, True, False]


def test_a_label_is_kept_before_the_answer(widget, store):
    assert save(widget, 0, SCHEMA, WRONG, note="both") == {"ref": "x", "answer": None}
    (kept,) = LabelStore(store.path).labels()
    assert (kept.annotator, kept.categories, kept.note) == (
        "ann",
        (SCHEMA, WRONG),
        "both",
    )
    assert widget.mine[widget.rows[0]["key"]] == {
        "is": [SCHEMA, WRONG],
        "note": "both",
        "gold": "",
    }


def test_a_label_that_another_window_gave_is_named_when_it_is_replaced(
    widget, opened, store
):
    elsewhere = label(*opened, "MAC-SQL", "ann")
    assert save(elsewhere, 0, SCHEMA, was=[])["answer"] is None
    assert save(widget, 0, WRONG, was=[])["answer"] == [SCHEMA]
    assert save(widget, 0, SCHEMA, was=[WRONG])["answer"] is None
    (kept,) = store.labels()
    assert kept.categories == (SCHEMA,)


REFUSED = [
    {"do": "save", "key": "stale", "categories": ["Other"]},
    {"do": "save", "categories": ["Nothing of ours"]},
    {"do": "save"},
    {"do": "annotator", "name": "Adjudicator"},
    {"do": "gold", "sql": "DELETE FROM animal"},
    {"do": "_refresh"},
    {},
]


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_done_is_an_answer_and_writes_nothing(widget, store, message):
    key = (
        {"key": widget.rows[0]["key"]} if message.get("do") in {"save", "gold"} else {}
    )
    assert widget.answer(key | message)["error"]
    assert store.labels() == ()


def test_a_dispute_with_another_program_is_settled_and_comes_back_with_undo(
    widget, opened
):
    save(label(*opened, "MAC-SQL", "ben"), 0, WRONG)
    save(widget, 0, SCHEMA)
    dispute = {"key": widget.rows[0]["key"], "said": {"ann": [SCHEMA], "ben": [WRONG]}}
    assert widget.summary["disputes"] == [dispute]
    save(widget, 0, WRONG, settle=True)
    assert (widget.summary["disputes"], widget.summary["annotators"]) == (
        [],
        ["ann", "ben"],
    )
    widget.answer({"do": "undo", "settle": True})
    assert widget.summary["disputes"] == [dispute]


def test_gold_is_run_before_it_is_kept_and_both_can_be_right(widget):
    key = widget.rows[0]["key"]
    kept = widget.answer({"do": "gold", "key": key, "sql": "SELECT name FROM animal"})
    assert "4 rows" in kept["answer"]
    assert widget.mine[key]["gold"] == "corrected"
    widget.answer({"do": "both_right", "key": key})
    assert widget.mine[key]["gold"] == "both right"
    assert widget.answer({"do": "undo"})["answer"] == {"key": key}
    assert widget.mine[key]["gold"] == "corrected"


def test_parts_are_made_when_they_are_opened(widget):
    keys = [row["key"] for row in widget.rows]
    found = widget.do_counterexample(keys[0])
    assert [table["name"] for table in found["tables"]] == ["animal"]
    assert found["gold"]["rows"] != found["predicted"]["rows"]
    assert widget.do_counterexample(keys[2]) == {}  # its query does not run
    assert widget.do_values(keys[0]) == {"values": []}
    assert widget.do_schema(keys[0])["text"].startswith("CREATE TABLE animal")


def test_the_cases_of_several_runs_are_labelled_together(opened, store):
    study, run = opened
    other = SimpleNamespace(**vars(run))
    other.trials = run.trials.replace(
        {"SELECT legs FROM animal": "SELECT id FROM animal"}
    )
    both = label(study, {"one": run, "other": other}, "MAC-SQL", "ann")
    alone = label(study, run, "MAC-SQL", "ann")
    assert len(both.rows) == len(alone.rows) + 1


def test_cases_go_ahead_in_their_order_unlabelled_ones_first(widget, opened):
    keys = list(widget.cases)
    for at in (0, 2, 3):
        save(widget, at, SCHEMA)
    again = label(*opened, "MAC-SQL", "ann")
    assert list(again.detail) == [keys[1], keys[0], keys[2], keys[3]]


def test_ids_of_questions_are_shown_as_any_text(widget):
    widget.rows = [{"key": "k", "id": "a\u202eb"}]
    assert widget.get_state(["rows"])["rows"] == [{"key": "k", "id": "a\\u202eb"}]
