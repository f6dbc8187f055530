"""Cases as they are found are those that are drawn from all selections, whatever was cached, and the first comes soon."""

import threading
import time
from fractions import Fraction

import pytest

from workbench.html.tree import html
from workbench.label.cases import cases
from workbench.label.queue.find import _certain, find_cases
from workbench.label.queue.growing import GrowingCases, find
from workbench.label.store import LabelStore
from workbench.label.taxonomy import Category, Taxonomy
from workbench.label.widget.labeller import label
from workbench.label.widget.panel import panel
from workbench.study.opening import open_study
from workbench.systems.baselines import direct


@pytest.fixture
def study(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    with open_study("embedded", limit=20, figures=tmp_path / "figures") as study:
        yield study


def kinds(share):
    return Taxonomy("kinds", (Category("a"),), share=share)


@pytest.mark.parametrize(
    ("share", "limit"), [(1, None), (Fraction(1, 3), None), (1, 3), ("1/2", 2)]
)
def test_they_are_the_cases_that_are_drawn_in_the_end(study, share, limit):
    system, taxonomy = direct(study.model), kinds(share)
    fresh = list(find_cases(study, system, taxonomy, limit=limit))
    cached = list(find_cases(study, system, taxonomy, limit=limit))
    selections = list(study.run(system).selections)
    drawn = cases(study.benchmark, selections, study.lab, share=taxonomy.share, limit=limit)
    for found in (fresh, cached):
        assert sorted(case.question.id for case in found) == sorted(c.question.id for c in drawn)
        assert {case.key for case in found} == {case.key for case in drawn}


def test_the_first_case_comes_before_most_questions_are_read(study):
    read = []
    found = find_cases(study, direct(study.model), kinds(1), progress=lambda n, _: read.append(n))
    next(found)
    assert read[-1] < 15


def test_a_case_is_certain_when_no_unread_question_can_take_its_place():
    assert _certain([0.5], [], Fraction(1), None) == 1
    assert _certain([0.5], [0.1], Fraction(1), None) == 1
    assert _certain([0.5], [0.1], Fraction(1), 1) == 0, "the unread one may be wrong, and is first"
    assert _certain([0.5], [0.9], Fraction(1), 1) == 1
    assert _certain([0.5, 0.6], [], Fraction(1, 3), None) == 1


class Slow:
    """A search whose second case waits."""

    def __init__(self, cases):
        self.cases, self.go = cases, threading.Event()

    def __call__(self, progress):
        progress(1, 9)
        yield self.cases[0]
        self.go.wait(60)
        progress(9, 9)
        yield self.cases[1]


@pytest.fixture
def slow(make_case):
    return Slow([make_case(f"SELECT {n}") for n in range(2)])


def test_the_labeller_shows_the_first_case_while_others_are_looked_for(slow, labels: LabelStore):
    labeller = label(GrowingCases(slow, limit=5), kinds(1), labels, "me")
    while not labeller.session.cases:
        time.sleep(0.01)
    page = html(panel(labeller.session))
    assert "case 1 of 1" in page
    assert "searching for more: 1 of 9 questions read, limit 5 cases" in page
    slow.go.set()
    labeller.session.sample.wait()
    assert "case 1 of 2" in html(panel(labeller.session))
    assert "case 1 of 2" in str(labeller.panel)


def test_what_ends_the_search_early_is_told_and_raised(labels):
    def broken(progress):
        raise OSError("no space")
        yield

    found = GrowingCases(broken)
    with pytest.raises(OSError, match="no space"):
        found.wait()
    labeller = label(found, kinds(1), labels, "me")
    assert "the search ended early: OSError: no space" in html(panel(labeller.session))


def test_find_is_a_sequence_that_says_how_far_it_is(study):
    found = find(study, direct(study.model), kinds(1), limit=2).wait()
    assert len(found) == 2
    assert "limit 2 cases" in repr(found)
