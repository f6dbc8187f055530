"""The bounds drawn are those that evaluation computes."""

import pandas as pd
import pytest

from workbench.evaluate import stats
from workbench.report.figures.bounds import (
    TOGETHER,
    bounds,
    bounds_by_difficulty,
    bounds_by_generator,
)


def verdicts(frame):
    return {q: rows.tolist() for q, rows in frame.groupby("question_id")["correct"]}


def test_each_point_is_the_exact_expectation(trials):
    frame = trials()
    data = bounds(frame)
    for row in data.itertuples():
        part = frame if row.generator == TOGETHER else frame[frame["generator"] == row.generator]
        expected = stats.bounds(verdicts(part)).iloc[row.k - 1]
        assert (row.lower, row.upper) == (expected.lower, expected.upper)
    assert data[data["generator"] == TOGETHER]["k"].max() == 9
    assert set(data["run"]) == {"a1b2c3d4e5f6"}


def test_one_generator_has_no_line_for_all_together(trials):
    assert set(bounds(trials(("query_plan",)))["generator"]) == {"query_plan"}


def test_the_selectors_accuracy_is_beside_the_bounds_of_its_k(trials):
    selected = pd.DataFrame(
        {"generator": ["query_plan", TOGETHER], "k": [3, 9], "EX": [61.0, 62.0]}
    )
    data = bounds_by_generator(trials(), selected, stamp="N = 36").data
    assert data.dropna(subset="selected")[["generator", "k", "selected"]].to_numpy().tolist() == [
        ["query_plan", 3, 61.0],
        [TOGETHER, 9, 62.0],
    ]


def test_by_difficulty_all_generators_count_together(trials):
    data = bounds_by_difficulty(trials(), stamp="N = 36").data
    assert data.groupby("difficulty")["k"].max().tolist() == [9, 9, 9, 9]


def test_a_scale_shared_by_panels_covers_the_data_of_both(trials):
    figure = bounds_by_difficulty(trials(), stamp="N = 36")
    low, high = figure.axes[0].get_ylim()
    assert low <= figure.data["lower"].min()
    assert high >= figure.data["upper"].max()
    assert figure.axes[1].get_ylim() == pytest.approx((low, high))


def test_the_caption_says_why_a_selected_point_may_lie_outside_the_bounds(trials, shown_text):
    selected = pd.DataFrame({"generator": ["query_plan"], "k": [1], "EX": [99.0]})
    told = "A bound is the mean over all choices"
    assert told in shown_text(bounds_by_generator(trials(), selected, stamp="s"))
    assert told not in shown_text(bounds_by_generator(trials(), stamp="s"))
