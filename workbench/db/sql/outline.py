"""Each SELECT of a query in plain words, to explain the query's plan."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from workbench.db.sql.parse import at_position, is_aggregate, own_nodes, parse, with_compound
from workbench.db.sql.scope import Names
from workbench.types import Schema, lower_name


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of WHERE, ON or USING. The conditions that AND connects are separate."""

    sources: frozenset[str]  # the names in FROM that it mentions; empty if these are unknown
    words: str
    of_join: bool  # whether it is in ON or USING, where an outer join keeps rows that fail it


@dataclass(frozen=True, slots=True)
class Outline:
    """One SELECT in words. The first SELECT of a compound query has the compound's ORDER BY and LIMIT."""

    sources: tuple[tuple[str, str], ...]  # each name in FROM, and its table; "" for a subquery
    conditions: tuple[Condition, ...]
    results: tuple[str, ...]
    distinct: bool
    aggregates: tuple[str, ...]
    group_by: tuple[str, ...]
    having: str
    windows: tuple[str, ...]
    order_by: tuple[str, ...]
    limit: str
    offset: str


def outlines(sql: str) -> tuple[Outline, ...]:
    """Every SELECT of the query, outer ones before inner ones; () for an unreadable query."""
    tree = parse(sql)
    if isinstance(tree, str):
        return ()
    try:
        names = Names(tree, sql, Schema("", ()))
        return tuple(_outline(node, names) for node in tree.find_all(exp.Select, bfs=False))
    except RecursionError:
        return ()


def _outline(select: exp.Select, names: Names) -> Outline:
    # ORDER BY and LIMIT after a UNION belong to the whole UNION; its first SELECT shows them.
    whole = with_compound(select)
    order, limit, offset = (whole.args.get(key) for key in ("order", "limit", "offset"))
    group, having = select.args.get("group"), select.args.get("having")
    sources = tuple(
        (
            source.name,
            source.node.name if isinstance(source.node, exp.Table) and not source.is_cte else "",
        )
        for source in names.scope(select).sources
    )
    # HAVING and ORDER BY may have aggregates and windows that no result column has.
    own = [node for part in select.expressions for node in own_nodes(part)]
    own += [node for part in (having, order) if part for node in own_nodes(part)]
    return Outline(
        sources=sources,
        conditions=tuple(_conditions(select, names)),
        results=tuple(
            _words(part) + (f" (called {part.alias})" if isinstance(part, exp.Alias) else "")
            for part in select.expressions
        ),
        distinct=bool(select.args.get("distinct")),
        aggregates=tuple(dict.fromkeys(_words(node) for node in own if is_aggregate(node))),
        group_by=tuple(_term(part, select) for part in group.expressions) if group else (),
        having=_words(having.this) if having else "",
        windows=tuple(_words(node.this) for node in own if isinstance(node, exp.Window)),
        order_by=tuple(_term(part, select) for part in order.expressions) if order else (),
        limit=_words(limit.expression) if limit else "",
        offset=_words(offset.expression) if offset else "",
    )


def _conditions(select: exp.Select, names: Names) -> Iterator[Condition]:
    """The conditions of ON and USING, then the conditions of WHERE."""
    own = {source.name for source in names.scope(select).sources}
    for join in select.args.get("joins") or ():
        here = own & {lower_name(join.this.alias_or_name)}
        for shared in join.args.get("using") or ():
            words = f"{shared.name} is the same in both"
            yield Condition(frozenset(here), words, of_join=True)
        for part in _outer_conjuncts(join.args.get("on")):
            sources = _mentioned(part, select, names) | here
            yield Condition(sources, _words(part), of_join=True)
    where = select.args.get("where")
    for part in _outer_conjuncts(where and where.this):
        yield Condition(_mentioned(part, select, names), _words(part), of_join=False)


