"""Compare two results by BIRD's and by Spider's rule, and list the rows that differ.

BIRD compares sets of rows: the order of columns counts, the order of rows and duplicates do not. Spider's
test-suite evaluation allows any order of columns; it counts duplicates, and the order of rows if the gold query has
ORDER BY. Its script executes both queries without DISTINCT (see `evaluate.ex`). On the same predictions the rules
differ by up to six points of accuracy, so each function names its rule. A truncated result equals no other result.
"""

from collections import Counter
from collections.abc import Sequence

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
    return _equal_as_bags(predicted.rows, gold.rows)


def _equal_as_bags(a: Sequence[Row], b: Sequence[Row]) -> bool:
    """Whether the rows are equal in any order, duplicates counted, under some order of the columns of `b`."""
    if Counter(a) == Counter(b):
        return True
    columns_a, columns_b = (list(zip(*rows, strict=True)) for rows in (a, b))
    bags_a, bags_b = (list(map(Counter, columns)) for columns in (columns_a, columns_b))
    fits = [[j for j, other in enumerate(bags_b) if bag == other] for bag in bags_a]

    def extend(chosen: list[int]) -> bool:
        """Assign columns of `b` to those of `a` from left to right, as long as the rows so far are equal as bags."""
        if len(chosen) == len(columns_a):
            return True
        left = Counter(zip(*columns_a[: len(chosen) + 1], strict=True))
        free = {
            columns_b[j]: j for j in fits[len(chosen)] if j not in chosen
        }  # one of equal columns
        return any(
            left == Counter(zip(*(columns_b[k] for k in (*chosen, j)), strict=True))
            and extend([*chosen, j])
            for j in free.values()
        )

    return extend([])


def difference(a: Execution, b: Execution) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """The rows that `a` has more often than `b`, each repeated by the difference, and those that `b` has more often."""
    left, right = Counter(a.rows), Counter(b.rows)
    return tuple((left - right).elements()), tuple((right - left).elements())
