"""Verdicts summed up: small tables whose sums anybody can check."""

import pandas as pd
import pytest

from workbench.benchmarks.benchmark import Benchmark
from workbench.evaluate.summary import by_feature, compare_generators, pool_bounds, summarise
from workbench.types import Gold, Question


def verdicts(*rows, em=None):
    """Rows of (generator, question id, right or wrong) over two databases, odd and even."""
    return pd.DataFrame(
        {
            "generator": name,
            "sample": 0,
            "question_id": str(number),
            "db_id": "odd" if number % 2 else "even",
            "difficulty": "hard" if number > 2 else "easy",
            "sql": "SELECT 1",
            "gold_status": "ok",
            "status": "ok",
            "ex_bird": float(right),
            "ex_spider": 0.0,
            "em": em,
            "soft_f1": float(right),
            "error": "",
        }
        for name, number, right in rows
    )


ABLE = [("able", 1, 1), ("able", 2, 1), ("able", 3, 1), ("able", 4, 0)]
WEAK = [("weak", 1, 1), ("weak", 2, 0), ("weak", 3, 0), ("weak", 4, 0)]


def test_a_generator_is_a_row_of_percents_in_order_of_appearance():
    table = summarise(verdicts(*WEAK, *ABLE))
    assert list(table["generator"]) == ["weak", "able"]
    assert list(table["n"]) == [4, 4]
    assert list(table["ex_bird"]) == [25.0, 75.0]
    assert list(table["ex_spider"]) == [0.0, 0.0]


def test_every_question_weighs_alike_however_many_answers_it_has():
    one = [("one", 1, 1), ("one", 2, 0)]
    table = summarise(verdicts(*one, ("one", 1, 1), ("one", 1, 1)))
    alone = summarise(verdicts(*one))
    pd.testing.assert_frame_equal(table, alone)
    assert (table["n"][0], table["ex_bird"][0], table["soft_f1"][0]) == (2, 50.0, 50.0)


def test_the_interval_holds_the_mean():
    table = summarise(verdicts(*ABLE))
    assert 0 <= table["ex_bird_low"][0] < 75.0 < table["ex_bird_high"][0] <= 100


def test_em_is_a_column_only_where_it_is_defined():
    assert "em" not in summarise(verdicts(*ABLE))
    assert list(summarise(verdicts(*ABLE, em=1.0))["em"]) == [100.0]


def test_failed_missing_and_gold_failed_are_counted_apart_and_as_wrong():
    frame = verdicts(*ABLE)
    frame["status"] = ["ok", "timeout", "missing", "empty"]
    frame["gold_status"] = ["ok", "ok", "empty", "too_large"]
    row = summarise(frame).iloc[0]
    assert (row["n"], row["failed"], row["missing"], row["gold_failed"]) == (4, 1, 1, 1)


def test_the_slices_of_a_generator_sum_to_all_its_questions():
    table = summarise(verdicts(*ABLE, *WEAK), "difficulty")
    found = {(row.generator, row.difficulty): (row.n, row.ex_bird) for row in table.itertuples()}
    assert found == {
        ("able", "easy"): (2, 100.0),
        ("able", "hard"): (2, 50.0),
        ("weak", "easy"): (2, 50.0),
        ("weak", "hard"): (2, 0.0),
    }


def test_a_question_is_in_the_slice_of_every_feature_of_its_gold_query():
    sqls = {
        "1": "SELECT count(*) FROM a JOIN b ON a.x = b.x",
        "2": "SELECT x FROM a",
        "3": "SELEC nonsense FROM (",
    }
    questions = tuple(Question(key, "even", "?") for key in sqls)
    benchmark = Benchmark(
        "b", "bird", None, questions, {key: Gold(key, sql) for key, sql in sqls.items()}
    )
    sliced = by_feature(verdicts(*ABLE[:3]), benchmark)
    assert list(zip(sliced["feature"], sliced["question_id"], strict=True)) == [
        ("JOIN", "1"),
        ("aggregation", "1"),
        ("none of these", "2"),
        ("unreadable", "3"),
    ]


def test_the_bounds_of_a_pool_of_two():
    bounds = pool_bounds(verdicts(*ABLE, *WEAK)).set_index("k")
    assert bounds.loc[1].tolist() == [50.0, 50.0]
    assert bounds.loc[2].tolist() == [25.0, 75.0]


def test_a_question_without_an_answer_is_wrong_at_every_k():
    frame = verdicts(*ABLE, *WEAK, ("able", 5, 0))
    frame.loc[8, "status"] = "missing"
    bounds = pool_bounds(frame).set_index("k")
    assert bounds.loc[2].tolist() == [20.0, 60.0]


def test_a_comparison_names_the_questions_won_and_lost():
    found = compare_generators(verdicts(*ABLE, *WEAK), "able", "weak")
    assert (found.difference, found.won, found.lost, found.n) == (0.5, ("2", "3"), (), 4)


def test_a_comparison_takes_the_first_sample():
    frame = pd.concat([verdicts(*ABLE), verdicts(*WEAK), verdicts(*[("weak", 4, 1)])])
    assert compare_generators(frame, "able", "weak").lost == ()


@pytest.mark.parametrize("right", [0, 1])
def test_all_alike_is_no_reason_to_fail(right):
    table = summarise(verdicts(("one", 1, right), ("one", 2, right)))
    assert table["ex_bird"].tolist() == [100.0 * right]
    assert table["ex_bird_low"][0] <= 100 * right <= table["ex_bird_high"][0]
