"""A counterexample: the few rows of a database on which two queries still differ, and both results on them.

Rows of the database itself say more than made-up ones. The search, by delta debugging (Zeller and Hildebrandt 2002),
runs inside a sandboxed worker; here are the queries for the rows that each SELECT takes from each table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp
from sqlglot.errors import SqlglotError

from workbench.sql.executor import Executor, execution, rows_of
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
    tables = names[0].tables | names[1].tables
    if names[0].error or names[1].error or not tables:
        return None
    probes: dict[str, list[str]] = {table: [] for table in sorted(tables)}
    for sql in (first, second):
        for table, probe in _probes(sql, schema):
            probes.get(table, []).append(probe)
    request = {"do": "counterexample", "queries": [first, second], "probes": probes, "most": MOST}
    answer = executor.ask(database, request | {"seconds": SECONDS})
    if "tables" not in answer:
        return None
    one, other = (execution(result | {"seconds": 0.0}) for result in answer["results"])
    columns = {table: tuple(own) for table, own in answer["names"].items()}
    return Counterexample(
        {table: rows_of(rows) for table, rows in answer["tables"].items()}, columns, one, other
    )


def _probes(sql: str, schema: Schema) -> Iterator[tuple[str, str]]:
    """For each table in the FROM of a SELECT, the row ids of it that pass the joins and conditions.

    That of a correlated subquery fails when it runs, as it names columns of the outer query.
    """
    tree = parse(sql)
    if isinstance(tree, str):
        return
    try:
        for select in tree.find_all(exp.Select):
            joins = select.args.get("joins") or []
            nodes = [join.this for join in joins]
            if clause := select.args.get("from_"):
                nodes.append(clause.this)
            kept = {key: select.args.get(key) for key in ("with_", "from_", "joins", "where")}
            for node in nodes:
                table = schema.table(node.name) if isinstance(node, exp.Table) else None
                if table:
                    row_id = exp.column("rowid", quote(node.alias_or_name))
                    probe = exp.Select(**kept).copy()
                    probe.set("expressions", [row_id])
                    yield table.name, probe.sql("sqlite", comments=False)
    except (SqlglotError, RecursionError):
        return
