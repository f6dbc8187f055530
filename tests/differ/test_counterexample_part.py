"""A reader sees the small database and both results."""

from pathlib import Path

from workbench.db.execute import Executor
from workbench.html.tree import html
from workbench.report.display.counterexample import counterexample_part


def test_the_database_and_both_results_are_shown(shop: Path, executor: Executor) -> None:
    page = html(
        counterexample_part(
            shop, "SELECT count(age) FROM customer", "SELECT count(*) FROM customer", executor
        )
    )
    assert page.count("<table") == 3
    assert "NULL" in page


def test_without_such_a_database_the_search_says_so(shop: Path, executor: Executor) -> None:
    query = "SELECT name FROM customer WHERE 30 < age"
    page = html(
        counterexample_part(shop, query, "SELECT name FROM customer WHERE age > 30", executor)
    )
    assert "not told apart on" in page


def test_columns_that_neither_query_names_are_left_out_and_counted(
    shop: Path, executor: Executor
) -> None:
    page = html(
        counterexample_part(
            shop, "SELECT count(age) FROM customer", "SELECT count(*) FROM customer", executor
        )
    )
    assert "columns that neither query names" in page
    assert ">age</th>" in page
    assert ">name</th>" not in page


def test_a_table_whose_rows_are_counted_shows_its_first_column(
    shop: Path, executor: Executor
) -> None:
    gold = "SELECT count(*) FROM customer"
    page = html(counterexample_part(shop, "SELECT 2 * count(*) FROM customer", gold, executor))
    assert "customer, without" in page
    assert ">id</th>" in page
    assert ">age</th>" not in page
