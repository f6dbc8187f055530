"""Every answer gets a verdict, whatever became of it or of its gold; and verdicts are summed up."""

import csv
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import pandas as pd
import pytest

from workbench.benchmarks.benchmark import Benchmark, open_benchmark
from workbench.benchmarks.predictions import COLUMNS, read_predictions
from workbench.errors import BadInputError
from workbench.evaluate.ex import ex_verdicts, soft_f1, spider_text, suite_verdicts
from workbench.evaluate.judge import by_feature, gold_candidates, judge, summarise
from workbench.sql.executor import Executor
from workbench.types import Gold, Limits, Question


class Spy(Executor):
    """An executor that remembers which jobs it was given."""

    def __init__(self):
        super().__init__(workers=1)
        self.jobs = []

    def execute_many(self, jobs, *rest):
        self.jobs += jobs
        return super().execute_many(jobs, *rest)


@pytest.fixture(scope="module")
def executor():
    with Spy() as spy:
        yield spy


@pytest.fixture(scope="module")
def bird(tmp_path_factory, tiny):
    return open_benchmark("bird", tiny.write_bird(tmp_path_factory.mktemp("bird")))


@pytest.fixture(scope="module")
def spider(tmp_path_factory, tiny):
    return open_benchmark(
        "spider", tiny.write_spider(tmp_path_factory.mktemp("spider"))
    )


