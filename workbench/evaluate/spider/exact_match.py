"""Spider's exact set match (EM) and its component scores.

Two queries match if their clauses do, each as a multiset of parts, whatever the queries return. The definition
is that of Spider's evaluation script in the test-suite evaluation, with its defaults and quirks, so that
numbers compare with published ones:

- Values, LIMIT's number and DISTINCT are ignored.
- Columns linked by a foreign key are one column if both tables are in FROM. Spider reads the
  keys from its tables.json; here they are the schema's.
- FROM is compared by its tables. Of a JOIN's condition only OR, NOT, IN and LIKE count.
- ORDER BY has one direction, the last one given. AND and OR are compared as a set.
- A subquery in a condition must be equal part by part and in order: there DISTINCT, JOIN conditions
  and the choice between linked columns count. A subquery in FROM must be equal in its values too.
- A prediction that Spider's grammar cannot read counts as an empty query. The metric is defined on
  that grammar (`spider_sql`), so no general SQL parser serves here; it would also be too slow.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from workbench.evaluate.spider.grammar import ColumnUse, Query
from workbench.evaluate.spider.query import connectors, read, units
from workbench.types import Schema


@dataclass(frozen=True, slots=True)
class Component:
    """One component's verdict. Its accuracy in Spider's tables is the share of `correct` among queries with
    `predicted` above 0, its recall that among queries with `gold` above 0.
    """

    correct: bool
    predicted: int  # parts of the component in the prediction
    gold: int  # and in the gold query


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


def _read_pair(predicted: str, gold: str, schema: Schema) -> tuple[Query, Query] | None:
    reading = read(gold, schema)
    if reading.query is None:
        return None
    # Systems that predict no values write `value` for one.
    return read(predicted.replace(" value ", " 1 "), schema).comparable, reading.comparable


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
    """Names without tables: a column of the same name in another table passes here and fails in "group"."""
    return [use.column.rpartition(".")[2] for use in group]


def _group_and_having(query: Query) -> Hashable | None:
    """None without GROUP BY, whatever HAVING says: "keywords" sees that there is one."""
    return (tuple(use.column for use in query.group), query.having) if query.group else None


def _combined(predicted: Query, gold: Query) -> Component:
    p, g = predicted.combined, gold.combined
    correct = p == g or (p is not None and g is not None and p[0] == g[0] and _matches(p[1], g[1]))
    return Component(correct, int(p is not None), int(g is not None))


def _keywords(query: Query) -> list[str]:
    conditions = units(query)
    present = {
        "where": query.where.units,
        "group": query.group,
        "having": query.having.units,
        "order": query.order,
        query.order[0] if query.order else "": query.order,
        "limit": query.limit,
        query.combined[0] if query.combined else "": query.combined,
        "or": "or" in connectors(query),
        "not": any(unit.negated for unit in conditions),
        "in": any(unit.operator == "in" for unit in conditions),
        "like": any(unit.operator == "like" for unit in conditions),
    }
    return [word for word, there in present.items() if there]
