"""Learning the parser's weights: right hypotheses become likely, and names can be taken away and given back."""

import pytest

from tests.embedded.harbour import asking
from workbench.embedded.parser import Hypothesis, hypotheses
from workbench.embedded.training.learn import Settings, fit, summary
from workbench.embedded.training.renaming import renamed

SETTINGS = Settings(l2=0.1, steps=150)


def hypothesis(score, **features):
    return Hypothesis("SELECT 1", score, features, (), ())


def test_what_only_right_hypotheses_have_weighs_more():
    pool = [(hypothesis(0, good=1.0), True), (hypothesis(0, bad=1.0), False)]
    weights = fit([pool] * 5, {}, {}, SETTINGS)
    assert weights["good"] > 0.5
    assert weights["bad"] < -0.5


def test_a_question_without_a_right_hypothesis_teaches_nothing():
    pool = [(hypothesis(0, bad=1.0), False)]
    assert fit([pool], {"bad": 2.0}, {}, SETTINGS) == {"bad": 2.0}


def test_weights_that_nothing_speaks_against_stay_where_they_were_set():
    pool = [(hypothesis(0, x=1.0, y=1.0), True), (hypothesis(0, x=1.0), False)]
    weights = fit([pool], {"x": 0.7, "y": 0.0}, {}, SETTINGS)
    assert weights["x"] == pytest.approx(0.7, abs=1e-3)


def test_the_summary_counts_the_best_and_what_is_drawn():
    even = [(hypothesis(0.0), True), (hypothesis(0.0), False)]
    told = summary([even, []], sharpness=1.0)
    assert told == {
        "best": 0.5,
        "one sample": 0.25,
        "any of ten": pytest.approx((1 - 0.5**10) / 2),
        "any": 0.5,
    }


def test_under_other_names_no_name_of_the_schema_is_left():
    context = asking("How many visits were cancelled?", "cancelled refers to visit.st = 'K'")
    other, _ = renamed(context)
    names = {name for pair in other.schema.columns() for name in pair}
    assert not names & {name for pair in context.schema.columns() for name in pair}
    assert other.question.text == context.question.text
    assert other.question.evidence.endswith("= 'K'")
    assert "st" not in other.question.evidence.split()


def test_queries_get_their_names_back():
    context = asking("How many ships were built after 2005?")
    other, restored = renamed(context)
    known = {h.sql for h in hypotheses(context)}
    assert sum(restored(h.sql) in known for h in hypotheses(other)) > 3
