"""Read a database's `Schema` from an SQLite file, with example values and BIRD's descriptions.

A sandboxed worker asks SQLite for names and declared types and never for rows, so neither an
endless view nor a hostile one costs the caller more than seconds. A part that cannot be read adds a
line to `Schema.skipped`; only a file that cannot be read at all raises an error.
"""

import csv
import io
import re
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby, zip_longest
from operator import itemgetter
from pathlib import Path

from workbench.errors import UnreadableDatabaseError, content_of
from workbench.sql.executor import Executor
from workbench.sql.reading import columns_used, quote
from workbench.sql.sandbox import Answer, shared
from workbench.sql.texts import one_line
from workbench.types import Column, ForeignKey, Limits, Schema, Table

_SECONDS = 10.0  # for all of a schema
# Of the rows that give examples.
_SAMPLE = Limits(seconds=5.0, rows=1_000, bytes=64_000_000)
_LONGEST = 50  # characters of an example value
_reading_cells = threading.Lock()


def read_schema(path: Path) -> Schema:
    """Return the tables, views and virtual tables of a database file, in order of creation.

    Columns are those of `SELECT *`. SQLite's own tables and the shadow tables of virtual tables are
    left out. A foreign key spells the table and columns that it refers to as that table does; if
    there is no such table, the key stays as it is declared, perhaps without `ref_columns`. Raises
    `UnreadableDatabaseError`.

    >>> harbour = wb.read_schema(wb.open_benchmark("bundled-dev").database("harbour"))
    >>> harbour.table("tug").primary_key
    ('tug_id',)
    """
    executor = Executor(sandbox=shared())
    request = {"do": "schema", "seconds": _SECONDS}
    answer = executor.ask(path, request | {"views": True})
    skipped: list[str] = []
    # Some short views take SQLite hours to read.
    if answer["status"] in {"timeout", "too_large"}:
        skipped.append(f"the views of {path.name}: {answer['error']}")
        answer = executor.ask(path, request | {"views": False})
    if answer["error"]:
        advice = "give a whole SQLite file that may be read, or recover this one"
        raise UnreadableDatabaseError(f"{path.name}: {answer['error']}; {advice}")
    if not answer["tables"]:
        skipped.append(f"{path.name} has no tables")
    tables: list[Table] = []
    for described in answer["tables"]:
        problem = described.get("error", "")
        table = None if problem else _table(described)
        if table and table.columns:
            tables.append(table)
        else:
            problem = problem or "SQLite finds no columns in it"
            skipped.append(one_line(f"{described['name']}: {problem}"))
    schema = Schema(path.stem, tuple(tables), tuple(skipped))
    for at, table in enumerate(tables):
        keys = tuple(_as_spelt(key, schema) for key in table.foreign_keys)
        tables[at] = replace(table, foreign_keys=keys)
    return replace(schema, tables=tuple(tables))


def _table(described: Answer) -> Table:
    columns, primary_key = [], []
    for _, name, type_, _, _, position, hidden in described["table_xinfo"]:
        if hidden != 1:  # 2 and 3 mark generated columns, which SELECT * shows
            columns.append(Column(name, type_))
        if position:
            primary_key.append((position, name))
    foreign_keys: list[ForeignKey] = []
    for _, group in groupby(described["foreign_key_list"], itemgetter(0)):
        _, _, ref_tables, names, ref_names, *_ = zip(*group, strict=True)
        ref_columns = tuple(name for name in ref_names if name is not None)
        key = ForeignKey(names, ref_tables[0], ref_columns)
        foreign_keys.insert(0, key)  # SQLite lists the last one first
    return Table(
        described["name"],
        tuple(columns),
        tuple(name for _, name in sorted(primary_key)),
        tuple(foreign_keys),
        described["kind"],
    )


