"""A database's `Schema`: read from an SQLite file, with example values and BIRD's descriptions if a prompt wants them.

A sandboxed worker asks SQLite for names and declared types and never for rows, so neither an endless view nor a
hostile one costs the caller more than seconds. A part that cannot be read adds a line to `Schema.skipped`; only a file
that cannot be read at all raises an error.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

from workbench.errors import UnreadableDatabaseError, content_of
from workbench.sql.executor import Executor
from workbench.sql.reading import quote, used
from workbench.sql.sandbox import Answer, shared
from workbench.sql.texts import one_line
from workbench.types import Column, ForeignKey, Limits, Schema, Table

_SECONDS = 10.0  # for all of a schema
_SAMPLE = Limits(seconds=5.0, rows=1_000, bytes=64_000_000)  # of the rows that give examples
_LONGEST = 50  # characters of an example value


def read_schema(path: Path) -> Schema:
    """The tables, views and virtual tables of a database file, in the order they were created.

    Columns are those of `SELECT *`. SQLite's own tables and the shadow tables of virtual tables are left out. A foreign
    key spells the table and columns that it refers to as that table does; if there is no such table, the key stays as
    it is declared, perhaps without `ref_columns`. Raises `UnreadableDatabaseError`.

    >>> wb.read_schema(wb.open_benchmark("bundled-dev").database("harbour")).table("tug").primary_key
    ('tug_id',)
    """
    executor = Executor(sandbox=shared())
    request = {"do": "schema", "seconds": _SECONDS}
    answer = executor.ask(path, request | {"views": True})
    skipped: list[str] = []
    if answer["status"] in {"timeout", "too_large"}:  # some short views take SQLite hours to read
        skipped.append(f"the views of {path.name}: {answer['error']}")
        answer = executor.ask(path, request | {"views": False})
    if answer["error"]:
        raise UnreadableDatabaseError(
            f"{path.name}: {answer['error']}; give a whole SQLite file that may be read, or recover this one"
        )
    tables: list[Table] = []
    for found in answer["tables"]:
        if "error" not in found and (table := _table(found)).columns:
            tables.append(table)
        else:
            why = found.get("error", "SQLite finds no columns in it")
            skipped.append(one_line(f"{found['name']}: {why}"))
    if not answer["tables"]:
        skipped.append(f"{path.name} has no tables")
    schema = Schema(path.stem, tuple(tables), tuple(skipped))

    def spelt(key: ForeignKey) -> ForeignKey:
        if (table := schema.table(key.ref_table)) is None:
            return key
        found = [(schema.column(table.name, name), name) for name in key.ref_columns]
        columns = tuple(column.name if column else name for column, name in found)
        if not columns and len(table.primary_key) == len(key.columns):
            columns = table.primary_key
        return ForeignKey(key.columns, table.name, columns)

    named = [replace(t, foreign_keys=tuple(map(spelt, t.foreign_keys))) for t in tables]
    return replace(schema, tables=tuple(named))


def _table(found: Answer) -> Table:
    info = found["table_xinfo"]
    # 1 marks a hidden column, 2 and 3 generated ones, which SELECT * shows.
    columns = tuple(Column(name, type_) for _, name, type_, *_, hidden in info if hidden != 1)
    primary = tuple(name for _, name in sorted((at, name) for _, name, *_, at, _ in info if at))
    keys: list[ForeignKey] = []
    for _, parts in groupby(found["foreign_key_list"], lambda part: part[0]):
        _, _, targets, own, refs, *_ = zip(*parts, strict=True)
        named = tuple(ref for ref in refs if ref is not None)
        keys.insert(0, ForeignKey(own, targets[0], named))  # SQLite lists the last one first
    kind: Any = found["kind"] if found["kind"] in {"view", "virtual"} else "table"
    return Table(found["name"], columns, primary, tuple(keys), kind)


def with_examples(
    schema: Schema, path: Path, per_column: int = 3, *, nulls: bool = False
) -> Schema:
    """The schema with up to `per_column` distinct values in each column's `examples`.

    They are the most frequent values among a table's first rows (at most a thousand), by frequency and then by
    appearance: the same file gives the same examples, and a large file takes no longer than a small one. Blobs and
    values of more than fifty characters are left out, and views get no examples. With `nulls`, None follows the values
    of a column that has a NULL in its table's first hundred thousand rows. A table whose rows cannot be read, or not in
    time, adds a line to `skipped`.
    """
    executor = Executor(sandbox=shared())
    skipped = list(schema.skipped)
    tables = list(schema.tables)
    for at, table in enumerate(schema.tables):
        if table.kind == "view":
            continue
        names = [quote(column.name) for column in table.columns]
        # If SQLite used an index that covers the columns, other rows would come first.
        source = f"FROM main.{quote(table.name)} {'NOT INDEXED' * (table.kind == 'table')} LIMIT"
        most = min(_SAMPLE.rows, 50_000 // len(names))
        queries = [f"SELECT {', '.join(map(_shown, names))} {source} {most}"]
        if nulls and per_column:
            part = f"SELECT {', '.join(names)} {source} 100000"
            tests = ", ".join(f"max({name} IS NULL)" for name in names)
            queries.append(f"SELECT {tests} FROM ({part})")
        results = executor.execute_many([(path, sql) for sql in queries], _SAMPLE)
        if errors := [result.error for result in results if result.error]:
            skipped.append(one_line(f"{table.name}: no example values: {errors[0]}"))
            continue
        rows, *flags = (result.rows for result in results)
        columns = []
        for n, column in enumerate(table.columns):
            # 1 and 1.0 count as one value, which is shown as it first appears
            count = Counter(row[n] for row in rows if row[n] is not None)
            examples = [value for value, _ in count.most_common(per_column)]
            examples += [None] * bool(flags and flags[0][0][n])
            columns.append(replace(column, examples=tuple(examples)))
        tables[at] = replace(table, columns=tuple(columns))
    return replace(schema, tables=tuple(tables), skipped=tuple(skipped))


def _shown(name: str) -> str:
    """The value of a column if it may be an example, else NULL.

    length() stops at a NUL; counting bytes, too, keeps a cell of many megabytes inside SQLite. No number is so long.
    """
    fits = f"length({name}) <= {_LONGEST} AND length(CAST({name} AS BLOB)) <= {4 * _LONGEST}"
    return f"iif(typeof({name}) <> 'blob' AND {fits}, {name}, NULL)"


def union_schema(schema: Schema, queries: Iterable[str]) -> Schema:
    """The schema with only the tables and columns that any of the queries uses: algorithm 3 of CHASE-SQL.

    If a query uses a table without naming a column, as in COUNT(*), the table keeps its first key column. If a query
    cannot be read, or no query uses a known name, the schema stays whole.
    """
    pairs: set[tuple[str, str]] = set()
    for names in (used(query, schema) for query in queries):
        if names.error:
            return schema
        for name in names.tables - {table for table, _ in names.columns}:
            if table := schema.table(name):
                pairs.add((name, (*table.primary_key, table.columns[0].name)[0]))
        pairs |= names.columns
    return schema.only(pairs) if pairs else schema


def describe(schema: Schema, folder: Path) -> Schema:
    """The schema with the texts of BIRD's folder `database_description`, which has a CSV file for each table.

    The files differ in encoding, in the case of names, in their headers and in whether commas are quoted. A
    `description` joins the expanded column name and the column description, unless one repeats the other. Of two files
    for one table, the file that spells its name as the table does counts. A file that describes no column adds a line to
    `skipped`.
    """
    tables = {table.name: table for table in schema.tables}
    skipped = list(schema.skipped)
    files = [file for file in folder.glob("[!.]*") if file.suffix.lower() == ".csv"]
    for path in sorted(files, key=lambda file: (file.stem in tables, file.name)):
        name = _find(path.stem, tables)
        columns = {column.name: column for column in tables[name].columns} if name else {}
        described: dict[str, Column] = {}
        for row in _rows(path):
            if own := _find(row.get("original_column_name", ""), columns):
                described.setdefault(own, _described(columns[own], row))
        if name and described:
            tables[name] = replace(tables[name], columns=tuple((columns | described).values()))
        else:
            skipped.append(one_line(f"{path.name}: it describes no column of the database"))
    return replace(schema, tables=tuple(tables.values()), skipped=tuple(skipped))


def _described(column: Column, row: dict[str, str]) -> Column:
    expanded, text = row.get("column_name", ""), row.get("column_description", "")
    if _key(expanded) == _key(column.name):
        expanded = ""
    texts = [text] if _key(expanded) in _key(text) else [expanded, text]
    meaning, joined = row.get("value_description", ""), ": ".join(filter(None, texts))
    return replace(column, expanded=expanded, description=joined, value_description=meaning)


def _rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows as dicts with normalised header names; blank rows are left out."""
    raw = content_of(path)
    try:
        text = raw.decode("utf-16" if raw[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    read = csv.reader(io.StringIO(text.replace("\0", ""), newline=""))
    filled = (cells for cells in read if any(map(str.strip, cells)))
    header = [re.sub(r"\W+", "_", name.strip().lower()) for name in next(filled, [])]
    for cells in filled:
        row = dict(zip_longest(header, cells[: len(header)], fillvalue=""))
        # Cells beyond the header belong to the last column: its text has unquoted commas.
        row[header[-1]] = ",".join([row[header[-1]], *filter(str.strip, cells[len(header) :])])
        for name, text in row.items():
            # On one line; line breaks, which separate the items of a list, become semicolons.
            lines = (" ".join(one_line(line, len(line)).split()) for line in text.splitlines())
            row[name] = re.sub(r"(?<=[.,:;]);", "", "; ".join(filter(None, lines)))
        yield row


def _find(name: str, among: Iterable[str]) -> str | None:
    """The name as the database spells it, which may differ in case, spaces and underscores; or None."""
    names = {_key(one): one for one in reversed([*among])}
    return name if name in names.values() else names.get(_key(name))


def _key(name: str) -> str:
    return re.sub(r"[\s_]+", " ", name).strip().casefold()
