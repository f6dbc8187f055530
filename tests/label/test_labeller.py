"""The labeller's side in the kernel: messages, and what they change on disk and in the traits."""

import json
import sqlite3

import pytest

from workbench.label.labels import label
from workbench.label.store import ADJUDICATOR, LabelStore

SCHEMA, WRONG = "Schema Linking Error", "Question Misunderstand"


@pytest.fixture
def widget(opened, store):
    """MAC-SQL's taxonomy, in which a case has several labels, over four cases."""
    return label(*opened, "MAC-SQL", "ann")


def save(widget, at, *names, **more):
    key = widget.rows[at]["key"]
    return widget.answer({"do": "save", "ref": "x", "key": key, "categories": [*names], **more})


def test_all_that_is_sent_is_json_and_the_next_five_cases_go_ahead(widget):
    state = {name: getattr(widget, name) for name in ("rows", "detail", "taxonomy", "summary")}
    assert json.loads(json.dumps(state)) == state
    assert [row["key"] for row in widget.rows] == [*widget.detail]
    first = widget.detail[widget.rows[0]["key"]]
    assert first["result"]["columns"] == ["legs"]
    assert first["why"].startswith("0 of 4 rows are shared: gold returns animal.name, the")
    assert [row["same"] for row in first["sql"]] == [False, True, False]


def test_a_label_is_kept_before_the_answer(widget, store):
    assert save(widget, 0, SCHEMA, WRONG, note="both") == {"ref": "x", "answer": None}
    (kept,) = LabelStore(store.path).labels()
    assert (kept.annotator, kept.categories, kept.note) == ("ann", (SCHEMA, WRONG), "both")
    assert widget.mine[widget.rows[0]["key"]] == {"is": [SCHEMA, WRONG], "note": "both", "gold": ""}
    assert dict(widget.summary["counts"])[SCHEMA] == 1


@pytest.mark.parametrize(
    "message",
    [
        {"do": "save", "key": "stale", "categories": ["Other"]},
        {"do": "save", "categories": ["Nothing of ours"]},
        {"do": "save", "categories": []},
        {"do": "save"},
        {"do": "annotator", "name": " "},
        {"do": "annotator", "name": "Adjudicator"},
        {"do": "gold", "sql": "SELECT wings FROM animal"},
        {"do": "gold", "sql": "DELETE FROM animal"},
        {"do": "_refresh"},
        {"do": "fly"},
        {},
    ],
)
def test_what_cannot_be_done_is_an_answer_and_writes_nothing(widget, store, message):
    key = widget.rows[0]["key"]
    given = ({"key": key} | message) if message.get("do") in {"save", "gold"} else message
    assert widget.answer(given)["error"]
    assert store.labels() == ()


def test_a_write_that_fails_leaves_the_traits_and_the_next_one_works(widget, store):
    save(widget, 0, SCHEMA)
    widget.store.wait = 0.01
    before = (widget.mine, widget.summary)
    with sqlite3.connect(store.path, isolation_level=None) as blocker:
        blocker.execute("BEGIN EXCLUSIVE")
        assert "locked" in save(widget, 1, SCHEMA)["error"]
        blocker.execute("ROLLBACK")
    assert (widget.mine, widget.summary) == before
    assert "error" not in save(widget, 1, SCHEMA)


def test_two_annotators_disagree_and_the_adjudicator_settles_it(widget, store):
    save(widget, 0, SCHEMA)
    save(widget, 1, "Other")
    widget.answer({"do": "annotator", "name": "ben"})
    assert (widget.annotator, widget.mine) == ("ben", {})
    save(widget, 0, WRONG)
    save(widget, 1, "Other")
    found = widget.summary
    assert (found["other"], found["agreement"]) == ("ann", ["1 of 2 agree, too few for κ"])
    keys = [row["key"] for row in widget.rows]
    assert found["grid"] == {"3 6": [keys[0]], "7 7": [keys[1]]}
    assert found["disputes"] == [{"key": keys[0], "said": {"ann": [SCHEMA], "ben": [WRONG]}}]
    save(widget, 0, WRONG, settle=True)
    assert widget.summary["disputes"] == []
    assert ADJUDICATOR in {one.annotator for one in store.labels()}
    assert ADJUDICATOR not in widget.summary["annotators"]
    widget.answer({"do": "undo", "settle": True})
    assert len(widget.summary["disputes"]) == 1


def test_labels_of_another_program_are_seen_with_the_next_one(widget, opened):
    other = label(*opened, "MAC-SQL", "ben")
    save(other, 0, WRONG)
    save(widget, 1, SCHEMA)
    assert widget.summary["annotators"] == ["ann", "ben"]


def test_gold_is_run_before_it_is_kept_and_both_can_be_right(widget):
    key = widget.rows[0]["key"]
    kept = widget.answer({"do": "gold", "key": key, "sql": "SELECT name FROM animal"})
    assert "4 rows" in kept["answer"]
    assert widget.mine[key] == {"is": [], "note": "", "gold": "corrected"}
    widget.answer({"do": "both_right", "key": key})
    assert widget.mine[key]["gold"] == "both right"
    assert widget.answer({"do": "undo"})["answer"] == {"key": key}
    assert widget.mine[key]["gold"] == "corrected"


def test_parts_are_made_when_they_are_opened(widget):
    def part(name, at=0):
        return widget.answer({"do": "part", "key": widget.rows[at]["key"], "name": name})["answer"]

    found = part("counterexample")
    assert [table["name"] for table in found["tables"]] == ["animal"]
    assert found["gold"]["rows"] != found["predicted"]["rows"]
    assert part("counterexample", 2) == {}  # its query does not run
    assert part("values") == {"values": []}
    assert part("schema")["text"].startswith("CREATE TABLE animal")
