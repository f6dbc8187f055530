"""Learning the parser's weights: right hypotheses become likely."""

import pytest

from workbench.embedded.parser import Hypothesis
from workbench.embedded.training.learn import Settings, fit

SETTINGS = Settings(l2=0.1)


def hypothesis(score, **features):
    return Hypothesis("SELECT 1", score, features, (), ())


def test_what_only_right_hypotheses_have_weighs_more():
    pool = [(hypothesis(0, good=1.0), True), (hypothesis(0, bad=1.0), False)]
    weights = fit([pool] * 5, {}, SETTINGS)
    assert weights["good"] > 0.5
    assert weights["bad"] < -0.5


def test_a_question_without_a_right_hypothesis_teaches_nothing():
    pool = [(hypothesis(0, bad=1.0), False)]
    assert fit([pool], {"bad": 2.0}, SETTINGS) == {"bad": 2.0}


def test_weights_that_nothing_speaks_against_stay_where_they_were_set():
    pool = [(hypothesis(0, x=1.0, y=1.0), True), (hypothesis(0, x=1.0), False)]
    weights = fit([pool], {"x": 0.7, "y": 0.0}, SETTINGS)
    assert weights["x"] == pytest.approx(0.7, abs=1e-3)
