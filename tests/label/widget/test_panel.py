"""The panel says what each button does and which key presses it; the widget carries both ways."""

import json
import re

import pytest

from workbench.errors import BadInputError, StoreError
from workbench.html.tree import escape, html, plain_data
from workbench.label.store import label_of
from workbench.label.suggest import automatic_labels
from workbench.label.taxonomy import Category, Taxonomy, open_taxonomy, published
from workbench.label.widget.keys import STEPS, keys
from workbench.label.widget.labeller import Labeller, adjudicate, label
from workbench.label.widget.panel import panel
from workbench.label.widget.session import Session


@pytest.fixture
def labeller(make_case, labels):
    cases = [make_case(f"SELECT {number} FROM vessel") for number in range(3)]
    return label(cases, open_taxonomy("CHESS"), labels, "me")


def shown(labeller):
    """The panel that the browser builds, as HTML."""
    assert labeller.panel == plain_data(panel(labeller.session))
    return html(panel(labeller.session))


def press(labeller, **message):
    """What the browser sends."""
    labeller._handle_custom_msg(message, [])


@pytest.mark.parametrize("name", sorted(published()))
def test_every_choice_of_a_papers_taxonomy_has_a_key_that_no_other_button_has(name):
    given = keys(open_taxonomy(name))
    assert set(given.choices) == {choice for choice, _ in open_taxonomy(name).choices()}
    every = [*given.choices.values(), *given.steps.values()]
    assert len(set(every)) == len(every)


def test_what_comes_after_the_last_letter_has_no_key():
    many = Taxonomy("many", tuple(Category(str(number)) for number in range(40)))
    given = keys(many).choices
    assert [given[str(number), ""] for number in (0, 8, 9, 10)] == ["1", "9", "a", "c"]
    assert len(given) == 9 + 21


def test_a_step_and_a_category_can_have_other_keys():
    kinds = open_taxonomy("CHESS")
    given = keys(kinds, {"skip": "x", "Vague Question / Column": "s", "Vague Question": "v"})
    assert given.steps["skip"] == "x"
    assert given.choices["Vague Question", "Column"] == "s"
    assert given.choices["Vague Question", ""] == "v"
    assert given.choices["Incorrect Golden SQL", ""] == "2", "digits go to what has no own key"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"Column": "x"}, "no step or category 'Column' to give a key; there are skip; undo;"),
        ({"skip": "u"}, "key 'u' is given to both 'skip' and 'undo'"),
        ({"Vague Question": "s"}, "key 's' is given to both 'skip' and 'Vague Question'"),
        ({"skip": "up"}, "the key of 'skip' is 'up': give one character"),
    ],
)
def test_keys_that_cannot_be_are_one_clear_error(changed, message):
    with pytest.raises(BadInputError, match=message):
        keys(open_taxonomy("CHESS"), changed)


def test_the_keys_are_shown_with_what_they_do_and_what_the_categories_mean(labeller):
    press(labeller, do="help")
    page = shown(labeller)
    for what in (*(what for _, what in STEPS.values()), "Neither question nor hint says"):
        assert escape(what) in page
    assert "gold-sql" not in page
    press(labeller, do="help")
    assert "gold-sql" in shown(labeller)


def test_the_panel_marks_what_was_chosen_by_a_sign_and_counts_it(labeller):
    press(labeller, do="choose", value="Vague Question\n", note="")
    press(labeller, do="back", note="")
    page = shown(labeller)
    assert "case 1 of 3" in page
    assert "1 of 3 labelled" in page
    assert re.search(r'aria-pressed="true"[^>]*><kbd>2</kbd>✓ Vague Question \(1\)</button>', page)


def test_every_button_names_its_step_and_has_a_text(labeller):
    buttons = re.findall(r"<button[^>]*>", shown(labeller))
    assert len(buttons) == 31
    assert all("data-do=" in button and "data-testid=" in button for button in buttons)
    for button in buttons:
        key = re.search(r'data-key="([^"]+)"', button)
        assert bool(key) == ("aria-keyshortcuts" in button)


