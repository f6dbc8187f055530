"""Facts of queries: NL2SQL360's counts, functions, comparisons with literals; and two queries' clauses side by side."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from sqlglot import exp
from sqlglot.errors import SqlglotError

from workbench.sql.reading import ColumnName, Resolved, parse, resolved
from workbench.types import Schema, lower_name

_SIGNS: dict[type[exp.Expr], str] = {exp.Div: "/", exp.DPipe: "||", exp.Case: "CASE"}


def features(sql: str) -> dict[str, int] | None:
    """The count of each construct in a whole query, under the names that tables show; None if it cannot be read.

    HAVING, CASE and nested query are ours; the others agree with NL2SQL360's labels.
    """
    tree = parse(sql)
    if not tree:
        return None
    nodes = list(tree.walk())

    def count(*kinds: type[exp.Expr]) -> int:
        return sum(isinstance(node, kinds) for node in nodes)

    compounds = count(exp.SetOperation)
    calls = [node for node in nodes if not _has_over(node)]
    scalar = filter(_is_scalar_call, calls)
    return {
        "JOIN": count(exp.Join),  # also by a comma
        "GROUP BY": count(exp.Group),
        "HAVING": count(exp.Having),
        "ORDER BY": sum(isinstance(n.parent, exp.Query) for n in nodes if isinstance(n, exp.Order)),
        "LIMIT": count(exp.Limit),
        "DISTINCT": count(exp.Distinct),  # of a SELECT or inside an aggregate
        "aggregation": sum(map(_is_aggregate, calls)),
        "scalar function": sum(not isinstance(n, exp.Case | exp.If) for n in scalar),  # with CAST
        "arithmetic": count(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod),
        "AND or OR": count(exp.And, exp.Or),  # that of BETWEEN apart
        "LIKE": count(exp.Like),
        "CASE": count(exp.Case),
        # A value, table, IN, EXISTS or common table expression; a compound is one query.
        "nested query": max(count(exp.Select) - compounds - 1, 0),
        "set operation": compounds,
        "window": count(exp.Window) - sum(len(node.args.get("windows") or ()) for node in nodes),
    }


def functions(sql: str) -> frozenset[str]:
    """The names of the functions that a query calls, with CAST, CASE and the operators || and /."""
    tree = parse(sql)
    nodes = list(tree.walk()) if tree else []
    calls = [node for node in nodes if _is_scalar_call(node) or _is_aggregate(node)]
    names = (re.match(r"\w+(?=\()", call.sql("sqlite")) for call in calls)
    signs = {_SIGNS[type(node)] for node in nodes if type(node) in _SIGNS}
    return frozenset({name[0].upper() for name in names if name} | signs)


def _is_scalar_call(node: exp.Expr) -> bool:
    """Whether this calls a scalar function. sqlglot has AND, OR, comparisons and the WHEN of CASE as functions, too."""
    is_when = isinstance(node, exp.If) and isinstance(node.parent, exp.Case)
    is_other = isinstance(node, exp.Connector | exp.Predicate) or _is_aggregate(node)
    return isinstance(node, exp.Func) and not is_when and not is_other


def _is_aggregate(node: exp.Expr) -> bool:
    is_total = isinstance(node, exp.Anonymous) and node.name.lower() == "total"
    return is_total or isinstance(node, exp.AggFunc)


def _has_over(call: exp.Expr) -> bool:
    """Whether this is a call with OVER, perhaps behind FILTER or IGNORE NULLS."""
    parent = call.parent
    while isinstance(parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        parent = parent.parent
    return isinstance(parent, exp.Window)


class Comparison(NamedTuple):
    """A comparison with a literal; `column` is None if it compares no column, but a function's value for example."""

    column: ColumnName | None
    equals: bool  # by =, IS or IN
    value: str | int | float