def _as_spelt(key: ForeignKey, schema: Schema) -> ForeignKey:
    """Return the foreign key with the names of the table that it refers to."""
    table = schema.table(key.ref_table)
    if table is None:
        return key
    names = []
    for name in key.ref_columns:
        column = schema.column(table.name, name)
        names.append(column.name if column else name)
    if not names and len(table.primary_key) == len(key.columns):
        names = list(table.primary_key)
    return ForeignKey(key.columns, table.name, tuple(names))


def with_examples(
    schema: Schema, path: Path, per_column: int = 3, *, nulls: bool = False
) -> Schema:
    """Return the schema with up to `per_column` distinct values in each column's `examples`.

    They are the most frequent values among a table's first rows (at most a thousand), by frequency
    and then by appearance: the same file gives the same examples, and a large file takes no longer
    than a small one. Blobs and values of more than fifty characters are left out, and views get no
    examples. With `nulls`, None follows the values of a column that has a NULL in its table's first
    hundred thousand rows. A table whose rows cannot be read, or not in time, adds a line to
    `skipped`.
    """
    executor = Executor(sandbox=shared())
    skipped = list(schema.skipped)
    tables = list(schema.tables)
    for at, table in enumerate(schema.tables):
        if table.kind == "view":
            continue
        queries = _example_queries(table, nulls=nulls and per_column > 0)
        results = executor.execute_many([(path, sql) for sql in queries], _SAMPLE)
        errors = [result.error for result in results if result.error]
        if errors:
            problem = f"{table.name}: no example values: {errors[0]}"
            skipped.append(one_line(problem))
            continue
        first_rows, *null_tests = results
        columns = []
        for n, column in enumerate(table.columns):
            # 1 and 1.0 count as one value, which is shown as it first appears
            count = Counter(row[n] for row in first_rows.rows if row[n] is not None)
            examples = [value for value, _ in count.most_common(per_column)]
            if any(test.rows[0][n] for test in null_tests):
                examples.append(None)
            columns.append(replace(column, examples=tuple(examples)))
        tables[at] = replace(table, columns=tuple(columns))
    return replace(schema, tables=tuple(tables), skipped=tuple(skipped))


