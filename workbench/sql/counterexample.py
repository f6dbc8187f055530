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
    probes: list[tuple[str, str]] = []
    for sql in (first, second):
        tree, names = parse(sql), columns_used(sql, schema)
        if (
            not tree
            or names.error
            or any(table.db for table in tree.find_all(exp.Table))
        ):
            return None
        read |= names.tables
        probes += _probes(tree, schema)
    if {table.kind for table in schema.tables if table.name in read} != {"table"}:
        return None
    probes_by_table = {
        name: [f"SELECT rowid FROM main.{quote(name)}"] for name in sorted(read)
    }
    for table, probe in probes:
        if table in read:
            probes_by_table[table].append(probe)
    # The queries' own common table expressions follow those of the worker.
    queries = [
        re.sub(r"(?i)^\s*WITH\s+(RECURSIVE\s+)?", ", ", sql) for sql in (first, second)
    ]
    request = {"do": "counterexample", "queries": queries, "seconds": 2.0}
    answer = executor.ask(database, request | {"probes": probes_by_table})
    results = [_execution(fields) for fields in values(answer["rows"])]
    if not results:
        return None
    tables = dict(zip(probes_by_table, results[2:], strict=True))
    return Counterexample(tables, results[0], results[1])


def _execution(fields: Answer) -> Execution:
    rows = tuple(map(tuple, fields["rows"]))
    shape = {"columns": tuple(fields["columns"]), "rows": rows, "row_count": len(rows)}
    return Execution(**(fields | shape))


def _probes(tree: exp.Expr, schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield tables of a FROM, each with a query for its rows that pass the joins and conditions."""
    for select in tree.find_all(exp.Select):
        sources = [select.args.get("from_"), *(select.args.get("joins") or ())]
        for node in [source.this for source in sources if source]:
            table = schema.table(node.name) if isinstance(node, exp.Table) else None
            if not table:
                continue
            probe = select.copy()
            for clause in probe.args.keys() - {"with_", "from_", "joins", "where"}:
                probe.set(clause, None)
            probe.set("expressions", [exp.column("rowid", quote(node.alias_or_name))])
            yield table.name, probe.sql("sqlite", comments=False)
