"""Spider's exact set match (EM).

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
from collections.abc import Mapping

from workbench.evaluate.spider.query import read
from workbench.evaluate.spider.syntax import Query
from workbench.types import Schema


def exact_match(predicted: str, gold: str, schema: Schema) -> bool:
    """Whether all components match and both read the same tables; False for an unreadable gold."""
    first, second = _compared(predicted, schema), read(gold, schema)
    return second.query is not None and (
        first == second.comparable or _components(first) == _components(second.comparable)
    )


def _compared(predicted: str, schema: Schema) -> Query:
    """The prediction as it is compared. Systems that predict no values write `value` for one."""
    return read(predicted.replace(" value ", " 1 "), schema).comparable


def _components(query: Query) -> Mapping[str, object]:
    """The query's tables and Spider's components, each as a value that is equal if the component matches."""
    group = tuple(use.column for use in query.group)
    return {
        "tables": Counter(query.tables),
        "select": Counter(query.select),
        "where": Counter(query.where.units),
        # None without GROUP BY, whatever HAVING says: "keywords" sees that there is one.
        "group": (group, query.having) if group else None,
        "order": query.order and (query.order, query.limit),
        "and/or": set(query.where.connectors),
        "IUEN": query.combined and (query.combined[0], _components(query.combined[1])),
        "keywords": _keywords(query),
    }


def _keywords(query: Query) -> set[str]:
    present = {
        "where": query.where.units,
        "group": query.group,
        "having": query.having.units,
        "order": query.order,
        query.order[0] if query.order else "": query.order,
        "limit": query.limit,
        query.combined[0] if query.combined else "": query.combined,
        "or": "or" in query.connectors,
        "not": any(unit.negated for unit in query.units),
        "in": any(unit.operator == "in" for unit in query.units),
        "like": any(unit.operator == "like" for unit in query.units),
    }
    return {word for word, there in present.items() if there}
