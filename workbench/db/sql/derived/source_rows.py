"""Queries for the source rows of a query: the joined rows of each SELECT that pass its WHERE, before grouping."""

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError

from workbench.db.sql.parse import parse
from workbench.db.sql.scope import Names
from workbench.types import Schema


@dataclass(frozen=True, slots=True)
class SourceRows:
    """A query whose result has all columns of each of `tables`, side by side in their order."""

    sql: str
    tables: tuple[str, ...]


def source_rows(sql: str, schema: Schema, limit: int) -> list[SourceRows]:
    """A query for each SELECT that reads only tables of the schema; [] for unreadable text.

    The query for a correlated subquery fails when it runs, as it names columns of the outer query.
    """
    tree = parse(sql)
    if isinstance(tree, str):
        return []
    found = []
    try:
        names = Names(tree, sql, schema)
        for select in tree.find_all(exp.Select):
            sources = names.scope(select).sources
            tables = [source.table for source in sources if source.table]
            if tables and len(tables) == len(sources):
                query = exp.Select(
                    **{key: select.args.get(key) for key in ("with_", "from_", "joins", "where")}
                ).copy()
                query.set("expressions", [exp.Star()])
                found.append(
                    SourceRows(
                        query.limit(limit).sql("sqlite", comments=False),
                        tuple(table.name for table in tables),
                    )
                )
    except (SqlglotError, RecursionError):
        return []
    return found
