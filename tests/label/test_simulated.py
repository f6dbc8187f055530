"""Simulated annotators, whose shares of categories and confusions are known: the intervals contain what is true."""

import numpy as np
import pytest

from workbench.label.agreement.coefficients import alpha, cohen, one_against_rest
from workbench.label.agreement.intervals import measured

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
    contained = np.mean([one.low <= truth <= one.high for one in found])
    assert 0.93 <= contained <= 0.97
