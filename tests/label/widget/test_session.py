"""Labelling, step by step: what each key does, and that a step is quick however many cases there are."""

import time
from dataclasses import replace
from statistics import median

import pytest

from workbench.errors import BadInputError
from workbench.label.agreement.disputes import disputes
from workbench.label.frames import labels_frame, progress_frame
from workbench.label.store import LabelStore
from workbench.label.suggest import automatic_labels
from workbench.label.taxonomy import open_taxonomy
from workbench.label.widget.panel import opinions, panel
from workbench.label.widget.session import Session

COLUMN = "Incorrectly Predicted SQL\nColumn"
VAGUE = "Vague Question\n"


@pytest.fixture
def session(make_case, labels):
    """Five cases to label by CHESS's taxonomy."""
    cases = [make_case(f"SELECT {number} FROM vessel") for number in range(5)]
    return Session(cases, open_taxonomy("CHESS"), labels, "me")


def given(session):
    return [
        (label.category, label.subcategory) if label else None
        for label in map(session.label, range(len(session.cases)))
    ]


def test_a_choice_is_on_disk_and_the_next_case_is_shown(session):
    session.step("choose", COLUMN, note="id, not name")
    assert session.at == 1
    assert session.status == "labelled Incorrectly Predicted SQL / Column"
    (kept,) = LabelStore(session.store.path).labels()
    assert (kept.category, kept.subcategory, kept.note, kept.annotator) == (
        "Incorrectly Predicted SQL",
        "Column",
        "id, not name",
        "me",
    )


def test_without_auto_advance_the_case_stays(session):
    session.step("advance")
    session.step("choose", VAGUE)
    assert (session.at, given(session)[0]) == (0, ("Vague Question", ""))


def test_a_returning_annotator_continues_at_the_first_case_without_a_label(session):
    session.step("choose", VAGUE)
    session.step("choose", VAGUE)
    again = Session(session.cases, session.taxonomy, LabelStore(session.store.path), "me")
    assert again.at == 2
    assert Session(session.cases, session.taxonomy, session.store, "she").at == 0


def test_undo_takes_back_the_last_label_goes_there_and_keeps_the_note(session):
    session.step("choose", VAGUE)
    session.step("choose", COLUMN, note="why")
    session.step("undo", note="")
    assert given(session) == [("Vague Question", ""), None, None, None, None]
    assert (session.at, session.note()) == (1, "why")
    session.step("undo")
    session.step("undo")
    assert session.status == "nothing to undo"


def test_undo_of_a_label_of_another_sample_names_its_question_and_leaves_the_case_alone(
    session, make_case
):
    other = Session([make_case("SELECT 9", number="9")], session.taxonomy, session.store, "me")
    other.step("choose", VAGUE, note="about nine")
    session.step("next")
    session.step("undo", note="mine")
    assert not session.store.labels()
    assert (session.at, session.note()) == (1, "mine")
    assert session.status == (
        "took back Vague Question, of question 9, which is not among these cases"
    )


def test_skipped_cases_are_passed_by_and_can_be_found_again(session):
    session.step("skip")
    assert session.at == 1
    for _ in range(4):
        session.step("choose", VAGUE)
    assert session.status.endswith("no case is left to label")
    session.step("filter", "skipped")
    assert session.at == 0
    session.step("choose", VAGUE)
    assert not session.skipped


def test_back_goes_to_the_case_seen_before(session):
    session.step("next")
    session.step("next")
    session.step("choose", VAGUE)
    session.step("back")
    assert session.at == 2
    session.step("back")
    session.step("back")
    session.step("back")
    assert (session.at, session.status) == (0, "this is the first case that was shown")


def test_next_and_previous_stop_at_the_ends(session):
    session.step("previous")
    assert (session.at, session.status) == (0, "no earlier case")
    for _ in range(7):
        session.step("next")
    assert (session.at, session.status) == (4, "no later case")


def test_a_filter_lets_only_its_cases_be_reached(session):
    session.step("choose", VAGUE)
    session.step("next")
    session.step("choose", COLUMN)
    session.step("filter", "labelled")
    assert session.status == "2 of 5 cases: labelled"
    session.step("next")
    assert session.at == 2
    session.step("filter", "Vague Question")
    assert session.at == 0
    session.step("filter", "to do")
    assert session.at == 1


def test_a_note_waits_for_its_category_and_can_be_changed_later(session):
    session.step("note", note="first")
    assert session.status == "the note is saved with the category"
    session.step("choose", VAGUE, note="first")
    session.step("back", note="")
    session.step("note", note="second")
    assert session.label(0).note == "second"
    assert len(session.store.labels(latest=False)) == 2
    session.step("note", note="second")
    assert len(session.store.labels(latest=False)) == 2


def test_a_key_pressed_twice_does_not_label_the_next_unseen_case(session):
    session.step("choose", VAGUE, note="mine", seen=0)
    session.step("choose", VAGUE, note="mine", seen=0)
    assert given(session) == [("Vague Question", ""), None, None, None, None]
    assert session.status == "ignored a key pressed before case 2 was shown"
    assert session.note() == ""
    session.step("undo", note="mine", seen=0)
    assert given(session)[0] is None