def _example_queries(table: Table, *, nulls: bool) -> list[str]:
    """Return the query for a table's first rows, and one for which columns have NULLs."""
    names = [quote(column.name) for column in table.columns]
    source = f"FROM main.{quote(table.name)}"
    if table.kind == "table":
        source += " NOT INDEXED"  # an index of all columns may give other rows first
    most = min(_SAMPLE.rows, 50_000 // len(names))
    shown = ", ".join(map(_shown, names))
    queries = [f"SELECT {shown} {source} LIMIT {most}"]
    if nulls:
        tests = ", ".join(f"max({name} IS NULL)" for name in names)
        queries.append(
            f"SELECT {tests} FROM (SELECT {', '.join(names)} {source} LIMIT 100000)"
        )
    return queries


def _shown(name: str) -> str:
    """Return SQL for the value of a column if it may be an example, else NULL.

    length() stops at a NUL; counting bytes, too, keeps a cell of many megabytes inside SQLite. No
    number is so long.
    """
    fits = f"length({name}) <= {_LONGEST} AND length(CAST({name} AS BLOB)) <= {4 * _LONGEST}"
    return f"iif(typeof({name}) <> 'blob' AND {fits}, {name}, NULL)"


def union_schema(schema: Schema, queries: Iterable[str]) -> Schema:
    """Return the tables and columns that any of the queries uses: algorithm 3 of CHASE-SQL.

    If a query uses a table without naming a column, as in COUNT(*), the table keeps its first key
    column. If a query cannot be read, or no query uses a known name, the schema stays whole.
    """
    pairs: set[tuple[str, str]] = set()
    for query in queries:
        names = columns_used(query, schema)
        if names.error:
            return schema
        pairs |= names.columns
        with_columns = {table for table, _ in names.columns}
        for name in names.tables - with_columns:
            table = schema.table(name)
            if table:
                keys = table.primary_key or (table.columns[0].name,)
                pairs.add((name, keys[0]))
    return schema.only(pairs) if pairs else schema


def describe(schema: Schema, folder: Path) -> Schema:
    """Return the schema with the texts of BIRD's folder `database_description`, a CSV file a table.

    The files differ in encoding, in the case of names, in their headers and in whether commas are
    quoted. A `description` joins the expanded column name and the column description, unless one
    repeats the other. Of two files for one table, the file that spells its name as the table does
    counts. A file that describes no column adds a line to `skipped`.
    """
    tables = {table.name: table for table in schema.tables}
    skipped = list(schema.skipped)
    files = [file for file in folder.glob("[!.]*") if file.suffix.lower() == ".csv"]
    for path in sorted(files, key=lambda file: (file.stem in tables, file.name)):
        name = _find(path.stem, tables)
        columns = tables[name].columns if name else ()
        by_name = {column.name: column for column in columns}
        described: dict[str, Column] = {}
        for row in _rows(path):
            column = _find(row.get("original_column_name", ""), by_name)
            if column:
                described.setdefault(column, _described(by_name[column], row))
        if name and described:
            columns = tuple((by_name | described).values())
            tables[name] = replace(tables[name], columns=columns)
        else:
            problem = f"{path.name}: it describes no column of the database"
            skipped.append(one_line(problem))
    return replace(schema, tables=tuple(tables.values()), skipped=tuple(skipped))


def _described(column: Column, row: dict[str, str]) -> Column:
    expanded = row.get("column_name", "")
    text = row.get("column_description", "")
    if _folded(expanded) == _folded(column.name):
        expanded = ""
    texts = [text] if _folded(expanded) in _folded(text) else [expanded, text]
    joined = ": ".join(filter(None, texts))
    values = row.get("value_description", "")
    return replace(
        column, expanded=expanded, description=joined, value_description=values
    )


def _rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows as dicts with normalised header names; blank rows are left out."""
    names: list[str] = []
    for cells in _cells(_decoded(content_of(path)).replace("\0", "")):
        is_blank = not any(map(str.strip, cells))
        if is_blank:
            continue
        if names:
            yield _row(names, cells)
        else:
            names = [re.sub(r"\W+", "_", name.strip().lower()) for name in cells]


def _cells(text: str) -> list[list[str]]:
    """Return the cells of each row, which may be as long as the text.

    Python limits their length for the whole process, so that limit is raised for this text alone.
    """
    with _reading_cells:
        limit = csv.field_size_limit()
        csv.field_size_limit(max(limit, len(text)))
        try:
            return list(csv.reader(io.StringIO(text, newline="")))
        finally:
            csv.field_size_limit(limit)


def _row(names: list[str], cells: list[str]) -> dict[str, str]:
    width = len(names)
    row = dict(zip_longest(names, cells[:width], fillvalue=""))
    # Cells beyond the header belong to the last column: its text has unquoted commas.
    beyond = filter(str.strip, cells[width:])
    last = names[-1]
    row[last] = ",".join([row[last], *beyond])
    return {name: _on_one_line(text) for name, text in row.items()}


def _decoded(raw: bytes) -> str:
    is_utf_16 = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return raw.decode("utf-16" if is_utf_16 else "utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def _on_one_line(text: str) -> str:
    """Return a text whose line breaks, which separate the items of a list, are semicolons."""
    lines = []
    for line in text.splitlines():
        words = one_line(line, len(line)).split()
        if words:
            lines.append(" ".join(words))
    return re.sub(r"(?<=[.,:;]);", "", "; ".join(lines))


def _find(name: str, names: Iterable[str]) -> str | None:
    """Return the name as the database spells it, perhaps in another case or with underscores."""
    spellings = list(names)
    if name in spellings:
        return name
    alike = [spelling for spelling in spellings if _folded(spelling) == _folded(name)]
    return alike[0] if alike else None


def _folded(name: str) -> str:
    return re.sub(r"[\s_]+", " ", name).strip().casefold()