def predictions(answers, generator="g"):
    """Answers by question id; a list is samples."""
    rows = [
        (key, generator, sample, sql)
        for key, given in answers.items()
        for sample, sql in enumerate([given] if isinstance(given, str) else given)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def golds(benchmark):
    return {
        key: candidate.sql for key, (candidate,) in gold_candidates(benchmark).items()
    }


def only(benchmark, *keys):
    return replace(
        benchmark, questions=tuple(q for q in benchmark.questions if q.id in keys)
    )


def verdict(benchmark, key, sql, executor):
    (found,) = judge(only(benchmark, key), predictions({key: sql}), executor).to_dict(
        "records"
    )
    return found


@pytest.mark.parametrize("family", ["bird", "spider"])
def test_gold_judged_against_itself_is_right_throughout(family, executor, request):
    benchmark = request.getfixturevalue(family)
    frame = judge(benchmark, predictions(golds(benchmark)), executor)
    assert frame[["ex_bird", "ex_spider", "soft_f1"]].to_numpy().min() == 1.0
    assert list(frame["question_id"]) == [q.id for q in benchmark.questions]
    assert set(frame["em"]) == ({1.0} if family == "spider" else {None})
    levels = {"easy", "medium"} if family == "spider" else {"simple", "challenging"}
    assert set(frame["difficulty"]) == levels


@pytest.mark.parametrize(
    ("sql", "executed"),
    [
        ("SELECT DISTINCT kind FROM fish", "SELECT  kind FROM fish"),
        ("SELECT count(distinct kind) FROM fish", "SELECT count( kind) FROM fish"),
        (
            "SELECT 'distinct', \"distinct\" FROM fish",
            "SELECT 'distinct', \"distinct\" FROM fish",
        ),
        ("SELECT distinct_kind FROM fish", "SELECT distinct_kind FROM fish"),
        (
            "SELECT kind FROM fish WHERE age > = 2",
            "SELECT kind FROM fish WHERE age >= 2",
        ),
        ("SELECT kind FROM fish; SELECT 2", "SELECT kind FROM fish"),
        ("SELECT ';' FROM fish -- a; b\n; broken", "SELECT ';' FROM fish -- a; b\n"),
    ],
)
def test_spider_executes_a_query_without_distinct_and_with_whole_operators(
    sql, executed
):
    assert spider_text(sql) == executed


@pytest.mark.parametrize(
    ("key", "sql", "in_bird", "in_spider"),
    [
        # A duplicate counts for Spider.
        ("6", "SELECT price FROM item GROUP BY 1", 1, 0),
        # The order of columns counts for BIRD.
        ("7", "SELECT price, label FROM item", 0, 1),
        # That of rows, under ORDER BY.
        ("1", "SELECT name FROM animal ORDER BY name DESC", 1, 0),
        # A split operator.
        ("2", "SELECT name FROM animal WHERE legs > = 4 AND legs < 6", 0, 1),
        ("11", "SELECT id, kind FROM fish WHERE 0", 1, 1),  # no rows equal no rows
        ("0", "SELECT count(*) FROM animal WHERE 1", 1, 1),
        # The first statement counts.
        ("0", "SELECT count(*) FROM animal; an explanation", 0, 1),
        ("0", "SELECT 5", 0, 0),
    ],
)
def test_the_two_senses_of_ex_part_where_they_should(
    spider, executor, key, sql, in_bird, in_spider
):
    found = verdict(spider, key, sql, executor)
    assert (found["ex_bird"], found["ex_spider"]) == (in_bird, in_spider)
    assert ex_verdicts(spider, [(key, sql)], executor) == [in_spider]
    assert ex_verdicts(replace(spider, sense="bird"), [(key, sql)], executor) == [
        in_bird
    ]


def test_the_test_suite_asks_for_the_gold_result_on_each_of_its_databases(
    spider, tiny, tmp_path, executor
):
    tiny.write_databases(tmp_path)
    other = shutil.copy(
        tmp_path / "zoo" / "zoo.sqlite", tmp_path / "zoo" / "zoo_2.sqlite"
    )
    with closing(sqlite3.connect(other)) as connection:
        connection.executescript("DELETE FROM animal WHERE legs = 4")
    lucky = ("0", "SELECT 4")
    assert ex_verdicts(spider, [lucky], executor) == [True]
    gold = [(key, sql) for key, sql in golds(spider).items() if int(key) < 4]
    assert suite_verdicts(spider, [lucky, *gold], tmp_path, executor) == [
        False,
        *[True] * 4,
    ]
    with pytest.raises(BadInputError, match="no zoo"):
        suite_verdicts(spider, [lucky], tmp_path / "shop", executor)


def test_a_question_that_a_generator_left_out_is_missing_and_wrong(
    bird, spider, executor
):
    part = {key: sql for key, sql in golds(bird).items() if key not in {"3", "4"}}
    both = pd.concat([predictions(part, "part"), predictions(golds(bird), "whole")])
    frame = judge(bird, both, executor)
    missing = frame[frame["status"] == "missing"]
    assert len(frame) == 24
    assert missing[["generator", "question_id"]].to_numpy().tolist() == [
        ["part", "3"],
        ["part", "4"],
    ]
    assert set(missing["ex_bird"]) == set(missing["ex_spider"]) == {0.0}
    assert missing["sql"].isna().all()
    for benchmark, em in ((spider, 0.0), (bird, None)):
        found = judge(only(benchmark, "0", "1"), predictions({"0": "x"}), executor)
        assert found["em"].iloc[1] == em


@pytest.mark.parametrize("sql", ["SELECT broken", ""])
def test_a_failing_gold_query_is_counted_apart_and_equals_nothing(bird, executor, sql):
    broken = replace(bird, golds=bird.golds | {"0": Gold("0", sql)})
    found = verdict(broken, "0", sql, executor)
    assert (found["gold_status"], found["status"]) == ("error", "error")
    assert found["ex_bird"] == found["ex_spider"] == found["soft_f1"] == 0.0
    assert ex_verdicts(broken, [("0", sql)], executor) == [False]


def test_an_answer_is_right_if_it_meets_one_of_several_queries(spider, executor):
    several = Gold(
        "7", "SELECT broken", "hard", ("SELECT label FROM item", "SELECT id FROM item")
    )
    own = replace(spider, golds=spider.golds | {"7": several})
    for sql, right in (
        ("SELECT id FROM item", 1),
        ("SELECT label FROM item", 1),
        ("SELECT 1", 0),
    ):
        found = verdict(own, "7", sql, executor)
        assert (found["ex_bird"], found["ex_spider"], found["em"]) == (right,) * 3
        assert (found["gold_status"], found["soft_f1"] == 1) == ("ok", right == 1)
        for sense in ("bird", "spider"):
            assert ex_verdicts(replace(own, sense=sense), [("7", sql)], executor) == [
                right
            ]


def test_questions_on_a_damaged_database_are_left_out_by_name(tmp_path, tiny, executor):
    root = tiny.write_bird(tmp_path)
    file = root / "dev_databases/shop/shop.sqlite"
    whole = file.read_bytes()
    for damaged in (
        b"x" * 4096,
        whole[:5000],
        whole[:4096] + b"\xff" * (len(whole) - 4096),
    ):
        file.write_bytes(damaged)
        benchmark = open_benchmark("bird", root)
        with pytest.warns(
            UserWarning, match=r"4 questions on damaged .* \(shop: .*\): 4, 5, 6, 7$"
        ):
            frame = judge(benchmark, predictions(golds(benchmark)), executor)
        assert list(frame["question_id"]) == ["0", "1", "2", "3", "8", "9", "10", "11"]
    with pytest.raises(BadInputError, match="nothing is left"):
        judge(only(benchmark, "4", "5"), predictions({"4": "SELECT 1"}), executor)


# A metric of one's own


def rows_apart(gold, predicted):
    return abs(len(gold.rows) - len(predicted.rows))


def test_a_metric_of_ones_own_is_a_column_with_an_interval_in_the_table(bird, executor):
    answers = predictions({"2": "SELECT name FROM animal", "5": "SELECT broken"}, "g")
    frame = judge(only(bird, "2", "5", "6"), answers, executor, [rows_apart])
    # A failed and a missing answer have no rows.
    assert frame["rows_apart"].tolist() == [2, 3, 3]
    row = summarise(frame, metrics=["rows_apart"]).iloc[0]
    assert row["rows_apart"] == pytest.approx(8 / 3)
    assert row["rows_apart_low"] < row["rows_apart"] < row["rows_apart_high"]
    named = judge(
        only(bird, "2"), answers, executor, {"right": lambda gold, ours: ours == gold}
    )
    share = summarise(named, metrics=["right"]).iloc[0]
    assert 0 == share["right"] == share["right_low"] < share["right_high"] < 1


def test_a_metric_has_a_free_name_and_gives_a_number(bird, executor):
    answers = predictions({"0": "SELECT 1"})
    with pytest.raises(BadInputError, match="'em', which is taken"):
        judge(bird, answers, executor, {"em": rows_apart})
    with pytest.raises(
        BadInputError, match="odd gives 'x' for question 0: give a number"
    ):
        judge(only(bird, "0"), answers, executor, {"odd": lambda *_: "x"})


def test_a_truncated_result_equals_no_result(bird, executor):
    right = [("1", bird.golds["1"].sql)]
    for sense in ("bird", "spider"):
        own = replace(bird, sense=sense)
        assert ex_verdicts(own, right, executor) == [True]
        assert ex_verdicts(own, right, executor, Limits(rows=2)) == [False]


def test_each_distinct_query_runs_once_and_samples_are_rows_of_their_own(
    bird, executor
):
    executor.jobs.clear()
    same = [bird.golds["0"].sql, "SELECT 4", "SELECT 4", bird.golds["0"].sql]
    given = predictions({"0": same, "1": ["SELECT 4"], "999": "SELECT 4"})
    frame = judge(only(bird, "0", "1"), given, executor)
    assert list(frame["ex_bird"]) == [1, 1, 1, 1, 0]
    assert list(frame["sample"]) == [0, 1, 2, 3, 0]
    assert len(executor.jobs) == len(set(executor.jobs)) == 3  # two golds, and SELECT 4


# Soft-F1


@pytest.mark.parametrize(
    ("predicted", "gold", "score"),
    [
        ([("a", 1), ("b", 2)], [("a", 1), ("b", 2)], 1),
        ([(1, "a")], [("a", 1)], 1),  # the order of columns does not matter
        ([(2,), (1,)], [(1,), (2,)], 0),  # that of rows does
        ([(1,), (1,), (2,)], [(1,), (2,)], 1),  # the first of equal rows is kept
        ([("Apple", 325), ("Orange", None), ("Banana", 119)],
         [(325, "Apple"), (191, "Orange"), (119, "Banana")], 2 * 5 / (2 * 5 + 2)),
        ([], [], 1),
        ([(1,)], [], 0),
        ([], [(1,)], 0),
        ([(1,)], [(1,), (2,), (3,)], 2 / 4),
        ([(1.0,)], [(1,)], 1),
        ([("1",)], [(1,)], 0),
    ],
)  # fmt: skip
def test_soft_f1_is_that_of_birds_script(predicted, gold, score):
    assert soft_f1(predicted, gold) == pytest.approx(score)


# Sums


def verdicts(*rows):
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
            "em": None,
            "soft_f1": float(right),
        }
        for name, number, right in rows
    )


