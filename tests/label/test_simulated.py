"""Simulated annotators, whose shares of categories and confusions are known: the intervals contain what is true."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.label.agreement.coefficients import alpha, cohen, one_against_rest
from workbench.label.agreement.intervals import measured
from workbench.label.queue.shares import shares
from workbench.label.queue.worth import Worth, in_order

SHARES = np.array([0.45, 0.35, 0.2])  # of three categories
CONFUSION = np.array([[0.85, 0.1, 0.05], [0.1, 0.8, 0.1], [0.1, 0.15, 0.75]])
CASES = 60
DATA_SETS = 600


def label(random, cases):
    """Two annotators' categories of so many cases, as indicators: each reads the true category as CONFUSION says."""
    true = random.choice(3, cases, p=SHARES)
    drawn = random.random((cases, 2))
    given = (drawn[:, :, None] > CONFUSION.cumsum(1)[true][:, None, :-1]).sum(-1)
    return np.eye(3)[given]


def confusions(given):
    return np.einsum("ni,nj->nij", given[:, 0], given[:, 1])


def coincidences(given):
    tables = confusions(given)
    return tables + tables.transpose(0, 2, 1)


TABLE = np.einsum("t,ti,tj->ij", SHARES, CONFUSION, CONFUSION)  # expected, of one case


@pytest.mark.parametrize(
    ("tables", "coefficient"),
    [
        pytest.param(confusions, cohen, id="Cohen's kappa"),
        pytest.param(coincidences, alpha, id="Krippendorff's alpha"),
        pytest.param(
            lambda given: one_against_rest(coincidences(given), 2),
            alpha,
            id="alpha of one category",
        ),
    ],
)
def test_intervals_of_agreement_contain_the_truth_in_95_percent(tables, coefficient):
    random = np.random.default_rng(5)
    table = TABLE + TABLE.T
    if coefficient is alpha and tables is not coincidences:
        table = one_against_rest(table, 2)
    truth = float(coefficient(1e9 * table))  # so many cases that alpha needs no correction
    found = [
        measured(tables(label(random, CASES)), coefficient, seed=seed) for seed in range(DATA_SETS)
    ]
    contained = np.mean([low <= truth <= high for _, low, high in found])
    assert 0.93 <= contained <= 0.97


# Rules suggest a category for each of 400 cases: of the sure ones 95% are right, of the others half.
OF_CASES = 400
SURE = 0.7


def world(random):
    """The cases' worth, and the true category of each by its key."""
    true = random.choice(3, OF_CASES, p=SHARES)
    sure = random.random(OF_CASES) < SURE
    right = random.random(OF_CASES) < np.where(sure, 0.95, 0.5)
    suggested = np.where(right, true, (true + random.integers(1, 3, OF_CASES)) % 3)
    start = random.integers(1 << 30)
    keys = [("case", str(start + n)) for n in range(OF_CASES)]
    worths = [
        Worth(key, "abc"[category], 0.5 if certain else 0.75, 0.5)
        for key, category, certain in zip(keys, suggested, sure, strict=True)
    ]
    return worths, dict(zip(keys, ("abc"[category] for category in true), strict=True))


def labelled(worths, true, n):
    """The categories of the first n cases in the order of their worth."""
    first = in_order([SimpleNamespace(key=key) for key in true], worths)[:n]
    return {case.key: true[case.key] for case in first}


def widths(found):
    return float((found["high"] - found["low"]).mean())


@pytest.fixture(scope="module")
def worlds():
    random = np.random.default_rng(11)
    return [world(random) for _ in range(200)]


def test_intervals_of_shares_contain_the_truth_in_95_percent(worlds):
    contained = []
    for worths, true in worlds:
        found = shares(worths, labelled(worths, true, 80)).set_index("category")
        counts = Counter(true.values())
        for category, row in found.iterrows():
            share = 100 * counts[category] / OF_CASES
            contained.append(row["low"] <= share <= row["high"])
    assert 0.93 <= np.mean(contained) <= 0.97


def test_the_order_by_worth_saves_a_third_of_the_labels_for_intervals_of_the_same_width(worlds):
    """Compared with as many cases in a random order, whose shares are counted."""
    ours = np.mean([widths(shares(worths, labelled(worths, true, 80))) for worths, true in worlds])
    counted = []
    for worths, true in worlds[:60]:
        alike = [replace(one, category="", uncertainty=1.0, rarity=1.0) for one in worths]
        counted.append(widths(shares(alike, labelled(alike, true, 120))))
    assert ours < np.mean(counted), "80 labels in our order are worth more than 120 in a random one"


def test_all_labels_leave_nothing_to_estimate(worlds):
    worths, true = worlds[0]
    found = shares(worths, true).set_index("category")
    assert found.loc["a", "low"] == found.loc["a", "high"] == pytest.approx(found.loc["a", "share"])
    assert found["labels"].sum() == OF_CASES
