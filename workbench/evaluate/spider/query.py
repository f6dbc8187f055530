"""A query read by Spider's grammar, and the form in which Spider compares it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from workbench.evaluate.spider.grammar import parse
from workbench.evaluate.spider.syntax import (
    ColumnUse,
    Condition,
    Conditions,
    Expression,
    Query,
    Value,
)
from workbench.parallel import cached_for_object
from workbench.types import Schema


@dataclass(frozen=True, slots=True, eq=False)
class _Names:
    """The columns of each table, and for each `table.column` in a foreign key the column that replaces it."""

    columns: dict[str, frozenset[str]]
    merged: dict[str, str]


@cached_for_object(maxsize=256)  # hashing the contents of a schema is slow
def _names(schema: Schema) -> _Names:
    position = {
        f"{table}.{column}".lower(): i for i, (table, column) in enumerate(schema.columns())
    }
    # Spider's rule: a foreign key joins the first group that contains either of its columns. Groups that a
    # later key would link stay apart, and for a column in two groups the later group decides.
    groups: list[set[str]] = []
    for table in schema.tables:
        for foreign_key in table.foreign_keys:
            for column, ref in zip(foreign_key.columns, foreign_key.ref_columns, strict=False):
                pair = {f"{table.name}.{column}".lower(), f"{foreign_key.ref_table}.{ref}".lower()}
                if not pair <= position.keys():
                    continue
                group = next((g for g in groups if not g.isdisjoint(pair)), None)
                if group is None:
                    groups.append(pair)
                else:
                    group |= pair
    return _Names(
        columns={
            table.name.lower(): frozenset(column.name.lower() for column in table.columns)
            for table in schema.tables
            if table.kind != "view"  # Spider knows tables only
        },
        merged={name: min(group, key=position.__getitem__) for group in groups for name in group},
    )


@dataclass(frozen=True, slots=True)
class Reading:
    """A query as read (None if the grammar does not accept it), and the form that is compared."""

    query: Query | None
    comparable: Query


def read(sql: str, schema: Schema) -> Reading:
    """The query as Spider reads it on that schema; cached, since gold is compared many times."""
    return _read(sql, _names(schema))


@lru_cache(maxsize=4096)
def _read(sql: str, names: _Names) -> Reading:
    query = parse(sql, names.columns)
    if query is None:
        return Reading(None, Query())
    merged = {c: to for c, to in names.merged.items() if c.partition(".")[0] in query.tables}
    return Reading(query, _comparable(query, merged))


def _comparable(query: Query, merged: Mapping[str, str] | None) -> Query:
    """The query with values hidden, DISTINCT dropped and linked columns merged.

    In a subquery of a condition only values are hidden; there `merged` is None. After UNION, INTERSECT and
    EXCEPT, the tables of the first query decide which columns are merged.
    """

    def column(use: ColumnUse) -> ColumnUse:
        if merged is None:
            return use
        return ColumnUse(use.aggregate, merged.get(use.column, use.column), distinct=False)

    def expression(it: Expression) -> Expression:
        return Expression(it.operator, column(it.left), column(it.right) if it.right else None)

    def value(it: Value) -> Query | None:
        return _comparable(it, None) if isinstance(it, Query) else None

    def condition(it: Condition) -> Condition:
        left = expression(it.left)
        return Condition(it.negated, it.operator, left, value(it.value), value(it.upper))

    def conditions(it: Conditions) -> Conditions:
        return Conditions(tuple(map(condition, it.units)), it.connectors)

    return Query(
        select=tuple((aggregate, expression(it)) for aggregate, it in query.select),
        distinct=query.distinct and merged is None,
        tables=query.tables,
        on=conditions(query.on),
        where=conditions(query.where),
        group=tuple(map(column, query.group)),
        having=conditions(query.having),
        order=query.order and (query.order[0], tuple(map(expression, query.order[1]))),
        limit=query.limit,
        combined=query.combined and (query.combined[0], _comparable(query.combined[1], merged)),
    )
