"""A result and gold's are shown alike, and the rows that differ say so in words."""

import pytest

from workbench.html.tree import html
from workbench.report.display.results import ROWS, marked_results
from workbench.types import Execution


def result(*rows):
    return Execution("ok", ("n",), tuple((row,) for row in rows), len(rows), f"print {rows}")


def results_beside(predicted, gold):
    return html(*marked_results(predicted, gold))


def test_rows_of_one_side_are_marked_in_words():
    page = results_beside(result(1, 2), result(2, 3))
    assert page.count("≠ only here") == 2
    assert page.count("= in both") == 2
    assert '<tr class="minus"><td>≠ only here</td><td class="number">1</td></tr>' in page
    assert '<tr class="plus"><td>≠ only here</td><td class="number">3</td></tr>' in page


def test_a_duplicate_too_many_is_marked_once():
    page = results_beside(result(1, 1), result(1))
    assert "2 rows, 1 only here." in page
    assert "1 row, all in the other result, too." in page


def test_a_long_result_shows_the_rows_that_differ_first_and_says_what_it_leaves_out():
    page = results_beside(result(*range(99, -1, -1)), result(*range(1, 100)))
    assert page.index('"number">0</td>') < page.index('"number">99</td>')
    assert "100 rows, 1 only here. 80 more are not shown." in page
    assert page.count("<tr") == 2 * (ROWS + 1)


def test_a_repeated_row_is_shown_once_with_its_count():
    page = results_beside(result(*[1] * 400), result(2))
    assert "\N{MULTIPLICATION SIGN}400" in page
    assert "400 rows, 400 only here." in page


def test_a_truncated_result_says_how_many_rows_are_compared():
    cut = Execution("ok", ("n",), ((1,), (2,)), 9, "f", truncated=True)
    assert "9 rows, 2 only here. The first 2 are compared." in results_beside(cut, result(3))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "NULL"),
        (b"\x00\xff", "x&#x27;00ff&#x27;"),
        ("x" * 999, "&#x27;" + "x" * 299 + "…&#x27;"),
        (0.5, "0.5"),
    ],
)
def test_a_value_is_shown_as_sql_writes_it(value, shown):
    assert f">{shown}</td>" in results_beside(result(value), result())


def test_a_failed_query_shows_its_error():
    page = results_beside(Execution("error", error="no such column: x"), result(1))
    assert "No result. Error: no such column: x" in page


def test_text_and_number_look_different():
    page = results_beside(result("1"), result(1))
    assert "<td>&#x27;1&#x27;</td>" in page
    assert '<td class="number">1</td>' in page
