"""Start from real rows: those that the queries' joins and conditions let through, and the first of each table.

A joined row that passes WHERE makes a query's result non-empty from the start, which random rows rarely do
(XData and VeriEQL solve for such rows; here the database is asked for them).
"""

from collections.abc import Iterable
from pathlib import Path

from workbench.db.execute import Executor
from workbench.db.sql.derived.source_rows import source_rows
from workbench.differ.rules import Rules
from workbench.types import Limits, Row, lower_name

Rows = dict[str, list[Row]]  # by table, in the order of the rules
JOINED = 3  # rows for each SELECT
_LIMITS = Limits(seconds=1.0, rows=JOINED, bytes=1_000_000)


def touched_rows(
    queries: Iterable[str], rules: Rules, database: Path, executor: Executor
) -> list[Rows]:
    """For each SELECT of the queries, the rows of each table that pass its joins and conditions."""
    probes = [probe for sql in queries for probe in source_rows(sql, rules.schema, JOINED)]
    jobs = [(database, probe.sql) for probe in probes]
    found = []
    for probe, execution in zip(probes, executor.execute_many(jobs, _LIMITS), strict=True):
        tables = [table for name in probe.tables if (table := rules.schema.table(name))]
        widths = [len(table.columns) for table in tables]
        if execution.status != "ok" or len(execution.columns) != sum(widths):
            continue  # as where USING shows a column once
        rows: Rows = {}
        for joined in execution.rows:
            start = 0
            for table, width in zip(tables, widths, strict=True):
                part = joined[start : start + width]
                start += width
                if table.name in rules.tables and any(value is not None for value in part):
                    row = _stored(
                        part, [column.name for column in table.columns], rules, table.name
                    )
                    rows.setdefault(table.name, [])
                    if row not in rows[table.name]:
                        rows[table.name].append(row)
        found.append(rows)
    return found


def _stored(part: Row, names: list[str], rules: Rules, table: str) -> Row:
    """The columns that are inserted: all but generated ones."""
    by_name = {lower_name(name): value for name, value in zip(names, part, strict=True)}
    return tuple(by_name[lower_name(name)] for name in rules.tables[table].columns)
