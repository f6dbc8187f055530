"""Spider's difficulty of a question: the level of its gold query."""

from typing import Literal

from workbench.benchmarks.benchmark import Benchmark
from workbench.evaluate.spider.query import read
from workbench.evaluate.spider.syntax import Query
from workbench.types import Question, Schema


def difficulty(benchmark: Benchmark, question: Question) -> str:
    """The difficulty that the benchmark's file gives, or else Spider's level of the gold query."""
    gold = benchmark.golds[question.id]
    schema = benchmark.schemas.get(question.db_id)
    return gold.difficulty or (hardness(gold.sql, schema) if schema else "")


def hardness(sql: str, schema: Schema) -> Literal["easy", "medium", "hard", "extra", ""]:
    """Spider's level of a gold query; "" for an unreadable one."""
    query = read(sql, schema).query
    if query is None:
        return ""
    clauses, nested, others = _clause_count(query), _nested_count(query), _other_count(query)
    # The levels of `eval_hardness` in Spider's evaluation script, its conditions grouped by nested queries.
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


def _clause_count(query: Query) -> int:
    """WHERE, GROUP BY, ORDER BY, LIMIT, and each JOIN, OR and LIKE."""
    return (
        sum(map(bool, (query.where.units, query.group, query.order, query.limit)))
        + max(len(query.tables) - 1, 0)
        + query.connectors.count("or")
        + sum(unit.operator == "like" for unit in query.units)
    )


def _nested_count(query: Query) -> int:
    """Subqueries in conditions and a combined query; one in FROM does not count."""
    values = [value for unit in query.units for value in (unit.value, unit.upper)]
    return sum(isinstance(value, Query) for value in values) + (query.combined is not None)


def _other_count(query: Query) -> int:
    """How many of these occur at least twice: aggregates, columns, conditions, grouping columns.

    Spider's script counts as aggregates those in SELECT, GROUP BY and ORDER BY, each NOT of a condition, and
    each AND and OR of HAVING; its numbers depend on that.
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
