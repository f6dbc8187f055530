"""Measure whether value retrieval finds the values that gold queries compare columns with (CHASE-SQL, section 2.2).

A literal here is a text that gold compares with a column by = or IN. Numbers, patterns, and literals compared
with a function's result do not count: no index of values could supply them.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.sql.facts import query_facts
from workbench.types import Context, Gold, Schema, lower_name

_ABOUT = ["question_id", "db_id", "difficulty", "table", "column", "value"]
_VERDICTS = ["spelled", "found", "anywhere"]


def literals(
    benchmark: Benchmark, contexts: Mapping[str, Context], schema: Callable[[str], Schema]
) -> pd.DataFrame:
    """A row for each literal of each gold query, and whether the question's context has it.

    `spelled` is true if the question or hint contains the literal, in any letter case; `found` if it was retrieved for
    its column; `anywhere` if it was retrieved for any column. `schema` returns a database's whole schema. A
    query that cannot be parsed has no literals.
    """
    rows = [
        {"question_id": question.id, "db_id": question.db_id} | row
        for question in benchmark.questions
        for row in _rows(
            benchmark.golds[question.id], contexts[question.id], schema(question.db_id)
        )
    ]
    frame = pd.DataFrame(rows, columns=[*_ABOUT, *_VERDICTS])
    return frame.astype(dict.fromkeys(_VERDICTS, bool))


def _rows(gold: Gold, context: Context, schema: Schema) -> Iterator[dict[str, Any]]:
    facts = query_facts(gold.sql, schema)
    asked = lower_name(f"{context.question.text} {context.question.evidence}")
    values = {(match.table, match.column, match.value) for match in context.values}  # noqa: PD011
    texts = {value for _, _, value in values}
    # A query may compare a column with the same literal twice; it counts once.
    for literal in dict.fromkeys(facts.comparisons if facts else ()):
        value = literal.value
        if literal.column and literal.operator == "=" and isinstance(value, str) and value:
            table, column = literal.column
            yield {
                "difficulty": gold.difficulty,
                "table": table,
                "column": column,
                "value": value,
                "spelled": lower_name(value) in asked,
                "found": (table, column, value) in values,
                "anywhere": value in texts,
            }
