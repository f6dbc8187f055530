"""Schema linking: which of gold's tables, columns and values reach the prompt."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import count
from statistics import fmean
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.canonical import content_hash
from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.sql.facts import comparisons
from workbench.sql.reading import Used, columns_used
from workbench.sql.schema import union_schema
from workbench.types import (
    Context,
    ForeignKey,
    Gold,
    Question,
    Schema,
    Table,
    lower_name,
)

_VERDICTS = {"spelled": bool, "found": bool, "anywhere": bool}
_COLUMNS = [
    "question_id",
    "db_id",
    "difficulty",
    "table",
    "column",
    "value",
    *_VERDICTS,
]


@dataclass(frozen=True, slots=True)
class Linking:
    """The shares of a prompt's tables and columns that gold uses, and of gold's in it."""

    table_precision: float
    table_recall: float
    column_precision: float
    column_recall: float


def linking_by_stage(
    questions: Iterable[tuple[Sequence[Context], Gold]],
) -> tuple[Linking, ...]:
    """Return the linking after each stage of pruning, averaged over questions (CHESS, table 5).

    Each question is given as its contexts, the unpruned one first, and its gold query. One whose
    gold query cannot be read is left out.
    """
    by_question: list[list[Linking]] = []
    for contexts, gold in questions:
        uses = columns_used(gold.sql, contexts[0].schema)
        if not uses.error:
            by_question.append([_linking(context.schema, uses) for context in contexts])
    return tuple(map(_mean, zip(*by_question, strict=True)))


def _mean(linkings: Sequence[Linking]) -> Linking:
    return Linking(
        table_precision=fmean(linking.table_precision for linking in linkings),
        table_recall=fmean(linking.table_recall for linking in linkings),
        column_precision=fmean(linking.column_precision for linking in linkings),
        column_recall=fmean(linking.column_recall for linking in linkings),
    )


def _linking(schema: Schema, uses: Used) -> Linking:
    columns = set(schema.columns())
    tables = {table for table, _ in columns}
    return Linking(
        table_precision=_share_of(tables, uses.tables),
        table_recall=_share_of(uses.tables, tables),
        column_precision=_share_of(columns, uses.columns),
        column_recall=_share_of(uses.columns, columns),
    )


def _share_of(names: AbstractSet[Any], others: AbstractSet[Any]) -> float:
    """Return the share of the names that are among the others, 1 of nothing."""
    if not names:
        return 1.0
    common = names & others
    return len(common) / len(names)


def gold_literals(
    benchmark: Benchmark,
    contexts: Mapping[str, Context],
    schema: Callable[[str], Schema],
) -> pd.DataFrame:
    """Return a row for each literal of gold, and whether value retrieval found it.

    A literal is a text that gold compares with a column by = or IN; no index could supply
    numbers, patterns, and texts compared with a function's result. `spelled` is true if the
    question or hint contains the literal, in any letter case; `found` if it was retrieved for
    its column; `anywhere` if it was retrieved for any column. `schema` returns a database's
    whole schema. A query that cannot be parsed has no literals.
    """
    rows = []
    for question in benchmark.questions:
        gold = benchmark.golds[question.id]
        asked = lower_name(f"{question.text} {question.evidence}")
        matches = contexts[question.id].values  # noqa: PD011  of a context, no frame
        retrieved = {(match.table, match.column, match.value) for match in matches}
        texts = {match.value for match in matches}
        # A query may compare a column with the same literal twice; it counts once.
        for literal in dict.fromkeys(comparisons(gold.sql, schema(question.db_id))):
            value = literal.value
            is_text = isinstance(value, str) and value != ""
            if not literal.column or not literal.equals or not is_text:
                continue
            table, column = literal.column
            row = {
                "question_id": question.id,
                "db_id": question.db_id,
                "difficulty": gold.difficulty,
                "table": table,
                "column": column,
                "value": value,
                "spelled": lower_name(value) in asked,
                "found": (table, column, value) in retrieved,
                "anywhere": value in texts,
            }
            rows.append(row)
    return pd.DataFrame(rows, columns=_COLUMNS).astype(_VERDICTS)


@dataclass(frozen=True, slots=True)
class AroundGold:
    """A system's retrieval step with gold's tables and columns in place of the schema.

    Alone, they are CHESS's correct context (table 7) and MAC-SQL's oracle schema; among
    thousands of others, CHESS's synthetic industrial-scale schema (section 4.1.1, figure 3).
    Only the schema is enlarged: a query that uses another database's table fails, while a merged
    database would give a wrong result.
    """

    retrieve: Callable[[Lab, Question, Schema], Context]
    golds: Mapping[str, Gold] = field(repr=False)
    columns: int = 0
    """The size of the schema; 0 for gold's tables and columns alone."""
    others: tuple[Schema, ...] = field(default=(), repr=False)
    """The schemas that other columns are drawn from, besides the question's own."""

    def __call__(self, lab: Lab, question: Question, schema: Schema) -> Context:
        return self.retrieve(
            lab, question, self.around(schema, self.golds[question.id])
        )

    def around(self, schema: Schema, gold: Gold) -> Schema:
        """Return gold's tables and columns, and others up to a total of `columns`.

        A larger schema contains the smaller ones. A gold query that cannot be parsed keeps the
        whole schema.
        """
        core = union_schema(schema, [gold.sql])
        chosen = set(core.columns())
        missing = self.columns - len(chosen)
        if missing <= 0:
            return core
        tables = list(schema.tables)
        taken = {lower_name(table.name) for table in tables}
        for other in self.others:
            if other.db_id != schema.db_id:
                tables += _renamed(other, taken)
        whole = replace(schema, tables=tuple(tables))
        rest = [column for column in whole.columns() if column not in chosen]
        if len(rest) < missing:
            number = f"{len(chosen) + len(rest):,} distinct columns"
            raise BadInputError(
                f"columns is {self.columns:,}, but the schemas have {number}: give more schemas"
            )
        # The 0 is a part of the seed of committed schemas.
        seed = content_hash("around", [0, gold.question_id])
        chance = random.Random(seed)  # noqa: S311  no secret
        chance.shuffle(rest)
        chosen.update(rest[:missing])
        chance.shuffle(tables)
        cut = [_cut(table, chosen) for table in tables]
        left = [table for table in cut if table.columns]
        return replace(schema, tables=tuple(left))


