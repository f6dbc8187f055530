"""Two queries differ on a database if their results differ in every order in which SQLite may read the rows.

If rows tie, `ORDER BY x LIMIT 1` returns the row that SQLite happens to read first; the same is true of columns that
GROUP BY does not name. A query can therefore have several results on one database. Two queries differ if each has one
result and the results are unequal. They also differ if one query has a single result that the other cannot have: one
has a row that the other never has, or more rows. In that case whole results are not compared, since a few orders
show only a few of all combinations of tied rows. If both queries have several results, they are not told apart.

SQLite reads rows by their rowid, so the queries run again on tables without keys into which the rows are inserted in
other orders. They also run with random() after the keys of each ORDER BY, since SQLite breaks ties by the order of
its groups, too. Floats that differ only in the last digits, by the order in which they are added, count as equal.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from workbench.db.compare import bird_equal, spider_equal
from workbench.db.execute import Executor
from workbench.db.sql.derived.rows import shuffled
from workbench.db.text.quoting import quote
from workbench.differ.rules import Rows, Rules, TableRules, small_database
from workbench.types import Execution, Limits, Value

_FEW_ORDERS = 4  # these rule out most databases on which only ties make the results differ
# 24 random orders hide a tie of two rows once in 16 million times. Each row also comes first and last once, since
# by chance one of nine tied rows is seldom the first.
_ORDERS = 24
_MANY_ORDERS = 96  # if one query has several results, these should show all rows that it can return
# Without this, SQLite may join by an automatic index, which reads rows in the order of their values.
_IN_ORDER_OF_ROWS = "PRAGMA automatic_index = OFF"
_LIMITS = Limits(seconds=5.0, rows=20_000, bytes=2_000_000)
Results = tuple[Execution, Execution]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two queries under one sense of equality.

    `sense` is "bird" (sets of rows) or "spider" (bags, in order if the first query has ORDER BY, columns in any
    order); the queries are run as they stand, DISTINCT included.
    """

    first: str
    second: str
    sense: str
    rules: Rules
    executor: Executor

    def results(self, several: Sequence[Rows]) -> list[Results | None]:
        """Both queries' executions on each database; None if its rows break a constraint."""
        databases = [self.rules.database(rows) for rows in several]
        answers = self.executor.execute_in_memory(databases, (self.first, self.second), _LIMITS)
        return [None if answer is None else (answer[0], answer[1]) for answer in answers]

    def equal(self, a: Execution, b: Execution) -> bool:
        """Whether two results are equal; a failed execution counts as equal to any result."""
        if not (a.is_complete and b.is_complete):
            return True
        if self.sense == "bird":
            return bird_equal(a, b) or set(_rounded(a).rows) == set(_rounded(b).rows)
        return spider_equal(b, a, self.first) or spider_equal(_rounded(b), _rounded(a), self.first)

    def is_different(self, rows: Rows) -> bool:
        """Whether the results differ in every order of the rows."""
        return self.seems_different(rows) and self._differs(rows, _ORDERS)

    def seems_different(self, rows: Rows) -> bool:
        """Whether the results differ in a few orders: a faster check that ties may pass."""
        return self._differs(rows, _FEW_ORDERS)

    def first_is_certain(self, rows: Rows) -> bool:
        """Whether the first query has the same result in every order of the rows."""
        found = self._in_orders(rows, _ORDERS)
        return found is not None and len(found[0]) == 1

    def _differs(self, rows: Rows, orders: int) -> bool:
        found = self._in_orders(rows, orders)
        if not found:
            return False
        one, several = sorted(found, key=len)
        if len(one) > 1:
            return False  # both queries have several results
        if len(several) == 1:
            (a,), (b,) = found
            return not self.equal(a, b)
        if not self._is_none_of(one[0], several):
            return False
        return orders != _ORDERS or self._differs(rows, _MANY_ORDERS)

    def _is_none_of(self, one: Execution, several: Sequence[Execution]) -> bool:
        """Whether a result differs from `several` and from every result that combines their rows."""
        own = self._rows(one)
        found = [self._rows(result) for result in several]
        if own - frozenset.union(*found) or frozenset.intersection(*found) - own:
            return True
        counts = [result.row_count for result in several]
        return len(own) > max(counts) or (not own and min(counts) > 0)

    def _rows(self, execution: Execution) -> frozenset[Hashable]:
        """The distinct rows; in Spider's sense, the order of the columns does not matter."""
        rows = _rounded(execution).rows
        if self.sense == "bird":
            return frozenset(rows)
        return frozenset(frozenset(Counter(row).items()) for row in rows)

    def _in_orders(self, rows: Rows, count: int) -> tuple[list[Execution], list[Execution]] | None:
        """The distinct results of each query over `count` orders of the rows; None if a run fails."""
        tables = self.rules.tables.values()
        statements = (_IN_ORDER_OF_ROWS, *map(_without_keys, tables), *self.rules.views)
        random = Random(count)  # noqa: S311  no secret
        # The reversed order comes first: it turns every tie around, which a random order may not.
        orders = [{name: content[::-1] for name, content in rows.items()}]
        orders += [
            {name: random.sample(content, len(content)) for name, content in rows.items()}
            for _ in range(count - 1)
        ]
        if count >= _ORDERS:
            orders += _turned(rows)
        databases = [self.rules.database(rows)]
        databases += [small_database(statements, order) for order in orders]
        queries = (self.first, self.second, shuffled(self.first), shuffled(self.second))
        answers = self.executor.execute_in_memory(databases, queries, _LIMITS)
        firsts: list[Execution] = []
        seconds: list[Execution] = []
        for answer in answers:
            if answer is None or not all(result.is_complete for result in answer[:2]):
                return None
            # Each query ran twice on a database, once with random() to break its ties: both are results of it.
            for result, known in zip(answer, (firsts, seconds, firsts, seconds), strict=True):
                if not any(self.equal(result, other) for other in known):
                    known.append(result)
        return firsts, seconds


def _turned(rows: Rows) -> Iterator[Rows]:
    """Orders of the rows in which each row of a table comes first once, and last once."""
    for turn in range(1, max(map(len, rows.values()), default=0)):
        turned = {}
        for name, content in rows.items():
            start = turn % max(len(content), 1)
            turned[name] = content[start:] + content[:start]
        yield turned
        yield {name: content[::-1] for name, content in turned.items()}


def _without_keys(table: TableRules) -> str:
    """A CREATE statement without keys, as SQLite reads rows in the order of a key.

    A table with collations or generated columns keeps its statement, since they change results.
    """
    created = table.statements[0]
    if re.search(r"\b(COLLATE|GENERATED|AS\s*\(|VIRTUAL)\b", created, re.IGNORECASE):
        return created
    columns = zip(table.columns, table.types, strict=True)
    return f"CREATE TABLE {quote(table.name)} ({', '.join(f'{quote(n)} {t}' for n, t in columns)})"


def _rounded(execution: Execution) -> Execution:
    rows = tuple(tuple(map(_round, row)) for row in execution.rows)
    return replace(execution, rows=rows)


def _round(value: Value) -> Value:
    return float(f"{value:.9g}") if isinstance(value, float) else value
