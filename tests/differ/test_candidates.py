"""Candidates are grouped by what they mean, where their results on the real rows are the same."""

from pathlib import Path

from workbench.db.execute import Executor
from workbench.differ.candidates import not_told_apart


def test_queries_that_agree_by_chance_are_in_different_groups(
    shop: Path, executor: Executor
) -> None:
    queries = [
        "SELECT name FROM customer WHERE age > 50",
        "SELECT name FROM customer WHERE id = 4",
        "SELECT c.name FROM customer AS c WHERE 50 < c.age",
        "SELECT shoe FROM customer",
        "select name from customer where age > 50",
    ]
    results = executor.execute_many([(shop, sql) for sql in queries])
    assert {one.rows for one in results} == {(("Di",),), ()}
    assert not_told_apart(queries, shop, executor) == [[0, 2, 4], [1], [3]]
