"""Several queries on small databases: which differ, and the rows that show it."""

from workbench.differ import several
from workbench.differ.several import groups_by_meaning, shown_databases

ADULTS = "SELECT name FROM customer WHERE age > 28"
ELDERS = "SELECT name FROM customer WHERE age >= 30"  # the same on the shop's own rows
SWAPPED = "SELECT name FROM customer WHERE 28 < age"
OSLO = "SELECT name FROM customer WHERE city = 'Oslo'"


def test_queries_that_agree_on_the_real_rows_alone_have_different_meanings(shop, executor):
    assert groups_by_meaning(shop, [ADULTS, ELDERS], executor) == [[0], [1]]


def test_queries_of_one_normal_form_need_no_search(shop, executor, monkeypatch):
    one = [ADULTS, "select NAME from customer where age > 28"]
    monkeypatch.setattr(several, "_SEARCHES", 0)
    assert groups_by_meaning(shop, one, executor) == [[0, 1]]


def test_a_query_that_is_not_told_apart_joins_the_one_before(shop, executor):
    assert groups_by_meaning(shop, [ADULTS, SWAPPED, ELDERS], executor) == [[0, 1], [2]]


def test_without_a_search_left_a_query_joins_the_first(shop, executor, monkeypatch):
    monkeypatch.setattr(several, "_SEARCHES", 1)
    assert groups_by_meaning(shop, [ADULTS, ELDERS, OSLO], executor) == [[0, 2], [1]]


def test_no_query_has_no_meaning(shop, executor):
    assert groups_by_meaning(shop, [], executor) == []
    assert shown_databases(shop, [], executor) == []


def test_examples_show_few_rows_and_a_result_of_each_query(shop, executor):
    found = shown_databases(shop, [ADULTS, ELDERS, OSLO], executor)
    assert 1 <= len(found) <= 3
    for shown in found:
        assert shown.rows.startswith("customer, ")
        assert len(shown.results) == 3
        assert len(set(shown.results)) > 1


def test_a_pair_that_a_database_before_tells_apart_has_none_of_its_own(shop, executor):
    two = shown_databases(shop, [ADULTS, OSLO], executor)
    assert shown_databases(shop, [ADULTS, OSLO, OSLO], executor) == [
        type(one)(one.rows, (*one.results, one.results[1])) for one in two
    ]


def test_a_database_with_more_rows_than_asked_for_is_not_shown(shop, executor, monkeypatch):
    monkeypatch.setattr(several, "_ROWS", 0)
    assert shown_databases(shop, [ADULTS, OSLO], executor) == []
