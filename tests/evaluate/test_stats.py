"""Intervals cover what they promise, paired comparisons are McNemar's and Tango's, and bounds hold every verdict."""

import math
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import BadInputError
from workbench.evaluate.stats import (
    bounds,
    compare,
    decide,
    holm,
    mcnemar,
    mean_interval,
    number_interval,
)

DATABASES = st.sampled_from("abcd")
ANSWERS = st.lists(
    st.tuples(st.booleans(), st.booleans(), DATABASES), min_size=1, max_size=40
)


def systems(answers):
    """Two systems' verdicts and the databases, by question."""
    return tuple(
        {f"q{i}": given[part] for i, given in enumerate(answers)} for part in range(3)
    )


def test_three_databases_by_hand():
    # Without a, b, c the mean is 1/4, 2/4, 3/4: variance 2/3 (1/16 + 0 + 1/16) = 1/12, t = 4.3027.
    # Wilson's with t^2 / n replaced by 4.3027^2 / 12 / 0.25 = 6.171.
    interval = mean_interval([1, 1, 1, 0, 0, 0], ["a", "a", "b", "b", "c", "c"])
    assert (interval.mean, interval.n) == (0.5, 6)
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
        interval = mean_interval(
            random.random(len(names)) < np.repeat(rates, sizes), names
        )
        covered += interval.low <= accuracy <= interval.high
    return covered / repetitions


@pytest.mark.parametrize(
    ("accuracy", "correlation"),
    [(0.6, 0.15), (0.6, 0.05), (0.9, 0.1), (0.6, 0.0), (0.9, 0.0)],
)
def test_a_95_percent_interval_holds_the_truth_about_95_times_in_100(
    accuracy, correlation
):
    assert 0.90 <= coverage(accuracy, correlation) <= 0.99


@given(ANSWERS)
def test_an_interval_holds_its_mean_and_clustering_never_makes_it_narrower(answers):
    values = [a for a, _, _ in answers]
    clustered = mean_interval(values, [db for _, _, db in answers])
    assert 0 <= clustered.low <= clustered.mean <= clustered.high <= 1
    independent = mean_interval(values, ["a"] * len(values))
    assert clustered.low <= independent.low + 1e-12
    assert clustered.high >= independent.high - 1e-12


def test_numbers_that_are_no_shares_have_the_interval_of_numbers():
    for values in ([0.5, 61.5], [-1, 0]):
        assert mean_interval(values, ["a", "b"]) == number_interval(values, ["a", "b"])


def test_no_values_have_no_interval():
    with pytest.raises(BadInputError, match="0 values"):
        mean_interval([], [])


def paired(won, lost, both, databases=1):
    """Two systems' verdicts on questions that are spread over databases."""
    a = [1] * won + [0] * lost + [1] * both
    b = [0] * won + [1] * lost + [1] * both
    return tuple(
        {f"q{i}": value for i, value in enumerate(values)}
        for values in (a, b, [f"db{i % databases}" for i in range(len(a))])
    )


def test_a_comparison_by_hand():
    result = compare(*paired(6, 1, 3, 3))
    assert result.difference == 0.5
    assert (result.won, result.lost) == (("q0", "q1", "q2", "q3", "q4", "q5"), ("q6",))
    assert result.p_value == 2 * (comb(7, 0) + comb(7, 1)) / 2**7
    assert (result.n, result.clustered) == (10, None)  # three databases are too few


@pytest.mark.parametrize(("won", "lost", "n"), [(12, 2, 50), (9, 1, 32), (74, 4, 278)])
def test_the_interval_is_tangos(won, lost, n):
    result = compare(*paired(won, lost, n - won - lost))
    # Where the score statistic is the normal quantile.
    for end in (result.low, result.high):
        b = (2 * n - won + lost) * end - won - lost
        share = (math.sqrt(b * b + 8 * n * lost * end * (1 - end)) - b) / (4 * n)
        score = (won - lost - n * end) / math.sqrt(n * (2 * share + end * (1 - end)))
        assert abs(score) == pytest.approx(1.96, abs=1e-3)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 200))
def test_interval_and_p_value_never_contradict_each_other(won, lost, both):
    if won + lost + both:
        result = compare(*paired(won, lost, both))
        assert (result.low <= 0 <= result.high) == (result.p_value >= 0.05)
        assert -1 <= result.low <= result.difference <= result.high <= 1


@pytest.mark.parametrize("rates", [(0.05, 0.05), (0.15, 0.08), (0.02, 0.01)])
def test_a_paired_interval_holds_the_truth_about_95_times_in_100(rates):
    random, covered = np.random.default_rng(3), 0
    for won, lost, both in random.multinomial(300, [*rates, 1 - sum(rates)], size=300):
        result = compare(*paired(won, lost, both))
        covered += result.low <= rates[0] - rates[1] <= result.high
    assert 0.92 <= covered / 300 <= 0.99


