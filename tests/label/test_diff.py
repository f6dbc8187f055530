"""Rows that only one result has are marked, and not by colour alone; queries stand clause by clause."""

import re

import pytest

from workbench.label.diff import SHOWN_ROWS, Rows, clauses_node, result_node, sides
from workbench.label.tree import html


def test_rows_that_one_result_has_more_often_are_its_own_that_often(make_case):
    case = make_case(gold_rows=((1,), (1,), (2,)), rows=((1,), (3,)))
    one, two, three = (((n,), 1) for n in (1, 2, 3))
    assert sides(case) == (Rows((one, two), (one,)), Rows((three,), (one,)))


def test_a_row_that_comes_often_stands_there_once(make_case):
    case = make_case(gold_rows=((1,),) * 400)
    shown = html(result_node(case.gold_execution, sides(case)[0], "gold", "gold-result"))
    assert "\N{MULTIPLICATION SIGN}400" in shown
    assert "400 rows, 400 only here.<" in shown


def test_own_rows_come_first_and_are_marked_by_a_sign_with_a_name(make_case):
    case = make_case(gold_rows=((1,), (2,)), rows=((1,),))
    shown = html(result_node(case.gold_execution, sides(case)[0], "gold", "gold-result"))
    assert "2 rows, 1 only here." in shown
    assert re.findall(r'(aria-label="only in gold")|<td class="wb-number">(\d)</td>', shown) == [
        ('aria-label="only in gold"', ""),
        ("", "2"),
        ("", "1"),
    ]


def test_a_long_result_says_what_it_leaves_out(make_case):
    case = make_case(gold_rows=tuple((n,) for n in range(40)))
    shown = html(result_node(case.gold_execution, sides(case)[0], "gold", "gold-result"))
    assert shown.count("<tr") == SHOWN_ROWS + 1
    assert "25 more are not shown." in shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "NULL"),
        (b"\x00\xff", "x&#x27;00ff&#x27;"),
        ("x" * 999, "x" * 300 + "…"),
        (0.5, "0.5"),
    ],
)
def test_a_value_is_shown_whatever_it_is(make_case, value, shown):
    case = make_case(gold_rows=((value,),))
    assert f">{shown}</td>" in html(
        result_node(case.gold_execution, sides(case)[0], "gold", "gold-result")
    )


def test_a_query_that_failed_shows_its_error(make_case, make_result):
    case = make_case(execution=make_result(status="timeout", error="stopped after 30 s"))
    shown = html(result_node(case.execution, sides(case)[1], "prediction", "predicted-result"))
    assert "No result. timeout: stopped after 30 s" in shown


def test_clauses_that_differ_have_a_row_and_the_others_are_named(make_case):
    case = make_case("SELECT imo FROM vessel LIMIT 2", "SELECT imo FROM vessel LIMIT 1")
    shown = html(clauses_node(case))
    assert shown.count('scope="row"') == 1
    assert 'aria-label="only in gold">≠</span><code>LIMIT 1</code>' in re.sub(
        r' (title|class)="[^"]*"', "", shown
    )
    assert "The same in both: SELECT, FROM." in shown


def test_a_query_that_cannot_be_read_says_why(make_case):
    assert "the prediction cannot be read: no query" in html(clauses_node(make_case("DROP")))
