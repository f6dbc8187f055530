"""Coefficients of agreement beyond chance: Cohen's and Fleiss' kappa and Krippendorff's alpha, for categories.

All three are functions of a table that is a sum over cases: of pairs of categories. So a bootstrap of cases is one
product of matrices (see `intervals`). The functions take tables of shape (..., k, k) and return values of shape (...);
a value is NaN without cases, or if chance alone makes annotators always agree.
"""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Given = Sequence[Sequence[Hashable]]  # for each case, the categories that annotators gave


def confusions(given: Given, categories: Sequence[Hashable]) -> Floats:
    """A table for each case of two annotators: 1 where the row is the first's category, the column the second's."""
    tables = np.zeros((len(given), len(categories), len(categories)))
    index = {category: n for n, category in enumerate(categories)}
    for table, (first, second) in zip(tables, given, strict=True):
        table[index[first], index[second]] = 1
    return tables


def coincidences(given: Given, categories: Sequence[Hashable]) -> Floats:
    """Krippendorff's table for each case: ordered pairs of its m labels by different annotators, each 1 / (m - 1).

    A case with one label has no pair and counts nothing.
    """
    counts = np.array([[list(one).count(c) for c in categories] for one in given], dtype=np.float64)
    counts = counts.reshape(len(given), len(categories))
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs -= np.eye(len(categories)) * counts[:, :, None]  # no annotator is paired with themself
    return np.asarray(pairs / np.maximum(counts.sum(axis=1) - 1, 1)[:, None, None])


def one_against_rest(tables: Floats, category: int) -> Floats:
    """The tables of two categories, one of them and all the others."""
    rest = [n for n in range(tables.shape[-1]) if n != category]
    own = tables[..., category, category]
    right, down = tables[..., category, rest].sum(-1), tables[..., rest, category].sum(-1)
    others = tables.sum((-2, -1)) - own - right - down
    return np.stack([np.stack([own, right], -1), np.stack([down, others], -1)], -2)


def cohen(confusion: Floats) -> Floats:
    """Cohen's kappa (1960): both annotators have shares of their own."""
    total = confusion.sum((-2, -1))
    expected = (confusion.sum(-1) * confusion.sum(-2)).sum(-1)
    return _beyond(_diagonal(confusion) * total, expected, total**2)


def fleiss(coincidence: Floats) -> Floats:
    """Fleiss' kappa (1971): all annotators have the same shares. Scott's pi, for two."""
    total = coincidence.sum((-2, -1))
    expected = (coincidence.sum(-1) ** 2).sum(-1)
    return _beyond(_diagonal(coincidence) * total, expected, total**2)


def alpha(coincidence: Floats) -> Floats:
    """Krippendorff's alpha (1970) for nominal data: Fleiss' kappa, corrected for few labels, with gaps allowed."""
    total = coincidence.sum((-2, -1))
    shares = coincidence.sum(-1)
    expected = (shares * (shares - 1)).sum(-1)
    return _beyond(_diagonal(coincidence) * (total - 1), expected, total * (total - 1))


def _diagonal(tables: Floats) -> Floats:
    return np.asarray(np.trace(tables, axis1=-2, axis2=-1))


def _beyond(observed: Floats, expected: Floats, whole: Floats) -> Floats:
    """(observed - expected) / (whole - expected), where these are not the same."""
    room = np.asarray(whole - expected, dtype=np.float64)
    known = room > 1e-9 * np.maximum(whole, 1)
    return np.where(known, (observed - expected) / np.where(known, room, 1), np.nan)


def in_order(given: Iterable[Sequence[str]]) -> list[str]:
    """The categories that were given, in the order of the alphabet."""
    return sorted({category for one in given for category in one})
