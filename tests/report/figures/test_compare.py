"""Accuracies, paired differences and costs as evaluation defines them."""

import pandas as pd
import pytest

from workbench.errors import BadInputError
from workbench.evaluate.stats import compare, mean_interval
from workbench.report.figures.compare import (
    accuracies,
    differences,
    paired_differences,
)
from workbench.report.figures.cost import frontier, pareto


def test_an_interval_is_clustered_by_database(questions):
    frame = questions(("MAC-SQL",))
    (row,) = accuracies(frame).to_dict("records")
    found = mean_interval(frame["correct"].astype(float).tolist(), frame["db_id"].tolist())
    assert (row["EX"], row["low"], row["high"]) == (
        100 * found.mean,
        100 * found.low,
        100 * found.high,
    )
    assert row["run"] == "run0"


def test_a_question_counts_in_each_of_its_features(questions):
    data = accuracies(questions(("MAC-SQL",)), "feature").set_index("feature")
    assert data["n"].to_dict() == {"GROUP BY": 18, "JOIN": 18, "ORDER BY": 18}


def test_a_difference_is_paired_by_question(questions):
    frame = questions().sample(frac=1, random_state=1)
    (row,) = differences(frame, "chase_sql").to_dict("records")
    verdicts = {
        name: dict(zip(part["question_id"], part["correct"].astype(float), strict=True))
        for name, part in frame.groupby("system")
    }
    clusters = dict(zip(frame["question_id"], frame["db_id"], strict=True))
    found = compare(verdicts["MAC-SQL"], verdicts["chase_sql"], clusters)
    assert row["difference"] == 100 * found.difference
    assert (row["won"], row["lost"]) == (len(found.won), len(found.lost))


@pytest.mark.parametrize("against", ["nobody", None])
def test_a_comparison_needs_two_and_one_to_compare_with(questions, against):
    names = ("MAC-SQL", "chase_sql") if against else ("MAC-SQL",)
    with pytest.raises(BadInputError, match="two or more"):
        paired_differences(questions(names), against, stamp="s")


@pytest.mark.parametrize(("databases", "few"), [(1, True), (3, True), (9, True), (10, False)])
def test_a_comparison_on_few_databases_says_that_it_speaks_of_no_others(
    questions, shown_text, databases, few
):
    frame = questions()
    number = frame.groupby("system").cumcount() % databases
    frame = frame.assign(db_id=number.map("db{}".format))
    figure = paired_differences(frame, stamp="s")
    assert ("too few to speak of others" in shown_text(figure)) == few
    assert ("clustered low" in figure.data) == (not few)


COSTS = pd.DataFrame(
    {"system": list("abcd"), "EX": [50.0, 40.0, 60.0, 60.0], "tokens": [10, 20, 30, 40]}
)


def test_the_frontier_has_the_systems_that_no_cheaper_system_beats():
    assert frontier(COSTS)["best"].tolist() == [True, False, True, False]
    assert frontier(COSTS.iloc[::-1])["best"].tolist() == [False, True, False, True]


def test_an_unknown_cost_is_a_clear_error():
    with pytest.raises(BadInputError, match="calls, tokens or dollars"):
        pareto(COSTS, "euros", stamp="s")
    with pytest.raises(BadInputError, match="price"):
        pareto(COSTS.assign(dollars=float("nan")), "dollars", stamp="s")


def test_a_system_of_unknown_price_is_left_out_and_the_others_drawn(shown_text):
    text = shown_text(
        pareto(COSTS.assign(dollars=[0.1, float("nan"), 5.0, 9.0]), "dollars", stamp="s")
    )
    assert "US dollars" in text
    assert "\nb" not in text


def test_the_frontier_is_named_and_drawn_with_filled_marks(shown_text):
    figure = pareto(COSTS, stamp="s")
    assert "frontier" in shown_text(figure)
    marks = figure.legends[0].get_lines()[:4]
    faces = {mark.get_markerfacecolor() == "white" for mark in marks}
    assert faces == {True, False}


def test_marks_of_the_same_cost_stand_side_by_side(shown_text):
    figure = pareto(COSTS.assign(tokens=[10, 10, 10, 1000]), stamp="s")
    places = sorted(
        line.get_xdata()[0] for line in figure.axes[0].lines if line.get_marker() != "None"
    )
    assert len(set(places)) == 4
    assert "moved apart" in shown_text(figure)
    assert "moved apart" not in shown_text(pareto(COSTS, stamp="s"))
