"""Count the constructs of a query, by which NL2SQL360 groups questions to compare systems, and list its functions."""

import re

from sqlglot import exp

from workbench.db.sql.parse import has_over, is_aggregate, parse


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
    queries = count(exp.Select) - compounds  # a compound is one query
    return {
        "JOIN": count(exp.Join),  # also by a comma
        "GROUP BY": count(exp.Group),
        "HAVING": count(exp.Having),
        "ORDER BY": sum(
            isinstance(node, exp.Order) and isinstance(node.parent, exp.Query) for node in nodes
        ),
        "LIMIT": count(exp.Limit),
        "DISTINCT": count(exp.Distinct),  # of a SELECT or inside an aggregate
        "aggregation": sum(map(is_aggregate, nodes)),  # without OVER
        "scalar function": sum(  # without OVER, CAST included, IIF not
            _is_scalar_call(node) and not isinstance(node, exp.Case | exp.If) and not has_over(node)
            for node in nodes
        ),
        "arithmetic": count(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod),
        "AND or OR": count(exp.And, exp.Or),  # that of BETWEEN apart
        "LIKE": count(exp.Like),
        "CASE": count(exp.Case),
        "nested query": max(queries - 1, 0),  # a value, table, IN, EXISTS, common table expression
        "set operation": compounds,
        "window": count(exp.Window) - sum(len(node.args.get("windows") or ()) for node in nodes),
    }


def functions(sql: str) -> frozenset[str]:
    """The names of the scalar functions that a query calls, with CAST, CASE and the operators || and /."""
    tree = parse(sql)
    if isinstance(tree, str):
        return frozenset()
    found = set()
    for node in tree.walk():
        if operator := _OPERATORS.get(type(node)):
            found.add(operator)
        elif _is_scalar_call(node):
            name = re.match(r"\w+(?=\()", node.sql(dialect="sqlite"))
            found |= {name[0].upper()} if name else set()
    return frozenset(found)


_OPERATORS: dict[type[exp.Expr], str] = {exp.Div: "/", exp.DPipe: "||", exp.Case: "CASE"}


def _is_scalar_call(node: exp.Expr) -> bool:
    """Whether this calls a scalar function. sqlglot has AND, OR, comparisons and the WHEN of CASE as functions, too."""
    is_when = isinstance(node, exp.If) and isinstance(node.parent, exp.Case)
    is_other = isinstance(node, exp.Connector | exp.Predicate | exp.AggFunc) or is_aggregate(node)
    return isinstance(node, exp.Func) and not is_when and not is_other
