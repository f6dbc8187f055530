"""Read BIRD's `database_description` folder: one CSV per table with the meaning of columns and values.

The files differ in encoding, in the case of names, in their headers and in whether commas are quoted. All readable
rows are used; each row or file that does not fit the database adds a line to `Schema.skipped`.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from workbench.spreadsheet import csv_lines
from workbench.sql.schema_text import one_line
from workbench.types import Column, Schema, Table


def describe(schema: Schema, folder: Path) -> Schema:
    """The schema with `description` and `value_description` filled from the folder's CSV files.

    A `description` joins the CSV's expanded column name and its description, unless one repeats the other.
    """
    notes: list[str] = []
    tables = {table.name: table for table in schema.tables}
    described: dict[str, str] = {}
    files = [file for file in folder.glob("[!.]*") if file.suffix.lower() == ".csv"]
    if not files:
        notes.append(f"{folder.name}: no such folder, or no CSV file in it")
    for path in sorted(files, key=lambda file: (file.stem not in tables, file.name)):
        name = _find(path.stem, tables)
        if name is None:
            notes.append(f"{path.name}: the database has no such table")
        elif name in described:
            notes.append(f"{path.name}: {described[name]} describes the table {name} already")
        else:
            described[name] = path.name
            try:
                tables[name] = _described(tables[name], list(_rows(path)), path.name, notes)
            except OSError as error:
                notes.append(f"{path.name}: {error.strerror}")
    skipped = schema.skipped + tuple(map(one_line, notes))
    return replace(schema, tables=tuple(tables.values()), skipped=skipped)


def _described(table: Table, rows: list[dict[str, str]], file: str, notes: list[str]) -> Table:
    """The table with the descriptions of the rows; `notes` gets a line for each row that does not fit."""
    if not rows:
        notes.append(f"{file}: no rows in the file")
    elif "original_column_name" not in rows[0]:
        notes.append(f"{file}: no column original_column_name among {', '.join(rows[0])}")
        rows = []
    columns = {column.name: column for column in table.columns}
    seen: set[str] = set()
    for row in rows:
        original = _clean(row["original_column_name"])
        name = _find(original, columns)
        if name is None:
            notes.append(f"{file}: table {table.name} has no column {original!r}")
        elif name in seen:
            notes.append(f"{file}: column {name} is described twice; the first is kept")
        else:
            seen.add(name)
            columns[name] = _column(columns[name], row)
    if seen and (missing := [name for name in columns if name not in seen]):
        notes.append(f"{file}: no row describes {', '.join(missing)}")
    return replace(table, columns=tuple(columns.values()))


def _column(column: Column, row: dict[str, str]) -> Column:
    """The column with the row's texts; an expanded name that only repeats the column's name is left out."""
    expanded = _clean(row.get("column_name", ""))
    if _key(expanded) == _key(column.name):
        expanded = ""
    text = _clean(row.get("column_description", ""))
    parts = [text] if _key(expanded) in _key(text) else filter(None, [expanded, text])
    values = _clean(row.get("value_description", ""))
    return replace(
        column, description=": ".join(parts), expanded=expanded, value_description=values
    )


def _rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows as dicts with normalised header names; blank rows are left out."""
    lines = csv_lines(_decoded(path.read_bytes()))
    filled = (cells for cells in lines if any(map(str.strip, cells)))
    header = [re.sub(r"\W+", "_", name.strip().lower()) for name in next(filled, [])]
    for cells in filled:
        row = dict(zip_longest(header, cells[: len(header)], fillvalue=""))
        # Cells beyond the header belong to the last column: its text has unquoted commas.
        row[header[-1]] = ",".join([row[header[-1]], *filter(str.strip, cells[len(header) :])])
        yield row


def _decoded(raw: bytes) -> str:
    """The text of a file of unknown encoding, without NULs."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = raw.decode("utf-16", "replace")
    elif raw[1:8:2] == bytes(4):  # ASCII in UTF-16 has a zero in every second byte
        text = raw.decode("utf-16-le", "replace")
    elif raw[0:8:2] == bytes(4):
        text = raw.decode("utf-16-be", "replace")
    else:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = raw.decode("cp1252", "replace")
    return text.replace("\0", "")


def _find(name: str, among: Iterable[str]) -> str | None:
    """The name as the database spells it, which may differ in case, spaces and underscores; or None."""
    among = tuple(among)
    return name if name in among else next((n for n in among if _key(n) == _key(name)), None)


def _key(name: str) -> str:
    return re.sub(r"[\s_]+", " ", name).strip().casefold()


def _clean(text: str) -> str:
    """The text on one line; line breaks, which separate the items of a list, become semicolons."""
    joined = ""
    for line in text.splitlines():
        if words := " ".join(one_line(line, len(line)).split()):
            joined += words if not joined else (" " if joined[-1] in ".,:;" else "; ") + words
    return joined
