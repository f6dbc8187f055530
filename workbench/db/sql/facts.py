"""Read the facts of a query that selectors and error rules use: results, comparisons, joins, operations."""

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
    """The schema's column, itself or inside an aggregate; None for any other expression."""
    function: str = ""
    """The aggregate in lower case; "" for a plain column, "expression" for anything else."""
    inside: tuple["Output", ...] = ()
    """The columns and aggregates of an expression, in order."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with a literal."""

    column: ColumnName | None
    """None if not a column but, say, a function's value is compared."""
    operator: str
    value: str | int | float


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """The facts of one query."""

    tables: frozenset[str]
    columns: frozenset[ColumnName]
    outputs: tuple[Output, ...]
    compared: tuple[Compared, ...]
    matches: tuple[tuple[ColumnName, ColumnName], ...]
    """Pairs of columns that are set equal, in a join or through a subquery."""
    mixed: tuple[tuple[ColumnName, ColumnName], ...]
    """A column, and the column of an aggregate that it is compared with."""
    unequal: tuple[tuple[ColumnName, ColumnName], ...]
    """Pairs of columns that are compared by another operator than `=`."""
    marks: frozenset[str]
    """The query's operations: the words of `_MARKS`, "distinct count" and "descending"."""


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
_MARKS: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Distinct: "distinct",
    exp.Group: "group",
    exp.Order: "order",
    exp.Limit: "limit",
    exp.Not: "not",
    exp.NEQ: "not",
    exp.Or: "or",
    exp.Like: "like",
    exp.In: "in",
    exp.Intersect: "intersect",
    exp.Except: "except",
    exp.Union: "union",
}


class _Reader:
    def __init__(self, tree: exp.Expr, sql: str, schema: Schema) -> None:
        self.tree = tree
        self.sql = sql
        self.names = Names(tree, sql, schema)

    def read(self) -> QueryFacts:
        nodes = list(self.tree.walk())
        compared: list[Compared] = []
        matches: list[tuple[ColumnName, ColumnName]] = []
        mixed: list[tuple[ColumnName, ColumnName]] = []
        unequal: list[tuple[ColumnName, ColumnName]] = []
        for node in nodes:
            for column, operator, other in _comparisons(node):
                here = self.names.column_name(column)
                value = self.literal(other)
                output = self.only_output(other)
                there = output.column if output else self.names.column_name(other)
                if value is not None:
                    compared.append(Compared(here, operator, value))
                elif here and there and output and output.function:
                    mixed.append((here, there))
                elif here and there:
                    (matches if operator == "=" else unequal).append((here, there))
        columns = (self.names.column_name(n) for n in nodes if isinstance(n, exp.Column))
        return QueryFacts(
            frozenset(self.names.tables),
            frozenset(column for column in columns if column),
            tuple(self.outputs(_first_select(self.tree))),
            tuple(compared),
            tuple(matches),
            tuple(mixed),
            tuple(unequal),
            frozenset(mark for node in nodes for mark in _marks(node)),
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
        """The result column of a subquery that has only one."""
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
        string = isinstance(node, exp.Column) and may_be_string(node.this, self.sql)
        return node.name if string and not self.names.column_name(node) else None


def _comparisons(node: exp.Expr) -> Iterator[tuple[exp.Expr, str, exp.Expr]]:
    """The two sides of each comparison and its operator, a literal on the right."""
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


def _marks(node: exp.Expr) -> Iterator[str]:
    if mark := _MARKS.get(type(node)):
        yield mark
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct):
        yield "distinct count"
    if isinstance(node, exp.Ordered) and node.args.get("desc"):
        yield "descending"


def _first_select(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Subquery | exp.SetOperation):
        node = node.this
    return node
