"""Compare two results by BIRD's and by Spider's rule, and list the rows that differ.

BIRD compares sets of rows: the order of columns counts, the order of rows and duplicates do not. Spider's
test-suite evaluation allows any order of columns; it counts duplicates, and the order of rows if the gold query has
ORDER BY. Its script executes both queries without DISTINCT (see `evaluate.ex`). On the same predictions the rules
differ by up to six points of accuracy, so each function names its rule. A truncated result equals no other result.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.types import Execution, Row


def bird_equal(a: Execution, b: Execution) -> bool:
    """Whether the sets of rows are equal; two results without rows are equal, whatever their columns."""
    return a.fingerprint != "" and a.fingerprint == b.fingerprint


def spider_equal(predicted: Execution, gold: Execution, gold_sql: str) -> bool:
    """Whether the rows are equal under some order of columns, as lists if the gold query has ORDER BY."""
    if not predicted.is_complete or not gold.is_complete:
        return False
    if predicted.rows == gold.rows:
        return True
    if predicted.row_count != gold.row_count or len(predicted.columns) != len(gold.columns):
        return False
    if "order by" in gold_sql.lower():
        # The lists of rows are equal if their columns are equal; a Counter of columns ignores the columns' order.
        return Counter(zip(*predicted.rows, strict=True)) == Counter(zip(*gold.rows, strict=True))
    return _bags_equal_under_some_column_order(predicted.rows, gold.rows)


def _bags_equal_under_some_column_order(a: Sequence[Row], b: Sequence[Row]) -> bool:
    if Counter(a) == Counter(b):
        return True
    columns_a = list(zip(*a, strict=True))
    columns_b = list(zip(*b, strict=True))
    bags_b = [Counter(column) for column in columns_b]
    fits = []
    for column in columns_a:
        bag = Counter(column)
        fits.append([j for j, other in enumerate(bags_b) if bag == other])
    # Assign a column of `b` to each column of `a`, from left to right. After each step the rows of the assigned
    # columns must be equal with duplicates, so that most orders of columns need not be tried.
    chosen: list[int] = []

    def extend() -> bool:
        i = len(chosen)
        if i == len(columns_a):
            return True
        left = Counter(zip(*columns_a[: i + 1], strict=True))
        tried = set()
        for j in fits[i]:
            if j in chosen or columns_b[j] in tried:
                continue
            tried.add(columns_b[j])
            chosen.append(j)
            if left == Counter(zip(*(columns_b[k] for k in chosen), strict=True)) and extend():
                return True
            chosen.pop()
        return False

    return extend()


@dataclass(frozen=True, slots=True)
class Difference:
    """The rows that one of two results has more often than the other, each repeated by the difference."""

    only_predicted: tuple[Row, ...]
    only_gold: tuple[Row, ...]


def difference(predicted: Execution, gold: Execution) -> Difference:
    """The rows in which two results differ, duplicates counted."""
    left, right = Counter(predicted.rows), Counter(gold.rows)
    return Difference(tuple((left - right).elements()), tuple((right - left).elements()))
