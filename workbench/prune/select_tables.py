"""CHESS's select_tables (section 3.1): which tables does the question need? One call sees them all.

A reply without a table of the schema cuts nothing.
"""

from dataclasses import dataclass

from workbench.db.context_text import context_data
from workbench.lab import Lab
from workbench.llm.replies import read_list, read_member
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
        said = read_member(answer.text, "tables") or read_list(answer.text) or answer.text
        names = Names(context.schema).tables(said)
        return keep(context, [(t, c) for t, c in context.schema.columns() if t in names])
