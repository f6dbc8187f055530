"""What a query does: the counts by which NL2SQL360 groups queries, its comparisons, and two queries clause by clause."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from workbench.sql.reading import (
    ColumnName,
    Resolved,
    has_over,
    is_aggregate,
    parse,
    resolved,
)
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
    queries = count(exp.Select) - compounds  # a compound is one query
    orders = [node for node in nodes if isinstance(node, exp.Order)]
    return {
        "JOIN": count(exp.Join),  # also by a comma
        "GROUP BY": count(exp.Group),
        "HAVING": count(exp.Having),
        "ORDER BY": sum(isinstance(order.parent, exp.Query) for order in orders),
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
    is_other = isinstance(node, exp.Connector | exp.Predicate | exp.AggFunc) or is_aggregate(node)
    return isinstance(node, exp.Func) and not is_when and not is_other


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
    tables = {table for sources in found.sources.values() for table in sources.values() if table}
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
    return QueryFacts(frozenset(tables), columns, tuple(comparisons), frozenset(operations))


def _comparisons(node: exp.Expr) -> Iterator[tuple[exp.Expr, str, exp.Expr]]:
    """The left side, operator and right side of each comparison; a literal is on the right."""
    if operator := _OPERATORS.get(type(node)):
        left, right = node.this, node.args["expression"]
        yield (right, operator, left) if isinstance(left, exp.Literal) else (left, operator, right)
    elif isinstance(node, exp.In):
        for value in node.expressions:
            yield node.this, "=", value
    elif isinstance(node, exp.Between):
        yield node.this, ">=", node.args["low"]
        yield node.this, "<=", node.args["high"]


def _literal(node: exp.Expr) -> str | int | float | None:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Neg):
        value = _literal(node.this)
        return None if value is None or isinstance(value, str) else -value
    if not isinstance(node, exp.Literal):
        return None
    text = str(node.this)
    return text if node.is_string else int(text) if text.isdecimal() else float(text)


CLAUSES = (
    "SELECT", "DISTINCT", "FROM", "JOIN ON", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "SET OPERATION",
)  # fmt: skip
_Part = tuple[str, bool, str]  # its clause, whether that belongs to a subquery, and its text


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause as two queries have it: their result columns, tables or conditions in it."""

    name: str
    nested: bool  # whether it belongs to subqueries
    first: tuple[str, ...]
    second: tuple[str, ...]

    @property
    def only_first(self) -> tuple[str, ...]:
        return tuple((Counter(self.first) - Counter(self.second)).elements())

    @property
    def only_second(self) -> tuple[str, ...]:
        return tuple((Counter(self.second) - Counter(self.first)).elements())

    @property
    def same(self) -> bool:
        """Whether both queries have the same parts, in SELECT and ORDER BY in the same order."""
        if self.name in {"SELECT", "ORDER BY"}:
            return self.first == self.second
        return sorted(self.first) == sorted(self.second)


def differences(first: str, second: str, schema: Schema) -> tuple[Clause, ...]:
    """The clauses of both queries, in the order in which SQL writes them, subqueries last; () if one cannot be read.

    Aliases are replaced, and columns are written with their table, so that queries which differ only in spelling have
    no differences. The parts of subqueries are compared with those of the other query's subqueries.
    """
    queries = [_query_parts(resolved(sql, schema), schema) for sql in (first, second)]
    if not all(queries):
        return ()
    clauses = []
    for nested in (False, True):
        for name in CLAUSES:
            left, right = (
                [text for clause, inner, text in parts if (clause, inner) == (name, nested)]
                for parts in queries
            )
            if left or right:
                clauses.append(Clause(name, nested, tuple(left), tuple(right)))
    return tuple(clauses)


def clauses(sql: str) -> tuple[tuple[str, str], ...]:
    """The parts of all clauses of a query, each after its clause's name; none if the query cannot be read."""
    schema = Schema("", ())
    return tuple((name, text) for name, _, text in _query_parts(resolved(sql, schema), schema))


