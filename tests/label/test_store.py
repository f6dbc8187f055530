"""Labels are on disk at once and for good: appended only, found again, whatever happened in between."""

import json
import multiprocessing

import pytest

from workbench.errors import BadInputError, StoreError
from workbench.label.store import Label, LabelStore, label_of


def give(store, case, category="a", annotator="me", **more):
    label = label_of(case, more.pop("taxonomy", "T"), category, annotator=annotator, **more)
    store.add([label])
    return label


def test_a_label_is_found_by_whoever_opens_the_file(labels, make_case):
    given = give(labels, make_case(), note="see hint")
    assert LabelStore(labels.path).labels() == (given,)
    assert labels.of(make_case().key, "T", "me") == given


def test_a_label_survives_a_rerun_that_renumbers_questions_and_lays_queries_out_anew(
    labels, make_case
):
    given = give(labels, make_case("SELECT vname FROM vessel", number="7"))
    again = make_case("select  VNAME\nfrom vessel", number="1007")
    assert LabelStore(labels.path).of(again.key, "T", "me") == given


def test_of_two_labels_of_one_case_the_last_counts_and_both_are_kept(labels, make_case):
    first, second = give(labels, make_case(), "a"), give(labels, make_case(), "b")
    assert labels.labels() == (second,)
    assert labels.labels(latest=False) == (first, second)


def test_annotators_and_taxonomies_do_not_disturb_each_other(labels, make_case):
    mine = give(labels, make_case())
    hers = give(labels, make_case(), annotator="she")
    other = give(labels, make_case(), taxonomy="U")
    assert labels.labels(taxonomy="T") == (mine, hers)
    assert labels.labels(annotator="me") == (mine, other)


def test_undo_adds_a_line_and_what_was_said_before_counts_again(labels, make_case):
    first, second = give(labels, make_case(), "a"), give(labels, make_case(), "b")
    before = labels.path.read_bytes()
    assert labels.undo("me", "T") == second
    assert labels.path.read_bytes().startswith(before)
    assert LabelStore(labels.path).labels() == (first,)
    assert labels.undo("me", "T") == first
    assert labels.undo("me", "T") is None


def test_undo_takes_back_neither_anothers_label_nor_an_automatic_one(labels, make_case):
    give(labels, make_case(), annotator="she")
    give(labels, make_case(), automatic=True)
    assert labels.undo("me", "T") is None


def test_what_another_program_adds_is_seen_after_a_refresh(labels, make_case):
    other = LabelStore(labels.path)
    given = give(other, make_case())
    labels.refresh()
    assert labels.of(make_case().key, "T", "me") == given


def test_a_torn_last_line_costs_that_label_alone(labels, make_case):
    first = give(labels, make_case("SELECT 1"))
    give(labels, make_case("SELECT 2"))
    labels.path.write_bytes(labels.path.read_bytes()[:-20])
    reopened = LabelStore(labels.path)
    third = give(reopened, make_case("SELECT 3"))
    assert LabelStore(labels.path).labels() == (first, third)
    assert LabelStore(labels.path).torn == 1


def test_a_last_line_without_its_newline_is_whole(labels, make_case):
    first = give(labels, make_case("SELECT 1"))
    labels.path.write_bytes(labels.path.read_bytes()[:-1])
    reopened = LabelStore(labels.path)
    assert reopened.labels() == (first,)
    second = give(reopened, make_case("SELECT 2"))
    assert reopened.labels() == LabelStore(labels.path).labels() == (first, second)
    assert reopened.torn == 0


@pytest.mark.parametrize("cut", [1, 7, 40])
def test_every_prefix_of_the_file_can_be_read(labels, make_case, cut):
    for number in range(3):
        give(labels, make_case(f"SELECT {number}"))
    whole = labels.path.read_bytes()
    for end in range(0, len(whole), cut):
        labels.path.write_bytes(whole[:end])
        assert len(LabelStore(labels.path).labels()) >= whole[:end].count(b"\n")


def add_many(path, annotator, case):
    store = LabelStore(path)
    for number in range(40):
        give(store, case, str(number), annotator=annotator)


def test_several_programs_add_to_one_file(labels, make_case):
    context = multiprocessing.get_context("spawn")
    names = ["a", "b", "c"]
    workers = [
        context.Process(target=add_many, args=(labels.path, name, make_case())) for name in names
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    labels.refresh()
    assert len(labels.labels(latest=False)) == 120
    assert [one.category for one in labels.labels()] == ["39"] * 3
    assert labels.torn == 0


def test_a_full_disk_leaves_the_file_as_it_was(labels, make_case, monkeypatch):
    give(labels, make_case())
    before = labels.path.read_bytes()
    real = __import__("os").write

    def full(file, data):
        if len(data) > 10:
            return real(file, data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workbench.label.store.os.write", full)
    with pytest.raises(StoreError, match="No space left on device; nothing was added"):
        give(labels, make_case(), note="x" * 100)
    # Ten bytes at a time were written until a rest of ten or fewer, and all of them taken away again.
    assert labels.path.read_bytes() == before


def test_a_line_that_is_json_and_no_label_is_named(labels):
    labels.path.parent.mkdir()
    labels.path.write_text(json.dumps({"id": 3}) + "\n")
    with pytest.raises(BadInputError, match="no label, for its id is 3"):
        LabelStore(labels.path)


def test_half_a_character_in_a_note_is_written_as_a_question_mark(labels, make_case):
    give(labels, make_case(), note="so \ud800")
    assert LabelStore(labels.path).labels()[0].note == "so ?"


def test_labels_have_their_place_by_name(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    assert LabelStore.named("bundled-dev").path == tmp_path / "labels" / "bundled-dev.jsonl"
    for name in ("../up", "", "..", "a/b"):
        with pytest.raises(BadInputError):
            LabelStore.named(name)


def test_a_label_says_who_gave_it_and_when(make_case):
    label = label_of(make_case(), "T", "a", annotator="me")
    assert isinstance(label, Label)
    assert (label.annotator, label.db_id, label.question_id) == ("me", "harbour", "7")
    assert label.at.endswith("+00:00")
