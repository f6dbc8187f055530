"""CHESS's select_columns (section 3.1): which columns does the question need, of those that are left?

Keys stay too (appendix A.3): the primary key of each table that stays, and both ends of a foreign key between
two that stay. A foreign key whose target table went goes too: its column stays only if it is named.

A reply without a column of the schema cuts nothing, nor does one of which only a part can be read.
"""

from dataclasses import dataclass
from typing import Any

from workbench.db.context_text import context_data
from workbench.lab import Lab
from workbench.llm.replies import answer_of, read_member, read_values
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
        names = Names(context.schema)
        named = (names.columns(said) for said in _said(answer.text))
        return keep(context, next(filter(None, named), []))


def _said(reply: str) -> list[Any]:
    """What may name the columns, of which the first counts that does."""
    told: list[Any] = []
    for value in read_values(reply):
        if isinstance(value, str):  # unreadable: all its columns count, or else nothing of it
            rest = read_member(value, "columns")
            return [[*told, rest]] if rest else []
        members = {k.lower(): v for k, v in value.items()} if isinstance(value, dict) else {}
        told.append(members.get("columns", value))
    return [told, read_member(reply, "columns"), answer_of(reply)]