def test_labels_of_another_program_are_seen_at_the_next_step(session):
    other = Session(session.cases, session.taxonomy, LabelStore(session.store.path), "me")
    other.step("choose", VAGUE)
    session.step("next")
    assert given(session)[0] == ("Vague Question", "")


@pytest.mark.parametrize(
    ("do", "value"), [("dance", ""), ("choose", "Luck\n"), ("filter", "red"), ("choose", "")]
)
def test_an_unknown_step_or_value_is_refused(session, do, value):
    with pytest.raises(BadInputError):
        session.step(do, value)


def test_a_label_needs_an_annotators_name(session):
    with pytest.raises(BadInputError, match="annotator is empty"):
        Session(session.cases, session.taxonomy, session.store, " ")


@pytest.mark.parametrize("name", ["automatic", "Automatic ", "adjudicator", "ADJUDICATOR"])
def test_the_names_of_rules_and_of_the_adjudicator_are_reserved(session, name):
    with pytest.raises(BadInputError, match=f"annotator '{name}' is reserved for"):
        Session(session.cases, session.taxonomy, session.store, name)


def test_the_adjudicator_sees_the_annotators_labels_of_the_case(session):
    for name, choice in {"ann": VAGUE, "bob": COLUMN}.items():
        other = Session(session.cases, session.taxonomy, session.store, name)
        other.step("choose", choice, note=f"so says {name}")
    session.store.add(automatic_labels(session.cases, session.taxonomy))
    judge = Session(session.cases, session.taxonomy, session.store, "adjudicator", adjudicates=True)
    assert [(one.annotator, one.note) for one in opinions(judge)] == [
        ("ann", "so says ann"),
        ("bob", "so says bob"),
    ]
    judge.step("advance")
    judge.step("choose", COLUMN)
    assert len(list(opinions(judge))) == 2
    assert not disputes(session.store.labels())


def test_a_session_without_cases_ignores_every_step(session):
    empty = Session([], session.taxonomy, session.store, "me")
    empty.step("choose", VAGUE, note="x")
    assert not session.store.labels()


def test_progress_and_labels_are_tables(session):
    session.step("choose", VAGUE)
    session.step("choose", COLUMN)
    progress = progress_frame(session.cases, session.store, session.taxonomy, "me")
    counts = {(row.category, row.subcategory): row.n for row in progress.itertuples()}
    assert counts["Vague Question", ""] == counts["Incorrectly Predicted SQL", "Column"] == 1
    assert counts["to do", ""] == 3
    assert len(labels_frame(session.store.labels())) == 2


def test_a_step_among_1534_cases_is_quick_and_draws_one_case(make_case, labels, monkeypatch):
    drawn = []
    real = panel.__globals__["case_node"]
    monkeypatch.setitem(
        panel.__globals__,
        "case_node",
        lambda case, **more: drawn.append(case) or real(case, **more),
    )
    rows = tuple((number, "x" * 40) for number in range(1000))
    first = make_case("SELECT 1, vname FROM vessel", rows=rows, gold_rows=rows[::-2])
    questions = (replace(first.question, id=str(n), text=f"Which {n}?") for n in range(1534))
    cases = [replace(first, question=question) for question in questions]
    session = Session(cases, open_taxonomy("CHESS"), labels, "me")
    took = []
    for _ in range(30):
        start = time.process_time()  # what others do meanwhile does not count
        session.step("choose", COLUMN, note="x")
        panel(session)
        took.append(time.process_time() - start)
    assert len(drawn) == 30
    assert median(took) < 1  # seconds; 0.04 are usual


def test_a_case_is_reached_by_its_number(session):
    session.step("jump", " 4 ")
    assert session.at == 3
    session.step("back")
    assert session.at == 0


@pytest.mark.parametrize("number", ["0", "6", "-1", "two", ""])
def test_a_number_without_a_case_is_refused(session, number):
    with pytest.raises(BadInputError, match="give a number from 1 to 5"):
        session.step("jump", number)


def test_another_annotator_takes_over_at_their_own_first_case_without_a_label(session):
    session.step("choose", VAGUE, note="mine")
    session.step("skip", note="for the next case")
    session.step("annotator", "she")
    assert (session.at, session.annotator, session.notes) == (0, "she", {})
    assert session.status == "labelling as she"
    session.step("choose", COLUMN)
    session.step("annotator", "me")
    assert (session.at, session.label(0).category) == (1, "Vague Question")


@pytest.mark.parametrize("name", ["", "automatic", "adjudicator"])
def test_a_reserved_name_cannot_be_taken_in_the_labeller(session, name):
    with pytest.raises(BadInputError):
        session.step("annotator", name)
    assert session.annotator == "me"


def test_the_adjudicator_stays_the_adjudicator(session):
    judge = Session(session.cases, session.taxonomy, session.store, "adjudicator", adjudicates=True)
    with pytest.raises(BadInputError, match="name is fixed"):
        judge.step("annotator", "me")
