"""Cells of CSV files that a spreadsheet shows as they are: none of them is taken for a formula."""

import unicodedata
from collections.abc import Iterable
from typing import Any, Protocol

_SIGNS = frozenset("=+-@")  # what a formula begins with, also in its full-width and small forms
_BLANK = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})  # spaces, and characters that are not seen


def plain(cell: Any) -> Any:
    """A text with an apostrophe before it if a spreadsheet could run it; other values stay as they are.

    A spreadsheet skips blanks before a formula, and may take a tab or a line break for the next cell. A text that
    begins with an apostrophe gets another one, so that whoever reads it back takes one off.
    """
    if not isinstance(cell, str):
        return cell
    seen = next((c for c in cell if unicodedata.category(c) not in _BLANK), "")
    begins = cell[:1] in {"'", "\t", "\r", "\n"}
    return f"'{cell}" if begins or unicodedata.normalize("NFKC", seen) in _SIGNS else cell


class _Writer(Protocol):
    def writerow(self, row: Iterable[object], /) -> object: ...


class PlainWriter:
    """A CSV writer whose texts are `plain`; numbers stay numbers."""

    def __init__(self, writer: _Writer) -> None:
        self._writer = writer

    def writerow(self, row: Iterable[object]) -> None:
        self._writer.writerow(map(plain, row))
