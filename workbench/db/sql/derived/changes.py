"""The changes that make a mutant of a query. Each change is a function that yields replacements for a node of its tree.

None as a replacement removes the node. A change yields nothing for a node of another kind. `CHANGES` names the kinds.
"""

from collections.abc import Callable, Iterator
from typing import Any

from sqlglot import exp

_SWAPS: dict[str, dict[type[exp.Expr], type[exp.Expr]]] = {
    "boundary": {exp.GT: exp.GTE, exp.GTE: exp.GT, exp.LT: exp.LTE, exp.LTE: exp.LT},
    "direction": {exp.GT: exp.LT, exp.GTE: exp.LTE, exp.LT: exp.GT, exp.LTE: exp.GTE},
    "equality": {exp.EQ: exp.NEQ, exp.NEQ: exp.EQ},
    "connective": {exp.And: exp.Or, exp.Or: exp.And},
    "arithmetic": {exp.Add: exp.Sub, exp.Sub: exp.Add, exp.Mul: exp.Add, exp.Div: exp.Mul},
    "set operation": {exp.Union: exp.Intersect, exp.Intersect: exp.Except, exp.Except: exp.Union},
    "aggregate": {exp.Max: exp.Min, exp.Min: exp.Max, exp.Sum: exp.Avg, exp.Avg: exp.Sum},
}


def _swap(kind: str) -> Callable[[exp.Expr], Iterator[exp.Expr | None]]:
    def change(node: exp.Expr) -> Iterator[exp.Expr | None]:
        is_join = isinstance(node.parent, exp.Join) and kind != "connective"
        if (new := _SWAPS[kind].get(type(node))) and not is_join:
            yield new(**node.copy().args)

    return change


def _with(node: exp.Expr, key: str, value: Any) -> exp.Expr:
    """A copy of the node with another value of an argument."""
    new = node.copy()
    new.set(key, value)
    return new


def _number(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if not isinstance(node, exp.Literal) or node.is_string or not node.this.isdecimal():
        return
    if not isinstance(node.parent, exp.Limit | exp.Offset | exp.Ordered | exp.Group):
        yield exp.Literal.number(int(node.this) + 1)
        yield exp.Literal.number(max(int(node.this) - 1, 0))


def _text(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Literal) and node.is_string:
        if not isinstance(node.parent, exp.Like):
            yield exp.Literal.string(node.this.swapcase())
        yield exp.Literal.string(node.this + "x")


def _pattern(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Like) and isinstance(node.expression, exp.Literal):
        pattern = node.expression.this
        for other in (pattern.strip("%"), pattern.lstrip("%"), pattern.rstrip("%")):
            yield _with(node, "expression", exp.Literal.string(other))


def _dropped_condition(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.And | exp.Or):
        yield node.this.copy()
        yield node.expression.copy()
    if isinstance(node, exp.Where | exp.Having):
        yield None


def _negation(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Not):
        yield node.this.copy()
    elif isinstance(node, exp.In | exp.Like | exp.Between | exp.Exists | exp.Is) and not isinstance(
        node.parent, exp.Not
    ):
        yield exp.Not(this=node.copy())


def _counted(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Column):
        yield exp.Count(this=exp.Distinct(expressions=[node.this.copy()]))
        yield exp.Count(this=exp.Star())
    elif isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct):
        yield exp.Count(this=node.this.expressions[0].copy())


def _distinct(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Select):
        if node.args.get("distinct"):
            yield _with(node, "distinct", None)
        elif not node.parent and not node.args.get("group") and not node.find(exp.AggFunc):
            yield _with(node, "distinct", exp.Distinct())


def _union_all(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Union):
        yield _with(node, "distinct", not node.args.get("distinct"))


def _join_kind(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Join) and node.args.get("on"):
        yield _with(_with(node, "kind", None), "side", None if node.side else "LEFT")


def _join_condition(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Join) and node.args.get("on"):
        yield _with(node, "on", None)


def _direction_of_order(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Ordered):
        new = _with(node, "desc", not node.args.get("desc"))
        yield _with(new, "nulls_first", not node.args.get("nulls_first"))


def _limit(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Limit) and isinstance(node.expression, exp.Literal):
        yield exp.Limit(expression=exp.Literal.number(int(node.expression.this) + 1))
        yield None


def _grouping(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Group) and node.expressions:
        if len(node.expressions) > 1:
            yield exp.Group(expressions=[part.copy() for part in node.expressions[:-1]])
        elif not isinstance(node.parent, exp.Select) or not node.parent.args.get("having"):
            yield None


def _output(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Select) and len(node.expressions) > 1:
        yield _with(node, "expressions", node.copy().expressions[:-1])


def _null_test(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Where):
        column = node.find(exp.Column)
        if column:
            missing = exp.Is(this=column.copy(), expression=exp.Null())
            yield exp.Where(this=exp.Or(this=exp.Paren(this=node.this.copy()), expression=missing))


CHANGES: dict[str, Callable[[exp.Expr], Iterator[exp.Expr | None]]] = {
    **{kind: _swap(kind) for kind in _SWAPS},
    "number": _number,
    "text": _text,
    "pattern": _pattern,
    "condition dropped": _dropped_condition,
    "negation": _negation,
    "counted": _counted,
    "DISTINCT": _distinct,
    "UNION ALL": _union_all,
    "join kind": _join_kind,
    "join condition dropped": _join_condition,
    "direction of ORDER BY": _direction_of_order,
    "limit": _limit,
    "grouping": _grouping,
    "output dropped": _output,
    "NULL let in": _null_test,
}
