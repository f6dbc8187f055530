"""MAC-SQL's Selector (section 3.2, appendix A.1): for each table keep all, drop all, or its top columns.

Only databases that need it are simplified: those with more than `most_columns` columns, or more than
`mean_columns` a table. A table of up to `whole` columns that is not dropped stays whole, whatever the
reply lists, as does one that it forgets; and at least `least_tables` tables stay: of those dropped, the
ones that are joined to what stays come back first. A reply that decides nothing, or drops everything,
cuts nothing.
"""

import re
from dataclasses import dataclass
from typing import Any

from workbench.db.context_text import context_data
from workbench.db.schema_text import mac_sql_text
from workbench.errors import at_least
from workbench.lab import Lab
from workbench.llm.replies import read_list, read_member, read_object
from workbench.prune.kept import Names, Pair, columns_of, keep, texts_of
from workbench.types import Context, Schema, Table


@dataclass(frozen=True, slots=True)
class Selector:
    """The first agent of MAC-SQL, with the thresholds of its published code."""

    model: str
    temperature: float = 0.1
    mean_columns: float = 6
    most_columns: int = 30
    whole: int = 10
    top: int = 6
    least_tables: int = 3

    def __post_init__(self) -> None:
        at_least(1, top=self.top)
        at_least(
            0,
            most_columns=self.most_columns,
            whole=self.whole,
            least_tables=self.least_tables,
        )

    def __call__(self, lab: Lab, context: Context) -> Context:
        schema = context.schema
        if not self.needed(schema):
            return context
        answer = lab.client.complete(
            lab.request(
                "prune/mac_selector",
                self.model,
                context.question,
                {"temperature": self.temperature},
                **context_data(context, mac_sql_text),
            )
        )
        said = decisions(schema, answer.text)
        kept = {
            t.name: c for t in schema.tables if (c := self._kept(t, said.get(t.name, "keep all")))
        }
        if not kept:
            return context
        dropped = [table for table in schema.tables if table.name not in kept]
        dropped.sort(key=lambda table: not _joined(schema, table, set(kept)))
        for table in dropped[: max(0, self.least_tables - len(kept))]:
            kept[table.name] = self._kept(table, "keep all")
        return keep(context, [pair for pairs in kept.values() for pair in pairs])

    def needed(self, schema: Schema) -> bool:
        """Whether a database is large enough to be simplified."""
        columns = len(schema.columns())
        return columns > self.most_columns or columns > self.mean_columns * len(schema.tables)

    def _kept(self, table: Table, decision: Any) -> list[Pair]:
        """The columns of a table that stay."""
        words = set(map(_squeezed, texts_of(decision))) - {_squeezed(c.name) for c in table.columns}
        keeps = words & {"keepall", "keep"}
        if not decision or (words & {"dropall", "drop"} and not keeps):
            return []
        every = [(table.name, column.name) for column in table.columns]
        if keeps or len(every) <= self.whole:
            return every
        told = columns_of(table, decision)
        return told if len(told) == len(every) else told[: self.top]


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()


def decisions(schema: Schema, reply: str) -> dict[str, Any]:
    """What a reply decides for each table that it names: its object, one in it, a list of objects, or lines."""
    names = Names(schema)
    whole = read_object(reply)
    for told in (whole, *(value for value in whole.values() if isinstance(value, dict))):
        known = {t.name: value for key, value in told.items() if (t := names.table(key))}
        if known:
            return known
    rows = [names.row(item) for item in read_list(reply) if isinstance(item, dict)]
    if listed := {row[0].name: row[1] for row in rows if row}:
        return listed
    lines = {t.name: read_member(reply, t.name) for t in schema.tables}
    return {name: value for name, value in lines.items() if value is not None}


def _joined(schema: Schema, table: Table, names: set[str]) -> bool:
    """Whether a foreign key links the table and one of these."""
    return any(key.ref_table in names for key in table.foreign_keys) or any(
        key.ref_table == table.name
        for other in schema.tables
        if other.name in names
        for key in other.foreign_keys
    )
