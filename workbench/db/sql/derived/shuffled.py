"""A query whose ties come out at random: what its ORDER BY leaves open, random() decides."""

from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

from workbench.db.sql.parse import parse


@lru_cache(maxsize=4096)
def shuffled(sql: str) -> str:
    """The query with random() as the last key of each ORDER BY, and as the only key of a LIMIT without one.

    SQLite breaks ties by what it reads or groups first, which no query states. A compound query's own ORDER BY
    takes result columns alone and stays; a query without ORDER BY and LIMIT and unreadable text stay as they are.
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
