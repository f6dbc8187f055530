"""Count the constructs of a query, by which NL2SQL360 groups questions to compare systems, and list its functions.

NL2SQL360's columns have the same names after `count_`. Each count is of the whole statement, with subqueries and
common table expressions, unless its comment names another part.
"""

import re
from dataclasses import dataclass

from sqlglot import exp

from workbench.db.sql.parse import has_over, is_aggregate, parse


@dataclass(frozen=True, slots=True)
class Features:
    """The last four counts are ours; the others agree with NL2SQL360's labels.

    `subquery` follows NL2SQL360, which counts no query after IN or EXISTS; `nested` counts these queries, too.
    """

    query_fields: int  # result columns of the outermost (in a compound: the first) SELECT; * is one
    group_by: int  # GROUP BY clauses
    order_by: int  # ORDER BY clauses of queries
    limit: int  # LIMIT clauses
    join: int  # tables joined to another one, by JOIN or by a comma
    predicate: int  # comparisons: = <> < > <= >= IS LIKE GLOB MATCH REGEXP BETWEEN IN EXISTS
    aggregation: int  # aggregate calls without OVER
    scalar_function: int  # other function calls without OVER, CAST included, IIF not
    subquery: int  # queries in parentheses that stand for a value or a table
    set_operation: int  # UNION, UNION ALL, INTERSECT, EXCEPT
    math_compute: int  # + - * / % between two operands
    logical_connecter: int  # AND and OR, that of BETWEEN apart
    distinct: int  # DISTINCT, of a SELECT or inside an aggregate
    like: int  # LIKE, NOT LIKE included
    control_flow: int  # CASE and IIF
    window: int  # calls with OVER
    having: int  # HAVING clauses
    cte: int  # common table expressions
    nested: int  # queries inside another one: value, table, IN, EXISTS, common table expression
    case: int  # CASE expressions


NAMES = {
    "join": "JOIN",
    "group_by": "GROUP BY",
    "having": "HAVING",
    "order_by": "ORDER BY",
    "limit": "LIMIT",
    "distinct": "DISTINCT",
    "aggregation": "aggregation",
    "scalar_function": "scalar function",
    "math_compute": "arithmetic",
    "logical_connecter": "AND or OR",
    "like": "LIKE",
    "case": "CASE",
    "nested": "nested query",
    "set_operation": "set operation",
    "window": "window",
}
"""The features that tables and figures show, with the names that these show."""


def features(sql: str) -> Features | None:
    """The counts that `Features` defines; None if the query cannot be read."""
    tree = parse(sql)
    if isinstance(tree, str):
        return None
    nodes = list(tree.walk())

    def count(*kinds: type[exp.Expr]) -> int:
        return sum(isinstance(node, kinds) for node in nodes)

    # The first SELECT of a compound gives its number of result columns; every other SELECT of it has as many.
    first = tree.find(exp.Select)
    case = count(exp.Case)
    compounds = count(exp.SetOperation)
    no_calls = (exp.Connector, exp.Predicate, exp.Case, exp.If, exp.AggFunc)
    queries = count(exp.Select) - compounds  # a compound is one query
    return Features(
        query_fields=len(first.expressions) if first else 0,
        group_by=count(exp.Group),
        order_by=sum(isinstance(n, exp.Order) and isinstance(n.parent, exp.Query) for n in nodes),
        limit=count(exp.Limit),
        join=count(exp.Join),
        predicate=count(exp.Predicate),
        aggregation=sum(is_aggregate(node) for node in nodes),
        scalar_function=sum(
            isinstance(node, exp.Func)
            and not isinstance(node, no_calls)
            and not is_aggregate(node)
            and not has_over(node)
            for node in nodes
        ),
        subquery=sum(
            isinstance(node, exp.Subquery)
            and isinstance(node.this, exp.Query)
            and not isinstance(node.parent, exp.In | exp.SetOperation | exp.Exists)
            and node is not tree
            for node in nodes
        ),
        set_operation=compounds,
        math_compute=count(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod),
        logical_connecter=count(exp.And, exp.Or),
        distinct=count(exp.Distinct),
        like=count(exp.Like),
        control_flow=case
        + sum(isinstance(n, exp.If) and not isinstance(n.parent, exp.Case) for n in nodes),
        window=count(exp.Window) - sum(len(n.args.get("windows") or ()) for n in nodes),
        having=count(exp.Having),
        cte=count(exp.CTE),
        nested=max(queries - 1, 0),
        case=case,
    )


def functions(sql: str) -> frozenset[str]:
    """The names of the scalar functions that a query calls, with CAST, CASE and the operators || and /."""
    tree = parse(sql)
    if isinstance(tree, str):
        return frozenset()
    found = set()
    for node in tree.walk():
        if operator := _OPERATORS.get(type(node)):
            found.add(operator)
        elif isinstance(node, exp.Func) and not is_aggregate(node) and not _is_no_scalar(node):
            name = re.match(r"\w+(?=\()", node.sql(dialect="sqlite"))
            found |= {name[0].upper()} if name else set()
    return frozenset(found)


_OPERATORS: dict[type[exp.Expr], str] = {exp.Div: "/", exp.DPipe: "||", exp.Case: "CASE"}


def _is_no_scalar(node: exp.Expr) -> bool:
    """Whether this is AND, OR, a comparison, a WHEN of CASE or an aggregate, which sqlglot also reads as functions."""
    is_when = isinstance(node, exp.If) and isinstance(node.parent, exp.Case)
    return is_when or isinstance(node, exp.Connector | exp.Predicate | exp.AggFunc)
