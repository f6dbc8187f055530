from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import BadInputError
from workbench.evaluate.stats import compare, holm, mean_interval, t_quantile

DATABASES = st.sampled_from("abcd")
ANSWERS = st.lists(st.tuples(st.booleans(), st.booleans(), DATABASES), min_size=1, max_size=40)


def systems(answers):
    """Two systems' verdicts and the databases, by question."""
    return tuple({f"q{i}": given[part] for i, given in enumerate(answers)} for part in range(3))


@pytest.mark.parametrize(
    ("confidence", "degrees", "t"),
    [
        (0.95, 1, 12.706),
        (0.95, 2, 4.303),
        (0.95, 8, 2.306),
        (0.95, 9, 2.262),
        (0.95, 30, 2.042),
        (0.95, 120, 1.980),
        (0.90, 5, 2.015),
        (0.99, 1, 63.657),
        (0.99, 10, 3.169),
    ],
)
def test_the_t_quantile_is_that_of_the_printed_tables(confidence, degrees, t):
    assert t_quantile(confidence, degrees) == pytest.approx(t, abs=5e-4)


def test_one_database_gives_wilsons_interval():
    interval = mean_interval([True] * 8 + [False] * 2, ["a"] * 10)
    assert (interval.low, interval.high) == pytest.approx((0.4902, 0.9433), abs=1e-4)


def test_three_databases_by_hand():
    # Without a, b, c the mean is 1/4, 2/4, 3/4: variance 2/3 (1/16 + 0 + 1/16) = 1/12, t = 4.3027.
    # Wilson's with t^2 / n replaced by 4.3027^2 / 12 / 0.25 = 6.171.
    interval = mean_interval([1, 1, 1, 0, 0, 0], ["a", "a", "b", "b", "c", "c"])
    assert (interval.mean, interval.n, interval.clusters) == (0.5, 6, 3)
    assert (interval.low, interval.high) == pytest.approx((0.0362, 0.9638), abs=1e-4)


def coverage(accuracy, correlation, repetitions=300):
    """How often the interval of nine databases of unequal size holds the true accuracy."""
    random = np.random.default_rng(20)
    covered = 0
    for _ in range(repetitions):
        sizes = 3 + random.multinomial(300, random.dirichlet(np.full(9, 4.0)))
        if correlation:
            scale = (1 - correlation) / correlation
            rates = random.beta(accuracy * scale, (1 - accuracy) * scale, 9)
        else:
            rates = np.full(9, accuracy)
        names = np.repeat(list("abcdefghi"), sizes)
        interval = mean_interval(random.random(len(names)) < np.repeat(rates, sizes), names)
        covered += interval.low <= accuracy <= interval.high
    return covered / repetitions


@pytest.mark.parametrize(
    ("accuracy", "correlation"), [(0.6, 0.15), (0.6, 0.05), (0.9, 0.1), (0.6, 0.0), (0.9, 0.0)]
)
def test_a_95_percent_interval_holds_the_truth_about_95_times_in_100(accuracy, correlation):
    assert 0.90 <= coverage(accuracy, correlation) <= 0.99


@pytest.mark.parametrize("value", [0.0, 1.0, 0.3])
def test_equal_values_still_get_an_interval_with_width(value):
    interval = mean_interval([value] * 50, ["a", "b"] * 25)
    independent = mean_interval([value] * 50, ["a"] * 50)
    assert (interval.low, interval.high) == (independent.low, independent.high)
    assert interval.high - interval.low > 0.05


@given(ANSWERS)
def test_an_interval_holds_its_mean_and_stays_between_0_and_1(answers):
    interval = mean_interval([a for a, _, _ in answers], [db for _, _, db in answers])
    assert 0 <= interval.low <= interval.mean <= interval.high <= 1


@given(ANSWERS)
def test_clustering_never_makes_an_interval_narrower(answers):
    values = [a for a, _, _ in answers]
    clustered = mean_interval(values, [db for _, _, db in answers])
    independent = mean_interval(values, ["a"] * len(values))
    assert clustered.low <= independent.low + 1e-12
    assert clustered.high >= independent.high - 1e-12


def test_fractions_have_intervals_too():
    interval = mean_interval([0.9, 0.8, 1.0, 0.7], ["a", "a", "b", "b"])
    assert interval.low < 0.85 < interval.high


@pytest.mark.parametrize(
    ("values", "databases", "message"),
    [
        ([], [], "0 values and 0 databases"),
        ([1, 0], ["a"], "2 values and 1 databases"),
        ([61.5], ["a"], "fractions, not percent"),
        ([float("nan")], ["a"], "not between 0 and 1"),
    ],
)
def test_values_without_an_interval_are_the_callers_mistake(values, databases, message):
    with pytest.raises(BadInputError, match=message):
        mean_interval(values, databases)


