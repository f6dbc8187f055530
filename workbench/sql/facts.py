"""What a query does: the counts by which NL2SQL360 groups queries, its comparisons, and two queries clause by clause."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlglot import exp

from workbench.sql.reading import ColumnName, parse, resolved
from workbench.types import Schema


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
    orders = [node for node in nodes if isinstance(node, exp.Order)]
    calls = [n for n in nodes if _is_scalar_call(n) and not isinstance(n, exp.Case | exp.If)]
    return {
        "JOIN": count(exp.Join),  # also by a comma
        "GROUP BY": count(exp.Group),
        "HAVING": count(exp.Having),
        "ORDER BY": sum(isinstance(order.parent, exp.Query) for order in orders),
        "LIMIT": count(exp.Limit),
        "DISTINCT": count(exp.Distinct),  # of a SELECT or inside an aggregate
        "aggregation": sum(map(_is_aggregate, nodes)),  # without OVER
        "scalar function": sum(not _has_over(call) for call in calls),  # CAST included, IIF not
        "arithmetic": count(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod),
        "AND or OR": count(exp.And, exp.Or),  # that of BETWEEN apart
        "LIKE": count(exp.Like),
        "CASE": count(exp.Case),
        # A value, table, IN, EXISTS or common table expression; a compound is one query.
        "nested query": max(count(exp.Select) - compounds - 1, 0),
        "set operation": compounds,
        "window": count(exp.Window) - sum(len(node.args.get("windows") or ()) for node in nodes),
    }


_SIGNS: dict[type[exp.Expr], str] = {exp.Div: "/", exp.DPipe: "||", exp.Case: "CASE"}


def functions(sql: str) -> frozenset[str]:
    """The names of the scalar functions that a query calls, with CAST, CASE and the operators || and /."""
    tree = parse(sql)
    found = set()
    for node in () if isinstance(tree, str) else tree.walk():
        if operator := _SIGNS.get(type(node)):
            found.add(operator)
        elif _is_scalar_call(node) and (name := re.match(r"\w+(?=\()", node.sql("sqlite"))):
            found.add(name[0].upper())
    return frozenset(found)


def _is_scalar_call(node: exp.Expr) -> bool:
    """Whether this calls a scalar function. sqlglot has AND, OR, comparisons and the WHEN of CASE as functions, too."""
    is_when = isinstance(node, exp.If) and isinstance(node.parent, exp.Case)
    is_other = isinstance(node, exp.Connector | exp.Predicate | exp.AggFunc) or _is_aggregate(node)
    return isinstance(node, exp.Func) and not is_when and not is_other


def _is_aggregate(node: exp.Expr) -> bool:
    """Whether this is an aggregate call without OVER."""
    is_total = isinstance(node, exp.Anonymous) and node.name.lower() == "total"
    return (is_total or isinstance(node, exp.AggFunc)) and not _has_over(node)


def _has_over(call: exp.Expr) -> bool:
    """Whether this is a call with OVER, perhaps behind FILTER or IGNORE NULLS."""
    parent = call.parent
    while isinstance(parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        parent = parent.parent
    return isinstance(parent, exp.Window)


_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.Is: "=", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=", exp.Like: "like",
}  # fmt: skip
_OPERATIONS = {"count", "sum", "avg", "min", "max", "group"}


@dataclass(frozen=True, slots=True)
class LiteralComparison:
    """A comparison with a literal; `column` is None where another expression is compared, as a function's value."""

    column: ColumnName | None
    operator: str
    value: str | int | float


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """The tables and columns of a query, its comparisons with literals, and its aggregates (and "group")."""

    tables: frozenset[str]
    columns: frozenset[ColumnName]
    comparisons: tuple[LiteralComparison, ...]
    operations: frozenset[str]


def query_facts(sql: str, schema: Schema) -> QueryFacts | None:
    """The facts of a query; None if it cannot be read."""
    found = resolved(sql, schema)
    if found is None:
        return None
    nodes = list(found.tree.walk())
    names = {name for sources in found.sources.values() for name in sources.values()}
    tables = frozenset(name for name in names if schema.table(name))
    comparisons = (
        LiteralComparison(found.column(left), operator, value)
        for node in nodes
        for left, operator, right in _comparisons(node)
        if (value := _literal(right)) is not None
    )
    operations = {node.key for node in nodes} & _OPERATIONS
    if any(isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct) for node in nodes):
        operations.add("distinct count")
    columns = frozenset(found.columns.values())
    return QueryFacts(tables, columns, tuple(comparisons), frozenset(operations))


def _comparisons(node: exp.Expr) -> Iterator[tuple[exp.Expr, str, exp.Expr]]:
    """The left side, operator and right side of each comparison; a literal is on the right."""
    if operator := _OPERATORS.get(type(node)):
        left, right = node.this, node.args["expression"]
        yield (right, operator, left) if isinstance(left, exp.Literal) else (left, operator, right)
    elif isinstance(node, exp.In):
        yield from ((node.this, "=", value) for value in node.expressions)
    elif isinstance(node, exp.Between):
        yield node.this, ">=", node.args["low"]
        yield node.this, "<=", node.args["high"]


def _literal(node: exp.Expr) -> str | int | float | None:
    node = node.unnest()
    value: Any = node.to_py() if node.is_string or node.is_number else None
    return float(value) if isinstance(value, Decimal) else value


