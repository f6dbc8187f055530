"""Whether a query gives the same answer when it runs again on the same database."""

from sqlglot import exp

from workbench.db.sql.parse import inside, is_aggregate, parse

_CLOCKS = frozenset(
    {"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "DATE", "TIME", "DATETIME"}
    | {"JULIANDAY", "UNIXEPOCH"}
)


def may_differ_between_runs(sql: str) -> tuple[str, ...]:
    """Why two runs of the query on one database may give different answers; () where nothing says so.

    "random": random() or randomblob(). "current_time": 'now', date(), CURRENT_DATE and their like.
    "limit_without_order": LIMIT without ORDER BY, where which rows come first is up to the query
    planner; not in EXISTS, nor where all is aggregated into one row. "unreadable": it cannot be read.
    """
    tree = parse(sql)
    if isinstance(tree, str):
        return ("unreadable",)
    reasons = set()
    for node in tree.walk():
        if isinstance(node, exp.Rand) or (
            isinstance(node, exp.Anonymous) and node.name.lower() == "randomblob"
        ):
            reasons.add("random")
        elif isinstance(node, exp.Func) and not any(node.args.values()):
            if node.sql(dialect="sqlite").partition("(")[0].upper() in _CLOCKS:
                reasons.add("current_time")
        elif isinstance(node, exp.Literal):
            if node.is_string and node.name.lower() == "now" and node.find_ancestor(exp.Func):
                reasons.add("current_time")
        elif isinstance(node, exp.Limit):
            query = node.parent
            in_exists = isinstance(query, exp.Expr) and isinstance(query.parent, exp.Exists)
            if query and not query.args.get("order") and not in_exists and not _is_one_row(query):
                reasons.add("limit_without_order")
    return tuple(sorted(reasons))


def _is_one_row(query: exp.Expr) -> bool:
    """Does the SELECT aggregate everything into one row?"""
    return (
        isinstance(query, exp.Select)
        and not query.args.get("group")
        and any(is_aggregate(node) for part in query.expressions for node in inside(part))
    )
