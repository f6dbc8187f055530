"""Equality of two results, in the two senses the field uses, and what differs between them.

BIRD compares sets of rows: order and duplicates do not matter, the order of columns does. Spider (its
test-suite evaluation) respects duplicates, respects row order where the gold query asks for one, and lets
columns stand in any order. On the same predictions the two differ by up to six points, so every function
here says whose sense it is. A result that was cut short equals nothing.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.types import Execution, Row

_COMPLETE = {"ok", "empty"}


def bird_equal(a: Execution, b: Execution) -> bool:
    """Equal sets of rows. Answers with no rows are equal, whatever their columns."""
    return a.fingerprint != "" and a.fingerprint == b.fingerprint


def spider_equal(predicted: Execution, gold: Execution, gold_sql: str) -> bool:
    """Equal bags of rows under some order of the columns; equal lists if gold says ORDER BY."""
    if predicted.status not in _COMPLETE or gold.status not in _COMPLETE:
        return False
    if predicted.rows == gold.rows:
        return True
    if predicted.row_count != gold.row_count or len(predicted.columns) != len(gold.columns):
        return False
    if "order by" in gold_sql.lower():
        # Rows are equal as lists exactly when the columns are, and the bag of columns ignores their order.
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
    # Fix columns of `a` from left to right and give each one of `b` that fits, keeping the bags of rows
    # so far equal: a wrong choice is dropped as soon as it shows.
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
    """The rows, counted with their duplicates, that only one of two results has."""

    only_predicted: tuple[Row, ...]
    only_gold: tuple[Row, ...]


def difference(predicted: Execution, gold: Execution) -> Difference:
    """What a reader looks at first when two results are not the same."""
    left, right = Counter(predicted.rows), Counter(gold.rows)
    return Difference(tuple((left - right).elements()), tuple((right - left).elements()))