def _query_parts(found: Resolved | None, schema: Schema) -> list[_Part]:
    """The parts of every SELECT's clauses; none if the query cannot be read."""
    if found is None:
        return []
    selects = list(found.tree.find_all(exp.Select))
    shown = {id(select): _shown(select, found.sources.get(id(select), {})) for select in selects}
    for column in list(found.tree.find_all(exp.Column)):
        select = column.parent_select
        while select and column.table not in shown.get(id(select), {}):
            select = select.parent_select
        if select:
            own = schema.column(found.sources[id(select)].get(column.table, ""), column.name)
            if own:
                column.set("this", exp.to_identifier(own.name))
            column.set("table", exp.to_identifier(shown[id(select)][column.table]))
    for select in selects:
        order, group, having = (select.args.get(key) for key in ("order", "group", "having"))
        terms = [ordered.this for ordered in order.expressions] if order else []
        terms += group.expressions if group else []
        terms += list(having.find_all(exp.Column)) if having else []
        named = {
            part.alias: part.this for part in select.expressions if isinstance(part, exp.Alias)
        }
        for term in terms:
            if isinstance(term, exp.Column) and not term.table and term.name in named:
                term.replace(named[term.name].copy())
    parts = [
        (clause, _is_nested(select), text)
        for select in selects
        for clause, text in _clauses(select, shown[id(select)])
    ]
    for node in found.tree.find_all(exp.SetOperation):
        kind = node.key.upper() + ("" if node.args.get("distinct", True) else " ALL")
        parts.append(("SET OPERATION", _is_nested(node), kind))
    return parts


def _shown(select: exp.Select, tables: dict[str, str]) -> dict[str, str]:
    """What is shown for each name in FROM: its table, with a number if FROM has the table twice."""
    seen: Counter[str] = Counter()
    shown = {}
    for node, _ in _from(select):
        alias = node.alias_or_name
        given = node.name if isinstance(node, exp.Table) else node.alias
        name = tables.get(alias) or ("(…)" if given.startswith("_") else given)  # qualify's own: _0
        seen[name] += 1
        shown[alias] = f"{name} {seen[name]}" if seen[name] > 1 else name
    return shown


def _from(select: exp.Select) -> Iterator[tuple[exp.Expr, str]]:
    """The tables and subqueries in FROM, each with the side of its outer join."""
    if clause := select.args.get("from_"):
        yield clause.this, ""
    for join in select.args.get("joins") or ():
        yield join.this, join.side


def _clauses(select: exp.Select, shown: dict[str, str]) -> Iterator[tuple[str, str]]:
    for part in select.expressions:
        yield "SELECT", _text(part.unalias())
    if select.args.get("distinct"):
        yield "DISTINCT", "DISTINCT"
    for node, side in _from(select):
        name = shown[node.alias_or_name]
        yield "FROM", f"{side} JOIN {name}" if side else name
    where, having = select.args.get("where"), select.args.get("having")
    ons = [join.args.get("on") for join in select.args.get("joins") or ()]
    for root in (*ons, where and where.this):
        for part in _conjuncts(root):
            # An equality of two columns joins, in WHERE as in ON: both spellings compare as the same join.
            joining = isinstance(part, exp.EQ) and all(
                isinstance(side, exp.Column) for side in (part.this, part.expression)
            )
            yield ("JOIN ON" if joining else "WHERE"), _text(part)
    for part in _conjuncts(having and having.this):
        yield "HAVING", _text(part)
    # ORDER BY and LIMIT after a UNION belong to the whole; its first SELECT shows them.
    whole: exp.Expr = select
    while isinstance(whole.parent, exp.SetOperation) and whole.arg_key == "this":
        whole = whole.parent
    for clause, of, key in (("GROUP BY", select, "group"), ("ORDER BY", whole, "order")):
        for part in of.args[key].expressions if of.args.get(key) else ():
            yield clause, _text(part)
    for key in ("limit", "offset"):
        if limit := whole.args.get(key):
            yield "LIMIT", _text(limit)


def _conjuncts(root: exp.Expr | None) -> Iterator[exp.Expr]:
    """The conditions that AND connects, in parentheses, too; none for a JOIN without ON."""
    if isinstance(root, exp.Paren):
        yield from _conjuncts(root.this)
    elif isinstance(root, exp.And):
        yield from _conjuncts(root.this)
        yield from _conjuncts(root.expression)
    elif root is not None and not isinstance(root, exp.Boolean):
        yield root


def _text(node: exp.Expr) -> str:
    """The expression as SQL on one line; (…) stands for a subquery, whose parts belong to its own clauses."""
    if isinstance(node, exp.EQ) and isinstance(node.expression, exp.Column):
        return " = ".join(sorted(map(_text, (node.this, node.expression))))
    shown = node.transform(lambda n: exp.var("(…)") if isinstance(n, exp.Query) else n)
    return " ".join(shown.sql("sqlite", comments=False).split()).replace("((…))", "(…)")


def _is_nested(node: exp.Expr) -> bool:
    return node.find_ancestor(exp.Select, exp.CTE) is not None
