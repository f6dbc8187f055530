"""What a query claims of a database: what it returns, which values and columns it compares, what it does.

Names are looked up as far as a selector needs it: a column by its alias, or by the only table around that
has it; through a subquery in FROM where that hands the column on. What is not found is None.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from workbench.db.sql.parse import is_aggregate, may_be_string, parse
from workbench.types import Schema, Table, fold

Place = tuple[str, str]  # a table and its column, spelt as in the schema


@dataclass(frozen=True, slots=True)
class Output:
    """A result column: a column as it is, or what a function makes of it ("expression" is any other)."""

    column: Place | None
    function: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """A column and the literal it is compared with; None where it is a function's value."""

    column: Place | None
    operator: str
    value: str | int | float


@dataclass(frozen=True, slots=True)
class Claims:
    """`matches` are columns set equal, in a join or through a subquery; `mixed` a column compared with a
    function of another. `marks` name what the query does: count, sum, avg, min, max, distinct, group,
    order, descending, limit, not, or, like, in, intersect, except, union; "distinct count" is COUNT(DISTINCT).
    """

    tables: frozenset[str]
    columns: frozenset[Place]
    outputs: tuple[Output, ...]
    compared: tuple[Compared, ...]
    matches: tuple[tuple[Place, Place], ...]
    mixed: tuple[tuple[Place, Place], ...]
    marks: frozenset[str]


def claims(sql: str, schema: Schema) -> Claims | None:
    """The claims of a query; None where it cannot be read."""
    tree = parse(sql)
    if isinstance(tree, str):
        return None
    try:
        return _Reader(sql, schema).read(tree)
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
_WRAPPERS = (exp.Paren, exp.Lower, exp.Upper, exp.Cast, exp.Trim)


class _Reader:
    """One walk through a query; remembers which names each SELECT sees."""

    def __init__(self, sql: str, schema: Schema) -> None:
        self.sql = sql
        self.schema = schema
        self.scopes: dict[int, list[tuple[str, Table | exp.Expr]]] = {}

    def read(self, tree: exp.Expr) -> Claims:
        nodes = list(tree.walk())
        compared: list[Compared] = []
        matches: list[tuple[Place, Place]] = []
        mixed: list[tuple[Place, Place]] = []
        for node in nodes:
            for column, operator, other in _comparisons(node):
                here = self.place(column)
                value = self.literal(other)
                output = self.only_output(other)
                there = output.column if output else self.place(other)
                if value is not None:
                    compared.append(Compared(here, operator, value))
                elif here and there and output and output.function:
                    mixed.append((here, there))
                elif here and there and operator == "=":
                    matches.append((here, there))
        tables = (self.schema.table(n.name) for n in nodes if isinstance(n, exp.Table))
        places = (self.place(n) for n in nodes if isinstance(n, exp.Column))
        return Claims(
            frozenset(table.name for table in tables if table),
            frozenset(place for place in places if place),
            tuple(self.outputs(_first_select(tree))),
            tuple(compared),
            tuple(matches),
            tuple(mixed),
            frozenset(mark for node in nodes for mark in _marks(node)),
        )

    def outputs(self, select: exp.Expr) -> Iterator[Output]:
        for part in select.expressions:
            if not (isinstance(part, exp.Star | exp.Column) and part.is_star):
                yield self.output(part)
                continue
            wanted = fold(part.table) if isinstance(part, exp.Column) else ""
            for name, source in self.sources(select):
                if isinstance(source, Table) and wanted in {"", name}:
                    yield from (Output((source.name, column.name)) for column in source.columns)

    def output(self, part: exp.Expr) -> Output:
        part = part.unalias()
        if is_aggregate(part):
            inner = part.this
            if isinstance(inner, exp.Distinct):
                inner = inner.expressions[0]
            return Output(self.place(inner), part.key)
        place = self.place(part)
        return Output(place, "" if place else "expression")

    def only_output(self, node: exp.Expr) -> Output | None:
        """What a subquery with one result column stands for."""
        select = _first_select(node)
        if isinstance(select, exp.Select) and len(select.expressions) == 1:
            return self.output(select.expressions[0])
        return None

    def sources(self, select: exp.Expr) -> list[tuple[str, Table | exp.Expr]]:
        if id(select) not in self.scopes:
            clause = select.args.get("from_")
            nodes = [clause.this] if clause else []
            nodes += [join.this for join in select.args.get("joins") or ()]
            self.scopes[id(select)] = [
                (
                    fold(node.alias_or_name),
                    (self.schema.table(node.name) if isinstance(node, exp.Table) else None) or node,
                )
                for node in nodes
            ]
        return self.scopes[id(select)]

    def place(self, node: Any) -> Place | None:
        """The column of the schema that an expression is."""
        while isinstance(node, _WRAPPERS):
            node = node.this
        if not isinstance(node, exp.Column) or node.is_star:
            return None
        select = node.find_ancestor(exp.Select)
        while select is not None:
            for name, source in self.sources(select):
                if node.table and fold(node.table) != name:
                    continue
                if isinstance(source, Table):
                    if column := self.schema.column(source.name, node.name):
                        return source.name, column.name
                elif isinstance(source, exp.Subquery):
                    for part in _first_select(source).expressions:
                        if fold(part.alias_or_name) == fold(node.name):
                            return self.place(part.unalias())
            select = select.find_ancestor(exp.Select)
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
        return node.name if string and not self.place(node) else None


def _comparisons(node: exp.Expr) -> Iterator[tuple[exp.Expr, str, exp.Expr]]:
    """What is compared with what; a literal stands on the right."""
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