def test_what_is_sent_to_the_browser_is_plain_data(labeller):
    assert json.loads(json.dumps(labeller.panel)) == labeller.panel


def test_an_exception_in_a_step_is_shown_and_the_next_step_clears_it(labeller):
    press(labeller, do="choose", value="Luck\n", note="")
    assert "no category 'Luck'" in labeller.error
    press(labeller)
    assert "TypeError" in labeller.error
    press(labeller, do="next")
    assert labeller.error == ""


def test_the_last_of_chained_exceptions_is_shown(labeller, monkeypatch):
    def fail(_):
        raise StoreError("the disk is full") from OSError("no space")

    monkeypatch.setattr(labeller.session.store, "add", fail)
    press(labeller, do="choose", value="Vague Question\n", note="")
    assert labeller.error.endswith("the disk is full\n")
    assert labeller.error.count("Traceback") == 1


def test_an_exception_in_drawing_is_shown_as_well(labeller, monkeypatch):
    monkeypatch.setattr("workbench.label.widget.labeller.panel", lambda _: 1 / 0)
    press(labeller, do="next")
    assert "ZeroDivisionError" in labeller.error


def test_the_note_of_a_case_comes_with_it(labeller):
    press(labeller, do="choose", value="Vague Question\n", note="why")
    assert labeller.note == ""
    press(labeller, do="back", note="")
    assert labeller.note == "why"


def test_a_widget_without_cases_shows_one_line(labels):
    empty = Labeller(Session([], open_taxonomy("CHESS"), labels, "me"))
    assert "There are no cases to label." in shown(empty)


@pytest.fixture
def disputed(labeller, labels):
    """Ann and Bob differ on the first case, and agree on the second."""
    cases, kinds = labeller.session.cases, open_taxonomy("CHESS")
    for name, first in {"ann": "Vague Question", "bob": "Incorrect Golden SQL"}.items():
        given = [(cases[0], first), (cases[1], "Vague Question")]
        labels.add(
            label_of(case, "CHESS", category, annotator=name, note="<b>")
            for case, category in given
        )
    labels.add(automatic_labels(cases[1:], kinds))
    return cases, kinds, labels


def test_the_adjudicator_sees_the_disputed_cases_with_their_labels_and_settles_them(disputed):
    judge = adjudicate(*disputed)
    page = shown(judge)
    assert "case 1 of 1" in page
    assert "<li>ann: <strong>Vague Question</strong> (&lt;b&gt;)</li>" in page
    assert "<li>bob: <strong>Incorrect Golden SQL</strong> (&lt;b&gt;)</li>" in page
    press(judge, do="choose", value="Vague Question\n", note="")
    assert "1 of 1 labelled" in shown(judge)
    assert "There are no disputes to settle." in shown(adjudicate(*disputed))


def test_an_annotator_does_not_see_others_labels_and_has_the_keys_at_once(disputed):
    labeller, judge = label(*disputed, "me"), adjudicate(*disputed)
    assert 'data-testid="opinions"' not in shown(labeller)
    assert (labeller.eager, judge.eager) == (True, False)


def test_the_browsers_part_sets_text_as_text_and_asks_no_server():
    source = str(Labeller._esm) + str(Labeller._css)
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "http",
        "fetch(",
    ):
        assert word not in source


def test_every_tag_and_attribute_of_the_panel_is_allowed_by_the_javascript(labeller):
    source = str(Labeller._esm)
    tags = set(re.findall(r"<(\w+)", shown(labeller)))
    assert all(f'"{tag}"' in source for tag in tags)
    names = set(re.findall(r' ([\w-]+)="', shown(labeller)))
    allowed = re.search(r"ATTRIBUTES = /(.*)/", source)[1]
    assert [name for name in names if not re.fullmatch(allowed, name)] == []


def test_the_panel_of_a_session_is_a_pure_function_of_it(labeller):
    assert panel(labeller.session) == panel(labeller.session)
