"""Spider's exact set match (EM), its component scores, and its hardness of a gold query.

Two queries match when their clauses do, each taken as a multiset of parts, whatever they return.
The definition is that of Spider's evaluation script as the test-suite evaluation carries it, with
its defaults and its quirks, so that numbers compare with published ones:

- Values count for nothing, nor does LIMIT's number, nor DISTINCT.
- Columns linked by a foreign key are one column, where both tables stand in FROM. Spider reads the
  keys from its tables.json; here they are the schema's.
- FROM is compared by its tables. Of a JOIN's condition only OR, NOT, IN and LIKE count.
- ORDER BY has one direction, the last one given. AND and OR are compared as a set.
- A subquery in a condition must be equal part by part and in order: there DISTINCT, JOIN conditions
  and the choice between linked columns count. A subquery in FROM must be equal in its values too.
- A prediction that Spider's grammar cannot read counts as an empty query. The metric is defined on
  that grammar (`spider_sql`), so no general SQL parser serves here; it would also be too slow.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from workbench.evaluate.spider_sql import (
    ColumnUse,
    Condition,
    Conditions,
    Expression,
    Query,
    Value,
    parse,
)
from workbench.types import Schema


@dataclass(frozen=True, slots=True)
class Component:
    """One component's verdict, and how many parts of it each of the two queries has.

    Spider's accuracy of a component is the share of `correct` where `predicted` is not 0, its
    recall the share where `gold` is not 0.
    """

    correct: bool
    predicted: int
    gold: int


def exact_match(predicted: str, gold: str, schema: Schema) -> bool:
    """Whether all components match and both read the same tables; False for an unreadable gold."""
    pair = _read_pair(predicted, gold, schema)
    return pair is not None and _matches(*pair)


def partial_match(predicted: str, gold: str, schema: Schema) -> dict[str, Component]:
    """Spider's ten components under its own names; all wrong for an unreadable gold."""
    pair = _read_pair(predicted, gold, schema)
    if pair is None:
        wrong = Component(correct=False, predicted=0, gold=0)
        return dict.fromkeys(_components(Query(), Query()), wrong)
    return _components(*pair)


def hardness(sql: str, schema: Schema) -> Literal["easy", "medium", "hard", "extra", ""]:
    """Spider's level of a gold query; "" for an unreadable one."""
    query = _read(sql, _names(_Same(schema))).query
    if query is None:
        return ""
    clauses, nested, others = _clause_count(query), _nested_count(query), _other_count(query)
    if nested == 0:
        if clauses <= 1 and others == 0:
            return "easy"
        if (clauses <= 1 and others <= 2) or (clauses == 2 and others <= 1):
            return "medium"
        if (clauses <= 2 and others > 2) or (clauses == 3 and others <= 2):
            return "hard"
    elif nested == 1 and clauses <= 1 and others == 0:
        return "hard"
    return "extra"


# Reading: of a schema once, of a query once.


class _Same:
    """A schema as a cache's key: by identity, since its contents take long to hash."""

    __slots__ = ("schema",)

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.schema is other.schema


@dataclass(frozen=True, slots=True, eq=False)
class _Names:
    """The columns of each table, and for each `table.column` in a foreign key what stands for it."""

    columns: dict[str, frozenset[str]]
    merged: dict[str, str]


@lru_cache(maxsize=256)
def _names(key: _Same) -> _Names:
    schema = key.schema
    place = {f"{table}.{column}".lower(): i for i, (table, column) in enumerate(schema.columns())}
    # A key joins the first group that has either end. Groups that a later key would link stay
    # apart, and of a column in two groups the later one decides: Spider's rule.
    groups: list[set[str]] = []
    for table in schema.tables:
        for foreign_key in table.foreign_keys:
            for column, ref in zip(foreign_key.columns, foreign_key.ref_columns, strict=False):
                pair = {f"{table.name}.{column}".lower(), f"{foreign_key.ref_table}.{ref}".lower()}
                if not pair <= place.keys():
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
        merged={name: min(group, key=place.__getitem__) for group in groups for name in group},
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """A query as it was read, None if it could not be, and as it is compared."""

    query: Query | None
    comparable: Query


@lru_cache(maxsize=4096)
def _read(sql: str, names: _Names) -> _Reading:
    query = parse(sql, names.columns)
    if query is None:
        return _Reading(None, Query())
    merged = {c: to for c, to in names.merged.items() if c.partition(".")[0] in query.tables}
    return _Reading(query, _comparable(query, merged))


def _read_pair(predicted: str, gold: str, schema: Schema) -> tuple[Query, Query] | None:
    names = _names(_Same(schema))
    reading = _read(gold, names)
    if reading.query is None:
        return None
    # Systems that predict no values write `value` for one.
    return _read(predicted.replace(" value ", " 1 "), names).comparable, reading.comparable


