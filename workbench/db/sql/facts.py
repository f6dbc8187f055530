"""Read the facts of a query that error rules use: tables, columns, comparisons with literals, operations."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from workbench.db.sql.parse import may_be_string, parse
from workbench.db.sql.scope import Names
from workbench.db.sql.sources import ColumnName
from workbench.types import Schema


@dataclass(frozen=True, slots=True)
class LiteralComparison:
    """A comparison with a literal."""

    column: ColumnName | None
    """The compared column; None if another expression, such as a function's value, is compared."""
    operator: str
    value: str | int | float


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """The facts of one query."""

    tables: frozenset[str]
    columns: frozenset[ColumnName]
    comparisons: tuple[LiteralComparison, ...]
    operations: frozenset[str]
    """The words of `_OPERATIONS`, "distinct count" and "descending" that apply to the query."""


def query_facts(sql: str, schema: Schema) -> QueryFacts | None:
    """The facts of a query; None if it cannot be read."""
    tree = parse(sql)
    if isinstance(tree, str):
        return None
    try:
        return _Reader(tree, sql, schema).read()
    except RecursionError:
        return None


_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.Is: "=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.Like: "like",
}
_OPERATIONS = {
    "count", "sum", "avg", "min", "max", "distinct", "group", "order", "limit", "not", "or", "like", "in", "intersect",
    "except", "union",
}  # fmt: skip


class _Reader:
    def __init__(self, tree: exp.Expr, sql: str, schema: Schema) -> None:
        self.tree = tree
        self.names = Names(tree, sql, schema)

    def read(self) -> QueryFacts:
        nodes = list(self.tree.walk())
        comparisons = (
            LiteralComparison(self.names.column_name(left), operator, value)
            for node in nodes
            for left, operator, right in _comparisons(node)
            if (value := self.literal(right)) is not None
        )
        operations = frozenset(operation for node in nodes for operation in _operations(node))
        columns = (self.names.column_name(node) for node in nodes if isinstance(node, exp.Column))
        return QueryFacts(
            frozenset(self.names.tables),
            frozenset(filter(None, columns)),
            tuple(comparisons),
            operations,
        )

    def literal(self, node: exp.Expr) -> str | int | float | None:
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.Neg):
            value = self.literal(node.this)
            return None if value is None or isinstance(value, str) else -value
        if isinstance(node, exp.Literal):
            if node.is_string:
                return str(node.this)
            return int(node.this) if node.this.isdecimal() else float(node.this)
        string = isinstance(node, exp.Column) and may_be_string(node.this, self.names.sql)
        return node.name if string and not self.names.column_name(node) else None


def _comparisons(node: exp.Expr) -> Iterator[tuple[exp.Expr, str, exp.Expr]]:
    """The left side, operator and right side of each comparison; a literal or subquery is on the right."""
    if operator := _OPERATORS.get(type(node)):
        left, right = node.this, node.args["expression"]
        if isinstance(left, exp.Literal | exp.Subquery):
            left, right = right, left
        yield left, operator, right
    elif isinstance(node, exp.In):
        for value in node.expressions:
            yield node.this, "=", value
    elif isinstance(node, exp.Between):
        yield node.this, ">=", node.args["low"]
        yield node.this, "<=", node.args["high"]


def _operations(node: exp.Expr) -> Iterator[str]:
    if node.key in _OPERATIONS:
        yield node.key
    if isinstance(node, exp.NEQ):
        yield "not"
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct):
        yield "distinct count"
    if isinstance(node, exp.Ordered) and node.args.get("desc"):
        yield "descending"
