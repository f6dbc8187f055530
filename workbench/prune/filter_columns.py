"""CHESS's filter_column (section 3.1, appendix A.3): one call for each column asks whether it is relevant.

The calls are sent at the same time, and a cheap model suffices. Primary and foreign keys always stay, and their
tables with them, because a single column does not show which keys a query needs. A reply that says neither yes
nor no keeps its column.
"""

from dataclasses import dataclass

from workbench.db.text.context_text import column_text, with_values
from workbench.lab import Lab
from workbench.prune.column_selection import keep
from workbench.replies.relevance import read_relevance
from workbench.types import Column, Context, Table, lower_name


@dataclass(frozen=True, slots=True)
class FilterColumns:
    """Cuts the schema to its keys and the columns that the model finds relevant."""

    model: str
    temperature: float = 0.0

    def __call__(self, lab: Lab, context: Context) -> Context:
        schema = with_values(context.schema, context.values)
        keys: list[tuple[str, Column]] = []
        others: list[tuple[str, Column]] = []
        for table in schema.tables:
            key_names = _keys(table)
            for column in table.columns:
                is_key = lower_name(column.name) in key_names
                (keys if is_key else others).append((table.name, column))
        question = context.question
        replies = lab.ask_many(
            lab.request(
                self,
                "prune/filter_column",
                question,
                column=column_text(table, column),
                question=question.text,
                hint=question.evidence,
            )
            for table, column in others
        )
        kept = [
            pair
            for pair, reply in zip(others, replies, strict=True)
            if read_relevance(reply.text) is not False
        ]
        return keep(context, [(table, column.name) for table, column in keys + kept])


def _keys(table: Table) -> set[str]:
    keys = {lower_name(name) for name in table.primary_key}
    return keys | {lower_name(name) for key in table.foreign_keys for name in key.columns}
