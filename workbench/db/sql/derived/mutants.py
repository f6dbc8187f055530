"""Mutants of a query: the query with one thing changed, as people and models get it wrong.

The kinds follow the mutation operators of SQLMutation (Tuya, Suarez-Cabal and de la Riva 2007), which XData's
databases are built to tell apart, and the neighbours of test-suite accuracy (Zhong, Yu and Klein 2020, section 3.2:
numbers, texts, operators and columns replaced, spans dropped). A mutant may have the same meaning as its query
by chance, as `>` and `>=` have where no value is equal.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from workbench.db.sql.parse import parse
from workbench.db.sql.scope import Names
from workbench.types import Schema

_Change = tuple[str, exp.Expr | None]  # a kind, and what takes the node's place; None removes it


@dataclass(frozen=True, slots=True)
class Mutant:
    kind: str
    sql: str


def mutants(sql: str, schema: Schema) -> list[Mutant]:
    """All mutants of a query in the order of its parts; [] for unreadable text.

    A column is replaced by its neighbours in its table. No two mutants have one text.
    """
    tree = parse(sql)
    if isinstance(tree, str):
        return []
    seen = {_text_of(tree)}
    found = []
    try:
        names = Names(tree, sql, schema)
        for index, node in enumerate(tree.walk()):
            for kind, new in _changes(node, names):
                text = _replaced(tree, index, new)
                if text not in seen:
                    seen.add(text)
                    found.append(Mutant(kind, text))
    except (SqlglotError, RecursionError):
        pass
    return found


def _replaced(tree: exp.Expr, index: int, new: exp.Expr | None) -> str:
    copy = tree.copy()
    old = next(islice(copy.walk(), index, None))
    if old is copy:
        copy = new or copy
    elif new is None:
        old.pop()
    else:
        old.replace(new)
    return _text_of(copy)


def _text_of(tree: exp.Expr) -> str:
    return tree.sql("sqlite", comments=False, unsupported_level=ErrorLevel.IGNORE)


def _changes(node: exp.Expr, names: Names) -> Iterator[_Change]:
    for kind, change in _RULES.items():
        for new in change(node):
            yield kind, new
    if isinstance(node, exp.Column):
        for neighbour in _neighbours(node, names):
            yield _place(node), neighbour


def _neighbours(column: exp.Column, names: Names) -> Iterator[exp.Expr]:
    """The column with the name of the next and of the previous column of its table."""
    found = names.binding(column).column
    table = names.schema.table(found[0]) if found else None
    if not found or not table or isinstance(column.parent, exp.Join):
        return
    all_names = [other.name for other in table.columns]
    at = all_names.index(found[1])
    for other in dict.fromkeys((all_names[(at + 1) % len(all_names)], all_names[at - 1])):
        new = column.copy()
        new.set("this", exp.to_identifier(other, quoted=True))
        yield new


def _place(node: exp.Expr) -> str:
    """The kind of a replaced column: by the clause that it stands in."""
    inside = node.find_ancestor(exp.Where, exp.Having, exp.Group, exp.Order, exp.Join, exp.Select)
    clauses: dict[type[exp.Expr] | None, str] = {
        exp.Where: "column of a condition",
        exp.Having: "column of a condition",
        exp.Group: "column of GROUP BY",
        exp.Order: "column of ORDER BY",
        exp.Join: "column of a join",
    }
    return clauses.get(type(inside) if inside else None, "column of the output")


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
            new = node.copy()
            new.set("expression", exp.Literal.string(other))
            yield new


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
        new = node.copy()
        if node.args.get("distinct"):
            new.set("distinct", None)
            yield new
        elif not node.parent and not node.args.get("group") and not node.find(exp.AggFunc):
            new.set("distinct", exp.Distinct())
            yield new


def _union_all(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Union):
        new = node.copy()
        new.set("distinct", not node.args.get("distinct"))
        yield new


def _join_kind(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Join) and node.args.get("on"):
        new = node.copy()
        new.set("kind", None)
        new.set("side", None if node.side else "LEFT")
        yield new


def _join_condition(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Join) and node.args.get("on"):
        new = node.copy()
        new.set("on", None)
        yield new


def _direction_of_order(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Ordered):
        new = node.copy()
        new.set("desc", not node.args.get("desc"))
        new.set("nulls_first", not node.args.get("nulls_first"))
        yield new


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
        new = node.copy()
        new.set("expressions", new.expressions[:-1])
        yield new


def _null_test(node: exp.Expr) -> Iterator[exp.Expr | None]:
    if isinstance(node, exp.Where):
        column = node.find(exp.Column)
        if column:
            missing = exp.Is(this=column.copy(), expression=exp.Null())
            yield exp.Where(this=exp.Or(this=exp.Paren(this=node.this.copy()), expression=missing))


_RULES: dict[str, Callable[[exp.Expr], Iterator[exp.Expr | None]]] = {
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
