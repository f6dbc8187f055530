"""MAC-SQL's Selector (section 3.2, appendix A.1): the model keeps or drops each table, or lists its top columns.

Only large databases are simplified: those with more than `most_columns` columns, or with more than
`mean_columns` columns a table. A kept table of up to `whole` columns stays whole, whatever the reply lists, and so
does a table that the reply forgets. At least `least_tables` tables stay: dropped tables come back, those joined
to a kept table first. A reply that decides about no table, or drops all, leaves the schema unchanged.

The thresholds are those of the published code.
"""

from dataclasses import dataclass

from workbench.errors import at_least
from workbench.lab import Lab
from workbench.prune.column_selection import ColumnName, columns_by_table, keep
from workbench.replies.names import Decision, read_decisions
from workbench.sql.schema_text import mac_sql_text
from workbench.types import Context, Schema, Table


@dataclass(frozen=True, slots=True)
class Selector:
    """The first agent of MAC-SQL.

    mean_columns, most_columns: a database is simplified if it exceeds either.
    whole: tables of up to this many columns are kept or dropped as a whole.
    top: how many columns of a larger table stay.
    least_tables: how many tables stay at least.
    """

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
            0, most_columns=self.most_columns, whole=self.whole, least_tables=self.least_tables
        )

    def __call__(self, lab: Lab, context: Context) -> Context:
        schema = context.schema
        if not self.needed(schema):
            return context
        reply = lab.ask(self, "prune/mac_selector", context, schema_text=mac_sql_text)
        decided = read_decisions(reply.text, columns_by_table(schema))
        kept = {
            table.name: columns
            for table in schema.tables
            if (columns := self._kept(table, decided.get(table.name, "keep_all")))
        }
        if not kept:
            return context
        links = {
            (table.name, key.ref_table) for table in schema.tables for key in table.foreign_keys
        }
        joined = {end for link in links for end in link if not kept.keys().isdisjoint(link)}
        dropped = [table for table in schema.tables if table.name not in kept]
        dropped.sort(key=lambda table: table.name not in joined)
        for table in dropped[: max(0, self.least_tables - len(kept))]:
            kept[table.name] = self._kept(table, "keep_all")
        return keep(context, [pair for pairs in kept.values() for pair in pairs])

    def needed(self, schema: Schema) -> bool:
        """Whether a database is large enough to be simplified."""
        columns = len(schema.columns())
        return columns > self.most_columns or columns > self.mean_columns * len(schema.tables)

    def _kept(self, table: Table, decision: Decision) -> list[ColumnName]:
        columns = [(table.name, column.name) for column in table.columns]
        if not decision or decision == "drop_all":
            return []
        if decision == "keep_all" or len(columns) <= self.whole:
            return columns
        listed = [(table.name, column) for column in decision]
        return listed if len(listed) == len(columns) else listed[: self.top]
