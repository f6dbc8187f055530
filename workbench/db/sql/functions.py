"""List the functions that a query calls."""

import re

from sqlglot import exp

from workbench.db.sql.parse import is_aggregate, parse


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
