"""Read BIRD's `database_description` folder: one CSV per table with the meaning of columns and values.

The files differ in encoding, in the case of names, in their headers and in whether commas are quoted. All readable
rows are used; each row or file that does not fit the database adds a line to `Schema.skipped`.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from workbench.sql.schema_text import one_line
from workbench.types import Column, Schema, Table


def describe(schema: Schema, folder: Path) -> Schema:
    """The schema with `description` and `value_description` filled from the folder's CSV files.

    A `description` joins the CSV's expanded column name and its description, unless one repeats the other. Of two
    files for one table, the file that spells its name as the table does counts.
    """
    tables = {table.name: table for table in schema.tables}
    files = [file for file in folder.glob("[!.]*") if file.suffix.lower() == ".csv"]
    notes = [] if files else [f"{folder.name}: no such folder, or no CSV file in it"]
    for path in sorted(files, key=lambda file: (file.stem in tables, file.name)):
        found = ["the database has no such table"]
        if name := _find(path.stem, tables):
            try:
                tables[name], found = _described(tables[name], list(_rows(path)))
            except OSError as error:
                found = [str(error.strerror)]
        notes += [one_line(f"{path.name}: {note}") for note in found]
    return replace(schema, tables=tuple(tables.values()), skipped=(*schema.skipped, *notes))


def _described(table: Table, rows: list[dict[str, str]]) -> tuple[Table, list[str]]:
    """The table with the descriptions of the rows, and a note for each row that does not fit."""
    if not rows or "original_column_name" not in rows[0]:
        return table, ["no rows with an original_column_name"]
    notes = []
    columns = {column.name: column for column in table.columns}
    seen: dict[str, Column] = {}
    for row in rows:
        name = _find(row["original_column_name"], columns)
        if name is None:
            notes.append(f"table {table.name} has no column {row['original_column_name']!r}")
        elif name not in seen:
            expanded, text = row.get("column_name", ""), row.get("column_description", "")
            if _key(expanded) == _key(name):
                expanded = ""
            texts = [text] if _key(expanded) in _key(text) else [expanded, text]
            meaning = row.get("value_description", "")
            described = replace(columns[name], expanded=expanded, value_description=meaning)
            seen[name] = replace(described, description=": ".join(filter(None, texts)))
    if seen and (missing := [name for name in columns if name not in seen]):
        notes.append(f"no row describes {', '.join(missing)}")
    return replace(table, columns=tuple((columns | seen).values())), notes


def _rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows as dicts with normalised header names; blank rows are left out."""
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-16" if raw[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    lines = csv.reader(io.StringIO(text.replace("\0", ""), newline=""))
    filled = (cells for cells in lines if any(map(str.strip, cells)))
    header = [re.sub(r"\W+", "_", name.strip().lower()) for name in next(filled, [])]
    for cells in filled:
        row = dict(zip_longest(header, cells[: len(header)], fillvalue=""))
        # Cells beyond the header belong to the last column: its text has unquoted commas.
        row[header[-1]] = ",".join([row[header[-1]], *filter(str.strip, cells[len(header) :])])
        yield {name: _clean(text) for name, text in row.items()}


def _find(name: str, among: Iterable[str]) -> str | None:
    """The name as the database spells it, which may differ in case, spaces and underscores; or None."""
    names = {_key(one): one for one in reversed([*among])}
    return name if name in names.values() else names.get(_key(name))


def _key(name: str) -> str:
    return re.sub(r"[\s_]+", " ", name).strip().casefold()


def _clean(text: str) -> str:
    """The text on one line; line breaks, which separate the items of a list, become semicolons."""
    lines = (" ".join(one_line(line, len(line)).split()) for line in text.splitlines())
    return re.sub(r"(?<=[.,:;]);", "", "; ".join(filter(None, lines)))
