"""Settle what a query leaves open: ties that a LIMIT cuts, NULL's place, numbers stored as text."""

from sqlglot import exp

from workbench.sql.reading import parse

_BY_SIZE = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.Max, exp.Min)
# A value, and as a number if it is the text of one; 1.2.3 and 2010-01-01 are none.
_AS_NUMBER = (
    "iif(ltrim({0}, '-') GLOB '[0-9]*' AND ltrim({0}, '-') NOT GLOB '*[^0-9.]*'"
    " AND {0} NOT GLOB '*.*.*', {0} + 0, {0})"
)


def settled(sql: str) -> tuple[str, dict[str, str]]:
    """Return the query with its ties settled, and this with one thing changed for a finding.

    A finding that nothing in the query can lead to has no way.
    """
    tree = parse(sql)
    if tree is None or not tree.find(exp.Ordered, *_BY_SIZE):
        return sql, {}
    base = _written(tree.copy())
    changed = {
        "tie": _written(tree.copy(), " DESC"),
        "null first": _written(_nulls_last(tree)),
        "sorted as text": _written(_with_numbers(tree, exp.Ordered)),
        "compared as text": _written(_with_numbers(tree, *_BY_SIZE)),
    }
    return base, {name: way for name, way in changed.items() if way != base}


def _written(tree: exp.Expr, direction: str = "") -> str:
    """Write a query whose LIMITs cut no tie: equal rows are in the order of their columns.

    The tree is changed.
    """
    for query in tree.find_all(exp.Query):
        if not query.args.get("order") or not query.args.get("limit"):
            continue
        for place, _ in enumerate(query.selects, 1):
            query.order_by(f"{place}{direction}", dialect="sqlite", copy=False)
    return tree.sql("sqlite")


def _nulls_last(tree: exp.Expr) -> exp.Expr:
    tree = tree.copy()
    for ordered in tree.find_all(exp.Ordered):
        ordered.set("nulls_first", False)
    return tree


def _with_numbers(tree: exp.Expr, *kinds: type[exp.Expr]) -> exp.Expr:
    """Return a query where what nodes of these kinds sort or compare are numbers if they can be.

    The number of a column in ORDER BY stays.
    """
    tree = tree.copy()
    for node in reversed(list(tree.find_all(*kinds))):  # the innermost first
        for value in list(node.iter_expressions()):
            if isinstance(node, exp.Ordered) and value.is_int:
                continue
            text = _AS_NUMBER.format(value.sql("sqlite"))
            value.replace(exp.maybe_parse(text, dialect="sqlite"))
    return tree
