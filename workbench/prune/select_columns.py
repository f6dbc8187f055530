"""CHESS's select_columns (section 3.1): one call asks which of the remaining columns the question needs.

Keys stay too (appendix A.3): the primary key of each table that stays, and both ends of a foreign key between
two tables that stay. A foreign key to a removed table stays only if the reply names its column.

A reply that names no column of the schema, or that is readable only in part, leaves the schema unchanged.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.lab import Lab
from workbench.prune.column_selection import columns_by_table, keep
from workbench.replies.names import read_named_columns
from workbench.types import Context, Table


@dataclass(frozen=True, slots=True)
class SelectColumns:
    """Cuts the schema to the columns that the model names."""

    model: str
    temperature: float = 0.0

    def __call__(self, lab: Lab, context: Context) -> Context:
        reply = lab.ask(self, "prune/select_columns", context)
        named = read_named_columns(reply.text, columns_by_table(context.schema))
        pairs = [
            (table.name, column)
            for table in context.schema.tables
            if table.name in named
            for column in _kept(table, named[table.name])
        ]
        return keep(context, pairs)


def _kept(table: Table, named: list[str] | None) -> Sequence[str]:
    """The columns that stay: only the key if the reply names no column, all columns if it names only unknown ones."""
    if named is None:
        return [column.name for column in table.columns]
    return named or table.primary_key or [table.columns[0].name]
