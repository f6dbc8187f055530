import math
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import BadInputError
from workbench.evaluate.bird.efficiency import (
    measure,
    opcode_ratio,
    r_ves,
    time_ratio,
    ves,
    ves_interval,
)
from workbench.evaluate.stats import mean_interval
from workbench.sql.executor import Executor

RATIOS = st.lists(st.one_of(st.none(), st.floats(0.01, 100)), min_size=1, max_size=20)


@pytest.fixture(scope="module")
def executor():
    with Executor(workers=1) as executor:
        yield executor


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "numbers.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE numbers (n INTEGER)")
        connection.executemany("INSERT INTO numbers VALUES (?)", [(n,) for n in range(200)])
        connection.commit()
    return path


def test_the_time_ratio_is_the_mean_of_the_ratios_run_by_run():
    assert time_ratio([2.0, 4.0], [1.0, 1.0]) == 3


def test_an_outlier_is_left_out():
    assert time_ratio([1.0] * 99 + [1000.0], [1.0] * 100) == 1


def test_ratios_without_any_spread_are_kept():
    assert time_ratio([0.3] * 10, [0.1] * 10) == pytest.approx(3)


def test_one_run_is_enough_for_a_ratio():
    assert time_ratio([1.0], [2.0]) == 0.5


@pytest.mark.parametrize(("gold", "predicted"), [([1.0, 1.0], [1.0]), ([], []), ([1.0], [0.0])])
def test_runs_come_in_pairs_and_take_time(gold, predicted):
    with pytest.raises(BadInputError, match=r"runs of the gold query|no time"):
        time_ratio(gold, predicted)


@pytest.mark.parametrize("score", [ves, r_ves])
def test_no_ratio_is_negative(score):
    with pytest.raises(BadInputError, match="-1"):
        score([-1.0])


def test_ves_is_the_mean_root_of_the_ratios_in_percent():
    assert ves([1.0, 4.0, None]) == pytest.approx(100)


def test_where_every_right_answer_costs_as_much_as_gold_the_interval_is_that_of_accuracy():
    clusters = ["a", "a", "b", "b", "c", "c"]
    interval = ves_interval([1, None, 1, 1, None, 1], clusters)
    assert interval == mean_interval([1, 0, 1, 1, 0, 1], clusters)


@given(st.lists(st.one_of(st.none(), st.floats(0, 1e6)), min_size=1, max_size=40))
def test_the_interval_contains_ves_and_is_never_negative(ratios):
    interval = ves_interval(ratios, [str(n % 4) for n in range(len(ratios))])
    assert 100 * interval.mean == pytest.approx(ves(ratios))
    assert 0 <= interval.low <= interval.mean * (1 + 1e-9)
    assert interval.mean <= interval.high * (1 + 1e-9)


def test_ves_of_a_far_faster_answer_has_no_ceiling():
    assert ves([10_000.0]) == pytest.approx(10_000)


@pytest.mark.parametrize(
    ("ratio", "reward"),
    [
        (50.0, 1.25),
        (2.0, 1.25),
        (1.99, 1.0),
        (1.0, 1.0),
        (0.99, 0.75),
        (0.5, 0.75),
        (0.49, 0.5),
        (0.25, 0.5),
        (0.24, 0.25),
        (None, 0.0),
    ],
)
def test_r_ves_rewards_in_steps(ratio, reward):
    assert r_ves([ratio]) == pytest.approx(100 * math.sqrt(reward))


@pytest.mark.parametrize("score", [ves, r_ves])
def test_nan_is_a_wrong_answer_as_none_is(score):
    assert score([1.0, math.nan]) == score([1.0, None]) == 50


@pytest.mark.parametrize("score", [ves, r_ves])
def test_a_score_needs_questions(score):
    with pytest.raises(BadInputError, match="no questions"):
        score([])


@given(RATIOS)
def test_r_ves_is_between_0_and_the_highest_reward(ratios):
    assert 0 <= r_ves(ratios) <= 100 * math.sqrt(1.25) + 1e-9


def test_queries_of_fewer_than_ten_opcodes_count_as_ten():
    assert opcode_ratio(0, 0) == 1
    assert opcode_ratio(40, 0) == 4


def test_a_query_costs_as_many_opcodes_as_itself(executor, database):
    sql = "SELECT n FROM numbers WHERE n > 20 ORDER BY n"
    assert measure(executor, database, sql, sql, repeats=2, seconds=10)[1] == 1


def test_a_needless_join_costs_more_by_both_measures(executor, database):
    gold = "SELECT COUNT(*) FROM numbers WHERE n >= 0"
    predicted = "SELECT COUNT(*) / 200 FROM numbers a, numbers b WHERE a.n + b.n >= 0"
    time, opcodes = measure(executor, database, predicted, gold, repeats=5, seconds=30)
    assert opcodes < 0.05
    assert time < 1


def test_opcode_ratios_are_repeatable(executor, database):
    gold, predicted = "SELECT n FROM numbers", "SELECT DISTINCT n FROM numbers ORDER BY n DESC"
    first, second = (
        measure(executor, database, predicted, gold, repeats=1, seconds=10) for _ in range(2)
    )
    assert first[1] == second[1]


def test_a_query_that_fails_has_no_ratios(executor, database):
    failing, gold = "SELECT m FROM numbers", "SELECT n FROM numbers"
    assert measure(executor, database, failing, gold, repeats=2, seconds=10) is None


def test_measuring_needs_a_run(executor, database):
    with pytest.raises(BadInputError, match="repeats is 0"):
        measure(executor, database, "SELECT 1", "SELECT 1", repeats=0, seconds=1)
