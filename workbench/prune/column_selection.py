"""Cut a schema to selected columns, and list the names of its columns for the readers of replies."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from workbench.types import Context, Schema

ColumnName = tuple[str, str]  # table, column


def keep(context: Context, columns: Iterable[ColumnName]) -> Context:
    """The context with the schema cut to these columns and the keys of their tables (CHESS, A.3).

    If no column was recognised, keep the schema unchanged.
    """
    pairs = list(columns)
    return replace(context, schema=context.schema.only(pairs)) if pairs else context


def columns_by_table(schema: Schema) -> Mapping[str, Sequence[str]]:
    return {table.name: [column.name for column in table.columns] for table in schema.tables}
