"""Whether value retrieval found what gold queries compare columns with: CHASE-SQL, section 2.2.

A literal is a text that gold asks of a column by = or IN. Numbers, patterns and what a function is compared
with are none, since no index of values could bring them.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.db.sql.claims import claims
from workbench.types import Context, Gold, Schema, fold

_ABOUT = ["question_id", "db_id", "difficulty", "table", "column", "value"]
_VERDICTS = ["spelled", "found", "anywhere"]


def literals(
    benchmark: Benchmark, contexts: Mapping[str, Context], schema: Callable[[str], Schema]
) -> pd.DataFrame:
    """A row for each literal of each gold query, and what the question's context knows of it.

    `spelled` by question or hint, letter for letter but for case; `found` among the values that were
    retrieved for that very column, `anywhere` for any. `schema` gives a database's whole one. A query that
    cannot be read has no literals.
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
    told = claims(gold.sql, schema)
    asked = fold(f"{context.question.text} {context.question.evidence}")
    values = {(match.table, match.column, match.value) for match in context.values}  # noqa: PD011
    texts = {value for _, _, value in values}
    for one in dict.fromkeys(told.compared if told else ()):
        if one.column and one.operator == "=" and isinstance(one.value, str) and one.value:
            table, column = one.column
            yield {
                "difficulty": gold.difficulty,
                "table": table,
                "column": column,
                "value": one.value,
                "spelled": fold(one.value) in asked,
                "found": (table, column, one.value) in values,
                "anywhere": one.value in texts,
            }
