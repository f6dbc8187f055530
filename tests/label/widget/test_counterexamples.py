"""Why two queries differ, searched for beside the labeller."""

import threading
from dataclasses import replace

import pytest

from workbench.html.tree import html
from workbench.label.store import LabelStore
from workbench.label.taxonomy import open_taxonomy
from workbench.label.widget.counterexamples import Counterexamples
from workbench.label.widget.labeller import label
from workbench.label.widget.panel import panel


@pytest.fixture
def wrong(make_case, bird):
    """A case about a database that is there: the prediction has a constant in place of the answer."""
    question = bird.questions[0]
    gold = bird.golds[question.id].sql
    return replace(make_case("SELECT 'no such answer'", gold), question=question)


def test_the_search_shows_the_smallest_database_found_and_both_results(wrong, lab):
    searches, ended = Counterexamples(lab), threading.Event()
    searches.search([wrong], ended.set)
    assert ended.wait(60)
    page = html(searches.of(wrong))
    assert "they differ" in page
    assert "no such answer" in page


def test_a_search_that_fails_says_so(wrong, lab):
    gone = replace(wrong, question=replace(wrong.question, db_id="gone"))
    searches, ended = Counterexamples(lab), threading.Event()
    searches.search([gone], ended.set)
    assert ended.wait(60)
    assert "The search failed: " in html(searches.of(gone))


def test_only_the_cases_asked_for_last_are_waited_for(wrong, lab, monkeypatch):
    searched, begun, go, ended = [], threading.Event(), threading.Event(), threading.Event()

    def search(_, case):
        begun.set()
        go.wait(60)
        searched.append(case.predicted)

    monkeypatch.setattr(Counterexamples, "_search", search)
    first, passed_by, last = (replace(wrong, predicted=f"SELECT {n}") for n in range(3))
    searches = Counterexamples(lab)
    searches.search([first], lambda: None)
    assert begun.wait(60)
    searches.search([passed_by], lambda: None)
    searches.search([last], ended.set)
    go.set()
    assert ended.wait(60)
    assert searched == ["SELECT 0", "SELECT 2"]


def test_the_labeller_shows_what_was_found_beside_the_case(wrong, lab, labels: LabelStore):
    labeller = label([wrong], open_taxonomy("CHESS"), labels, "me", lab)
    searches = labeller.session.counterexamples
    searches._thread.shutdown()  # waits for the search
    assert "they differ" in html(panel(labeller.session))
    assert "they differ" in str(labeller.panel), "the thread draws the panel that browsers show"


def test_without_a_lab_there_is_no_search(wrong, labels):
    labeller = label([wrong], open_taxonomy("CHESS"), labels, "me")
    assert "Why do these differ?" not in html(panel(labeller.session))
