"""Write the parts of a `Context` and the results of queries as text for prompts.

Names and values are written as in SQL, so that a model can copy them; each stays on one line.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from workbench.db.sql.normal_form import normal_form
from workbench.db.text.quoting import DESCRIPTION_LENGTH, literal, one_line, quote
from workbench.db.text.schema_text import create_table_text
from workbench.parallel import cached_for_object
from workbench.types import (
    Column,
    Context,
    DescriptionMatch,
    Example,
    Execution,
    Schema,
    Table,
    ValueMatch,
    lower_name,
)

Match = ValueMatch | DescriptionMatch

_CELL = 60  # characters shown of a cell or a column's name
_COLUMNS = 20  # columns shown of a result
_FAILURES = {
    "error": "Error",
    "denied": "Refused",
    "timeout": "Stopped",
    "too_large": "Too large",
}


def context_data(
    context: Context, schema_text: Callable[[Schema], str] = create_table_text
) -> dict[str, str]:
    """The question, hint, schema, values and descriptions, by the names of most prompts' variables.

    Values and descriptions of columns outside the schema, such as pruned ones, are left out.
    """
    schema = context.schema
    found = context.values or context.descriptions
    known = {(lower_name(t), lower_name(c)) for t, c in schema.columns()} if found else set()
    return {
        "question": context.question.text,
        "hint": context.question.evidence,
        "schema": schema_text(schema),
        "values": values_text(v for v in context.values if _column(v) in known),
        "descriptions": descriptions_text(
            tuple(d for d in context.descriptions if _column(d) in known)
        ),
    }


def values_text(values: Iterable[ValueMatch]) -> str:
    """A line for each column, `table.column: 'value', 'other value'`, grouped by table.

    Tables, columns and values come in the order of their first match.
    """
    return _by_column(((match, literal(match.value, DESCRIPTION_LENGTH)) for match in values), ", ")


@lru_cache(maxsize=1024)  # all samples of a question show the same; many questions run at once
def descriptions_text(descriptions: tuple[DescriptionMatch, ...]) -> str:
    """A line for each column, `table.column: text`, in the order of `values_text`."""
    return _by_column(((match, one_line(match.text).strip()) for match in descriptions), "; ")


def examples_text(examples: Iterable[Example]) -> str:
    """A block for each example with the lines `Question:`, `Hint:` (if it has one) and `SQL:`."""
    blocks = []
    for example in examples:
        lines = [f"Question: {_whole_line(example.question)}"]
        if hint := _whole_line(example.hint):
            lines.append(f"Hint: {hint}")
        # On one line, a comment would hide the rest of the query.
        sql = normal_form(example.sql) if "--" in example.sql else example.sql
        blocks.append("\n".join([*lines, f"SQL: {_whole_line(sql)}"]))
    return "\n\n".join(blocks)


def result_text(execution: Execution, rows: int = 10) -> str:
    """A result as text: the error, or the number of rows, the columns and the first `rows` rows.

    Cells are SQL literals, so that '1' and 1, and '' and NULL, look different.
    """
    if execution.status in _FAILURES:
        return f"{_FAILURES[execution.status]}: {one_line(execution.error)}"
    count = execution.row_count
    head = "No rows" if count == 0 else "1 row" if count == 1 else f"{count:,} rows"
    if rows < count:
        head += f", the first {rows} of them"
    names = [one_line(quote(name), _CELL) for name in execution.columns[:_COLUMNS]]
    if (hidden := len(execution.columns) - _COLUMNS) > 0:
        names.append(f"(and {hidden} more columns)")
    lines = [f"{head}:", " | ".join(names)]
    lines += [
        " | ".join(literal(cell, _CELL) for cell in row[:_COLUMNS]) for row in execution.rows[:rows]
    ]
    return "\n".join(lines)


def column_text(table: str, column: Column) -> str:
    """A column as text: a line each for its name, type, description, meaning of values, and examples."""
    return f"Column: {_whole_line(f'{quote(table)}.{quote(column.name)}')}{_details(column)}"


@cached_for_object(maxsize=10_000)  # questions about a database share its columns
def _details(column: Column) -> str:
    lines = {
        "Type": column.type,
        "Description": column.description,
        "Values mean": column.value_description,
        "Examples": ", ".join(map(literal, column.examples)),
    }
    shown = ((title, one_line(text).strip()) for title, text in lines.items())
    return "".join(f"\n{title}: {text}" for title, text in shown if text)


def with_values(schema: Schema, values: Iterable[ValueMatch]) -> Schema:
    """The schema with the retrieved values as the first examples of their columns, as in CHESS (figure 15).

    A value of a column outside the schema is left out.
    """

    def shown(column: Column, values: dict[str, None]) -> Column:
        if not values:
            return column
        known = {str(value): value for value in column.examples}
        return replace(column, examples=tuple(known.get(text, text) for text in values | known))

    return _with_columns(schema, ((match, match.value) for match in values), shown)


def with_descriptions(schema: Schema, descriptions: Iterable[DescriptionMatch]) -> Schema:
    """The schema with the retrieved descriptions only; other descriptions would distract (CHESS, appendix A.2).

    Expanded column names always stay: they are short, and they explain abbreviated names.
    """

    def shown(column: Column, texts: dict[str, None]) -> Column:
        description = "; ".join(texts) or column.expanded
        return replace(column, description=description, value_description="")

    return _with_columns(schema, ((match, match.text) for match in descriptions), shown)


def _with_columns(
    schema: Schema,
    pairs: Iterable[tuple[Match, str]],
    change: Callable[[Column, dict[str, Any]], Column],
) -> Schema:
    """The schema with every column changed by its distinct texts in their order, the keys of a dict."""
    texts: dict[tuple[str, str], dict[str, None]] = {}
    for match, text in pairs:
        texts.setdefault(_column(match), {})[text] = None

    def changed(table: Table) -> Table:
        name = lower_name(table.name)
        columns = (change(c, texts.get((name, lower_name(c.name)), {})) for c in table.columns)
        return replace(table, columns=tuple(columns))

    return replace(schema, tables=tuple(map(changed, schema.tables)))


def _by_column(texts: Iterable[tuple[Match, str]], separator: str) -> str:
    tables: dict[str, dict[str, dict[str, None]]] = {}
    for match, text in texts:
        tables.setdefault(match.table, {}).setdefault(match.column, {})[text] = None
    return "\n".join(
        f"{_whole_line(f'{quote(table)}.{quote(column)}')}: {separator.join(shown)}"
        for table, columns in tables.items()
        for column, shown in columns.items()
    )


def _column(match: Match) -> tuple[str, str]:
    return lower_name(match.table), lower_name(match.column)


def _whole_line(text: str) -> str:
    return one_line(text, len(text)).strip()
