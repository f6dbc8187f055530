"""An edit for all questions says which they are and what they cost before anything is asked."""

import pytest

from workbench.explore.prompt.for_all import Wanted
from workbench.explore.prompt.steps import Edit, record


@pytest.fixture
def wanted(zoo):
    """An edit for four questions, of which the calls of three are cached."""
    for question in zoo.questions[:3]:
        record(zoo.system, question, zoo.lab, pay=True)
    edit = Edit(parameters={"temperature": 0.5})
    return Wanted(zoo.system, zoo.benchmark, zoo.lab, "generate/direct", edit)


def silent(*_):
    pass


def test_the_calls_of_questions_that_are_cached_are_found_and_the_others_named(wanted, zoo):
    seen = []
    found = wanted.find(lambda *done: seen.append(done))
    assert [question.id for question, _ in found.steps] == ["0", "1", "2"]
    assert [question.id for question in found.left_out] == ["3"]
    assert seen == [(0, 4)]
    assert len(zoo.model.history) == 3


def test_the_cost_names_the_questions_that_are_asked_anew_first(wanted, zoo):
    found = wanted.find(silent)
    zoo.lab.client.complete(found.edited()[0])
    page = found.cost_html()
    assert "generate/direct for 3 of 4 questions: 2 are asked anew and 1 are cached." in page
    assert "3 requests: 1 cached, 2 calls to make" in page
    assert page.index("<td>asked anew</td><td>1</td>") < page.index("<td>cached</td><td>0</td>")
    assert "Left out, since their own call is not cached: 1" in page
    assert "zoo, question 3?" in page


def test_the_run_shows_the_text_of_a_question_that_flips(wanted, zoo):
    zoo.model.otherwise = "SELECT 1"
    page = wanted.find(silent).run_html()
    assert "1 lost" in page
    assert "zoo, question 0?" in page
