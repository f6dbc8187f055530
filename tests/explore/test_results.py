"""A result stands beside gold's, and the rows that differ say so in words."""

from workbench.explore.results import answer_html, results_beside
from workbench.types import Execution


def result(*rows):
    return Execution("ok", ("n",), tuple((row,) for row in rows), len(rows), f"print {rows}")


def test_rows_of_one_side_are_marked_in_words():
    told = results_beside(result(1, 2), result(2, 3))
    assert told.count("≠ only here") == 2
    assert told.count("= in both") == 2
    assert '<tr class="minus"><td>≠ only here</td><td>1</td></tr>' in told
    assert '<tr class="plus"><td>≠ only here</td><td>3</td></tr>' in told


def test_a_duplicate_too_many_is_marked_once():
    told = results_beside(result(1, 1), result(1))
    assert "Result: 2 rows, 1 of them only here" in told
    assert "result: 1 row, 0 of them only here" in told


def test_of_a_long_result_what_differs_is_shown_first():
    told = results_beside(result(*range(100)), result(*range(1, 100)))
    assert "100 rows, 20 shown" in told
    assert told.index("<td>0</td>") < told.index("<td>1</td>")


def test_a_failure_is_told():
    told = results_beside(Execution("error", error="no such column: x"), result(1))
    assert "Error: no such column: x" in told


def test_text_and_number_look_different():
    told = results_beside(result("1"), result(1))
    assert "<td>&#x27;1&#x27;</td>" in told
    assert "<td>1</td>" in told


def test_a_wrong_answer_stands_beside_gold_with_both_plans(zoo):
    told = answer_html(
        zoo.lab, zoo.benchmark, zoo.questions[0], "SELECT count(*) FROM animal WHERE legs = 4"
    )
    assert "EX (BIRD): wrong" in told
    assert "legs is 4" in told
    assert told.count("Open the table animal.") == 2


def test_a_right_answer_is_called_right(zoo):
    told = answer_html(zoo.lab, zoo.benchmark, zoo.questions[0], "SELECT 4")
    assert "EX (BIRD): right. EX (Spider): right." in told
