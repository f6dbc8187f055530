"""Read the facts of a query that error rules use: results, comparisons, joins, operations."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from workbench.db.sql.parse import is_aggregate, may_be_string, parse
from workbench.db.sql.scope import Names
from workbench.db.sql.sources import ColumnName
from workbench.types import Schema


@dataclass(frozen=True, slots=True)
class Output:
    """A result column."""

    column: ColumnName | None
    """The schema's column, plain or inside an aggregate; None for any other expression."""
    function: str = ""
    """The aggregate in lower case; "" for a plain column, "expression" for any other expression."""
    inside: tuple["Output", ...] = ()
    """The columns and aggregates of an expression, in order."""


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
    outputs: tuple[Output, ...]
    comparisons: tuple[LiteralComparison, ...]
    equal_columns: tuple[tuple[ColumnName, ColumnName], ...]
    """Pairs of columns that are set equal, in a join or through a subquery."""
    aggregate_comparisons: tuple[tuple[ColumnName, ColumnName], ...]
    """Pairs of a column and of the column in the aggregate with which it is compared."""
    compared_columns: tuple[tuple[ColumnName, ColumnName], ...]
    """Pairs of columns that are compared by an operator other than `=`."""
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
        comparisons: list[LiteralComparison] = []
        equal_columns: list[tuple[ColumnName, ColumnName]] = []
        aggregate_comparisons: list[tuple[ColumnName, ColumnName]] = []
        compared_columns: list[tuple[ColumnName, ColumnName]] = []
        for node in nodes:
            for left, operator, right in _comparisons(node):
                column = self.names.column_name(left)
                value = self.literal(right)
                # The right side may be a subquery of one result column, as in `x = (SELECT MAX(y) FROM t)`.
                output = self.only_output(right)
                other = output.column if output else self.names.column_name(right)
                if value is not None:
                    comparisons.append(LiteralComparison(column, operator, value))
                elif column and other and output and output.function:
                    aggregate_comparisons.append((column, other))
                elif column and other:
                    pairs = equal_columns if operator == "=" else compared_columns
                    pairs.append((column, other))
        columns = (self.names.column_name(n) for n in nodes if isinstance(n, exp.Column))
        return QueryFacts(
            frozenset(self.names.tables),
            frozenset(column for column in columns if column),
            tuple(self.outputs(_first_select(self.tree))),
            tuple(comparisons),
            tuple(equal_columns),
            tuple(aggregate_comparisons),
            tuple(compared_columns),
            frozenset(operation for node in nodes for operation in _operations(node)),
        )

    def outputs(self, select: exp.Expr) -> Iterator[Output]:
        for part in select.expressions:
            if not (isinstance(part, exp.Star | exp.Column) and part.is_star):
                yield self.output(part)
                continue
            for source in self.names.starred(part, self.names.scope(select)):
                for offered in (source.columns or {}).values():
                    yield Output(offered.column, "" if offered.column else "expression")

    def output(self, part: exp.Expr) -> Output:
        part = part.unalias()
        if is_aggregate(part):
            inner = part.this
            if isinstance(inner, exp.Distinct):
                inner = inner.expressions[0]
            return Output(self.names.column_name(inner), part.key)
        if column := self.names.column_name(part):
            return Output(column)
        return Output(None, "expression", tuple(self.inside(part)))

    def inside(self, expression: exp.Expr) -> Iterator[Output]:
        for part in expression.iter_expressions():
            if isinstance(part, exp.Subquery):
                yield from self.outputs(_first_select(part))
                continue
            output = self.output(part)
            yield from output.inside if output.function == "expression" else [output]

    def only_output(self, node: exp.Expr) -> Output | None:
        """The result column of a subquery with one result column; None for any other node."""
        select = _first_select(node)
        if isinstance(select, exp.Select) and len(select.expressions) == 1:
            return self.output(select.expressions[0])
        return None

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
        if query := node.args.get("query"):
            yield node.this, "=", query
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


def _first_select(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Subquery | exp.SetOperation):
        node = node.this
    return node
