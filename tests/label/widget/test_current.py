"""A question that is picked in another view is the case that the labeller shows, and the other way round."""

import pytest

from workbench.current_question import CurrentQuestion
from workbench.label.taxonomy import open_taxonomy
from workbench.label.widget.labeller import label

VAGUE = "Vague Question\n"


@pytest.fixture
def cases(make_case):
    """Questions 0 to 4 of the benchmark "bird", a case of each."""
    return [make_case(f"SELECT {n}", number=str(n), benchmark="bird") for n in range(5)]


@pytest.fixture
def current():
    return CurrentQuestion()


@pytest.fixture
def open_labeller(labels, current):
    return lambda cases: label(cases, open_taxonomy("CHESS"), labels, "me", current=current)


@pytest.fixture
def labeller(open_labeller, cases):
    return open_labeller(cases)


def press(labeller, do, **message):
    labeller._handle_custom_msg({"do": do, **message}, [])


def case_of(labeller):
    return labeller.session.cases[labeller.session.at].question.id


def test_a_question_picked_in_another_view_is_shown(labeller, current):
    current.picked = ("bird", "3")
    assert case_of(labeller) == "3"
    assert "case 4 of 5" in str(labeller.panel)
    press(labeller, "back")
    assert case_of(labeller) == "0"


def test_a_step_to_another_case_picks_its_question_for_the_other_views(labeller, current):
    press(labeller, "choose", value=VAGUE)
    assert current.picked == ("bird", "1")
    press(labeller, "jump", value="5")
    assert current.picked == ("bird", "4")


def test_a_pick_without_a_case_leaves_the_labeller_where_it_is_and_one_line_says_so(
    labeller, current
):
    press(labeller, "next")
    current.picked = ("bird", "77")
    assert case_of(labeller) == "1"
    assert labeller.status == "question 77 of bird is not among these cases"
    current.picked = ("another", "3")  # a question of that id, and yet another one
    assert case_of(labeller) == "1"
    assert labeller.status == "question 3 of another is not among these cases"
    current.picked = ("bird", "3")
    assert (case_of(labeller), labeller.status) == ("3", "")


def test_a_step_that_stays_at_its_case_leaves_the_other_views_alone(labeller, current):
    current.picked = ("bird", "77")
    press(labeller, "help")
    press(labeller, "advance")
    assert current.picked == ("bird", "77")


def test_a_labeller_opens_at_the_current_question_and_picks_none_by_opening(
    open_labeller, cases, current
):
    open_labeller(cases)
    assert current.picked == ("", "")
    current.picked = ("bird", "2")
    assert case_of(open_labeller(cases)) == "2"


def test_a_note_that_is_being_typed_waits_when_another_view_picks_a_question(labeller, current):
    press(labeller, "draft", note="half a sent", seen=0)
    current.picked = ("bird", "3")
    assert labeller.note == ""
    current.picked = ("bird", "0")
    assert labeller.note == "half a sent"


def test_a_key_pressed_before_another_view_picked_a_question_labels_neither(labeller, current):
    current.picked = ("bird", "3")
    press(labeller, "choose", value=VAGUE, seen=0)
    assert not labeller.session.store.labels()


def test_two_labellers_show_the_same_question(open_labeller, cases):
    one, other = open_labeller(cases), open_labeller(cases[2:])
    press(other, "jump", value="2")
    assert case_of(one) == "3"
    press(one, "jump", value="1")
    assert (case_of(one), case_of(other)) == ("0", "3")