def test_a_comparison_by_hand():
    databases = {"q1": "a", "q2": "a", "q3": "b", "q4": "c", "q5": "c"}
    a = {"q1": True, "q2": True, "q3": True, "q4": False, "q5": True}
    b = {"q1": False, "q2": False, "q3": False, "q4": True, "q5": True}
    result = compare(a, b, databases)
    assert result.difference == pytest.approx(2 / 5)
    assert result.won == ("q1", "q2", "q3")
    assert result.lost == ("q4",)
    # The databases' sums are 2, 1 and -1: of the 8 totals of +-2 +-1 +-1 six are at least 2 from 0.
    assert result.p_value == 6 / 8
    assert (result.n, result.clusters, result.clustered) == (5, 3, True)


def test_one_database_gives_mcnemars_exact_p_value_and_says_so():
    a = {f"q{i}": i < 6 for i in range(7)}
    b = {f"q{i}": i >= 6 for i in range(7)}
    result = compare(a, b, dict.fromkeys(a, "a"))
    assert result.p_value == 2 * (comb(7, 0) + comb(7, 1)) / 2**7
    assert not result.clustered


@given(ANSWERS)
def test_swapping_the_systems_swaps_the_result(answers):
    a, b, databases = systems(answers)
    there, back = compare(a, b, databases), compare(b, a, databases)
    assert there.difference == -back.difference
    assert (there.low, there.high) == (-back.high, -back.low)
    assert there.p_value == back.p_value
    assert (there.won, there.lost) == (back.lost, back.won)


def test_a_system_does_not_differ_from_itself_but_the_interval_keeps_some_width():
    a = {f"q{i}": i % 3 > 0 for i in range(90)}
    result = compare(a, a, {question: question[-1] for question in a})
    assert (result.difference, result.p_value, result.won, result.lost) == (0, 1, (), ())
    assert -0.05 < result.low < 0 < result.high < 0.05


def test_a_big_difference_everywhere_is_significant():
    a = {f"q{i}": True for i in range(90)}
    b = {f"q{i}": i % 3 > 0 for i in range(90)}
    result = compare(a, b, {f"q{i}": f"db{i // 10}" for i in range(90)})
    assert result.p_value == 2 / 2**9
    assert 0.2 < result.low < 1 / 3 < result.high < 0.45


def test_a_difference_on_one_database_only_is_not_significant():
    a = {f"q{i}": True for i in range(90)}
    b = {f"q{i}": i >= 10 for i in range(90)}
    result = compare(a, b, {f"q{i}": f"db{i // 10}" for i in range(90)})
    assert result.p_value == 1
    assert result.low < 0 < result.high


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=8))
def test_the_p_value_counts_every_choice_of_signs(sums):
    a, b, databases = {}, {}, {}
    for database, difference in enumerate([*sums, 0]):
        for i in range(abs(difference) or 1):
            question = f"{database}.{i}"
            a[question], b[question] = difference > 0, difference < 0
            databases[question] = f"db{database}"
    totals = {0: 1}
    for step in map(abs, sums):
        moved = {}
        for total, ways in totals.items():
            for reached in (total + step, total - step):
                moved[reached] = moved.get(reached, 0) + ways
        totals = moved
    far = sum(ways for total, ways in totals.items() if abs(total) >= abs(sum(sums)))
    assert compare(a, b, databases).p_value == far / 2 ** len(sums)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ({"q1": True, "q2": True}, {"q1": True}, "question q2 is in the first"),
        ({"q1": True}, {"q1": True, "q3": True}, "question q3 is in the second"),
        ({"q1": True, "q9": True}, {"q1": True, "q9": True}, "question q9 has no database"),
        ({"q1": 0.5}, {"q1": 1}, "question q1 has the verdicts 0.5 and 1"),
        ({}, {}, "no questions"),
    ],
)
def test_verdicts_that_cannot_be_compared_are_the_callers_mistake(a, b, message):
    with pytest.raises(BadInputError, match=message):
        compare(a, b, {"q1": "x", "q2": "x", "q3": "x"})


def test_holm_adjusts_the_smallest_p_value_most_and_keeps_their_order():
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_is_between_the_p_value_and_bonferronis(p_values):
    for p, adjusted in zip(p_values, holm(p_values), strict=True):
        assert p <= adjusted <= min(1.0, p * len(p_values)) or adjusted == pytest.approx(p)
