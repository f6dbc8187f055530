"""Cells of CSV files that a spreadsheet shows as text and never runs as a formula."""

import unicodedata
from collections.abc import Iterable
from typing import Any, Protocol

_SIGNS = frozenset("=+-@")  # the first characters of a formula, after NFKC normalisation
_BLANK = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})  # the categories of invisible characters


def plain(cell: Any) -> Any:
    """The cell; a text that a spreadsheet could run as a formula gets an apostrophe in front.

    A spreadsheet skips blanks before a formula, and may take a tab or a line break for the next cell. A text that
    begins with an apostrophe gets another one, so that a reader can always remove the first.
    """
    if not isinstance(cell, str):
        return cell
    first = next((c for c in cell if unicodedata.category(c) not in _BLANK), "")
    unsafe_start = cell[:1] in {"'", "\t", "\r", "\n"}
    return f"'{cell}" if unsafe_start or unicodedata.normalize("NFKC", first) in _SIGNS else cell


class _Writer(Protocol):
    def writerow(self, row: Iterable[object], /) -> object: ...


class PlainWriter:
    """A CSV writer that passes each cell through `plain`."""

    def __init__(self, writer: _Writer) -> None:
        self._writer = writer

    def writerow(self, row: Iterable[object]) -> None:
        self._writer.writerow(map(plain, row))
