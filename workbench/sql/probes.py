"""Queries that show the rows behind parts of a query.

Those that an ORDER BY ranks, and those that it compares by size.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from workbench.sql.reading import parse

_BY_SIZE = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.Max, exp.Min)
_ENDS = ("expression", "low", "high")  # of a comparison, and of BETWEEN
MORE = 5_000  # rows beyond a LIMIT that a probe shows


@dataclass(frozen=True, slots=True)
class Ranking:
    """The rows of a SELECT without its LIMIT, each followed by its `keys` values of ORDER BY.

    The LIMIT cuts at `cuts`.
    """

    sql: str
    keys: int
    cuts: tuple[int, ...]
    descending: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """The texts of a column whose max or min a query takes, or that it compares with `bounds`."""

    sql: str
    extreme: str  # "max", "min" or ""
    bounds: tuple[str, ...] = ()


def probes(sql: str) -> list[Ranking | Compared]:
    """Return the probes of a query and of its subqueries; none if it cannot be read."""
    tree = parse(sql)
    listed: list[Ranking | Compared] = []
    for select in tree.find_all(exp.Select) if tree else ():
        listed += _ranking(select)
        listed += _compared(select)
    return listed


def _ranking(select: exp.Select) -> Iterator[Ranking]:
    """Yield the ranking of a SELECT, if it has an ORDER BY and a LIMIT."""
    order = select.args.get("order")
    start = _whole(select.args.get("offset"))
    size = _whole(select.args.get("limit"))
    if not order or start is None or size is None or select.args.get("distinct"):
        return
    if start < 0 or size < 1:
        return
    probe = select.copy()
    probe.set("offset", None)
    for number, ordered in enumerate(order.expressions):
        key = _key(select, ordered.this)
        if key is None:
            return
        probe = probe.select(exp.alias_(key, f"_key_{number}", quoted=True))
    text = _text(probe.limit(start + size + MORE), select)
    descending = bool(order.expressions[0].args.get("desc"))
    cuts = (start, start + size)
    yield Ranking(text, len(order.expressions), cuts, descending)


def _key(select: exp.Select, key: exp.Expr) -> exp.Expr | None:
    """Return the expression behind a key of ORDER BY, which may number or name a column.

    None for the number of a column beside `*`, whose columns are not known here.
    """
    if key.is_int and select.is_star:
        return None
    if isinstance(key, exp.Column | exp.Literal) and not key.text("table"):
        columns: list[exp.Expr] = select.expressions
        for number, column in enumerate(columns, 1):
            is_number = key.name == str(number)
            is_alias = key.name == column.alias
            if is_number or is_alias:
                return column.unalias().copy()
    return key.copy()


def _whole(clause: exp.Expr | None) -> int | None:
    """Return the number of a LIMIT or OFFSET: 0 without one, None for another expression."""
    if clause is None:
        return 0
    number = clause.expression
    return int(number.to_py()) if number.is_int else None


def _compared(select: exp.Select) -> Iterator[Compared]:
    """Yield the columns that a SELECT compares by size."""
    for node in select.find_all(*_BY_SIZE):
        column = node.this
        if not isinstance(column, exp.Column) or node.parent_select is not select:
            continue
        extreme = ""
        if isinstance(node, exp.Max | exp.Min):
            extreme = node.key
        ends = (node.args.get(name) for name in _ENDS)
        bounds = tuple(end.name for end in ends if isinstance(end, exp.Literal))
        if extreme or bounds:
            yield Compared(_texts(select, column), extreme, bounds)


def _texts(select: exp.Select, column: exp.Column) -> str:
    """Write a query of the distinct texts of a column in all rows that a SELECT reads."""
    probe = select.copy()
    for clause in ("where", "group", "having", "order", "offset", "windows"):
        probe.set(clause, None)
    is_text = f"typeof({column.sql('sqlite')}) = 'text'"
    probe = probe.select(column.copy(), append=False).where(is_text, dialect="sqlite")
    return _text(probe.distinct().limit(MORE), select)


def _text(probe: exp.Select, select: exp.Select) -> str:
    """Write a probe, with the common table expressions of the whole query."""
    names = select.root().args.get("with_")
    if names and not probe.args.get("with_"):
        probe.set("with_", names.copy())
    return probe.sql("sqlite")
