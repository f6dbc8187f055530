"""Judging a pool: every answer a verdict, whatever became of it or of its gold."""

from dataclasses import replace

import pandas as pd
import pytest

from workbench.benchmarks.bird import load_bird
from workbench.benchmarks.spider import load_spider
from workbench.errors import BadInputError
from workbench.evaluate.ex import pool_verdicts, spider_text
from workbench.evaluate.judge import METRICS, judge
from workbench.pool import pool_of
from workbench.sql.executor import Executor
from workbench.types import Candidate, Gold, Limits, Trial


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
    return load_bird(tiny.write_bird(tmp_path_factory.mktemp("bird")))


@pytest.fixture(scope="module")
def spider(tmp_path_factory, tiny):
    return load_spider(tiny.write_spider(tmp_path_factory.mktemp("spider")))


def pool(answers, generator="g"):
    """Answers by question id; a list is samples."""
    return pool_of(
        (key, Trial(Candidate(sql, generator, sample)))
        for key, sqls in answers.items()
        for sample, sql in enumerate([sqls] if isinstance(sqls, str) else sqls)
    )


def golds(benchmark):
    return {key: gold.sql for key, gold in benchmark.golds.items()}


def only(benchmark, *keys):
    """The benchmark cut down to these questions."""
    return replace(benchmark, questions=tuple(q for q in benchmark.questions if q.id in keys))


def verdict(benchmark, key, sql, executor, limits=None):
    frame = judge(only(benchmark, key), pool({key: sql}), executor, limits or Limits())
    assert len(frame) == 1
    return frame.iloc[0]


@pytest.mark.parametrize("family", ["bird", "spider"])
def test_gold_judged_against_itself_is_right_throughout(family, executor, request):
    benchmark = request.getfixturevalue(family)
    frame = judge(benchmark, pool(golds(benchmark)), executor)
    assert frame[["ex_bird", "ex_spider", "soft_f1"]].to_numpy().min() == 1.0
    assert list(frame["question_id"]) == [q.id for q in benchmark.questions]


def test_em_is_none_outside_spider_which_alone_defines_it(bird, spider, executor):
    assert set(judge(bird, pool(golds(bird)), executor)["em"]) == {None}
    assert set(judge(spider, pool(golds(spider)), executor)["em"]) == {1.0}


@pytest.mark.parametrize(
    ("sql", "executed"),
    [
        ("SELECT DISTINCT kind FROM fish", "SELECT  kind FROM fish"),
        ("SELECT count(distinct kind) FROM fish", "SELECT count( kind) FROM fish"),
        ("SELECT 'distinct', \"distinct\" FROM fish", "SELECT 'distinct', \"distinct\" FROM fish"),
        ("SELECT distinct_kind FROM fish", "SELECT distinct_kind FROM fish"),
        ("SELECT kind FROM fish WHERE age > = 2", "SELECT kind FROM fish WHERE age >= 2"),
    ],
)
def test_spider_executes_a_query_without_distinct_and_with_whole_operators(sql, executed):
    assert spider_text(sql) == executed


@pytest.mark.parametrize(("keep_distinct", "right"), [(False, 1), (True, 0)])
def test_a_missing_distinct_is_wrong_for_spider_only_if_distinct_is_kept(
    spider, executor, keep_distinct, right
):
    answer = golds(spider) | {"10": "SELECT kind FROM fish"}
    frame = judge(spider, pool(answer), executor, keep_distinct=keep_distinct)
    assert frame.set_index("question_id").loc["10", "ex_spider"] == right


@pytest.mark.parametrize(
    ("key", "sql", "in_bird", "in_spider"),
    [
        ("6", "SELECT price FROM item GROUP BY 1", 1, 0),  # a duplicate counts for Spider
        ("7", "SELECT price, label FROM item", 0, 1),  # the order of columns counts for BIRD
        ("1", "SELECT name FROM animal ORDER BY name DESC", 1, 0),  # that of rows, under ORDER BY
        ("2", "SELECT name FROM animal WHERE legs > = 4 AND legs < 6", 0, 1),  # a split operator
        ("11", "SELECT id, kind FROM fish WHERE 0", 1, 1),  # no rows equal no rows
        ("0", "SELECT count(*) FROM animal WHERE 1", 1, 1),
        ("0", "SELECT 5", 0, 0),
    ],
)
def test_the_two_senses_of_ex_part_where_they_should(
    spider, executor, key, sql, in_bird, in_spider
):
    found = verdict(spider, key, sql, executor)
    assert (found["ex_bird"], found["ex_spider"]) == (in_bird, in_spider)


@pytest.mark.parametrize(
    ("sql", "status"),
    [("SELECT nothing", "error"), ("", "error"), ("DROP TABLE animal", "denied")],
)
def test_an_answer_that_does_not_run_is_wrong_and_says_why(bird, executor, sql, status):
    found = verdict(bird, "0", sql, executor)
    assert found["status"] == status
    assert found["error"]
    assert [found[name] for name in METRICS if name != "em"] == [0, 0, 0]


