from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.evaluate.bird.soft_f1 import soft_f1

VALUES = st.one_of(st.none(), st.integers(0, 3), st.sampled_from(["a", "b"]))


def rows(width):
    return st.lists(st.tuples(*[VALUES] * width), max_size=5)


def by_the_book(predicted, gold):
    """Precision and recall of fractions of rows, as BIRD's description has them."""
    predicted, gold = list(dict.fromkeys(predicted)), list(dict.fromkeys(gold))
    tp = fp = fn = Fraction(0)
    for index in range(max(len(predicted), len(gold))):
        if index >= len(predicted):
            fn += 1
        elif index >= len(gold):
            fp += 1
        else:
            ours, theirs = predicted[index], gold[index]
            tp += Fraction(sum(v in theirs for v in ours), len(theirs))
            fp += Fraction(sum(v not in theirs for v in ours), len(theirs))
            fn += Fraction(sum(v not in ours for v in theirs), len(theirs))
    if not tp:
        return float(not predicted and not gold)
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    return float(2 * precision * recall / (precision + recall))


@given(st.integers(1, 3).flatmap(rows), st.integers(1, 3).flatmap(rows))
def test_it_is_the_harmonic_mean_of_precision_and_recall_over_rows(predicted, gold):
    assert soft_f1(predicted, gold) == by_the_book(predicted, gold)


def test_a_null_is_a_value_as_any_other():
    # The example of BIRD mini-dev's README, as its script scores it.
    gold = [("Apple", 325), ("Orange", None), ("Banana", 119)]
    predicted = [(325, "Apple"), (191, "Orange"), (None, "Banana")]
    # Matched 1 + 1/2 + 1/2 rows, 1/2 + 1/2 only predicted, 1/2 + 1/2 only in gold: P = R = 2/3.
    assert soft_f1(predicted, gold) == pytest.approx(2 / 3)


def test_equal_results_score_one():
    assert soft_f1([(1, "a"), (2, None)], [(1, "a"), (2, None)]) == 1


def test_the_order_of_columns_does_not_matter():
    assert soft_f1([("a", 1), ("b", 2)], [(1, "a"), (2, "b")]) == 1


def test_the_order_of_rows_matters():
    assert soft_f1([(2,), (1,)], [(1,), (2,)]) == 0


def test_the_first_of_equal_rows_is_kept():
    assert soft_f1([(3,), (1,), (3,), (2,)], [(3,), (1,), (2,), (2,)]) == 1


def test_two_empty_results_agree():
    assert soft_f1([], []) == 1


@pytest.mark.parametrize(("predicted", "gold"), [([], [(1,)]), ([(1,)], [])])
def test_an_empty_result_does_not_agree_with_rows(predicted, gold):
    assert soft_f1(predicted, gold) == 0


def test_a_missing_row_counts_in_full():
    # One of two rows found: precision 1, recall 1/2.
    assert soft_f1([(1, "a")], [(1, "a"), (2, "b")]) == pytest.approx(2 / 3)


def test_a_column_too_many_costs_precision():
    # 2 values found in gold's width of 2, one more than it has: precision 2/3, recall 1.
    assert soft_f1([(1, "a", "x")], [(1, "a")]) == pytest.approx(0.8)


def test_a_number_is_not_its_text_but_a_float_is_its_integer():
    assert soft_f1([("1",)], [(1,)]) == 0
    assert soft_f1([(1.0,)], [(1,)]) == 1