def _comparable(query: Query, merged: Mapping[str, str] | None) -> Query:
    """The query with values hidden, DISTINCT dropped and linked columns merged.

    A subquery in a condition has nothing but its values hidden: there `merged` is None. A combined
    query is merged by the tables of the first.
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


# The comparison.


def _matches(predicted: Query, gold: Query) -> bool:
    if predicted == gold:
        return True
    same_tables = Counter(predicted.tables) == Counter(gold.tables)
    return same_tables and all(c.correct for c in _components(predicted, gold).values())


def _components(predicted: Query, gold: Query) -> dict[str, Component]:
    p, g = predicted, gold
    return {
        "select": _parts(p.select, g.select),
        "select(no AGG)": _parts([it for _, it in p.select], [it for _, it in g.select]),
        "where": _parts(p.where.units, g.where.units),
        "where(no OP)": _parts([u.left for u in p.where.units], [u.left for u in g.where.units]),
        "group(no Having)": _parts(_bare_names(p.group), _bare_names(g.group)),
        "group": _clause(_group_and_having(p), _group_and_having(g)),
        "order": _clause(p.order and (p.order, p.limit), g.order and (g.order, g.limit)),
        "and/or": _parts(sorted(set(p.where.connectors)), sorted(set(g.where.connectors))),
        "IUEN": _combined(p, g),
        "keywords": _parts(_keywords(p), _keywords(g)),
    }


def _parts(predicted: Sequence[Hashable], gold: Sequence[Hashable]) -> Component:
    correct = predicted == gold or Counter(predicted) == Counter(gold)
    return Component(correct, len(predicted), len(gold))


def _clause(predicted: Hashable | None, gold: Hashable | None) -> Component:
    return Component(predicted == gold, int(predicted is not None), int(gold is not None))


def _bare_names(group: tuple[ColumnUse, ...]) -> list[str]:
    """A grouping column of another table but the same name passes here, and fails in "group"."""
    return [use.column.rpartition(".")[2] for use in group]


def _group_and_having(query: Query) -> Hashable | None:
    """None without GROUP BY, whatever HAVING says: "keywords" sees that there is one."""
    return (tuple(use.column for use in query.group), query.having) if query.group else None


def _combined(predicted: Query, gold: Query) -> Component:
    p, g = predicted.combined, gold.combined
    correct = p == g or (p is not None and g is not None and p[0] == g[0] and _matches(p[1], g[1]))
    return Component(correct, int(p is not None), int(g is not None))


def _keywords(query: Query) -> list[str]:
    units = _units(query)
    present = {
        "where": query.where.units,
        "group": query.group,
        "having": query.having.units,
        "order": query.order,
        query.order[0] if query.order else "": query.order,
        "limit": query.limit,
        query.combined[0] if query.combined else "": query.combined,
        "or": "or" in _connectors(query),
        "not": any(unit.negated for unit in units),
        "in": any(unit.operator == "in" for unit in units),
        "like": any(unit.operator == "like" for unit in units),
    }
    return [word for word, there in present.items() if there]


def _units(query: Query) -> tuple[Condition, ...]:
    return query.on.units + query.where.units + query.having.units


def _connectors(query: Query) -> tuple[str, ...]:
    return query.on.connectors + query.where.connectors + query.having.connectors


# What hardness counts.


def _clause_count(query: Query) -> int:
    """WHERE, GROUP BY, ORDER BY, LIMIT, and each JOIN, OR and LIKE."""
    return (
        sum(map(bool, (query.where.units, query.group, query.order, query.limit)))
        + max(len(query.tables) - 1, 0)
        + _connectors(query).count("or")
        + sum(unit.operator == "like" for unit in _units(query))
    )


def _nested_count(query: Query) -> int:
    """Subqueries in conditions and a combined query; one in FROM does not count."""
    values = [value for unit in _units(query) for value in (unit.value, unit.upper)]
    return sum(isinstance(value, Query) for value in values) + (query.combined is not None)


def _other_count(query: Query) -> int:
    """How many of four there are two or more of: aggregates, columns, conditions, grouping columns.

    As aggregates Spider counts those of SELECT, GROUP BY and ORDER BY, but of the conditions each
    NOT, and of HAVING each AND and OR.
    """
    ordered = [use for it in query.order[1] for use in (it.left, it.right)] if query.order else []
    aggregates = (
        sum(bool(aggregate) for aggregate, _ in query.select)
        + sum(bool(use.aggregate) for use in (*query.group, *ordered) if use)
        + sum(unit.negated for unit in query.where.units + query.having.units)
        + len(query.having.connectors)
    )
    conditions = len(query.where.units) + len(query.where.connectors)
    return sum(count > 1 for count in (aggregates, len(query.select), conditions, len(query.group)))
