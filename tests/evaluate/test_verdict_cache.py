"""Verdicts are cached by all that they depend on, and transient failures are not."""

from dataclasses import replace

import pytest

from workbench.benchmarks.spider import load_spider
from workbench.evaluate import judge as judging
from workbench.evaluate.judge import judge
from workbench.pool import pool_of
from workbench.sql.executor import Executor
from workbench.store import Store
from workbench.types import Candidate, Execution, Gold, Limits, Trial


@pytest.fixture
def spider(tmp_path, tiny):
    return load_spider(tiny.write_spider(tmp_path / "spider"))


@pytest.fixture
def executor(tmp_path, sandbox):
    with Store(tmp_path / "lab.sqlite") as store:
        executor = Executor(store, sandbox=sandbox)
        yield executor


@pytest.fixture
def judged(monkeypatch):
    """The queries whose verdicts are made, not read."""
    made = []
    verdict = judging._verdict
    monkeypatch.setattr(
        judging, "_verdict", lambda sql, *rest: made.append(sql) or verdict(sql, *rest)
    )
    return made


def answers(benchmark, sql="SELECT 1", generator="g"):
    return [(q.id, Trial(Candidate(sql, generator))) for q in benchmark.questions]


def test_a_query_is_judged_once_and_the_table_is_the_same(spider, executor, judged):
    pool = pool_of(answers(spider) + answers(spider, "SELECT nothing", "h"))
    first = judge(spider, pool, executor)
    assert set(judged) == {"SELECT 1", "SELECT nothing"}
    judged.clear()
    again = judge(spider, pool, executor)
    assert judged == []
    assert again.equals(first)


def test_of_an_added_file_only_the_new_queries_are_judged(spider, executor, judged):
    judge(spider, pool_of(answers(spider)), executor)
    judged.clear()
    judge(spider, pool_of(answers(spider) + answers(spider, "SELECT 2", "h")), executor)
    assert set(judged) == {"SELECT 2"}


def test_a_missing_answer_has_its_verdict_from_the_cache_too(spider, executor):
    first, *others = spider.questions
    pool = pool_of((q.id, Trial(Candidate("SELECT 1", "g"))) for q in others)
    before = judge(spider, pool, executor)
    assert judge(spider, pool, executor).equals(before)
    row = before[before["question_id"] == first.id].iloc[0]
    assert row["status"] == "missing"


def another_gold(benchmark):
    golds = {key: Gold(key, "SELECT 1") for key in benchmark.golds}
    return replace(benchmark, golds=golds), {}


def another_limit(benchmark):
    return benchmark, {"limits": Limits(seconds=3)}


def with_distinct(benchmark):
    return benchmark, {"keep_distinct": True}


def another_schema(benchmark):
    schemas = {db_id: replace(schema, tables=()) for db_id, schema in benchmark.schemas.items()}
    return replace(benchmark, schemas=schemas), {}


@pytest.mark.parametrize("change", [another_gold, another_limit, with_distinct, another_schema])
def test_a_query_is_judged_anew_with(change, spider, executor, judged):
    judge(spider, pool_of(answers(spider)), executor)
    judged.clear()
    changed, options = change(spider)
    judge(changed, pool_of(answers(changed)), executor, **options)
    assert len(judged) == len(spider.questions)


def test_a_query_is_judged_anew_when_its_database_changes(spider, executor, judged):
    judge(spider, pool_of(answers(spider)), executor)
    judged.clear()
    changed = spider.questions[0].db_id
    path = spider.database(changed)
    path.write_bytes(path.read_bytes() + b"\0" * 4096)
    judge(spider, pool_of(answers(spider)), executor)
    assert len(judged) == sum(question.db_id == changed for question in spider.questions)


def test_a_verdict_on_a_transient_failure_is_not_cached(spider, executor, judged, monkeypatch):
    locked = Execution("error", error="database is locked", transient=True)
    monkeypatch.setattr(executor, "execute_many", lambda jobs, *_: [locked for _ in jobs])
    judge(spider, pool_of(answers(spider)), executor)
    monkeypatch.undo()
    table = judge(spider, pool_of(answers(spider)), executor)
    assert set(table["status"]) == {"ok"}
