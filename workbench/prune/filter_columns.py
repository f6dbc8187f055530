"""CHESS's filter_column (section 3.1, appendix A.3): one call for each column asks whether it is relevant.

The calls are sent at the same time, and a cheap model suffices. Primary and foreign keys always stay, and their
tables with them, because a single column does not show which keys a query needs. A reply that says neither yes
nor no keeps its column.

Departs from the paper if `group` is more than 1: a call then asks for a verdict on each of `group` columns, so that a
question needs fewer calls. Another call asks once more about columns that a reply leaves out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workbench.errors import at_least
from workbench.lab import Lab
from workbench.prune.column_selection import ColumnName, keep
from workbench.replies.names import read_column_verdicts
from workbench.replies.relevance import read_relevance
from workbench.sql.context_text import column_text, with_values
from workbench.types import Column, Completion, Context, Question, Request, lower_name

_TableColumn = tuple[str, Column]  # a column with its table's name


@dataclass(frozen=True, slots=True)
class FilterColumns:
    """Cuts the schema to its keys and the columns that the model finds relevant.

    group: how many columns a call asks about; 1 in the paper.
    """

    model: str
    temperature: float = 0.0
    group: int = 1

    def __post_init__(self) -> None:
        at_least(1, group=self.group)

    def __call__(self, lab: Lab, context: Context) -> Context:
        schema = with_values(context.schema, context.values)
        keys: list[_TableColumn] = []
        others: list[_TableColumn] = []
        for table in schema.tables:
            keyed = (table.primary_key, *(key.columns for key in table.foreign_keys))
            key_names = {lower_name(name) for names in keyed for name in names}
            for column in table.columns:
                is_key = lower_name(column.name) in key_names
                (keys if is_key else others).append((table.name, column))
        irrelevant = self._irrelevant(lab, context.question, others)
        columns = [(table, column.name) for table, column in keys + others]
        return keep(context, [pair for pair in columns if pair not in irrelevant])

    def _irrelevant(
        self, lab: Lab, question: Question, columns: Sequence[_TableColumn]
    ) -> set[ColumnName]:
        verdicts: dict[ColumnName, bool] = {}
        left_out = list(columns)
        # The second round is another sample: a prompt that is repeated unchanged gets a reply of its own.
        for sample in range(1 if self.group == 1 else 2):
            groups = [left_out[i : i + self.group] for i in range(0, len(left_out), self.group)]
            replies = lab.ask_many(self._request(lab, question, group, sample) for group in groups)
            asked_again: list[_TableColumn] = []
            for group, reply in zip(groups, replies, strict=True):
                found = self._verdicts(group, reply)
                verdicts |= found
                if not reply.fault:
                    asked_again += [pair for pair in group if (pair[0], pair[1].name) not in found]
            left_out = asked_again
        return {pair for pair, relevant in verdicts.items() if not relevant}

    def _request(
        self, lab: Lab, question: Question, group: Sequence[_TableColumn], sample: int
    ) -> Request:
        texts = [column_text(table, column) for table, column in group]
        about: dict[str, Any] = {"question": question.text, "hint": question.evidence}
        if self.group == 1:
            return lab.request(self, "prune/filter_column", question, column=texts[0], **about)
        about |= {"columns": "\n\n".join(texts), "count": len(group)}
        return lab.request(self, "prune/filter_column_group", question, sample, **about)

    def _verdicts(self, group: Sequence[_TableColumn], reply: Completion) -> dict[ColumnName, bool]:
        if self.group == 1:
            relevant = read_relevance(reply.text)
            return {} if relevant is None else {(group[0][0], group[0][1].name): relevant}
        tables: dict[str, list[str]] = {}
        for table, column in group:
            tables.setdefault(table, []).append(column.name)
        return read_column_verdicts(reply.text, tables)
