import itertools
import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from workbench.db.compare import bird_equal, difference, spider_equal
from workbench.db.sandbox.fetch import fingerprint
from workbench.types import Execution, Row

values = st.none() | st.integers(0, 2) | st.sampled_from(["a", "b", "1", 1.0, 0.5, b"a"])


def tables(width: int) -> st.SearchStrategy[list[Row]]:
    return st.lists(st.tuples(*[values] * width), max_size=5)


def result(rows: list[Row], width: int = 2) -> Execution:
    columns = tuple(f"c{i}" for i in range(len(rows[0]) if rows else width))
    return Execution(
        "ok" if rows else "empty",
        columns,
        tuple(rows),
        len(rows),
        fingerprint(rows, with_floats=True),
    )


def test_bird_ignores_order_and_duplicates_but_not_the_order_of_columns() -> None:
    a = result([(1, 2), (3, 4), (1, 2)])
    assert bird_equal(a, result([(3, 4), (1, 2)]))
    assert not bird_equal(a, result([(2, 1), (4, 3)]))


def test_spider_ignores_the_order_of_columns_but_not_duplicates() -> None:
    a = result([(1, 2), (3, 4)])
    assert spider_equal(a, result([(4, 3), (2, 1)]), "SELECT a, b FROM t")
    assert not spider_equal(a, result([(1, 2), (3, 4), (3, 4)]), "SELECT a, b FROM t")


def test_spider_respects_row_order_only_if_gold_asks_for_one() -> None:
    a, b = result([(1, "x"), (2, "y")]), result([("y", 2), ("x", 1)])
    assert spider_equal(a, b, "SELECT a FROM t")
    assert not spider_equal(a, b, "SELECT a FROM t Order By a")
    assert spider_equal(a, result([("x", 1), ("y", 2)]), "SELECT a FROM t ORDER BY a")


def test_columns_that_fit_one_by_one_may_still_not_fit_together() -> None:
    a = result([(1, 1), (2, 2)])
    b = result([(1, 2), (2, 1)])
    assert not spider_equal(a, b, "SELECT a, b FROM t")


def test_one_and_one_point_zero_are_equal_and_text_is_not() -> None:
    assert bird_equal(result([(1,)]), result([(1.0,)]))
    assert not bird_equal(result([(1,)]), result([("1",)]))
    assert not bird_equal(result([("a",)]), result([(b"a",)]))


def test_large_integers_keep_every_digit() -> None:
    assert not bird_equal(result([(2**53,)]), result([(2**53 + 1,)]))


def test_a_failed_or_truncated_result_equals_no_result() -> None:
    for status in ("error", "timeout", "denied", "too_large"):
        failed = Execution(status, ("a",), ((1,),), 1, truncated=status == "too_large")
        assert not bird_equal(failed, failed)
        assert not spider_equal(failed, failed, "SELECT 1")


def test_results_without_rows_are_equal() -> None:
    assert bird_equal(result([], 1), result([], 3))
    assert spider_equal(result([], 1), result([], 1), "SELECT 1")


def test_wide_results_of_equal_columns_are_compared_at_once() -> None:
    rows: list[Row] = [(i,) * 60 for i in range(50)]
    shuffled = random.Random(0).sample(rows, len(rows))
    assert spider_equal(result(rows), result(shuffled), "SELECT 1")
    shuffled[0] = (*shuffled[0][:-1], -1)
    assert not spider_equal(result(rows), result(shuffled), "SELECT 1")


def test_the_difference_counts_duplicates() -> None:
    only_here, only_there = difference(result([(1,), (1,), (2,)]), result([(1,), (3,)]))
    assert only_here == ((1,), (2,))
    assert only_there == ((3,),)


@given(tables(2), tables(2))
def test_bird_equality_is_equality_of_pythons_sets(a: list[Row], b: list[Row]) -> None:
    assert bird_equal(result(a), result(b)) == (set(a) == set(b))


@given(st.integers(1, 3).flatmap(lambda n: st.tuples(tables(n), tables(n))))
def test_spider_equality_is_equality_under_some_column_order(
    pair: tuple[list[Row], list[Row]],
) -> None:
    a, b = pair
    width = len(a[0]) if a else len(b[0]) if b else 1
    expected = any(
        Counter(a) == Counter(tuple(row[i] for i in order) for row in b)
        for order in itertools.permutations(range(width))
    )
    assert spider_equal(result(a, width), result(b, width), "SELECT 1") == expected


@given(tables(3), st.randoms(use_true_random=False))
def test_shuffling_rows_and_columns_never_changes_spiders_verdict(
    rows: list[Row], random: random.Random
) -> None:
    order = random.sample(range(3), 3)
    other = [tuple(row[i] for i in order) for row in random.sample(rows, len(rows))]
    assert spider_equal(result(rows, 3), result(other, 3), "SELECT 1")
    assert spider_equal(result(other, 3), result(rows, 3), "SELECT 1")
