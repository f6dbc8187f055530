"""Correlations of ranks, beside computations that share no code with ours."""

import random
from itertools import combinations

import pandas as pd
import pytest

from workbench.evaluate.gold.ranks import compare_ranks


def pairs_tau(x, y):
    """Kendall's tau-b, pair by pair."""
    agree = disagree = only_x = only_y = 0
    for (a, b), (c, d) in combinations(zip(x, y, strict=True), 2):
        if a == c and b == d:
            continue
        if a == c:
            only_y += 1
        elif b == d:
            only_x += 1
        elif (a < c) == (b < d):
            agree += 1
        else:
            disagree += 1
    differ = agree + disagree
    return (agree - disagree) / ((differ + only_x) * (differ + only_y)) ** 0.5


@pytest.fixture(scope="module")
def verdicts():
    """Eight systems on 60 questions of five databases, under two golds; some systems are equally good."""
    draw = random.Random(3)
    clusters = [draw.choice("abcde") for _ in range(60)]
    before = [[float(draw.random() < 0.3 + s // 2 / 10) for _ in clusters] for s in range(8)]
    before[1] = before[0][1:] + before[0][:1]
    after = [[v if draw.random() < 0.8 else 1 - v for v in system] for system in before]
    return before, after, clusters


def test_kendall_and_spearman_are_those_of_an_independent_computation(verdicts):
    ranks = compare_ranks(*verdicts)
    x, y = ([sum(system) for system in systems] for systems in verdicts[:2])
    assert ranks.kendall.value == pytest.approx(pairs_tau(x, y))
    assert ranks.spearman.value == pytest.approx(pd.Series(x).corr(pd.Series(y), method="spearman"))


def test_places_are_shared_by_systems_that_are_equal(verdicts):
    ranks = compare_ranks(*verdicts)
    totals = pd.Series([sum(system) for system in verdicts[0]])
    assert list(ranks.before) == list(totals.rank(ascending=False))


def test_the_interval_is_the_bootstrap_of_whole_databases(verdicts):
    before, after, clusters = verdicts
    names, draw, found = sorted(set(clusters)), random.Random(8), []
    for _ in range(4_000):
        drawn = [draw.choice(names) for _ in names]
        kept = [n for name in drawn for n, cluster in enumerate(clusters) if cluster == name]
        x, y = ([sum(system[n] for n in kept) for system in side] for side in (before, after))
        found.append(pairs_tau(x, y))
    found.sort()
    interval = compare_ranks(*verdicts).kendall
    # Two bootstraps of thousands of draws differ by their chance alone.
    assert interval.low == pytest.approx(found[100], abs=0.06)
    assert interval.high == pytest.approx(found[-100], abs=0.06)


def test_the_same_verdicts_give_the_same_interval(verdicts):
    assert compare_ranks(*verdicts) == compare_ranks(*verdicts)


def test_one_database_gives_no_interval(verdicts):
    before, after, clusters = verdicts
    ranks = compare_ranks(before, after, ["a"] * len(clusters))
    assert ranks.kendall.value is not None
    assert (ranks.kendall.low, ranks.kendall.high) == (None, None)


def test_systems_that_are_all_equal_have_no_correlation():
    ranks = compare_ranks([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 1.0]], ["a", "b"])
    assert ranks.kendall.value is None
    assert ranks.before == (1.5, 1.5)
