"""A counterexample: the few rows of a database on which two queries still differ, and both results on them.

Rows of the database itself say more than made-up ones. The search, by delta debugging (Zeller and Hildebrandt 2002),
runs inside a sandboxed worker. It begins with the rows that each SELECT takes from each table; their queries are here.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from sqlglot import exp

from workbench.sql.executor import Executor, values
from workbench.sql.reading import parse, quote, used
from workbench.types import Execution, Schema


class Counterexample(NamedTuple):
    """Rows by table, and the results of both queries on a database of these rows alone."""

    tables: Mapping[str, Execution]
    first: Execution
    second: Execution


def counterexample(
    executor: Executor, database: Path, first: str, second: str, schema: Schema
) -> Counterexample | None:
    """The smallest part of the database found on which two queries return different sets of rows.

    None if it does not tell them apart, if a query cannot run, reads a view or names a table as `main.name`, and if one
    returns more columns than the other, which shows without an example.
    """
    names = [used(sql, schema) for sql in (first, second)]
    trees = [tree for tree in map(parse, (first, second)) if tree]
    read = sorted(names[0].tables | names[1].tables)
    kinds = {table.kind for table in schema.tables if table.name in read}
    whole = any(table.db for tree in trees for table in tree.find_all(exp.Table))
    if names[0].error or names[1].error or len(trees) < 2 or whole or kinds != {"table"}:
        return None
    probes = {name: [f"SELECT rowid FROM main.{quote(name)}"] for name in read}
    for table, probe in (found for tree in trees for found in _probes(tree, schema)):
        probes.get(table, []).append(probe)
    # The queries' own common table expressions follow those of the worker.
    queries = [re.sub(r"(?i)^\s*WITH\s+(RECURSIVE\s+)?", ", ", sql) for sql in (first, second)]
    request = {"do": "counterexample", "queries": queries, "probes": probes, "seconds": 2.0}
    answer = executor.ask(database, request)
    if not (found := values(answer["rows"])):
        return None
    for one in found:
        rows = tuple(map(tuple, one["rows"]))
        one |= {"columns": tuple(one["columns"]), "rows": rows, "row_count": len(rows)}
    one, other, *tables = (Execution(**one) for one in found)
    return Counterexample(dict(zip(read, tables, strict=True)), one, other)


def _probes(tree: exp.Expr, schema: Schema) -> Iterator[tuple[str, str]]:
    """For each table in the FROM of a SELECT, a query for the row ids that pass the joins and conditions."""
    for select in tree.find_all(exp.Select):
        kept = {key: select.args.get(key) for key in ("with_", "from_", "joins", "where")}
        for node in (join.this for join in (kept["from_"], *(kept["joins"] or ())) if join):
            if isinstance(node, exp.Table) and (table := schema.table(node.name)):
                probe = exp.Select(**kept).copy()
                probe.set("expressions", [exp.column("rowid", quote(node.alias_or_name))])
                yield table.name, probe.sql("sqlite", comments=False)
