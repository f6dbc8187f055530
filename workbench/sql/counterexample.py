"""A counterexample: the few rows of a database on which two queries still differ, and both results on them.

Rows of the database itself say more than made-up ones. The search, by delta debugging (Zeller and Hildebrandt 2002),
runs inside a sandboxed worker; here are the queries for the rows that each SELECT takes from each table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from workbench.sql.executor import Executor, values
from workbench.sql.reading import parse, used
from workbench.sql.schema_text import quote
from workbench.types import Execution, Row, Schema

MOST = 60  # rows of a table that the search begins with, and those of each probe
SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Rows by table, with the names of their columns, and the results of both queries on a database of them alone."""

    tables: Mapping[str, tuple[Row, ...]]
    columns: Mapping[str, tuple[str, ...]]
    first: Execution
    second: Execution


def counterexample(
    executor: Executor, database: Path, first: str, second: str, schema: Schema
) -> Counterexample | None:
    """The smallest part of the database found on which two queries return different sets of rows.

    None if it does not tell them apart, if a query cannot run or reads a view, and if one returns more columns than
    the other, which shows without an example.
    """
    names = [used(sql, schema) for sql in (first, second)]
    probes: dict[str, list[str]] = {name: [] for name in sorted(names[0].tables | names[1].tables)}
    kinds = {table.kind for table in schema.tables if table.name in probes}
    if names[0].error or names[1].error or kinds != {"table"}:
        return None
    for table, probe in (found for sql in (first, second) for found in _probes(sql, schema)):
        probes.get(table, []).append(probe)
    request = {"do": "counterexample", "queries": [first, second], "probes": probes, "most": MOST}
    answer = executor.ask(database, request | {"seconds": SECONDS})
    if not (found := values(answer["rows"])):
        return None
    columns, kept, results = found
    rows = {name: tuple(tuple(row) for table, row in kept if table == name) for name in columns}
    for answer in results:
        own = tuple(map(tuple, answer["rows"]))
        answer |= {"columns": tuple(answer["columns"]), "rows": own, "row_count": len(own)}
    made = [Execution(**answer) for answer in results]
    return Counterexample(rows, {name: tuple(names) for name, names in columns.items()}, *made)


def _probes(sql: str, schema: Schema) -> Iterator[tuple[str, str]]:
    """For each table in the FROM of a SELECT, a query for the row ids that pass the joins and conditions."""
    tree = parse(sql)
    for select in () if isinstance(tree, str) else tree.find_all(exp.Select):
        kept = {key: select.args.get(key) for key in ("with_", "from_", "joins", "where")}
        for node in (join.this for join in (kept["from_"], *(kept["joins"] or ())) if join):
            if isinstance(node, exp.Table) and (table := schema.table(node.name)):
                probe = exp.Select(**kept).copy()
                probe.set("expressions", [exp.column("rowid", quote(node.alias_or_name))])
                yield table.name, probe.sql("sqlite", comments=False)
