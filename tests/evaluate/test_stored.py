"""Stored results: the columns that count, whatever their names and order, numbers within the tolerance."""

import pytest

from workbench.evaluate.stored import meets
from workbench.types import Execution, StoredResult

CSV = "name,price\nb,2.00\na,1.00\nc,\n"
ROWS = (("a", 1.0), ("b", 2.0), ("c", 0))


def ran(rows, *columns):
    return Execution("ok" if rows else "empty", columns, tuple(rows), len(rows))


@pytest.mark.parametrize(
    ("rows", "columns", "right"),
    [
        (ROWS, ("name", "price"), True),
        (ROWS, ("x", "y"), True),
        ([row[::-1] for row in ROWS], ("price", "name"), True),
        ([(n, *row) for n, row in enumerate(ROWS)], ("more", "name", "price"), True),
        (ROWS[:-1], ("name", "price"), False),
        ([*ROWS, ROWS[0]], ("name", "price"), False),
        ([row[:1] for row in ROWS], ("name",), False),
        ((("a", 1.009), *ROWS[1:]), ("name", "price"), True),
        ((("a", 1.02), *ROWS[1:]), ("name", "price"), False),
        ((("A", 1.0), *ROWS[1:]), ("name", "price"), False),
        # Types of a CSV.
        ((("a", "1"), ("b", "2.0"), ("c", None)), ("name", "price"), True),
    ],
)
def test_a_result_meets_a_stored_one_by_its_columns(rows, columns, right):
    assert meets(ran(rows, *columns), StoredResult(CSV)) is right


def test_only_the_columns_that_count_are_compared():
    assert meets(
        ran([(3.0,), (1.0,), (2.0,)], "n"), StoredResult("id,n\n7,1\n8,2\n9,3\n", (1,))
    )
    assert not meets(
        ran([(7,), (8,), (9,)], "id"), StoredResult("id,n\n7,1\n8,2\n9,3\n", (1,))
    )


def test_order_and_tolerance_are_those_of_the_stored_result():
    down = ran([(2,), (1,)], "n")
    assert meets(down, StoredResult("n\n1\n2\n"))
    assert not meets(down, StoredResult("n\n1\n2\n", ordered=True))
    assert meets(ran([(1.4,)], "n"), StoredResult("n\n1\n", tolerance=0.5))


def test_a_failed_result_meets_nothing_and_no_rows_meet_no_rows():
    empty = StoredResult("n\n")
    assert meets(ran([], "n"), empty)
    assert not meets(ran([(1,)], "n"), empty)
    assert not meets(Execution("error", error="no such table"), empty)
