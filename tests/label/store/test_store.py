"""Labels are on disk at once and for good: rows are only added, and found again after a crash or a rerun."""

import multiprocessing
import sqlite3
from contextlib import closing

import pytest

from workbench.errors import BadInputError, StoreError
from workbench.label.store import Label, LabelStore, label_of


def give(store, case, category="a", annotator="me", **more):
    label = label_of(case, more.pop("taxonomy", "T"), category, annotator=annotator, **more)
    store.add([label])
    return label


def test_a_label_is_found_by_every_program_that_opens_the_file(labels, make_case):
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


def test_undo_adds_a_row_and_the_label_before_counts_again(labels, make_case):
    first, second = give(labels, make_case(), "a"), give(labels, make_case(), "b")
    assert labels.undo("me", "T") == second
    assert LabelStore(labels.path).labels() == (first,)
    assert labels.undo("me", "T") == first
    assert labels.undo("me", "T") is None
    with closing(sqlite3.connect(labels.path)) as database:
        assert [row[0] for row in database.execute("SELECT id FROM labels")] == [
            first.id,
            second.id,
        ]
        assert database.execute("SELECT count(*) FROM retractions").fetchone() == (2,)


def test_a_label_that_was_taken_back_can_be_added_again(labels, make_case):
    label = give(labels, make_case())
    labels.undo("me", "T")
    assert labels.add([label]) == 1
    assert labels.add([label]) == 0
    assert LabelStore(labels.path).labels() == (label,)


def test_undo_takes_back_neither_anothers_label_nor_an_automatic_one(labels, make_case):
    give(labels, make_case(), annotator="she")
    give(labels, make_case(), automatic=True)
    assert labels.undo("me", "T") is None


def test_labels_of_another_program_are_seen_after_a_refresh(labels, make_case):
    other = LabelStore(labels.path)
    given = give(other, make_case())
    labels.refresh()
    assert labels.of(make_case().key, "T", "me") == given


def test_reading_makes_no_file(labels):
    assert labels.labels() == ()
    assert not labels.path.parent.exists()


def add_many(path, annotator, case):
    store = LabelStore(path)
    for number in range(15):
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
    assert len(labels.labels(latest=False)) == 45
    assert [one.category for one in labels.labels()] == ["14"] * 3


def test_a_full_disk_adds_nothing_and_loses_nothing(labels, make_case):
    first = give(labels, make_case())
    (pages,) = labels._database.execute("PRAGMA page_count").fetchone()
    labels._database.execute(f"PRAGMA max_page_count={pages}")
    many = [
        label_of(make_case(f"SELECT {n}"), "T", "a", annotator="me", note="x" * 5000)
        for n in range(9)
    ]
    with pytest.raises(StoreError, match="database or disk is full; nothing was added"):
        labels.add(many)
    assert labels.labels() == LabelStore(labels.path).labels() == (first,)


def test_a_file_that_is_no_database_is_one_clear_line(labels):
    labels.path.parent.mkdir()
    labels.path.write_text("not a database, and long enough to be read as the header of one" * 20)
    with pytest.raises(StoreError, match="file is not a database"):
        LabelStore(labels.path)


def test_half_a_character_in_a_note_is_written_as_a_question_mark(labels, make_case):
    give(labels, make_case(), note="so \ud800")
    assert LabelStore(labels.path).labels()[0].note == "so ?"


def test_the_name_of_labels_is_their_files_name(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    assert LabelStore.named("bundled-dev").path == tmp_path / "labels" / "bundled-dev.sqlite"
    for name in ("../up", "", "..", "a/b"):
        with pytest.raises(BadInputError):
            LabelStore.named(name)


def test_a_label_says_who_gave_it_and_when(make_case):
    label = label_of(make_case(), "T", "a", annotator="me")
    assert isinstance(label, Label)
    assert (label.annotator, label.db_id, label.question_id) == ("me", "harbour", "7")
    assert label.at.endswith("+00:00")
