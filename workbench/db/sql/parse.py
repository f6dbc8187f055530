"""Parse a query into sqlglot's tree, and read from the tree what several modules of this folder need."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from workbench.types import lower_name

_LONGEST = 50_000  # characters; parsing a longer query takes seconds
_OPENING = re.compile(
    r"(?:\s|\(|--[^\n]*+(?:\n|\Z)|/\*.*?(?:\*/|\Z))*+(?:SELECT|WITH|VALUES)\b",
    re.IGNORECASE | re.DOTALL,
)


@lru_cache(maxsize=1024)
def parse(sql: str) -> exp.Expr | str:
    """The tree, or the reason why the query cannot be parsed. The tree is cached: copy it before changing it."""
    if len(sql) > _LONGEST:
        return f"longer than {_LONGEST} characters"
    if not _OPENING.match(sql):  # sqlglot would log warnings about many texts that are no queries
        return "no query: it starts with neither SELECT nor WITH nor VALUES"
    try:
        trees = [
            tree
            for tree in sqlglot.parse(sql, read="sqlite")
            if not isinstance(tree, exp.Semicolon | None)
        ]
    except SqlglotError as error:
        return str(error).partition("\n")[0]
    except RecursionError:
        return "nested too deeply"
    if len(trees) != 1:
        return f"{len(trees)} statements where one is expected"
    tree: Any = trees[0]
    if not isinstance(tree, exp.Query | exp.Values):
        return f"no query but {tree.key}"
    if isinstance(tree, exp.Select) and not tree.expressions:
        return "a SELECT without a result column"
    return tree


def why_unreadable(sql: str) -> str:
    """Why this text cannot be read as one SQLite query; "" if it can.

    The parser is a little more lenient than SQLite, and does not read everything that SQLite runs.
    """
    tree = parse(sql)
    return tree if isinstance(tree, str) else ""


def may_be_string(name: exp.Expr, sql: str) -> bool:
    """Whether this is a column name in double quotes and without a table, which SQLite may read as a string."""
    start = name.meta.get("start", -1)
    column = name.parent
    return (
        sql[start : start + 1] == '"'
        and isinstance(column, exp.Column)
        and column.args.get("table") is None
    )


def is_aggregate(node: exp.Expr) -> bool:
    """Whether this is an aggregate call without OVER."""
    is_total = isinstance(node, exp.Anonymous) and node.name.lower() == "total"
    return (is_total or isinstance(node, exp.AggFunc)) and not has_over(node)


def has_over(call: exp.Expr) -> bool:
    """Whether this is a call with OVER, perhaps behind FILTER or IGNORE NULLS."""
    parent = call.parent
    while isinstance(parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        parent = parent.parent
    return isinstance(parent, exp.Window)


def with_compound(select: exp.Select) -> exp.Expr:
    """The compound query whose first SELECT this is, else the SELECT itself: its ORDER BY and LIMIT apply."""
    whole: exp.Expr = select
    while isinstance(whole.parent, exp.SetOperation) and whole.arg_key == "this":
        whole = whole.parent
    return whole


def at_position(term: exp.Expr, select: exp.Select) -> exp.Expr | None:
    """The result column that a number in ORDER BY or GROUP BY refers to; None for any other term."""
    if not isinstance(term, exp.Literal) or not term.name.isdigit():
        return None
    return next(iter(select.expressions[int(term.name) - 1 : int(term.name)]), None)


def result_column(term: exp.Expr, select: exp.Select) -> exp.Expr | None:
    """The result column that an alias or a position in ORDER BY or GROUP BY refers to; None for any other term."""
    if isinstance(term, exp.Column) and not term.table:
        named = (p for p in select.expressions if lower_name(p.alias) == lower_name(term.name))
        return next(named, None)
    return at_position(term, select)


def own_nodes(root: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of an expression without those inside its subqueries, whose roots are included."""
    yield from root.walk(prune=lambda node: isinstance(node, exp.Query))
