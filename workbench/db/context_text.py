"""The pieces of a `Context`, and what a database answered, as text for prompts.

Names and values stand as they would in SQL, so that a model can copy them and none of them can break
out of its line.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from workbench.db.quoting import DESCRIPTION_LENGTH, literal, one_line, quote
from workbench.db.schema_text import create_table_text
from workbench.db.sql.normal_form import normal_form
from workbench.types import (
    Column,
    Context,
    DescriptionMatch,
    Example,
    Execution,
    Schema,
    ValueMatch,
    fold,
)

Match = ValueMatch | DescriptionMatch

_CELL = 60  # characters of a cell or of a column's name that are shown
_COLUMNS = 20  # columns of a result that are shown
_FAILURES = {
    "error": "Error",
    "denied": "Refused",
    "timeout": "Stopped",
    "too_large": "Too large",
}


def context_data(
    context: Context, schema_text: Callable[[Schema], str] = create_table_text
) -> dict[str, str]:
    """The question, hint, schema, values and descriptions as most prompts take them.

    Only of columns that are in the schema: what was pruned is not shown by another door.
    """
    schema = context.schema
    known = {(fold(table), fold(column)) for table, column in schema.columns()}
    return {
        "question": context.question.text,
        "hint": context.question.evidence,
        "schema": schema_text(schema),
        "values": values_text(v for v in context.values if _place(v) in known),
        "descriptions": descriptions_text(d for d in context.descriptions if _place(d) in known),
    }


def values_text(values: Iterable[ValueMatch]) -> str:
    """A line a column, `table.column: 'value', 'other value'`, with the columns of a table together.

    Tables, columns and values stand in the order in which they are first given.
    """
    return _by_column(((match, literal(match.value, DESCRIPTION_LENGTH)) for match in values), ", ")


def descriptions_text(descriptions: Iterable[DescriptionMatch]) -> str:
    """A line a column, `table.column: text`, ordered as values are."""
    return _by_column(((match, one_line(match.text).strip()) for match in descriptions), "; ")


def examples_text(examples: Iterable[Example]) -> str:
    """Blocks of `Question:`, `Hint:` (where there is one) and `SQL:`, a line each."""
    blocks = []
    for example in examples:
        lines = [f"Question: {_whole_line(example.question)}"]
        if hint := _whole_line(example.hint):
            lines.append(f"Hint: {hint}")
        # On one line, a comment would swallow what follows it.
        sql = normal_form(example.sql) if "--" in example.sql else example.sql
        blocks.append("\n".join([*lines, f"SQL: {_whole_line(sql)}"]))
    return "\n\n".join(blocks)


def result_text(execution: Execution, rows: int = 10) -> str:
    """What became of a query: why it failed, or how many rows it gave, its columns and the first rows.

    Cells are written as SQL literals, so that '1' and 1, and '' and NULL, look different.
    """
    if execution.status in _FAILURES:
        return f"{_FAILURES[execution.status]}: {one_line(execution.error)}"
    count = execution.row_count
    head = "No rows" if count == 0 else "1 row" if count == 1 else f"{count:,} rows"
    if rows < count:
        head += f", the first {rows} of them"
    beyond = len(execution.columns) - _COLUMNS
    more = [f"(and {beyond} more columns)"] if beyond > 0 else []
    names = [one_line(quote(name), _CELL) for name in execution.columns[:_COLUMNS]]
    lines = [f"{head}:", " | ".join(names + more)]
    lines += [
        " | ".join(literal(cell, _CELL) for cell in row[:_COLUMNS]) for row in execution.rows[:rows]
    ]
    return "\n".join(lines)


def column_text(table: str, column: Column) -> str:
    """One column by itself: its name, its type, what it means and values of it, a line each."""
    lines = {
        "Column": f"{quote(table)}.{quote(column.name)}",
        "Type": column.type,
        "Description": column.description,
        "Values mean": column.value_description,
        "Examples": ", ".join(map(literal, column.examples)),
    }
    told = ((title, one_line(text).strip()) for title, text in lines.items())
    return "\n".join(f"{title}: {text}" for title, text in told if text)


def with_values(schema: Schema, values: Iterable[ValueMatch]) -> Schema:
    """The schema with the values that were found first among their columns' examples.

    CHESS (figure 15) shows them so. A match of a column that the schema lacks is left out.
    """
    found = _by_place((match, match.value) for match in values)

    def shown(table: str, column: Column) -> Column:
        first = found.get((fold(table), fold(column.name)), {})
        known = {str(value): value for value in column.examples}
        return replace(column, examples=tuple(known.get(text, text) for text in first | known))

    return _with_columns(schema, shown)


def with_descriptions(schema: Schema, descriptions: Iterable[DescriptionMatch]) -> Schema:
    """The schema described by what was found alone: the rest would distract (CHESS, appendix A.2)."""
    found = _by_place((match, match.text) for match in descriptions)

    def shown(table: str, column: Column) -> Column:
        texts = found.get((fold(table), fold(column.name)), {})
        return replace(column, description="; ".join(texts), value_description="")

    return _with_columns(schema, shown)


def _with_columns(schema: Schema, change: Callable[[str, Column], Column]) -> Schema:
    tables = tuple(
        replace(table, columns=tuple(change(table.name, column) for column in table.columns))
        for table in schema.tables
    )
    return replace(schema, tables=tables)


def _by_column(told: Iterable[tuple[Match, str]], separator: str) -> str:
    tables: dict[str, dict[str, dict[str, None]]] = {}
    for match, text in told:
        tables.setdefault(match.table, {}).setdefault(match.column, {})[text] = None
    return "\n".join(
        f"{_whole_line(f'{quote(table)}.{quote(column)}')}: {separator.join(texts)}"
        for table, columns in tables.items()
        for column, texts in columns.items()
    )


def _by_place(told: Iterable[tuple[Match, str]]) -> dict[tuple[str, str], dict[str, None]]:
    """The texts told of each column, none twice."""
    places: dict[tuple[str, str], dict[str, None]] = {}
    for match, text in told:
        places.setdefault(_place(match), {})[text] = None
    return places


def _place(match: Match) -> tuple[str, str]:
    return fold(match.table), fold(match.column)


def _whole_line(text: str) -> str:
    return one_line(text, len(text)).strip()
