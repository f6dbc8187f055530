"""Queries that show the rows behind parts of a query.

Those that an ORDER BY ranks, and those that it compares by size.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from workbench.sql.reading import parse

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
    extreme: Literal["max", "min", ""]
    bounds: tuple[str, ...] = ()


def probes(sql: str) -> list[Ranking | Compared]:
    """Return the probes of a query and of its subqueries; none if it cannot be read."""
    tree = parse(sql)
    made: list[Ranking | Compared] = []
    for select in tree.find_all(exp.Select) if tree else ():
        if ranking := _ranking(select):
            made.append(ranking)
        made += _compared(select)
    return made


def _ranking(select: exp.Select) -> Ranking | None:
    order, offset = select.args.get("order"), select.args.get("offset")
    size, start = _whole(select.args.get("limit")), _whole(offset) if offset else 0
    if not order or size is None or start is None or select.args.get("distinct"):
        return None
    keys = [_key(select, ordered.this) for ordered in order.expressions]
    columns = [exp.alias_(key, f"_key_{n}", quoted=True) for n, key in enumerate(keys)]
    probe = select.copy().select(*columns).limit(start + size + MORE)
    probe.set("offset", None)
    descending = bool(order.expressions[0].args.get("desc"))
    return Ranking(_text(probe, select), len(keys), (start, start + size), descending)


def _key(select: exp.Select, key: exp.Expr) -> exp.Expr:
    """The expression behind a key of ORDER BY, which may number or name result columns."""
    if isinstance(key, exp.Literal) and key.is_int:
        column: exp.Expr = select.expressions[int(key.name) - 1]
        return column.unalias().copy()
    aliases = {
        item.alias: item.this
        for item in select.expressions
        if isinstance(item, exp.Alias)
    }

    def behind(node: exp.Expr) -> exp.Expr:
        is_alias = (
            isinstance(node, exp.Column) and not node.table and node.name in aliases
        )
        return aliases[node.name].copy() if is_alias else node

    return key.transform(behind)


def _whole(node: exp.Expr | None) -> int | None:
    """The number of a LIMIT or OFFSET that is written as a number."""
    number = node and node.expression
    return (
        int(number.name) if isinstance(number, exp.Literal) and number.is_int else None
    )


def _compared(select: exp.Select) -> Iterator[Compared]:
    extremes: dict[type[exp.Expr], Literal["max", "min"]] = {
        exp.Max: "max",
        exp.Min: "min",
    }
    for node in select.find_all(
        exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, *extremes
    ):
        column = node.this
        extreme: Literal["max", "min", ""] = extremes.get(type(node), "")
        if (
            not isinstance(column, exp.Column)
            or node.find_ancestor(exp.Select) is not select
        ):
            continue
        ends = [node.args.get(name) for name in ("expression", "low", "high")]
        bounds = tuple(end.name for end in ends if isinstance(end, exp.Literal))
        if extreme or bounds:
            yield Compared(_texts(select, column), extreme, bounds)


def _texts(select: exp.Select, column: exp.Column) -> str:
    """A query of the distinct texts of a column in all rows that a SELECT reads."""
    probe = select.copy()
    for clause in ("where", "group", "having", "order", "offset", "windows"):
        probe.set(clause, None)
    is_text = f"typeof({column.sql('sqlite')}) = 'text'"
    probe = probe.select(column.copy(), append=False).where(is_text, dialect="sqlite")
    return _text(probe.distinct().limit(MORE), select)


def _text(probe: exp.Select, select: exp.Select) -> str:
    """The text of a probe, with the common table expressions of the whole query."""
    names = select.root().args.get("with_")
    if names and not probe.args.get("with_"):
        probe.set("with_", names.copy())
    return probe.sql("sqlite")
