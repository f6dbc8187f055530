"""Each SELECT of a query in plain words, for telling its plan."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from workbench.db.sql.parse import inside, is_aggregate, parse


@dataclass(frozen=True, slots=True)
class Condition:
    """One of the conditions that AND connects, in words."""

    sources: frozenset[str]  # the names it is about, in lower case; none where that needs a schema
    words: str
    of_join: bool  # of ON or USING: in an outer join, a row that fails it is not lost


@dataclass(frozen=True, slots=True)
class Outline:
    """One SELECT in words, for telling its plan.

    The last three fields of a compound's first SELECT are those of the whole compound.
    """

    sources: tuple[tuple[str, str], ...]  # its name in lower case, and the table; "" for a subquery
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
    """Every SELECT of the query, the outer before the inner; () where it cannot be read."""
    tree = parse(sql)
    if isinstance(tree, str):
        return ()
    try:
        ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        return tuple(_outline(node, ctes) for node in tree.find_all(exp.Select, bfs=False))
    except RecursionError:
        return ()


def _outline(select: exp.Select, ctes: set[str]) -> Outline:
    whole: exp.Expr = select
    while isinstance(whole.parent, exp.SetOperation) and whole.arg_key == "this":
        whole = whole.parent
    order, limit, offset = (whole.args.get(key) for key in ("order", "limit", "offset"))
    clause, group, having = (
        select.args.get("from_"),
        select.args.get("group"),
        select.args.get("having"),
    )
    joins = select.args.get("joins") or []
    sources = tuple(
        (
            node.alias_or_name.lower(),
            node.name if isinstance(node, exp.Table) and node.name.lower() not in ctes else "",
        )
        for node in [*([clause.this] if clause else []), *(join.this for join in joins)]
    )
    own = [node for part in select.expressions for node in inside(part)]
    own += [node for part in (having, order) if part for node in inside(part)]
    return Outline(
        sources=sources,
        conditions=tuple(_conditions(select, [name for name, _ in sources])),
        results=tuple(_result(part) for part in select.expressions),
        distinct=bool(select.args.get("distinct")),
        aggregates=tuple(dict.fromkeys(_words(node) for node in own if is_aggregate(node))),
        group_by=tuple(_term(part, select) for part in group.expressions) if group else (),
        having=_words(having.this) if having else "",
        windows=tuple(_words(node.this) for node in own if isinstance(node, exp.Window)),
        order_by=tuple(_term(part, select) for part in order.expressions) if order else (),
        limit=_words(limit.expression) if limit else "",
        offset=_words(offset.expression) if offset else "",
    )


def _conditions(select: exp.Select, names: list[str]) -> Iterator[Condition]:
    """Those of ON and USING, then those of WHERE."""
    joins = select.args.get("joins") or []
    for place, join in enumerate(joins, start=len(names) - len(joins)):
        here = frozenset(names[place : place + 1])
        for shared in join.args.get("using") or ():
            yield Condition(here, f"{shared.name} is the same in both", of_join=True)
        for part in _conjuncts(join.args.get("on")):
            yield Condition(_mentioned(part, select, names) | here, _words(part), of_join=True)
    where = select.args.get("where")
    for part in _conjuncts(where and where.this):
        yield Condition(_mentioned(part, select, names), _words(part), of_join=False)


def _conjuncts(root: exp.Expr | None) -> Iterable[exp.Expr]:
    """What AND connects; nothing for the TRUE that the parser puts where a JOIN has no ON."""
    if root is None or isinstance(root, exp.Boolean):
        return ()
    return root.flatten() if isinstance(root, exp.And) else (root,)


def _mentioned(part: exp.Expr, select: exp.Select, names: list[str]) -> frozenset[str]:
    if len(names) == 1:
        return frozenset(names)
    columns = list(part.find_all(exp.Column))
    if any(not column.table and column.parent_select is select for column in columns):
        return frozenset()
    return frozenset(column.table.lower() for column in columns) & frozenset(names)


def _result(part: exp.Expr) -> str:
    called = f" (called {part.alias})" if isinstance(part, exp.Alias) else ""
    return _words(part) + called


def _term(part: exp.Expr, select: exp.Select) -> str:
    """What GROUP BY or ORDER BY names, where a number stands for a result column."""
    this = part.this if isinstance(part, exp.Ordered) else part
    if isinstance(this, exp.Literal) and this.name.isdigit():
        place = int(this.name) - 1
        if 0 <= place < len(select.expressions):
            last = ", largest first" if part.args.get("desc") else ""
            return _words(select.expressions[place]) + last
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
    """An expression in plain words where these are clear, and else as SQL."""
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
            what = node.this
            if isinstance(what, exp.Distinct):
                return f"{noun} different values of {', '.join(map(_words, what.expressions))}"
            if isinstance(what, exp.Star):
                return f"{noun} rows"
            return f"{noun} {'values of ' if kind is exp.Count else ''}{_words(what)}"
    if isinstance(node, exp.Column) and not node.is_star:
        return f"{node.table}.{node.name}" if node.table else node.name
    if isinstance(node, exp.Star):
        return "every column"
    return node.sql(dialect="sqlite", comments=False)
