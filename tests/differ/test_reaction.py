"""Queries whose results stay as they are when the data change are told from those that react."""

from pathlib import Path

import pytest

from workbench.db.execute import Executor
from workbench.differ.reaction import unreactive

REACTS = "SELECT name FROM customer WHERE city = 'Oslo'"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM customer WHERE age = 'old'",  # a number column that holds no text
        "SELECT name FROM customer JOIN purchase ON customer.name = purchase.number",
        "SELECT count(*) FROM customer WHERE age < 30 AND age > 30",
    ],
)
def test_a_condition_that_no_row_meets_leaves_the_result_as_it_is(
    sql: str, shop: Path, executor: Executor
) -> None:
    assert unreactive([sql, REACTS], [sql, REACTS], shop, executor) == {sql}


@pytest.mark.parametrize(
    "sql",
    [
        REACTS,
        "SELECT max(price) FROM purchase",
        "SELECT name FROM customer JOIN purchase ON customer_id = id WHERE item = 'tea'",
    ],
)
def test_a_query_whose_result_changes_reacts(sql: str, shop: Path, executor: Executor) -> None:
    assert unreactive([sql], [sql], shop, executor) == frozenset()


def test_a_query_that_fails_or_no_data_gives_no_evidence(shop: Path, executor: Executor) -> None:
    failing = "SELECT no_column FROM customer"
    assert unreactive([failing], [failing], shop, executor) == frozenset()
    assert unreactive([REACTS], [REACTS], shop, executor, databases=0) == frozenset()


def test_the_order_of_the_queries_and_their_spelling_do_not_matter(
    shop: Path, executor: Executor
) -> None:
    inert = "SELECT name FROM customer WHERE age = 'old'"
    spelled = inert.lower().replace("select", "SELECT  ")
    for queries in ([inert, REACTS, spelled], [spelled, REACTS, inert]):
        assert unreactive(queries, queries[:2], shop, executor) == {inert, spelled}