def _outer_conjuncts(root: exp.Expr | None) -> Iterable[exp.Expr]:
    """The conditions that AND connects outside parentheses; none for the TRUE of a JOIN without ON."""
    if root is None or isinstance(root, exp.Boolean):
        return ()
    return root.flatten() if isinstance(root, exp.And) else (root,)


def _mentioned(part: exp.Expr, select: exp.Select, names: Names) -> frozenset[str]:
    """The sources of this SELECT that a condition mentions; none if they are unknown without a schema."""
    own = names.scope(select).sources
    if len(own) == 1:
        return frozenset({own[0].name})
    columns = list(part.find_all(exp.Column))
    if any(not column.table and column.parent_select is select for column in columns):
        return frozenset()
    bound = [names.binding(column).source for column in columns]
    return frozenset(source.name for source in bound if source in own)


def _term(part: exp.Expr, select: exp.Select) -> str:
    """A term of GROUP BY or ORDER BY in words; a number is replaced by the result column at its position."""
    if result := at_position(part.this if isinstance(part, exp.Ordered) else part, select):
        return _words(result) + (", largest first" if part.args.get("desc") else "")
    return _words(part)


_COMPARISONS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.EQ: ("is", "is not"),
    exp.NEQ: ("is not", "is"),
    exp.Is: ("is", "is not"),
    exp.GT: ("is greater than", "is not greater than"),
    exp.GTE: ("is at least", "is not at least"),
    exp.LT: ("is less than", "is not less than"),
    exp.LTE: ("is at most", "is not at most"),
    exp.Like: ("looks like", "does not look like"),
    exp.Glob: ("looks like", "does not look like"),
}
_AGGREGATES = (
    (exp.Count, "the number of"),
    (exp.Sum, "the sum of"),
    (exp.Avg, "the average of"),
    (exp.Min, "the smallest"),
    (exp.Max, "the largest"),
)


def _words(node: exp.Expr, *, negated: bool = False) -> str:
    """An expression in plain words where they are clear, else as SQL."""
    if isinstance(node, exp.Paren | exp.Alias):
        return _words(node.this, negated=negated)
    if isinstance(node, exp.Not):
        return _words(node.this, negated=not negated)
    verb = _COMPARISONS.get(type(node), ("", ""))[negated]
    if verb:
        return f"{_words(node.this)} {verb} {_words(node.args['expression'])}"
    if isinstance(node, exp.Between):
        verb = "is not between" if negated else "is between"
        return (
            f"{_words(node.this)} {verb} {_words(node.args['low'])} and {_words(node.args['high'])}"
        )
    if isinstance(node, exp.In):
        where = "not among" if negated else "among"
        query = node.args.get("query") or node.args.get("field")
        values = _words(query) if query else ", ".join(_words(value) for value in node.expressions)
        return f"{_words(node.this)} is {where} {values}"
    if isinstance(node, exp.Exists):
        return f"the subquery finds {'no row' if negated else 'a row'}"
    # The conditions above have a negated form of their own; NOT before anything else stays a NOT.
    if negated:
        return f"not ({_words(node)})"
    if isinstance(node, exp.Query):
        return "the result of the subquery"
    if isinstance(node, exp.And | exp.Or):
        return f" {node.key} ".join(_words(part) for part in node.flatten())
    if isinstance(node, exp.Ordered):
        return _words(node.this) + (", largest first" if node.args.get("desc") else "")
    for kind, noun in _AGGREGATES:
        if isinstance(node, kind):
            argument = node.this
            if isinstance(argument, exp.Distinct):
                return f"{noun} different values of {', '.join(map(_words, argument.expressions))}"
            if isinstance(argument, exp.Star):
                return f"{noun} rows"
            return f"{noun} {'values of ' if kind is exp.Count else ''}{_words(argument)}"
    if isinstance(node, exp.Column) and not node.is_star:
        return f"{node.table}.{node.name}" if node.table else node.name
    if isinstance(node, exp.Star):
        return "every column"
    return node.sql(dialect="sqlite", comments=False)
