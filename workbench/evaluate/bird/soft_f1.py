"""Soft-F1, as BIRD mini-dev's script computes it: partial credit for a result that is similar to gold's.

Duplicate rows are removed from both results, and then the first row is compared with the first, the second
with the second, and so on. A predicted value counts as found if it is anywhere in the gold row; a row
without a partner counts with all of its values. So the order of rows matters, that of columns does not.

Of equal rows the first is kept. An early version of BIRD's script removed duplicates through a `set`, so
that scores changed with Python's hash seed. NULL is a value like any other, as in the script; the example in
BIRD's README leaves NULLs out and comes to 0.8 where the script says 0.67.
"""

from collections.abc import Sequence

from workbench.types import Row


def soft_f1(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """Soft-F1 from 0 to 1; two empty results score 1. Values compare as in Python: 1 equals 1.0 but not "1"."""
    predicted, gold = list(dict.fromkeys(predicted)), list(dict.fromkeys(gold))
    if not predicted or not gold:
        return float(not predicted and not gold)
    # BIRD divides each row's counts by the width of the gold row, which is the same for all rows. Without
    # the division all counts are whole numbers, and F1 = 2 tp / (2 tp + fp + fn) is exact.
    found = 0
    missed = len(gold[0]) * abs(len(gold) - len(predicted))
    for ours, theirs in zip(predicted, gold, strict=False):
        common = sum(value in theirs for value in ours)
        found += common
        missed += len(ours) - common + sum(value not in ours for value in theirs)
    return 2 * found / (2 * found + missed)