ABLE = [("able", 1, 1), ("able", 2, 1), ("able", 3, 1), ("able", 4, 0)]


def test_every_question_weighs_alike_however_many_answers_it_has():
    one = [("one", 1, 1), ("one", 2, 0)]
    table = summarise(verdicts(*one, ("one", 1, 1), ("one", 1, 1)))
    pd.testing.assert_frame_equal(table, summarise(verdicts(*one)))
    assert (table["n"][0], table["ex_bird"][0], table["soft_f1"][0]) == (2, 50.0, 50.0)


def test_failed_missing_and_gold_failed_are_counted_apart():
    frame = verdicts(*ABLE)
    frame["status"] = ["ok", "timeout", "missing", "empty"]
    frame["gold_status"] = ["ok", "ok", "empty", "too_large"]
    row = summarise(frame).iloc[0]
    assert (row["n"], row["failed"], row["missing"], row["gold_failed"]) == (4, 1, 1, 1)


def test_the_best_stands_first_in_the_table_and_in_each_slice():
    frame = verdicts(("poor", 1, 0), ("good", 1, 1), ("poor", 3, 1), ("good", 3, 1))
    assert summarise(frame)["generator"].tolist() == ["good", "poor"]
    sliced = summarise(frame, "difficulty")
    assert sliced["generator"].tolist() == ["good", "poor", "poor", "good"]
    assert sliced["difficulty"].tolist() == ["easy", "easy", "hard", "hard"]


