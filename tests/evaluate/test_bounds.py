from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import BadInputError
from workbench.evaluate.bounds import Bounds, all_at_k, curve, pass_at_k

VERDICTS = st.lists(st.booleans(), min_size=1, max_size=7)
TABLES = st.dictionaries(st.text(max_size=3), VERDICTS, min_size=1, max_size=6)


def test_one_right_candidate_is_enough_for_the_upper_bound():
    assert curve({"q": [False, True, False]})[-1].upper == 100
    assert curve({"q": [False, False]})[-1].upper == 0


def test_one_wrong_candidate_is_enough_for_the_lower_bound():
    assert curve({"q": [True, True]})[-1].lower == 100
    assert curve({"q": [True, False]})[-1].lower == 0


def test_pass_at_k_by_hand():
    # Of the ten pairs out of five candidates, three lie among the three wrong ones.
    assert pass_at_k(5, 2, 2) == 0.7


def test_all_at_k_by_hand():
    assert all_at_k(5, 2, 2) == 0.1


@given(VERDICTS, st.integers(1, 7))
def test_both_agree_with_counting_every_choice(verdicts, k):
    n, c, k = len(verdicts), sum(verdicts), min(k, len(verdicts))
    choices = list(combinations(verdicts, k))
    assert pass_at_k(n, c, k) == sum(map(any, choices)) / len(choices)
    assert all_at_k(n, c, k) == sum(map(all, choices)) / len(choices)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_more_candidates_never_lower_pass_at_k_nor_raise_all_at_k(given_n_c):
    n, c = given_n_c
    at_least_one = [pass_at_k(n, c, k) for k in range(1, n + 1)]
    every_one = [all_at_k(n, c, k) for k in range(1, n + 1)]
    assert at_least_one == sorted(at_least_one)
    assert every_one == sorted(every_one, reverse=True)
    assert at_least_one[0] == every_one[0] == c / n
    assert (at_least_one[-1], every_one[-1]) == (float(c > 0), float(c == n))


def test_a_chance_too_small_for_a_difference_of_floats_is_still_exact():
    assert pass_at_k(10**9, 1, 1) == 1e-9
    assert 0 < all_at_k(2000, 1000, 400) < 1e-100


@pytest.mark.parametrize("chance", [pass_at_k, all_at_k])
@pytest.mark.parametrize(("n", "c", "k"), [(3, 1, 4), (3, 1, 0), (3, 4, 1), (3, -1, 1), (0, 0, 1)])
def test_impossible_counts_are_the_callers_mistake(chance, n, c, k):
    with pytest.raises(BadInputError, match=f"n = {n}, c = {c}, k = {k}"):
        chance(n, c, k)


def test_the_bounds_of_three_questions_by_hand():
    one, both = curve({"all": [True, True], "half": [True, False], "none": [False, False]})
    assert one.upper == one.lower == pytest.approx(50)
    assert both == Bounds(2, pytest.approx(100 / 3), pytest.approx(200 / 3))


@given(TABLES)
def test_a_single_answer_lies_between_the_bounds(verdicts):
    points = curve(verdicts)
    first, last = points[0], points[-1]
    assert last.lower - 1e-9 <= first.lower == first.upper <= last.upper + 1e-9


def test_the_curve_opens_from_the_mean_to_both_bounds():
    verdicts = {"a": [True, False, False], "b": [True, True, False, True]}
    points = curve(verdicts)
    assert [point.k for point in points] == [1, 2, 3]
    single = 100 * (1 / 3 + 3 / 4) / 2
    assert points[0] == Bounds(1, pytest.approx(single), pytest.approx(single))
    assert points[2].upper == pytest.approx(100)
    assert points[2].lower == pytest.approx(100 * (0 + 1 / comb(4, 3)) / 2)


def test_a_curve_over_a_question_without_candidates_names_it():
    with pytest.raises(BadInputError, match="question q7 has 0 candidates"):
        curve({"q1": [True], "q7": []})


def test_no_questions_is_the_callers_mistake():
    with pytest.raises(BadInputError, match="no questions"):
        curve({})


def test_verdicts_of_a_data_frame_are_ones_and_zeros():
    assert curve({"q": [1.0, 0.0]})[0].upper == 50


@pytest.mark.parametrize("verdict", [0.5, float("nan")])
def test_a_partial_score_is_no_verdict(verdict):
    with pytest.raises(BadInputError, match=f"a verdict is {verdict}"):
        curve({"q": [True, verdict]})
