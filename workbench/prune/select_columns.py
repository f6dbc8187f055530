"""CHESS's select_columns (section 3.1): which columns does the question need, of those that are left?

Keys of the tables that stay, stay too (appendix A.3). A reply without a column of the schema cuts nothing.
"""

from dataclasses import dataclass

from workbench.db.context_text import context_data
from workbench.lab import Lab
from workbench.llm.replies import read_list, read_member, read_object
from workbench.prune.kept import Names, keep
from workbench.types import Context


@dataclass(frozen=True, slots=True)
class SelectColumns:
    """Cuts the schema to the columns that a model names."""

    model: str
    temperature: float = 0.0

    def __call__(self, lab: Lab, context: Context) -> Context:
        answer = lab.client.complete(
            lab.request(
                "prune/select_columns",
                self.model,
                context.question,
                {"temperature": self.temperature},
                **context_data(context),
            )
        )
        told = (
            read_member(answer.text, "columns"),
            read_object(answer.text),
            read_list(answer.text),
        )
        said = next(filter(None, told), answer.text)
        return keep(context, Names(context.schema).columns(said))
