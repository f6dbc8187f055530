"""Pruning that several systems share: keep some columns of a schema, and ask about each of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from workbench import replies
from workbench.errors import at_least
from workbench.lab import Lab
from workbench.sql.reading import quote
from workbench.sql.texts import column_text, with_retrieved
from workbench.types import Context, Question, Schema, Table, lower_name

Name = tuple[str, str]  # of a table and its column


def keep(context: Context, columns: Iterable[Name]) -> Context:
    """Return the context with these columns and the keys of their tables (CHESS, appendix A.3).

    It is unchanged if there are none.
    """
    names = list(columns)
    return replace(context, schema=context.schema.only(names)) if names else context


def by_table(schema: Schema) -> Mapping[str, Sequence[str]]:
    """Return the names of the schema's columns, for the readers of replies."""
    columns = {}
    for table in schema.tables:
        columns[table.name] = [column.name for column in table.columns]
    return columns


@dataclass(frozen=True)
class FilterColumns:
    """filter_column (CHESS, figure 10, appendix A.3): a call asks whether a column is relevant.

    Primary and foreign keys always stay, and so does a column whose reply cannot be read.

    group: how many columns a call asks about; 1 in the paper.
    """

    model: str
    temperature: float = 0.0
    group: int = 1

    def __post_init__(self) -> None:
        at_least(1, group=self.group)

    def __call__(self, lab: Lab, context: Context) -> Context:
        texts: dict[Name, str] = {}
        for table in with_retrieved(context.schema, context.values).tables:
            keys = _keys(table)
            for column in table.columns:
                if lower_name(column.name) not in keys:
                    texts[table.name, column.name] = column_text(table.name, column)
        if self.group == 1:
            irrelevant = self._one_by_one(lab, context.question, texts)
        else:
            irrelevant = self._in_groups(lab, context.question, texts)
        columns = [name for name in context.schema.columns() if name not in irrelevant]
        return keep(context, columns)

    def _one_by_one(
        self, lab: Lab, question: Question, texts: Mapping[Name, str]
    ) -> set[Name]:
        """Return the columns that are irrelevant, asked about in one call each."""
        asked: dict[str, Any] = {"question": question.text, "hint": question.evidence}
        requests = []
        for text in texts.values():
            data = asked | {"column": text}
            request = lab.request(self, "prune/filter_column", question, **data)
            requests.append(request)
        answers = lab.ask_many(requests, replies.relevant)
        named = zip(texts, answers, strict=True)
        return {name for name, answer in named if answer.value is False}

    def _in_groups(
        self, lab: Lab, question: Question, texts: Mapping[Name, str]
    ) -> set[Name]:
        """Return the columns that are irrelevant, asked about in groups."""
        named = list(texts.items())
        starts = range(0, len(named), self.group)
        groups = [dict(named[start : start + self.group]) for start in starts]
        irrelevant = lab.each(partial(self._of_group, lab, question), groups)
        return set(chain.from_iterable(irrelevant))

    def _of_group(
        self, lab: Lab, question: Question, texts: Mapping[Name, str]
    ) -> set[Name]:
        name_of = {
            f"{quote(table)}.{quote(name)}": (table, name) for table, name in texts
        }
        data = {
            "question": question.text,
            "hint": question.evidence,
            "columns": "\n\n".join(texts.values()),
            "count": len(texts),
        }
        read = partial(replies.relevant_columns, names=list(name_of))
        answer = lab.ask(self, "prune/filter_column_group", question, read, **data)
        verdicts = answer.value or {}
        return {
            name_of[quoted]
            for quoted, is_relevant in verdicts.items()
            if not is_relevant
        }


def _keys(table: Table) -> set[str]:
    """Return the names of the columns of a table's keys, as names are compared."""
    names = [*table.primary_key]
    for key in table.foreign_keys:
        names += key.columns
    return {lower_name(name) for name in names}
