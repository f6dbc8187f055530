"""A copy of a query that returns tied rows in a random order."""

from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

from workbench.db.sql.parse import parse


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