CLAUSES = (
    "SELECT", "DISTINCT", "FROM", "JOIN ON", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "SET OPERATION",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause as two queries have it: their result columns, tables or conditions in it.

    `nested` says that it belongs to subqueries.
    """

    name: str
    nested: bool
    first: tuple[str, ...]
    second: tuple[str, ...]

    @property
    def only_first(self) -> tuple[str, ...]:
        return tuple((Counter(self.first) - Counter(self.second)).elements())

    @property
    def only_second(self) -> tuple[str, ...]:
        return tuple((Counter(self.second) - Counter(self.first)).elements())


def differences(first: str, second: str, schema: Schema) -> tuple[Clause, ...]:
    """The clauses of both queries, in the order in which SQL writes them, subqueries last; () if one cannot be read.

    Aliases are replaced, and columns are written with their table, so that queries which differ only in spelling have
    no differences. The parts of subqueries are compared with those of the other query's subqueries.
    """
    queries = [clauses(sql, schema) for sql in (first, second)]
    found = []
    for place in [(name, nested) for nested in (False, True) for name in CLAUSES]:
        left, right = (tuple(text for *at, text in parts if (*at,) == place) for parts in queries)
        if left or right:
            found.append(Clause(*place, left, right))
    return tuple(found) if all(queries) else ()


def clauses(sql: str, schema: Schema) -> list[tuple[str, bool, str]]:
    """The parts of all clauses of a query: their clause, whether it is a subquery's, and their text.

    None if the query cannot be read.
    """
    if (found := resolved(sql, schema)) is None:
        return []
    numbered = {}  # the second use of a table in one FROM is "table 2"
    for sources in found.sources.values():
        seen: Counter[str] = Counter()
        for alias, table in sources.items():
            seen[table] += 1
            numbered[alias, table] = f"{table} {seen[table]}" if seen[table] > 1 else table
    for column in list(found.tree.find_all(exp.Column)):
        own = found.sources.get(id(column.parent_select), {})
        table, name = found.columns.get(id(column), (own.get(column.table, column.table), ""))
        if table:
            column.set("table", exp.to_identifier(numbered.get((column.table, table), table)))
        if name:
            column.set("this", exp.to_identifier(name))
    parts = []
    for node in found.tree.find_all(exp.Select, exp.SetOperation):
        tables = found.sources.get(id(node), {}).items()
        texts = _parts(node, {alias: numbered[alias, table] for alias, table in tables})
        nested = node.find_ancestor(exp.Select, exp.CTE) is not None
        parts += [(clause, nested, text) for clause, text in texts]
    return parts


def _parts(select: exp.Query, tables: dict[str, str]) -> Iterator[tuple[str, str]]:
    if isinstance(select, exp.SetOperation):
        yield "SET OPERATION", select.key.upper() + " ALL" * (not select.args.get("distinct", True))
        return
    named = {part.alias: part.this for part in select.expressions if isinstance(part, exp.Alias)}

    def meant(node: exp.Expr) -> exp.Expr:
        """What it says with the result columns in place of their names."""
        is_name = isinstance(node, exp.Column) and not node.table
        return named[node.name].copy() if is_name and node.name in named else node

    for part in select.expressions:
        yield "SELECT", _text(part.unalias())
    if select.args.get("distinct"):
        yield "DISTINCT", "DISTINCT"
    joins = select.args.get("joins") or []
    for join in (select.args.get("from_"), *joins):
        if join:
            alias = join.alias_or_name  # _0 is qualify's own
            name = tables.get(alias) or ("(…)" if alias.startswith("_") else alias)
            yield "FROM", f"{join.side} JOIN {name}" if join.text("side") else name
    ons = [join.args.get("on") for join in joins]
    for part in _conjuncts(*ons, select.args.get("where")):
        # An equality of two columns joins, in WHERE as in ON: both spellings compare as the same join.
        ends = [part.this, part.expression] if isinstance(part, exp.EQ) else [None]
        is_join = all(isinstance(end, exp.Column) for end in ends)
        yield ("JOIN ON" if is_join else "WHERE"), _text(part)
    for part in _conjuncts(select.args.get("having")):
        yield "HAVING", _text(part.transform(meant))
    # ORDER BY and LIMIT after a UNION belong to the whole; its first SELECT shows them.
    whole: exp.Expr = select
    while isinstance(whole.parent, exp.SetOperation) and whole.arg_key == "this":
        whole = whole.parent
    for clause, of, key in (("GROUP BY", select, "group"), ("ORDER BY", whole, "order")):
        for part in of.args[key].expressions if of.args.get(key) else ():
            yield clause, _text(part.transform(meant))
    for key in ("limit", "offset"):
        if limit := whole.args.get(key):
            yield "LIMIT", _text(limit)


def _conjuncts(*roots: exp.Expr | None) -> Iterator[exp.Expr]:
    """The conditions that AND connects, in parentheses, too; none for a JOIN without ON."""
    for root in roots:
        if isinstance(root, exp.Paren | exp.Where | exp.Having):
            yield from _conjuncts(root.this)
        elif isinstance(root, exp.And):
            yield from _conjuncts(root.this, root.expression)
        elif root is not None and not isinstance(root, exp.Boolean):
            yield root


def _text(node: exp.Expr) -> str:
    """The expression as SQL on one line; (…) stands for a subquery, whose parts belong to its own clauses."""
    if isinstance(node, exp.EQ) and isinstance(node.expression, exp.Column):
        return " = ".join(sorted(map(_text, (node.this, node.expression))))
    shown = node.transform(lambda n: exp.var("(…)") if isinstance(n, exp.Query) else n)
    return " ".join(shown.sql("sqlite", comments=False).split()).replace("((…))", "(…)")
