"""CHESS's filter_column (section 3.1, appendix A.3): is this one column relevant? Asked of each by itself.

The cheapest model will do, and the calls go out together. Primary and foreign keys are not asked about:
they always stay, and their tables with them, since what links tables cannot be told from one column. A
reply that says neither yes nor no keeps its column.
"""

import re
from dataclasses import dataclass

from workbench.db.context_text import column_text, with_values
from workbench.lab import Lab
from workbench.llm.replies import answer_of, read_member
from workbench.prune.kept import keep
from workbench.types import Column, Context, Table, fold

_NAMES = ("relevant", "is_relevant", "is_column_information_relevant")  # the last is CHESS's own
_YES = {"yes", "y", "true", "relevant"}
_NO = {"no", "not", "n", "false", "0", "irrelevant"}
_JUDGED = re.compile(
    r"((?:\bnot|n[\u2019']t)\s(?:(?!only)\w+ly\s)?)?\b(ir)?relevant\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class FilterColumns:
    """Cuts the schema to its keys and the columns that a model finds relevant one at a time."""

    model: str
    temperature: float = 0.0

    def __call__(self, lab: Lab, context: Context) -> Context:
        schema = with_values(context.schema, context.values)
        keys: list[tuple[str, Column]] = []
        asked: list[tuple[str, Column]] = []
        for table in schema.tables:
            linking = _keys(table)
            for column in table.columns:
                (keys if fold(column.name) in linking else asked).append((table.name, column))
        answers = lab.client.complete_many(
            [
                lab.request(
                    "prune/filter_column",
                    self.model,
                    context.question,
                    {"temperature": self.temperature},
                    column=column_text(table, column),
                    question=context.question.text,
                    hint=context.question.evidence,
                )
                for table, column in asked
            ]
        )
        kept = [it for it, answer in zip(asked, answers, strict=True) if relevant(answer.text)]
        return keep(context, [(table, column.name) for table, column in keys + kept])


def relevant(reply: str) -> bool:
    """What a reply says of its column; yes where it does not say."""
    text = answer_of(reply)
    prose = "{" not in text
    named = (read_member(text, name) for name in ((*_NAMES, "answer") if prose else _NAMES))
    said = next((value for value in named if value is not None), None)
    told = re.match(r"\W*(\w+)", str(text if said is None else said))
    first = told[1].lower() if told else ""
    if first in _YES | _NO:
        return first in _YES
    judged = _JUDGED.findall(text) if prose and said is None else []
    return not judged or bool(judged[-1][0]) == bool(judged[-1][1])


def _keys(table: Table) -> set[str]:
    keys = {fold(name) for name in table.primary_key}
    return keys | {fold(name) for key in table.foreign_keys for name in key.columns}
