"""CSV files with cells of any length."""

import csv
import io
from collections.abc import Iterator


def csv_lines(text: str, *, delimiter: str = ",", strict: bool = False) -> Iterator[list[str]]:
    """The lines of a CSV text. Python's own limit on a cell, 131,072 characters, is raised to the text's length."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)
