"""CHESS's select_tables (section 3.1): which tables does the question need? One call sees them all.

A reply without a table of the schema cuts nothing.
"""

from dataclasses import dataclass
from typing import Any

from workbench.db.context_text import context_data
from workbench.lab import Lab
from workbench.llm.replies import answer_of, read_list, read_member, read_values
from workbench.prune.kept import Names, keep
from workbench.types import Context


@dataclass(frozen=True, slots=True)
class SelectTables:
    """Cuts the schema to the tables that a model names."""

    model: str
    temperature: float = 0.0

    def __call__(self, lab: Lab, context: Context) -> Context:
        answer = lab.client.complete(
            lab.request(
                "prune/select_tables",
                self.model,
                context.question,
                {"temperature": self.temperature},
                **context_data(context),
            )
        )
        names = Names(context.schema).tables(_said(answer.text))
        return keep(context, [(t, c) for t, c in context.schema.columns() if t in names])


def _said(reply: str) -> Any:
    """What names the tables: the member of that name, or a list, or the whole where it can be read."""
    values = read_values(reply)
    whole = "" if any(isinstance(value, str) for value in values) else values or answer_of(reply)
    return read_member(reply, "tables") or read_list(reply) or whole
