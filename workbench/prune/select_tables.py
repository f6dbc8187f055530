"""CHESS's select_tables (section 3.1): one call asks which of all tables the question needs.

A reply that names no table of the schema leaves the schema unchanged.
"""

from dataclasses import dataclass

from workbench.lab import Lab
from workbench.prune.column_selection import columns_by_table, keep
from workbench.replies.names import read_tables
from workbench.types import Context


@dataclass(frozen=True, slots=True)
class SelectTables:
    """Cuts the schema to the tables that the model names."""

    model: str
    temperature: float = 0.0

    def __call__(self, lab: Lab, context: Context) -> Context:
        reply = lab.ask(self, "prune/select_tables", context)
        names = read_tables(reply.text, columns_by_table(context.schema))
        return keep(context, [(t, c) for t, c in context.schema.columns() if t in names])
