"""Learning the parser's weights: right hypotheses become likely."""

import sqlite3
from contextlib import closing

import pytest

from workbench.embedded.parser import Hypothesis
from workbench.embedded.training.learn import Settings, fit, results

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


def test_a_query_that_fails_or_does_not_end_has_no_result(tmp_path):
    database = tmp_path / "empty.sqlite"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE t (a)")
    endless = (
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
    )
    one, failed, stopped, again = results(database, ["SELECT 1", "SELECT b", endless, "SELECT 1.0"])
    assert one == again
    assert one
    assert failed == stopped == ""
