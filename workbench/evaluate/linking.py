"""The share of gold's tables, columns and compared values that reaches the prompt.

`linking_by_stage` compares the tables and columns in a prompt with those that the gold query uses (CHESS, table 5).
Precision is the share of the selected items that gold uses, recall the share of gold's items that were selected; a
share of nothing is 1.

`literals` measures value retrieval (CHASE-SQL, section 2.2). A literal is a text that gold compares with a column by =
or IN. Numbers, patterns, and literals compared with a function's result do not count: no index could supply them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.sql.facts import comparisons
from workbench.sql.reading import used
from workbench.types import Context, Gold, Schema, lower_name

_VERDICTS = ["spelled", "found", "anywhere"]
_COLUMNS = ["question_id", "db_id", "difficulty", "table", "column", "value", *_VERDICTS]


@dataclass(frozen=True, slots=True)
class Linking:
    """Precision and recall of the tables and columns in a prompt, each between 0 and 1."""

    table_precision: float
    table_recall: float
    column_precision: float
    column_recall: float


def linking_by_stage(questions: Iterable[tuple[Sequence[Context], Gold]]) -> tuple[Linking, ...]:
    """The precision and recall of the schema after each stage of pruning, averaged over questions (CHESS, table 5).

    Each question is given as its contexts, the unpruned one first, and its gold query. A question whose gold query
    cannot be read is left out.
    """
    stages: list[list[list[float]]] = []
    for contexts, gold in questions:
        uses = used(gold.sql, contexts[0].schema)
        if uses.error:
            continue
        columns = [set(context.schema.columns()) for context in contexts]
        pairs = [(({t for t, _ in own}, uses.tables), (own, uses.columns)) for own in columns]
        stages.append([[share for a, b in pair for share in _shares(a, b)] for pair in pairs])
    return tuple(
        Linking(*(fmean(shares) for shares in zip(*stage, strict=True)))
        for stage in zip(*stages, strict=True)
    )


def _shares(ours: set[Any], theirs: frozenset[Any]) -> list[float]:
    return [len(ours & theirs) / len(whole) if whole else 1.0 for whole in (ours, theirs)]


def literals(
    benchmark: Benchmark, contexts: Mapping[str, Context], schema: Callable[[str], Schema]
) -> pd.DataFrame:
    """A row for each literal of each gold query, and whether the question's context has it.

    `spelled` is true if the question or hint contains the literal, in any letter case; `found` if it was retrieved for
    its column; `anywhere` if it was retrieved for any column. `schema` returns a database's whole schema. A
    query that cannot be parsed has no literals.
    """
    rows = []
    for question in benchmark.questions:
        gold, matches = benchmark.golds[question.id], contexts[question.id].values  # noqa: PD011
        asked = lower_name(f"{question.text} {question.evidence}")
        values = {(match.table, match.column, match.value) for match in matches}
        texts = {value for _, _, value in values}
        # A query may compare a column with the same literal twice; it counts once.
        for literal in dict.fromkeys(comparisons(gold.sql, schema(question.db_id))):
            value, column = literal.value, literal.column
            if column and literal.operator == "=" and isinstance(value, str) and value:
                about = (question.id, question.db_id, gold.difficulty, *column, value)
                found = lower_name(value) in asked, (*column, value) in values, value in texts
                rows.append(about + found)
    return pd.DataFrame(rows, columns=_COLUMNS).astype(dict.fromkeys(_VERDICTS, bool))