def comparisons(sql: str, schema: Schema) -> list[Comparison]:
    """The query's comparisons with literals; none if it cannot be read."""
    if not (found := resolved(sql, schema)):
        return []
    made = []
    for node in found.tree.find_all(exp.Predicate):
        sides = [side.unnest() for side in node.iter_expressions()]
        literals = [side for side in sides if side.is_string or side.is_number]
        compared = next((side for side in sides if side not in literals), None)
        while isinstance(compared, exp.Paren | exp.Lower | exp.Upper | exp.Cast | exp.Trim):
            compared = compared.this
        column, equals = found.column(compared), isinstance(node, exp.EQ | exp.Is | exp.In)
        for value in (literal.to_py() for literal in literals):
            plain = float(value) if isinstance(value, Decimal) else value
            made.append(Comparison(column, equals, plain))
    return made


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part of a clause: a result column, a table with its join, a condition.

    `depth` counts the queries around it, `indent` the characters before it. `says` is its meaning, as pairs of a clause
    and a text: every column has its table, no alias is left, and an equality of two columns is a join, also in WHERE.
    """

    clause: str
    depth: int
    indent: int
    text: str
    says: tuple[tuple[str, str], ...]


Rows = list[tuple[Part | None, Part | None, bool]]


def aligned(first: str, second: str, schema: Schema) -> Rows:
    """Rows of (part of the first query, part of the second, whether they say the same); [] if one cannot be read.

    Equal parts of a clause stand in a row wherever the clause has them, then the others beside each other. A part that
    only one query has stands beside None.
    """
    left, right = parts(first, schema), parts(second, schema)
    joins = [sorted(s for p in q if p.clause == "FROM" for s in p.says) for q in (left, right)]
    same_joins = joins[0] == joins[1]  # perhaps with another table first

    def key(part: Part) -> tuple[object, ...]:
        return part.clause, part.depth, (same_joins and part.clause == "FROM") or part.says

    twins: dict[Part, tuple[Part, bool]] = {}
    rest = [*right]
    for same in (True, False):
        for one in left:
            fits = (other for other in rest if key(one)[: 2 + same] == key(other)[: 2 + same])
            if one not in twins and (other := next(fits, None)):
                twins[one] = (other, same)
                rest.remove(other)
    rows: Rows = [(one, *twins.get(one, (None, False))) for one in left]
    for at, one in enumerate(right):
        if one in rest:  # what only the second query has stands where that query has it
            before = [n for n, row in enumerate(rows) if at and row[1] is right[at - 1]]
            rows.insert(before[0] + 1 if before else 0, (None, one, False))
    return rows if left and right else []


def parts(sql: str, schema: Schema) -> list[Part]:
    """The parts of a query in the order in which it writes them; none if it cannot be read."""
    try:
        return [*_parts(found.tree, 0, found)] if (found := resolved(sql, schema)) else []
    except (SqlglotError, RecursionError):
        return []


def _parts(node: exp.Expr, depth: int, found: Resolved) -> Iterator[Part]:
    """The parts of a query, each followed by those of the subqueries in it."""
    node = node.unnest()
    get = node.args.get
    clauses = {
        "WITH": (get("with_") or exp.With()).expressions,
        "SELECT": node.expressions,
        "FROM": [get("from_"), *(get("joins") or ())],
        "WHERE": _conditions(get("where")),
        "GROUP BY": (get("group") or exp.Group()).expressions,
        "HAVING": _conditions(get("having")),
        "ORDER BY": (get("order") or exp.Order()).expressions,
        "LIMIT": [get("limit"), get("offset")],
    }
    named = {one.alias_or_name: one.unalias() for one in node.expressions}
    for clause, own in clauses.items():
        if clause == "SELECT" and isinstance(node, exp.SetOperation):
            yield from _parts(node.this, depth, found)
            kind = node.key.upper() + ("" if get("distinct", True) else " ALL")
            yield Part("UNION", depth, 0, kind, (("UNION", kind),))
            yield from _parts(node.expression, depth, found)
        for n, one in enumerate(filter(None, own)):
            says = _says(clause, one, found, named if clause != "SELECT" else {})
            word = "AND " if clause in {"WHERE", "HAVING"} else ""
            if not n and clause != "LIMIT":
                distinct = clause == "SELECT" and get("distinct")
                word = "SELECT DISTINCT " if distinct else f"{clause} "
                says = [("DISTINCT", "DISTINCT")] * bool(distinct) + says
            indent = 0 if clause in {"FROM", "LIMIT"} else {"AND ": 2, "": 7}.get(word, 0)
            text = word + _written(one.this if isinstance(one, exp.From) else one)
            comma = "," * (clause == "SELECT" and n + 1 < len(own))
            yield Part(clause, depth, indent, text + comma, tuple(says))
            for inner in one.find_all(exp.Select, exp.SetOperation):
                if inner.find_ancestor(exp.Select, exp.SetOperation) is node:
                    yield from _parts(inner, depth + 1, found)


def _conditions(node: exp.Expr | None) -> list[exp.Expr]:
    """The conditions of a clause, or of an ON, that AND connects."""
    node = node.this if isinstance(node, exp.Where | exp.Having) else node
    return [*node.flatten()] if isinstance(node, exp.And) else [node] if node else []


def _says(
    clause: str, one: exp.Expr, found: Resolved, named: Mapping[str, exp.Expr]
) -> list[tuple[str, str]]:
    """The meaning of a part, see `Part`; `named` are the expressions behind the names of result columns."""

    def known(n: exp.Expr) -> exp.Expr:
        return exp.column(name[1], name[0]) if (name := found.column(n)) else n

    def behind(n: exp.Expr) -> exp.Expr:
        is_alias = isinstance(n, exp.Column) and not n.table and n.name in named
        return named[n.name].transform(known) if is_alias and not found.column(n) else known(n)

    said = []
    for condition in [one.unalias()] if clause != "FROM" else _conditions(one.args.get("on")):
        meant = condition.transform(behind)
        text, joins = _written(meant), clause == "FROM"
        if isinstance(meant, exp.EQ):  # columns first
            ends = [
                (not isinstance(end, exp.Column), _written(end)) for end in meant.iter_expressions()
            ]
            joins |= clause == "WHERE" and not any(other for other, _ in ends)
            text = " = ".join(text for _, text in sorted(ends))
        said.append(("JOIN ON" if joins else clause, text))
    if clause == "FROM":
        side = f"{one.args['side']} JOIN " if one.args.get("side") else ""
        name = lower_name(one.this.name) if isinstance(one.this, exp.Table) else "(…)"
        said.insert(0, (clause, side + name))
    return said


def _written(node: exp.Expr) -> str:
    """The part as the query writes it, on one line; (…) stands for a subquery, whose parts follow."""
    folded = node.transform(lambda n: exp.var("(…)") if isinstance(n, exp.Query) else n)
    return " ".join(folded.sql("sqlite", comments=False).split()).replace("((…))", "(…)")
