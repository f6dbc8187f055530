"""Settle what a query leaves open: ties that a LIMIT cuts, NULL's place, numbers stored as text."""

from sqlglot import exp, parse_one

from workbench.sql.reading import parse

_BY_SIZE = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.Max, exp.Min)
# A value, and as a number if it is the text of one; 1.2.3 and 2010-01-01 are none.
_AS_NUMBER = parse_one(
    "iif(ltrim(:value, '-') GLOB '[0-9]*' AND ltrim(:value, '-') NOT GLOB '*[^0-9.]*'"
    " AND :value NOT GLOB '*.*.*', :value + 0, :value)",
    dialect="sqlite",
)


def settled(sql: str, width: int) -> tuple[str, dict[str, str]]:
    """Return the query with its ties settled, and this with one thing changed for a finding.

    `width` is the number of the result's columns, which `SELECT *` does not tell. A finding that
    nothing in the query can lead to has no way.
    """
    tree = parse(sql)
    if tree is None or not tree.find(exp.Ordered, *_BY_SIZE):
        return sql, {}
    base = _written(tree, width)
    changed = {
        "tie": _written(tree, width, " DESC"),
        "null first": _written(_nulls_last(tree), width),
        "sorted as text": _written(_with_numbers(tree, exp.Ordered), width),
        "compared as text": _written(_with_numbers(tree, *_BY_SIZE), width),
    }
    return base, {name: way for name, way in changed.items() if way != base}


def _written(tree: exp.Expr, width: int, direction: str = "") -> str:
    """Write a query whose LIMITs cut no tie: equal rows are in the order of their columns.

    Those of a subquery that selects `*` are in the order of the first one.
    """
    tree = tree.copy()
    for query in tree.find_all(exp.Query):
        if not query.args.get("order") or not query.args.get("limit"):
            continue
        columns = width if query is tree else len(query.selects)
        for place in range(1, columns + 1):
            query.order_by(f"{place}{direction}", dialect="sqlite", copy=False)
    return tree.sql("sqlite")


def _nulls_last(tree: exp.Expr) -> exp.Expr:
    tree = tree.copy()
    for ordered in tree.find_all(exp.Ordered):
        ordered.set("nulls_first", False)
    return tree


def _with_numbers(tree: exp.Expr, *kinds: type[exp.Expr]) -> exp.Expr:
    """Return a query where what nodes of these kinds sort or compare are numbers if they can be.

    The number of a column in ORDER BY stays, and so does a value with such a node or a subquery in
    it, which gets its numbers there.
    """
    tree = tree.copy()
    for node in list(tree.find_all(*kinds)):
        for operand in list(node.iter_expressions()):
            value = operand
            if isinstance(operand, exp.Distinct):
                (value,) = operand.expressions
            is_place = isinstance(node, exp.Ordered) and value.is_int
            if is_place or value.find(exp.Query, *kinds):
                continue
            number = exp.replace_placeholders(_AS_NUMBER.copy(), value=value.copy())
            value.replace(number)
    return tree