def test_slices_are_by_a_column_or_by_the_features_of_the_gold_query():
    table = summarise(verdicts(*ABLE), "difficulty").set_index("difficulty")
    assert table["ex_bird"].to_dict() == {"easy": 100.0, "hard": 50.0}
    sql = {
        "1": "SELECT count(*) FROM a JOIN b ON a.x = b.x",
        "2": "SELECT x FROM a",
        "3": "SELEC (",
    }
    questions = tuple(Question(key, "even", "?") for key in sql)
    benchmark = Benchmark(
        "b", "bird", None, questions, {k: Gold(k, s) for k, s in sql.items()}
    )
    sliced = by_feature(verdicts(*ABLE[:3]), benchmark)
    assert sliced["feature"].tolist() == [
        "JOIN",
        "aggregation",
        "none of these",
        "unreadable",
    ]
    assert "".join(sliced["question_id"]) == "1123"


# Thirty systems on nine of Spider's databases

PUBLISHED = {
    "codes_7b": 83.23, "codes_15b": 83.01, "dail_sql_gpt_4": 80.04, "din_gpt_4": 78.56,
    "mac_sql_dea_repo": 77.92, "c3_chatgpt": 77.49, "gpt_4_zero_shot_din": 66.67,
    "spider_repo_pred_example": 37.58,
}  # fmt: skip


def test_thirty_systems_have_the_published_accuracies_and_labels(real_spider, sandbox):
    benchmark = open_benchmark("spider", real_spider)
    given = read_predictions(benchmark, real_spider / "predictions")
    found = judge(benchmark, given, Executor(sandbox=sandbox))
    table = summarise(found).set_index("generator")["ex_bird"].round(2)
    assert len(table) == 30
    assert table[list(PUBLISHED)].to_dict() == PUBLISHED
    with (real_spider / "c3sql_labels.csv").open(encoding="utf-8", newline="") as file:
        labels = list(csv.DictReader(file))
    c3 = found[found["generator"] == "c3_chatgpt"].set_index("question_id")
    for name, label in (("ex_bird", "execution_correct"), ("em", "exact_match")):
        ours = [c3.loc[row["index"], name] for row in labels]
        assert ours == [float(row[label]) for row in labels]
