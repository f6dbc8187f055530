"""Facts of a query: the counts by which NL2SQL360 groups queries, its functions, its comparisons with literals."""

import re
from decimal import Decimal
from typing import Any, NamedTuple

from sqlglot import exp

from workbench.sql.reading import ColumnName, parse, resolved
from workbench.types import Schema

_SIGNS: dict[type[exp.Expr], str] = {exp.Div: "/", exp.DPipe: "||", exp.Case: "CASE"}


def features(sql: str) -> dict[str, int] | None:
    """The count of each construct in a query, under the names that tables show; None if it cannot be read.

    Each count is of the whole statement, with subqueries and common table expressions. HAVING, CASE and nested query
    are ours; the others agree with NL2SQL360's labels.
    """
    tree = parse(sql)
    if isinstance(tree, str):
        return None
    nodes = list(tree.walk())

    def count(*kinds: type[exp.Expr]) -> int:
        return sum(isinstance(node, kinds) for node in nodes)

    compounds = count(exp.SetOperation)
    calls = [node for node in nodes if not _has_over(node)]
    scalar = filter(_is_scalar_call, calls)
    return {
        "JOIN": count(exp.Join),  # also by a comma
        "GROUP BY": count(exp.Group),
        "HAVING": count(exp.Having),
        "ORDER BY": sum(isinstance(n.parent, exp.Query) for n in nodes if isinstance(n, exp.Order)),
        "LIMIT": count(exp.Limit),
        "DISTINCT": count(exp.Distinct),  # of a SELECT or inside an aggregate
        "aggregation": sum(map(_is_aggregate, calls)),
        "scalar function": sum(not isinstance(n, exp.Case | exp.If) for n in scalar),  # with CAST
        "arithmetic": count(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod),
        "AND or OR": count(exp.And, exp.Or),  # that of BETWEEN apart
        "LIKE": count(exp.Like),
        "CASE": count(exp.Case),
        # A value, table, IN, EXISTS or common table expression; a compound is one query.
        "nested query": max(count(exp.Select) - compounds - 1, 0),
        "set operation": compounds,
        "window": count(exp.Window) - sum(len(node.args.get("windows") or ()) for node in nodes),
    }


def functions(sql: str) -> frozenset[str]:
    """The names of the functions that a query calls, with CAST, CASE and the operators || and /."""
    tree = parse(sql)
    nodes = [] if isinstance(tree, str) else list(tree.walk())
    calls = [node for node in nodes if _is_scalar_call(node) or _is_aggregate(node)]
    names = (re.match(r"\w+(?=\()", call.sql("sqlite")) for call in calls)
    signs = {_SIGNS[type(node)] for node in nodes if type(node) in _SIGNS}
    return frozenset({name[0].upper() for name in names if name} | signs)


def _is_scalar_call(node: exp.Expr) -> bool:
    """Whether this calls a scalar function. sqlglot has AND, OR, comparisons and the WHEN of CASE as functions, too."""
    is_when = isinstance(node, exp.If) and isinstance(node.parent, exp.Case)
    is_other = isinstance(node, exp.Connector | exp.Predicate) or _is_aggregate(node)
    return isinstance(node, exp.Func) and not is_when and not is_other


def _is_aggregate(node: exp.Expr) -> bool:
    is_total = isinstance(node, exp.Anonymous) and node.name.lower() == "total"
    return is_total or isinstance(node, exp.AggFunc)


def _has_over(call: exp.Expr) -> bool:
    """Whether this is a call with OVER, perhaps behind FILTER or IGNORE NULLS."""
    parent = call.parent
    while isinstance(parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        parent = parent.parent
    return isinstance(parent, exp.Window)


class Comparison(NamedTuple):
    """A comparison with a literal; `column` is None if it compares no column, but a function's value for example."""

    column: ColumnName | None
    equals: bool  # by =, IS or IN
    value: str | int | float


def comparisons(sql: str, schema: Schema) -> list[Comparison]:
    """The query's comparisons with literals; none if it cannot be read."""
    if not (found := resolved(sql, schema)):
        return []
    made = []
    for node in found.tree.find_all(exp.Predicate):
        sides = [(side, _literal(side)) for side in node.iter_expressions()]
        compared = next((side for side, value in sides if value is None), None)
        while isinstance(compared, exp.Paren | exp.Lower | exp.Upper | exp.Cast | exp.Trim):
            compared = compared.this
        equals = isinstance(node, exp.EQ | exp.Is | exp.In)
        values = [value for _, value in sides if value is not None]
        made += [Comparison(found.column(compared), equals, value) for value in values]
    return made


def _literal(node: exp.Expr) -> str | int | float | None:
    node = node.unnest()
    value: Any = node.to_py() if node.is_string or node.is_number else None
    return float(value) if isinstance(value, Decimal) else value