def test_a_question_that_a_generator_left_out_is_missing_and_wrong(bird, executor):
    part = {key: sql for key, sql in golds(bird).items() if key not in {"3", "4"}}
    both = pool_of([*pool(part, "part").items(), *pool(golds(bird), "whole").items()])
    frame = judge(bird, both, executor)
    assert len(frame) == 24
    missing = frame[frame["status"] == "missing"]
    assert list(zip(missing["generator"], missing["question_id"], strict=True)) == [
        ("part", "3"),
        ("part", "4"),
    ]
    assert set(missing["ex_bird"]) == set(missing["ex_spider"]) == {0.0}
    assert missing["sql"].isna().all()


def test_a_missing_answer_is_no_exact_match_in_spider_and_undefined_in_bird(bird, spider, executor):
    assert judge(only(spider, "0", "1"), pool({"0": "x"}), executor)["em"].iloc[1] == 0.0
    assert judge(only(bird, "0", "1"), pool({"0": "x"}), executor)["em"].iloc[1] is None


@pytest.mark.parametrize("sql", ["SELECT broken", ""])
def test_a_failing_gold_query_is_counted_apart_and_equals_nothing(bird, executor, sql):
    broken = replace(bird, golds=bird.golds | {"0": Gold("0", sql)})
    found = verdict(broken, "0", sql, executor)
    assert (found["gold_status"], found["status"]) == ("error", "error")
    assert found["ex_bird"] == found["ex_spider"] == found["soft_f1"] == 0.0


def test_a_truncated_result_equals_no_result(bird, executor):
    found = verdict(bird, "1", bird.golds["1"].sql, executor, Limits(rows=2))
    assert (found["status"], found["gold_status"]) == ("too_large", "too_large")
    assert found["ex_bird"] == found["ex_spider"] == found["soft_f1"] == 0.0


def test_each_distinct_query_runs_once(bird, executor):
    executor.jobs.clear()
    same = [bird.golds["0"].sql, "SELECT 4", "SELECT 4", bird.golds["0"].sql]
    frame = judge(only(bird, "0", "1"), pool({"0": same, "1": ["SELECT 4"]}), executor)
    assert list(frame["ex_bird"]) == [1, 1, 1, 1, 0]
    assert len(executor.jobs) == len(set(executor.jobs)) == 3  # two golds, and SELECT 4


def test_each_distinct_answer_is_compared_once(spider, executor, monkeypatch):
    compared = []

    def spy(sql, gold, schema):
        compared.append(sql)
        return True

    monkeypatch.setattr("workbench.evaluate.judge.exact_match", spy)
    judge(only(spider, "0"), pool({"0": ["SELECT 1", "SELECT 2", "SELECT 1"]}), executor)
    assert compared == ["SELECT 1", "SELECT 2"]


def test_samples_are_rows_of_their_own(bird, executor):
    frame = judge(only(bird, "0"), pool({"0": ["SELECT 1", "SELECT 4"]}), executor)
    assert list(zip(frame["sample"], frame["ex_bird"], strict=True)) == [(0, 0.0), (1, 1.0)]


def test_difficulty_is_birds_own_and_spiders_hardness(bird, spider, executor):
    assert verdict(bird, "1", "SELECT 1", executor)["difficulty"] == "simple"
    assert verdict(spider, "1", "SELECT 1", executor)["difficulty"] == "easy"


def test_trials_of_questions_that_the_benchmark_has_not_are_not_judged(bird, executor):
    frame = judge(only(bird, "0"), pool({"0": "SELECT 4", "999": "SELECT 4"}), executor)
    assert list(frame["question_id"]) == ["0"]


def test_progress_ends_at_the_number_of_distinct_queries(bird, executor):
    reports = []
    judge(bird, pool(golds(bird)), executor, progress=lambda *so_far: reports.append(so_far))
    assert reports[-1] == (13, 13)  # twelve queries, one of them without its DISTINCT too
    assert sorted(reports) == reports


def test_a_db_id_with_path_tricks_is_refused_before_anything_runs(bird, executor):
    odd = replace(bird, questions=(replace(bird.questions[0], db_id="../zoo"), *bird.questions[1:]))
    executor.jobs.clear()
    with pytest.raises(BadInputError, match=r"db_id '\.\./zoo'"):
        judge(odd, pool(golds(bird)), executor)
    assert executor.jobs == []


def test_judging_again_gives_the_same_table(bird, executor):
    answers = pool({key: ["SELECT 4", sql] for key, sql in golds(bird).items()})
    pd.testing.assert_frame_equal(judge(bird, answers, executor), judge(bird, answers, executor))


@pytest.mark.parametrize(("family", "right"), [("bird", (True, False)), ("spider", (False, False))])
def test_verdicts_follow_the_benchmarks_own_rule(family, right, executor, request):
    benchmark = request.getfixturevalue(family)
    answers = pool({"6": ["SELECT price FROM item GROUP BY 1", "SELECT 5"], "999": "SELECT 4"})
    assert pool_verdicts(benchmark, answers, executor) == {"6": right}


@pytest.mark.parametrize("family", ["bird", "spider"])
def test_a_question_that_a_generator_left_out_has_no_verdict(family, executor, request):
    benchmark = request.getfixturevalue(family)
    gold = golds(benchmark)
    some = pool_of([*pool({"0": gold["0"]}, "a").items(), *pool({"1": gold["1"]}, "b").items()])
    assert pool_verdicts(benchmark, some, executor) == {"0": (True,), "1": (True,)}
    assert pool_verdicts(benchmark, pool({}), executor) == {}
