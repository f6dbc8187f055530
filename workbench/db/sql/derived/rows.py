"""Queries made from a query: for its source rows before grouping, and one that returns tied rows in a random order."""

from dataclasses import dataclass
from functools import lru_cache

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


@lru_cache(maxsize=4096)
def shuffled(sql: str) -> str:
    """The query with random() as the last key of each ORDER BY, and as the only key before a LIMIT without ORDER BY.

    SQLite breaks ties by the order in which it reads or groups rows, which no query states. These stay as they are:
    the ORDER BY of a compound query, which takes only result columns, a query without ORDER BY and LIMIT, and
    unreadable text.
    """
    tree = parse(sql)
    if isinstance(tree, str):
        return sql
    try:
        tree = tree.copy()
        ordered = [
            select
            for select in tree.find_all(exp.Select)
            if select.args.get("order") or select.args.get("limit")
        ]
        for select in ordered:
            order = select.args.get("order")
            keys = order.expressions if order else []
            random = exp.Anonymous(this="random")
            select.set("order", exp.Order(expressions=[*keys, exp.Ordered(this=random)]))
        return tree.sql("sqlite", comments=False) if ordered else sql
    except (SqlglotError, RecursionError):
        return sql
