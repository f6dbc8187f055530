"""BIRD's `database_description` folder: what each table's columns and values mean, one CSV a table.

The files were written by many hands: in several encodings, with names in another case than the
database's, headers that differ, and commas that nobody quoted. Whatever can be read is used, and
whatever does not fit is one line in `Schema.skipped`.
"""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from workbench.db.quoting import one_line
from workbench.types import Column, Schema, Table


def describe(schema: Schema, folder: Path) -> Schema:
    """The schema with `description` and `value_description` filled from the folder's CSV files.

    A description is the column's expanded name and what is said of it, without repeating either.
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
            notes.append(f"{path.name}: {described[name]} describes that table already")
        else:
            described[name] = path.name
            try:
                rows = list(_rows(path))
            except (OSError, csv.Error) as error:
                notes.append(f"{path.name}: {getattr(error, 'strerror', None) or error}")
            else:
                tables[name] = _described(tables[name], rows, path.name, notes)
    return replace(
        schema,
        tables=tuple(tables.values()),
        skipped=schema.skipped + tuple(map(one_line, notes)),
    )


def _described(table: Table, rows: list[dict[str, str]], file: str, notes: list[str]) -> Table:
    """The table with what the rows say of its columns; adds a note for each row that has no place."""
    if not rows:
        notes.append(f"{file}: nothing in it")
    elif "original_column_name" not in rows[0]:
        notes.append(f"{file}: no original_column_name among its columns {', '.join(rows[0])}")
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
            columns[name] = replace(
                columns[name],
                description=_description(columns[name], row),
                value_description=_clean(row.get("value_description", "")),
            )
    if seen and (silent := [name for name in columns if name not in seen]):
        notes.append(f"{file}: nothing about {', '.join(silent)}")
    return replace(table, columns=tuple(columns.values()))


def _description(column: Column, row: dict[str, str]) -> str:
    expanded = _clean(row.get("column_name", ""))
    told = _clean(row.get("column_description", ""))
    if _key(expanded) == _key(column.name) or _key(expanded) in _key(told):
        expanded = ""
    return ": ".join(filter(None, [expanded, told]))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows as dicts with normal header names; a row without a word in it is no row."""
    lines = csv.reader(io.StringIO(_decoded(path.read_bytes()), newline=""))
    written = (cells for cells in lines if any(map(str.strip, cells)))
    header = [re.sub(r"\W+", "_", name.strip().lower()) for name in next(written, [])]
    for cells in written:
        row = dict(zip_longest(header, cells[: len(header)], fillvalue=""))
        # Cells beyond the header are the rest of a last one whose commas were not quoted.
        row[header[-1]] = ",".join([row[header[-1]], *filter(str.strip, cells[len(header) :])])
        yield row


def _decoded(raw: bytes) -> str:
    """The text of a file that does not say its encoding; NULs, which no CSV means, left out."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = raw.decode("utf-16", "replace")
    elif raw[1:8:2] == bytes(4):  # a header is ASCII, of which UTF-16 makes every second byte zero
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
    """The name as the database spells it: itself, or else one that differs in case, spaces and underscores."""
    among = list(among)
    return name if name in among else next((n for n in among if _key(n) == _key(name)), None)


def _key(name: str) -> str:
    return re.sub(r"[\s_]+", " ", name).strip().casefold()


def _clean(text: str) -> str:
    """One line: the breaks between the items of a list become semicolons."""
    lines = (" ".join(one_line(line, len(line)).split()) for line in text.splitlines())
    joined = ""
    for line in filter(None, lines):
        joined += line if not joined else (" " if joined[-1] in ".,:;" else "; ") + line
    return joined
