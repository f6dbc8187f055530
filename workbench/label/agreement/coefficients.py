"""Coefficients of agreement beyond chance: Cohen's and Fleiss' kappa and Krippendorff's alpha, for categories.

Each coefficient is a function of one table that counts pairs of categories and is a sum over cases. So a bootstrap
over cases is one product of matrices (see `intervals`). The functions take tables of shape (..., k, k) and return
values of shape (...); a value is NaN without cases, or if chance alone makes annotators always agree.
"""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Given = Sequence[Sequence[Hashable]]  # for each case, the categories that annotators gave


def confusions(given: Given, categories: Sequence[Hashable]) -> Floats:
    """A table for each case: 1 in the row of the first annotator's category and the column of the second's."""
    tables = np.zeros((len(given), len(categories), len(categories)))
    index = {category: n for n, category in enumerate(categories)}
    for table, (first, second) in zip(tables, given, strict=True):
        table[index[first], index[second]] = 1
    return tables


def coincidences(given: Given, categories: Sequence[Hashable]) -> Floats:
    """Krippendorff's table for each case: each ordered pair of its m labels counts 1 / (m - 1).

    A case with one label has no pair, so its table is zero.
    """
    counts = np.array([[list(one).count(c) for c in categories] for one in given], dtype=np.float64)
    counts = counts.reshape(len(given), len(categories))
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs -= np.eye(len(categories)) * counts[:, :, None]  # no annotator is paired with themself
    return np.asarray(pairs / np.maximum(counts.sum(axis=1) - 1, 1)[:, None, None])


def cohen(confusion: Floats) -> Floats:
    """Cohen's kappa (1960): chance is computed from each annotator's own shares of the categories."""
    total = confusion.sum((-2, -1))
    expected = (confusion.sum(-1) * confusion.sum(-2)).sum(-1)
    return _beyond(_diagonal(confusion) * total, expected, total**2)


def fleiss(coincidence: Floats) -> Floats:
    """Fleiss' kappa (1971): chance is computed from the shares of all annotators. For two it is Scott's pi."""
    total = coincidence.sum((-2, -1))
    expected = (coincidence.sum(-1) ** 2).sum(-1)
    return _beyond(_diagonal(coincidence) * total, expected, total**2)


def alpha(coincidence: Floats) -> Floats:
    """Krippendorff's alpha (1970) for nominal data: Fleiss' kappa corrected for few labels; labels may be missing."""
    total = coincidence.sum((-2, -1))
    shares = coincidence.sum(-1)
    expected = (shares * (shares - 1)).sum(-1)
    return _beyond(_diagonal(coincidence) * (total - 1), expected, total * (total - 1))


def _diagonal(tables: Floats) -> Floats:
    return np.asarray(np.trace(tables, axis1=-2, axis2=-1))


def _beyond(observed: Floats, expected: Floats, whole: Floats) -> Floats:
    """(observed - expected) / (whole - expected); NaN where `whole` equals `expected`."""
    room = np.asarray(whole - expected, dtype=np.float64)
    known = room > 1e-9 * np.maximum(whole, 1)
    return np.where(known, (observed - expected) / np.where(known, room, 1), np.nan)


def all_categories(given: Iterable[Sequence[str]]) -> list[str]:
    """The categories that were given, in alphabetical order."""
    return sorted({category for one in given for category in one})
