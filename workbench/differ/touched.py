"""The real rows that the joins and conditions of queries let through.

A search starts from these rows, since random rows rarely pass a join and WHERE, and most queries would return an
empty result. XData and VeriEQL compute rows that pass with a solver; this module reads them from the database.
"""

from collections.abc import Iterable
from pathlib import Path

from workbench.db.execute import Executor
from workbench.db.sql.derived.rows import source_rows
from workbench.differ.rules import Rows, Rules
from workbench.types import Limits, Row, Table, lower_name

JOINED = 3  # joined rows read for each SELECT
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
            continue  # USING shows a column once, so the columns cannot be split by table
        rows: Rows = {}
        for joined in execution.rows:
            start = 0
            for table, width in zip(tables, widths, strict=True):
                part = joined[start : start + width]
                start += width
                if table.name in rules.tables and any(value is not None for value in part):
                    row = _stored(part, table, rules)
                    own = rows.setdefault(table.name, [])
                    if row not in own:
                        own.append(row)
        found.append(rows)
    return found


def _stored(part: Row, table: Table, rules: Rules) -> Row:
    """The values of the columns that can be inserted: all but the generated columns."""
    names = (lower_name(column.name) for column in table.columns)
    by_name = dict(zip(names, part, strict=True))
    return tuple(by_name[lower_name(name)] for name in rules.tables[table.name].columns)