def _renamed(schema: Schema, taken: set[str]) -> list[Table]:
    """Return the tables of a schema under names that are not taken, and then are.

    Their foreign keys refer to the new names.
    """
    names: dict[str, str] = {}
    for table in schema.tables:
        name = _free(table.name, schema.db_id, taken)
        taken.add(lower_name(name))
        names[lower_name(table.name)] = name
    renamed = []
    for table in schema.tables:
        keys = []
        for key in table.foreign_keys:
            ref_table = names.get(lower_name(key.ref_table), key.ref_table)
            keys.append(replace(key, ref_table=ref_table))
        name = names[lower_name(table.name)]
        renamed.append(replace(table, name=name, foreign_keys=tuple(keys)))
    return renamed


def _free(name: str, db_id: str, taken: set[str]) -> str:
    """Return the first name that is not taken."""
    names = _names_of_a_copy(name, db_id)
    return next(free for free in names if lower_name(free) not in taken)


def _names_of_a_copy(name: str, db_id: str) -> Iterator[str]:
    """Yield `t`, `db_t`, `db_2_t`, `db_3_t` and so on."""
    yield name
    yield f"{db_id}_{name}"
    for number in count(2):
        yield f"{db_id}_{number}_{name}"


def _cut(table: Table, chosen: set[tuple[str, str]]) -> Table:
    """Return the table with the chosen columns, and with the keys whose columns are all chosen."""

    def has(name: str, columns: Iterable[str]) -> bool:
        return all((name, column) in chosen for column in columns)

    def stays(key: ForeignKey) -> bool:
        return has(table.name, key.columns) and has(key.ref_table, key.ref_columns)

    columns = [column for column in table.columns if has(table.name, [column.name])]
    has_primary_key = has(table.name, table.primary_key)
    return replace(
        table,
        columns=tuple(columns),
        primary_key=table.primary_key if has_primary_key else (),
        foreign_keys=tuple(filter(stays, table.foreign_keys)),
    )
