"""CHESS's filter_column (section 3.1, appendix A.3): one call for each column asks whether it is relevant.

The calls are sent at the same time, and a cheap model suffices. Primary and foreign keys always stay, and their
tables with them, because a single column does not show which keys a query needs. A reply that says neither yes
nor no keeps its column.

Departs from the paper if `group` is more than 1: a call then asks for a verdict on each of `group` columns, so that a
question needs fewer calls. Another call asks once more about columns that a reply leaves out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.db.text.context_text import column_text, with_values
from workbench.errors import at_least
from workbench.lab import Lab
from workbench.prune.column_selection import ColumnName, keep
from workbench.replies.names import read_column_verdicts
from workbench.replies.relevance import read_relevance
from workbench.types import Column, Completion, Context, Question, Request, Table, lower_name

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
            key_names = _keys(table)
            for column in table.columns:
                is_key = lower_name(column.name) in key_names
                (keys if is_key else others).append((table.name, column))
        irrelevant_of = (
            self._irrelevant_one_by_one if self.group == 1 else self._irrelevant_in_groups
        )
        irrelevant = irrelevant_of(lab, context.question, others)
        columns = [(table, column.name) for table, column in keys + others]
        return keep(context, [pair for pair in columns if pair not in irrelevant])

    def _irrelevant_one_by_one(
        self, lab: Lab, question: Question, columns: Sequence[_TableColumn]
    ) -> set[ColumnName]:
        """The columns that are not relevant, by a call for each."""
        replies = lab.ask_many(
            lab.request(
                self,
                "prune/filter_column",
                question,
                column=column_text(table, column),
                question=question.text,
                hint=question.evidence,
            )
            for table, column in columns
        )
        return {
            (table, column.name)
            for (table, column), reply in zip(columns, replies, strict=True)
            if read_relevance(reply.text) is False
        }

    def _irrelevant_in_groups(
        self, lab: Lab, question: Question, columns: Sequence[_TableColumn]
    ) -> set[ColumnName]:
        """The columns that are not relevant, by calls about groups of columns."""
        verdicts: dict[ColumnName, bool] = {}
        left_out = list(columns)
        # The second round is another sample: a prompt that is repeated unchanged gets a reply of its own.
        for sample in range(2):
            groups = [left_out[i : i + self.group] for i in range(0, len(left_out), self.group)]
            replies = lab.ask_many(self._request(lab, question, group, sample) for group in groups)
            for group, reply in zip(groups, replies, strict=True):
                verdicts |= _verdicts(group, reply)
            left_out = [
                (table, column)
                for group, reply in zip(groups, replies, strict=True)
                for table, column in group
                if (table, column.name) not in verdicts and not reply.fault
            ]
        return {pair for pair, relevant in verdicts.items() if not relevant}

    def _request(
        self, lab: Lab, question: Question, group: Sequence[_TableColumn], sample: int
    ) -> Request:
        return lab.request(
            self,
            "prune/filter_column_group",
            question,
            sample,
            columns="\n\n".join(column_text(table, column) for table, column in group),
            count=len(group),
            question=question.text,
            hint=question.evidence,
        )


def _verdicts(group: Sequence[_TableColumn], reply: Completion) -> dict[ColumnName, bool]:
    tables: dict[str, list[str]] = {}
    for table, column in group:
        tables.setdefault(table, []).append(column.name)
    return read_column_verdicts(reply.text, tables)


def _keys(table: Table) -> set[str]:
    keys = {lower_name(name) for name in table.primary_key}
    return keys | {lower_name(name) for key in table.foreign_keys for name in key.columns}
