"""Facts of queries: NL2SQL360's counts, functions, comparisons, two queries side by side."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import NamedTuple

from sqlglot import exp
from sqlglot.errors import SqlglotError

from workbench.sql.reading import ColumnName, Resolved, parse, resolved
from workbench.types import Schema, lower_name

_SIGNS: dict[type[exp.Expr], str] = {exp.Div: "/", exp.DPipe: "||", exp.Case: "CASE"}


def features(sql: str) -> dict[str, int] | None:
    """Count each construct of a query, under the names that tables show; None if it is unreadable.

    HAVING, CASE and nested query are ours; the others agree with NL2SQL360's labels.
    """
    tree = parse(sql)
    if not tree:
        return None
    nodes = list(tree.walk())

    def count(*kinds: type[exp.Expr]) -> int:
        return sum(isinstance(node, kinds) for node in nodes)

    orders = [node.parent for node in nodes if isinstance(node, exp.Order)]
    without_over = [node for node in nodes if not _has_over(node)]
    calls = [node for node in without_over if _is_scalar_call(node)]
    scalar_calls = [node for node in calls if not isinstance(node, exp.Case | exp.If)]
    compounds = count(exp.SetOperation)
    named_windows = sum(len(node.args.get("windows") or ()) for node in nodes)
    return {
        "JOIN": count(exp.Join),  # also by a comma
        "GROUP BY": count(exp.Group),
        "HAVING": count(exp.Having),
        "ORDER BY": sum(isinstance(parent, exp.Query) for parent in orders),
        "LIMIT": count(exp.Limit),
        "DISTINCT": count(exp.Distinct),  # of a SELECT or inside an aggregate
        "aggregation": sum(map(_is_aggregate, without_over)),
        "scalar function": len(scalar_calls),
        "arithmetic": count(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod),
        "AND or OR": count(exp.And, exp.Or),  # that of BETWEEN apart
        "LIKE": count(exp.Like),
        "CASE": count(exp.Case),
        # A value, table, IN, EXISTS or common table expression; a compound is one query.
        "nested query": max(count(exp.Select) - compounds - 1, 0),
        "set operation": compounds,
        "window": count(exp.Window) - named_windows,
    }


def functions(sql: str) -> frozenset[str]:
    """Return the names of the functions that a query calls, with CAST, CASE, || and /."""
    tree = parse(sql)
    names = set()
    for node in tree.walk() if tree else ():
        if type(node) in _SIGNS:
            names.add(_SIGNS[type(node)])
        if _is_scalar_call(node) or _is_aggregate(node):
            name = re.match(r"\w+(?=\()", node.sql("sqlite"))
            if name:
                names.add(name[0].upper())
    return frozenset(names)


def _is_scalar_call(node: exp.Expr) -> bool:
    """Whether this calls a scalar function.

    To sqlglot, AND, OR, comparisons and the WHEN of CASE are functions, too.
    """
    if isinstance(node, exp.Connector | exp.Predicate) or _is_aggregate(node):
        return False
    if isinstance(node, exp.If) and isinstance(node.parent, exp.Case):
        return False
    return isinstance(node, exp.Func)


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
    """A comparison with a literal; `column` is None if another value is compared."""

    column: ColumnName | None
    equals: bool  # by =, IS or IN
    value: str | int | float


def comparisons(sql: str, schema: Schema) -> list[Comparison]:
    """Return the query's comparisons with literals; none if it cannot be read."""
    query = resolved(sql, schema)
    if not query:
        return []
    listed = []
    for node in query.tree.find_all(exp.Predicate):
        sides = [side.unnest() for side in node.iter_expressions()]
        literals = [side for side in sides if side.is_string or side.is_number]
        compared = next((side for side in sides if side not in literals), None)
        while isinstance(
            compared, exp.Paren | exp.Lower | exp.Upper | exp.Cast | exp.Trim
        ):
            compared = compared.this
        column = query.column(compared)
        equals = isinstance(node, exp.EQ | exp.Is | exp.In)
        for literal in literals:
            value = literal.to_py()
            plain = float(value) if isinstance(value, Decimal) else value
            listed.append(Comparison(column, equals, plain))
    return listed


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part of a clause: a result column, a table with its join, a condition.

    `depth` counts the queries around it, `indent` the characters before it. `says` is its meaning,
    as pairs of a clause and a text: every column has its table, no alias is left, and an equality
    of two columns is a join, also in WHERE.
    """

    clause: str
    depth: int
    indent: int
    text: str
    says: tuple[tuple[str, str], ...]


Rows = list[tuple[Part | None, Part | None, bool]]


def aligned(first: str, second: str, schema: Schema) -> Rows:
    """Return rows of a part of each query, and whether they say the same; [] if one is unreadable.

    Equal parts of a clause stand in a row wherever the clause has them, then the others beside each
    other. A part that only one query has stands beside None.
    """
    left, right = parts(first, schema), parts(second, schema)
    if not left or not right:
        return []
    same_joins = _joins(left) == _joins(right)

    def clause(part: Part) -> tuple[object, ...]:
        return part.clause, part.depth

    def meaning(part: Part) -> tuple[object, ...]:
        if part.clause == "FROM" and same_joins:  # they may be in another order
            return clause(part)
        return part.clause, part.depth, part.says

    same = _paired(left, right, meaning)
    left_over = [part for part in left if part not in same]
    right_over = [part for part in right if part not in same.values()]
    different = _paired(left_over, right_over, clause)
    partners = same | different
    rows: Rows = [(part, partners.get(part), part in same) for part in left]
    # A part without a partner follows the part before it in the second query.
    at = 0
    for part in right:
        if part not in partners.values():
            rows.insert(at, (None, part, False))
        at = [other for _, other, _ in rows].index(part) + 1
    return rows


def _paired(
    left: list[Part], right: list[Part], key: Callable[[Part], object]
) -> dict[Part, Part]:
    """Return a part with an equal key for each part that has one; each is taken once."""
    free = list(right)
    pairs: dict[Part, Part] = {}
    for part in left:
        for other in free:
            if key(other) == key(part):
                pairs[part] = other
                free.remove(other)
                break
    return pairs


def _joins(query: list[Part]) -> list[tuple[str, str]]:
    joins = [part.says for part in query if part.clause == "FROM"]
    return sorted(chain.from_iterable(joins))


def parts(sql: str, schema: Schema) -> list[Part]:
    """Return the parts of a query as it writes them; none if it cannot be read."""
    try:
        query = resolved(sql, schema)
        return list(_parts(query.tree, 0, query)) if query else []
    except (SqlglotError, RecursionError):
        return []


def _parts(node: exp.Expr, depth: int, names: Resolved) -> Iterator[Part]:
    """Yield the parts of a query, each followed by those of the subqueries in it."""
    node = node.unnest()
    distinct = node.args.get("distinct")
    for clause, items in _clauses(node).items():
        if clause == "SELECT" and isinstance(node, exp.SetOperation):
            operator = node.key.upper() if distinct else f"{node.key.upper()} ALL"
            yield from _parts(node.this, depth, names)
            yield Part("UNION", depth, 0, operator, (("UNION", operator),))
            yield from _parts(node.expression, depth, names)
        for number, item in enumerate(items, 1):
            word, indent = _opening(clause, number == 1)
            says = _says(clause, item, node, names)
            text = _written(item.this if isinstance(item, exp.From) else item)
            if clause == "SELECT" and distinct and number == 1:
                word = "SELECT DISTINCT "
                says.insert(0, ("DISTINCT", "DISTINCT"))
            if clause == "SELECT" and number < len(items):
                text += ","
            yield Part(clause, depth, indent, word + text, tuple(says))
            for inner in item.find_all(exp.Select, exp.SetOperation):
                if inner.find_ancestor(exp.Select, exp.SetOperation) is node:
                    yield from _parts(inner, depth + 1, names)


def _clauses(node: exp.Expr) -> dict[str, list[exp.Expr]]:
    """Return what each clause of a query lists, in the order of the clauses."""
    args = node.args
    sources = [args.get("from_"), *(args.get("joins") or ())]
    limits = [args.get("limit"), args.get("offset")]
    return {
        "WITH": _listed(args.get("with_")),
        "SELECT": node.expressions,
        "FROM": [source for source in sources if source],
        "WHERE": _conditions(args.get("where")),
        "GROUP BY": _listed(args.get("group")),
        "HAVING": _conditions(args.get("having")),
        "ORDER BY": _listed(args.get("order")),
        "LIMIT": [limit for limit in limits if limit],
    }


def _listed(clause: exp.Expr | None) -> list[exp.Expr]:
    return clause.expressions if clause else []


def _conditions(node: exp.Expr | None) -> list[exp.Expr]:
    """Return the conditions of a clause, or of an ON, that AND connects."""
    if isinstance(node, exp.Where | exp.Having):
        node = node.this
    if isinstance(node, exp.And):
        return list(node.flatten())
    return [node] if node else []


def _opening(clause: str, is_first: bool) -> tuple[str, int]:
    """Return the word before a part, and the characters by which it is indented."""
    if clause == "LIMIT":  # LIMIT and OFFSET have their own words
        return "", 0
    if is_first:
        return f"{clause} ", 0
    if clause in {"WHERE", "HAVING"}:
        return "AND ", 2
    if clause == "FROM":
        return "", 0
    return "", len("SELECT ")


def _says(
    clause: str, item: exp.Expr, query: exp.Expr, names: Resolved
) -> list[tuple[str, str]]:
    """Return the meaning of a part, see `Part`."""
    aliases: dict[str, exp.Expr] = {}
    if clause != "SELECT":
        aliases = {each.alias_or_name: each.unalias() for each in query.expressions}
    says = []
    conditions = [item.unalias()]
    if clause == "FROM":
        says.append((clause, _joined(item)))
        conditions = _conditions(item.args.get("on"))
    for condition in conditions:
        meaning = condition.transform(_without_alias, aliases, names)
        text = _written(meaning)
        is_join = clause == "FROM"
        if isinstance(meaning, exp.EQ):
            # Columns first, then by their text, so that `a = b` says what `b = a` says.
            sides = sorted(meaning.iter_expressions(), key=_column_first)
            text = " = ".join(map(_written, sides))
            of_columns = isinstance(sides[-1], exp.Column)
            is_join = is_join or (clause == "WHERE" and of_columns)
        says.append(("JOIN ON" if is_join else clause, text))
    return says


def _joined(source: exp.Expr) -> str:
    """Return the table of a FROM or JOIN, with the side of an outer join."""
    side = source.args.get("side")
    is_table = isinstance(source.this, exp.Table)
    table = lower_name(source.this.name) if is_table else "(…)"
    return f"{side} JOIN {table}" if side else table


def _without_alias(
    node: exp.Expr, aliases: dict[str, exp.Expr], names: Resolved
) -> exp.Expr:
    """Return a column with its table; for the alias of a result column, what it stands for."""
    is_free = isinstance(node, exp.Column) and not node.table
    if is_free and node.name in aliases and not names.column(node):
        return aliases[node.name].transform(_with_table, names)
    return _with_table(node, names)


def _with_table(node: exp.Expr, names: Resolved) -> exp.Expr:
    column = names.column(node)
    return exp.column(column[1], column[0]) if column else node


def _column_first(side: exp.Expr) -> tuple[bool, str]:
    return not isinstance(side, exp.Column), _written(side)


def _written(node: exp.Expr) -> str:
    """Write a part on one line, with (…) for a subquery, whose parts follow."""
    folded = node.transform(lambda n: exp.var("(…)") if isinstance(n, exp.Query) else n)
    text = " ".join(folded.sql("sqlite", comments=False).split())
    return text.replace("((…))", "(…)")  # a subquery keeps its brackets
