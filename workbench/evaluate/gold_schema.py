"""The tables and columns that gold SQL uses: alone, among others, and as the measure of what was selected.

`AroundGold` stands where a system retrieves. With no columns around them it is CHESS's correct context
(table 7) and MAC-SQL's oracle schema; with thousands, CHESS's synthetic industrial-scale schema (section
4.1.1, figure 3). The schema is enlarged, not the database: values are looked up in the question's own, and
a query that uses another's table fails where in a merged one it would be wrong. EX is the same, unless
something is mended from the error.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from workbench.canonical import content_hash
from workbench.db.schema import union_schema
from workbench.db.sql.used import used
from workbench.errors import BadInputError
from workbench.evaluate.linking import Item, Linking, mean_linking
from workbench.lab import Lab
from workbench.types import Context, Gold, Question, Schema, Table, fold


@dataclass(frozen=True, slots=True)
class AroundGold:
    """Retrieves as `retrieve` does, from a schema made by `around_gold`."""

    retrieve: Callable[[Lab, Question, Schema], Context]
    golds: Mapping[str, Gold] = field(repr=False)
    columns: int = 0
    others: tuple[Schema, ...] = field(default=(), repr=False)
    seed: int = 0

    def __call__(self, lab: Lab, question: Question, schema: Schema) -> Context:
        gold = self.golds[question.id]
        large = around_gold(schema, gold, self.columns, self.others, self.seed)
        return self.retrieve(lab, question, large)


def around_gold(
    schema: Schema, gold: Gold, columns: int = 0, others: Sequence[Schema] = (), seed: int = 0
) -> Schema:
    """What gold uses with the keys of its tables, and others' columns up to so many in all.

    They are drawn at random from the rest of the schema and from the other schemas, which come again under
    new names where they are too few. The columns of a smaller number are among those of a larger one. Of
    gold that cannot be read the whole schema is kept.
    """
    core = union_schema(schema, [gold.sql])
    if len(core.columns()) >= columns:
        return core
    chance = random.Random(content_hash("around", [seed, gold.question_id]))  # noqa: S311  no secret
    tables: list[Table] = []
    chosen = set(core.columns())
    for copy in count():
        fresh = list(_copied(schema, others, copy, {fold(table.name) for table in tables}))
        rest = [
            (t.name, c.name) for t in fresh for c in t.columns if (t.name, c.name) not in chosen
        ]
        if not rest:
            raise BadInputError(
                f"{columns:,} columns were asked for and {len(chosen):,} are there: give more schemas"
            )
        tables += fresh
        chance.shuffle(rest)
        chosen.update(rest[: columns - len(chosen)])
        if len(chosen) == columns:
            break
    chance.shuffle(tables)
    cut = (_cut(table, chosen) for table in tables)
    return replace(schema, tables=tuple(table for table in cut if table.columns))


def linking_by_stage(questions: Iterable[tuple[Sequence[Context], Gold]]) -> tuple[Linking, ...]:
    """How well the schema fits gold after each stage of pruning, in the mean: CHESS's table 5.

    Each question is given as its contexts, from the one that nothing is cut of, and its gold. A question
    whose gold cannot be read is left out.
    """
    stages: list[list[tuple[Iterable[Item], Iterable[Item]]]] = []
    for contexts, gold in questions:
        found = used(gold.sql, contexts[0].schema)
        items: list[Item] = [*((table, None) for table in found.tables), *found.columns]
        if not found.error:
            stages.append([(context.schema.columns(), items) for context in contexts])
    return tuple(mean_linking(stage) for stage in zip(*stages, strict=True))


def _copied(
    schema: Schema, others: Sequence[Schema], copy: int, taken: set[str]
) -> Iterator[Table]:
    """The tables of all schemas under names that none has yet; the question's own only the first time."""
    if copy == 0:
        yield from schema.tables
        taken |= {fold(table.name) for table in schema.tables}
    for other in others:
        if other.db_id == schema.db_id:
            continue
        names: dict[str, str] = {}
        for table in other.tables:
            name = f"{other.db_id}_{copy + 1}_{table.name}" if copy else table.name
            while fold(name) in taken:
                name = f"{other.db_id}_{name}"
            taken.add(fold(name))
            names[fold(table.name)] = name
        for table in other.tables:
            keys = tuple(
                replace(key, ref_table=names.get(fold(key.ref_table), key.ref_table))
                for key in table.foreign_keys
            )
            yield replace(table, name=names[fold(table.name)], foreign_keys=keys)


def _cut(table: Table, chosen: set[tuple[str, str]]) -> Table:
    """The table with these of its columns alone, and the keys whose columns are all there."""
    columns = tuple(column for column in table.columns if (table.name, column.name) in chosen)
    whole = all((table.name, name) in chosen for name in table.primary_key)
    keys = tuple(
        key
        for key in table.foreign_keys
        if {(table.name, name) for name in key.columns} <= chosen
        and {(key.ref_table, name) for name in key.ref_columns} <= chosen
    )
    primary = table.primary_key if whole else ()
    return replace(table, columns=columns, primary_key=primary, foreign_keys=keys)
