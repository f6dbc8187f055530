"""CSV files: cells that a spreadsheet shows as text and never runs as a formula, and cells of any length."""

import csv
import io
import unicodedata
from collections.abc import Iterator
from typing import Any

_SIGNS = frozenset("=+-@")  # the first characters of a formula, after NFKC normalisation
_BLANK = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})  # the categories of invisible characters


def plain(cell: Any) -> Any:
    """The cell; a text that a spreadsheet could run as a formula gets an apostrophe in front.

    A spreadsheet skips blanks before a formula, and may take a tab or a line break for the next cell. A text that
    begins with an apostrophe gets another one, so that a reader can always remove the first. Half of a surrogate pair,
    which UTF-8 cannot encode, becomes an escape.
    """
    if not isinstance(cell, str):
        return cell
    cell = cell.encode("utf-8", "backslashreplace").decode()
    first = next((c for c in cell if unicodedata.category(c) not in _BLANK), "")
    unsafe_start = cell[:1] in {"'", "\t", "\r", "\n"}
    return f"'{cell}" if unsafe_start or unicodedata.normalize("NFKC", first) in _SIGNS else cell


def csv_lines(text: str, *, delimiter: str = ",", strict: bool = False) -> Iterator[list[str]]:
    """The lines of a CSV text. Python's own limit on a cell, 131,072 characters, is raised to the text's length."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)
