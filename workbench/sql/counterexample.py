"""Find the few rows of a database on which two queries still differ, and both results on them.

Rows of the database itself say more than made-up ones. The search, by delta debugging (Zeller and
Hildebrandt 2002), runs inside a sandboxed worker. It begins with the rows that each SELECT takes
from each table; the queries for them are here.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from sqlglot import exp

from workbench.sql.executor import Executor, values
from workbench.sql.reading import columns_used, parse, quote
from workbench.sql.sandbox import Answer
from workbench.types import Execution, Schema


class Counterexample(NamedTuple):
    """Rows by table, and the results of both queries on a database of these rows alone."""

    tables: Mapping[str, Execution]
    first: Execution
    second: Execution


def counterexample(
    executor: Executor, database: Path, first: str, second: str, schema: Schema
) -> Counterexample | None:
    """Return the smallest part of the database on which two queries return different sets of rows.

    None if it does not tell them apart, if a query cannot run, reads a view or names a table as
    `main.name`, and if one returns more columns than the other, which shows without an example.
    """
    read: set[str] = set()
    trees: list[exp.Expr] = []
    for sql in (first, second):
        tree = parse(sql)
        names = columns_used(sql, schema)
        if tree is None or names.error:
            return None
        if any(table.db for table in tree.find_all(exp.Table)):
            return None
        read |= names.tables
        trees.append(tree)
    if {table.kind for table in schema.tables if table.name in read} != {"table"}:
        return None
    probes: dict[str, list[str]] = {}  # by table
    for name in sorted(read):
        probes[name] = [f"SELECT rowid FROM main.{quote(name)}"]
    for tree in trees:
        for name, probe in _probes(tree, schema):
            if name in read:
                probes[name].append(probe)
    # The queries' own common table expressions follow those of the worker.
    with_ = re.compile(r"^\s*WITH\s+(RECURSIVE\s+)?", re.IGNORECASE)
    request = {
        "do": "counterexample",
        "queries": [with_.sub(", ", sql) for sql in (first, second)],
        "probes": probes,
        "seconds": 2.0,
    }
    answer = executor.ask(database, request)
    results = [_execution(fields) for fields in values(answer["rows"])]
    if not results:
        return None
    tables = dict(zip(probes, results[2:], strict=True))
    return Counterexample(tables, results[0], results[1])


def _execution(fields: Answer) -> Execution:
    rows = tuple(map(tuple, fields["rows"]))
    shape = {"columns": tuple(fields["columns"]), "rows": rows, "row_count": len(rows)}
    return Execution(**(fields | shape))


def _probes(tree: exp.Expr, schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield tables of a FROM, each with a query for its rows that pass the joins and conditions."""
    for node in tree.find_all(exp.Table):
        table = schema.table(node.name)
        select = node.parent_select
        if table is None or not isinstance(node.parent, exp.From | exp.Join):
            continue
        if isinstance(select, exp.Select):
            probe = select.copy()
            for clause in probe.args.keys() - {"with_", "from_", "joins", "where"}:
                probe.set(clause, None)
            probe.set("expressions", [exp.column("rowid", quote(node.alias_or_name))])
            yield table.name, probe.sql("sqlite", comments=False)
