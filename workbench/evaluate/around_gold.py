"""The tables and columns that gold SQL uses: given to a system alone, or hidden among thousands of others.

`AroundGold` replaces a system's retrieval step. Without further columns it gives CHESS's correct context (table 7) and
MAC-SQL's oracle schema; with thousands, CHESS's synthetic industrial-scale schema (section 4.1.1, figure 3). Only the
schema is enlarged, not the database: a query that uses another database's table fails, where in a merged database it
would give a wrong result. EX is the same unless a fixer learns from the error.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from workbench.canonical import content_hash
from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.sql.schema import union_schema
from workbench.types import Context, Gold, Question, Schema, Table, lower_name


@dataclass(frozen=True, slots=True)
class AroundGold:
    """Calls the step `retrieve` with the schema that `around` makes."""

    retrieve: Callable[[Lab, Question, Schema], Context]
    golds: Mapping[str, Gold] = field(repr=False)
    columns: int = 0
    """The size of the schema; 0 for gold's tables and columns alone."""
    others: tuple[Schema, ...] = field(default=(), repr=False)
    """The schemas that further columns are drawn from, besides the question's own schema."""
    seed: int = 0
    repeated: bool = False
    """Whether the other schemas are repeated under new names if they have too few columns, as in a preview."""

    def __call__(self, lab: Lab, question: Question, schema: Schema) -> Context:
        return self.retrieve(lab, question, self.around(schema, self.golds[question.id]))

    def around(self, schema: Schema, gold: Gold) -> Schema:
        """Gold's tables and columns with their keys, and other columns up to a total of `columns`.

        The other columns are drawn from the rest of the schema and from the other schemas, each column once. With the
        same seed, a larger schema contains the smaller ones. If the gold query cannot be parsed, the whole schema is
        kept.
        """
        core = union_schema(schema, [gold.sql])
        chosen = set(core.columns())
        if len(chosen) >= self.columns:
            return core
        chance = random.Random(content_hash("around", [self.seed, gold.question_id]))  # noqa: S311  no secret
        others = [other for other in self.others if other.db_id != schema.db_id]
        tables: list[Table] = []
        for copy in count():
            fresh = [] if copy else list(schema.tables)
            for other in others:
                fresh += _renamed(other, copy, {lower_name(t.name) for t in (*tables, *fresh)})
            rest = [x for t in fresh for c in t.columns if (x := (t.name, c.name)) not in chosen]
            if not rest or (copy and not self.repeated):
                raise BadInputError(
                    f"columns is {self.columns:,}, but the schemas have {len(chosen):,} distinct columns: give more schemas,"
                    " or ask for fewer columns"
                )
            tables += fresh
            chance.shuffle(rest)
            chosen.update(rest[: self.columns - len(chosen)])
            if len(chosen) == self.columns:
                break
        chance.shuffle(tables)
        cut = (_cut(table, chosen) for table in tables)
        return replace(schema, tables=tuple(table for table in cut if table.columns))


def _renamed(schema: Schema, copy: int, taken: set[str]) -> list[Table]:
    """The tables of a schema under unused names, to which its foreign keys refer."""
    names: dict[str, str] = {}
    for table in schema.tables:
        name = f"{schema.db_id}_{copy + 1}_{table.name}" if copy else table.name
        while lower_name(name) in taken:
            name = f"{schema.db_id}_{name}"
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
    return replace(
        table,
        columns=tuple(column for column in table.columns if has(name, column.name)),
        primary_key=table.primary_key if has(name, *table.primary_key) else (),
        foreign_keys=tuple(
            k for k in keys if has(name, *k.columns) and has(k.ref_table, *k.ref_columns)
        ),
    )
