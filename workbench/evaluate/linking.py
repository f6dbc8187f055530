"""The tables, columns and values that gold SQL uses.

How many reach the prompt, and a schema made of them.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from statistics import fmean
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.canonical import content_hash
from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.sql.facts import comparisons
from workbench.sql.reading import used
from workbench.sql.schema import union_schema
from workbench.types import Context, Gold, Question, Schema, Table, lower_name

_VERDICTS = ["spelled", "found", "anywhere"]


@dataclass(frozen=True, slots=True)
class Linking:
    """The shares of a prompt's tables and columns that gold uses, and of gold's in it."""

    table_precision: float
    table_recall: float
    column_precision: float
    column_recall: float


def linking_by_stage(questions: Iterable[tuple[Sequence[Context], Gold]]) -> tuple[Linking, ...]:
    """The linking after each stage of pruning, averaged over questions (CHESS, table 5).

    Each question is given as its contexts, the unpruned one first, and its gold query. One whose
    gold query cannot be read is left out.
    """
    stages: list[list[list[float]]] = []
    for contexts, gold in questions:
        uses = used(gold.sql, contexts[0].schema)
        if uses.error:
            continue
        prompts = [set(context.schema.columns()) for context in contexts]
        tables = [_shares({table for table, _ in own}, uses.tables) for own in prompts]
        columns = [_shares(own, uses.columns) for own in prompts]
        stages.append([a + b for a, b in zip(tables, columns, strict=True)])
    return tuple(
        Linking(*(fmean(shares) for shares in zip(*stage, strict=True)))
        for stage in zip(*stages, strict=True)
    )


def _shares(ours: set[Any], theirs: frozenset[Any]) -> list[float]:
    return [len(ours & theirs) / len(whole) if whole else 1.0 for whole in (ours, theirs)]


def literals(
    benchmark: Benchmark, contexts: Mapping[str, Context], schema: Callable[[str], Schema]
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
        gold, matches = benchmark.golds[question.id], contexts[question.id].values  # noqa: PD011
        asked = lower_name(f"{question.text} {question.evidence}")
        values = {(match.table, match.column, match.value) for match in matches}
        texts = {value for _, _, value in values}
        # A query may compare a column with the same literal twice; it counts once.
        for literal in dict.fromkeys(comparisons(gold.sql, schema(question.db_id))):
            value, column = literal.value, literal.column
            if column and literal.equals and isinstance(value, str) and value:
                about = (question.id, question.db_id, gold.difficulty, *column, value)
                found = lower_name(value) in asked, (*column, value) in values, value in texts
                rows.append(about + found)
    names = ["question_id", "db_id", "difficulty", "table", "column", "value", *_VERDICTS]
    return pd.DataFrame(rows, columns=names).astype(dict.fromkeys(_VERDICTS, bool))


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
        return self.retrieve(lab, question, self.around(schema, self.golds[question.id]))

    def around(self, schema: Schema, gold: Gold) -> Schema:
        """Return gold's tables and columns, and others up to a total of `columns`.

        A larger schema contains the smaller ones. A gold query that cannot be parsed keeps the
        whole schema.
        """
        core = union_schema(schema, [gold.sql])
        chosen = set(core.columns())
        if len(chosen) >= self.columns:
            return core
        seed = content_hash("around", [0, gold.question_id])
        chance = random.Random(seed)  # noqa: S311  no secret
        tables = list(schema.tables)
        for other in self.others:
            if other.db_id != schema.db_id:
                tables += _renamed(other, {lower_name(table.name) for table in tables})
        rest = [x for t in tables for c in t.columns if (x := (t.name, c.name)) not in chosen]
        missing = self.columns - len(chosen)
        if len(rest) < missing:
            have = f"the schemas have {len(chosen) + len(rest):,} distinct columns"
            raise BadInputError(f"columns is {self.columns:,}, but {have}: give more schemas")
        chance.shuffle(rest)
        chosen.update(rest[:missing])
        chance.shuffle(tables)
        cut = (_cut(table, chosen) for table in tables)
        return replace(schema, tables=tuple(table for table in cut if table.columns))


def _renamed(schema: Schema, taken: set[str]) -> list[Table]:
    """The tables of a schema under names that are not taken.

    Their foreign keys refer to the new names.
    """
    names: dict[str, str] = {}
    for table in schema.tables:
        numbered = (f"{schema.db_id}_{n}_{table.name}" for n in count(2))
        free = chain((table.name, f"{schema.db_id}_{table.name}"), numbered)
        name = next(name for name in free if lower_name(name) not in taken)
        taken.add(lower_name(name))
        names[lower_name(table.name)] = name
    renamed = []
    for table in schema.tables:
        ends = [(k, names.get(lower_name(k.ref_table), k.ref_table)) for k in table.foreign_keys]
        keys = tuple(replace(key, ref_table=end) for key, end in ends)
        renamed.append(replace(table, name=names[lower_name(table.name)], foreign_keys=keys))
    return renamed


def _cut(table: Table, chosen: set[tuple[str, str]]) -> Table:
    """The table with the chosen columns, and with the keys whose columns are all chosen."""

    def has(name: str, *columns: str) -> bool:
        return chosen.issuperset((name, column) for column in columns)

    name, keys = table.name, table.foreign_keys
    columns = tuple(column for column in table.columns if has(name, column.name))
    primary = table.primary_key if has(name, *table.primary_key) else ()
    links = (k for k in keys if has(name, *k.columns) and has(k.ref_table, *k.ref_columns))
    return replace(table, columns=columns, primary_key=primary, foreign_keys=tuple(links))