def test_from_ten_databases_on_the_comparison_speaks_of_others():
    everywhere = compare(*paired(30, 0, 60, 10))
    low, high = everywhere.clustered
    assert low < everywhere.difference < high
    assert compare(*paired(30, 0, 60, 9)).clustered is None
    questions = [f"q{i}" for i in range(100)]
    databases = {question: f"db{i // 10}" for i, question in enumerate(questions)}
    a, b = (
        dict.fromkeys(questions, 1),
        {q: int(i >= 10) for i, q in enumerate(questions)},
    )
    one = compare(a, b, databases)  # all ten differences are on one database
    assert one.low > 0 > one.clustered[0]


@given(ANSWERS)
def test_swapping_the_systems_swaps_the_result(answers):
    a, b, databases = systems(answers)
    there, back = compare(a, b, databases), compare(b, a, databases)
    assert there.difference == -back.difference
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
    assert there.p_value == back.p_value
    assert (there.won, there.lost) == (back.lost, back.won)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ({"q1": True, "q2": True}, {"q1": True}, "q2"),
        ({"q1": True}, {"q1": True, "q3": True}, "q3"),
        ({}, {}, "questions"),
    ],
)
def test_verdicts_that_cannot_be_compared_are_the_callers_mistake(a, b, message):
    with pytest.raises(BadInputError, match=message):
        compare(a, b, {"q1": "x", "q2": "x", "q3": "x"})


def test_holm_adjusts_the_smallest_p_value_most_and_keeps_their_order():
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize(
    ("low", "high", "decision"),
    [
        (0.1, 2, "holds"),
        (-2, -0.1, "fails"),
        (-1.91, 4.09, "not decided"),
        (0, 2, "not decided"),
    ],
)
def test_a_claim_about_a_difference_holds_fails_or_is_not_decided(low, high, decision):
    assert decide(low, high) == decision
    assert decide(low + 1, high + 1, least=1) == decision


def test_two_systems_that_never_differ_have_an_interval_with_a_width():
    equal = compare(*paired(0, 0, 100, 10))
    assert equal.low < 0 < equal.high
    assert equal.clustered[0] < 0 < equal.clustered[1]


def test_quantile_and_p_value_are_scipys():
    stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(7)
    for number in (3, 9, 40):  # databases with one value each
        values = random.normal(size=number)
        interval = number_interval(values, [f"db{n}" for n in range(number)])
        half = stats.t.ppf(0.975, number - 1) * values.std(ddof=1) / math.sqrt(number)
        assert interval.high - interval.mean == pytest.approx(half, rel=1e-11)
    for won, lost in [(0, 0), (5, 0), (7, 12), (300, 250)]:
        p_value = stats.binomtest(won, won + lost).pvalue if won + lost else 1.0
        assert mcnemar(won, lost) == pytest.approx(p_value, rel=1e-11)


def test_the_interval_of_numbers_is_that_of_students_t_over_databases():
    interval = number_interval([1, 1, 2, 2, 9, 9], ["a", "a", "b", "b", "c", "c"])
    # Means of the databases 1, 2, 9: standard error 2.517, t = 4.3027.
    assert interval.mean == 4
    assert (
        interval.high - 4
        == 4 - interval.low
        == pytest.approx(4.3027 * 2.5166, abs=1e-3)
    )


# Bounds of selection


@given(
    st.lists(st.lists(st.booleans(), min_size=3, max_size=6), min_size=1, max_size=4)
)
def test_the_bounds_agree_with_counting_every_choice(verdicts):
    found = bounds({str(n): given for n, given in enumerate(verdicts)}).set_index("k")
    for k in (1, 2, 3):
        choices = [list(combinations(given, k)) for given in verdicts]
        best = [np.mean([any(choice) for choice in own]) for own in choices]
        worst = [np.mean([all(choice) for choice in own]) for own in choices]
        expected = [100 * np.mean(worst), 100 * np.mean(best)]
        assert found.loc[k].tolist() == pytest.approx(expected)


def test_the_bounds_do_not_depend_on_the_order_of_the_candidates():
    best_first = {"q1": [1, 1, 0, 0], "q2": [1, 0, 0, 0]}
    worst_first = {key: own[::-1] for key, own in best_first.items()}
    assert bounds(best_first).equals(bounds(worst_first))


@pytest.mark.parametrize("verdicts", [{}, {"q": []}])
def test_bounds_need_verdicts(verdicts):
    with pytest.raises(BadInputError):
        bounds(verdicts)
