"""Write schemas, contexts, results of queries and SQLite's plans as text for prompts.

Names and values are written as in SQL, so that a model can copy them. They may contain anything, so
each is quoted or kept to one line: data must not end a quotation.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from workbench.sql.reading import normal_form, quote
from workbench.types import (
    Column,
    Context,
    DescriptionMatch,
    Example,
    Execution,
    Schema,
    Table,
    Value,
    ValueMatch,
    lower_name,
)

LONGEST = 1_000  # characters of a text that a prompt shows
Match = ValueMatch | DescriptionMatch
_ROWS = 10  # shown of a result
_COLUMNS = 20
_CELL = 60  # characters shown of a cell or a column's name
_FAILURES = {
    "error": "Error",
    "denied": "Refused",
    "timeout": "Stopped",
    "too_large": "Too large",
}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_TYPE = re.compile(r"([A-Za-z0-9_ ]+)(\( *[+-]?\d+ *(, *[+-]?\d+ *)?\))?", re.ASCII)


def one_line(text: str, length: int = LONGEST) -> str:
    """Return the text without control characters, cut to `length`."""
    text = text if text.isprintable() else _CONTROL.sub(" ", text)
    if len(text) <= length:
        return text
    return text[: length - 1] + "…"


def literal(value: Value, length: int = 100) -> str:
    """Return the value as an SQL literal on one line; a text or a blob is cut to `length`.

    A real number has 15 digits, as SQLite's own shell prints it: further ones differ between
    versions of SQLite.
    """
    if isinstance(value, str):
        return "'" + one_line(value, length).replace("'", "''") + "'"
    if isinstance(value, bytes):
        return f"x'{one_line(value.hex(), length)}'"
    if isinstance(value, float):
        return repr(float(f"{value:.15g}"))
    return "NULL" if value is None else str(value)


@lru_cache(maxsize=1024)  # the fixer and both orders of a pair show the same schema
def create_table_text(schema: Schema) -> str:
    """Write CREATE TABLE statements with comments, as in CHESS (figure 15) and CHASE-SQL.

    SQLite can run the text, and reading the new database gives the same tables, columns and keys. A
    view or a virtual table is written as a table with a comment, since queries use it like one.

    >>> schema = wb.read_schema(wb.open_benchmark("bundled-dev").database("harbour"))
    >>> print(wb.create_table_text(schema.only([("tug", "tname")])))
    CREATE TABLE tug (
        tug_id INTEGER PRIMARY KEY,
        tname TEXT
    );
    """
    return "\n\n".join(map(_create_table, schema.tables))


def bare_create_table_text(schema: Schema) -> str:
    """Write CREATE TABLE statements without comments, as BIRD's zero-shot prompt shows them."""
    tables = []
    for table in schema.tables:
        columns = tuple(Column(column.name, column.type) for column in table.columns)
        tables.append(replace(table, columns=columns))
    return "\n\n".join(map(_create_table, tables))


@lru_cache(maxsize=256)  # several of MAC-SQL's agents show the same schema
def mac_sql_text(schema: Schema) -> str:
    """Write a bracketed list of columns for each table, then the foreign keys, as MAC-SQL does."""
    lines = ["[Schema]"]
    keys = []
    for table in schema.tables:
        lines += [f"# Table: {one_line(table.name)}", "["]
        for column in table.columns:
            texts = _texts(column, "Value examples: [{}]")
            sentences = " ".join(f"{text.rstrip('.')}." for text in texts)
            shown = filter(None, [one_line(column.name), sentences])
            lines.append(f"  ({', '.join(shown)}),")
        lines.append("]")
        for key in table.foreign_keys:
            for name, ref in zip(key.columns, key.ref_columns, strict=False):
                target = f"{quote(key.ref_table)}.{quote(ref)}"
                keys.append(one_line(f"{quote(table.name)}.{quote(name)} = {target}"))
    if keys:
        lines += ["[Foreign keys]", *keys]
    return "\n".join(lines)


def _create_table(table: Table) -> str:
    parts = []  # the definitions of columns and keys, each with its comment
    for column in table.columns:
        definition = f"{quote(column.name)} {_type(column.type)}".rstrip()
        if table.primary_key == (column.name,):
            definition += " PRIMARY KEY"
        parts.append((definition, "; ".join(_texts(column, "examples: {}"))))
    if len(table.primary_key) > 1:
        parts.append((f"PRIMARY KEY ({_names(table.primary_key)})", ""))
    for key in table.foreign_keys:
        names = f" ({_names(key.ref_columns)})" if key.ref_columns else ""
        target = quote(key.ref_table) + names
        definition = f"FOREIGN KEY ({_names(key.columns)}) REFERENCES {target}"
        parts.append((definition, ""))
    kind = {"table": "", "view": " -- a view", "virtual": " -- a virtual table"}[
        table.kind
    ]
    lines = [f"CREATE TABLE {quote(table.name)} ({kind}"]
    for n, (definition, comment) in enumerate(parts, 1):
        line = f"    {definition}," if n < len(parts) else f"    {definition}"
        lines.append(f"{line} -- {comment}" if comment else line)
    return "\n".join([*lines, ");"])


def _type(declared: str) -> str:
    """Return a declared type, for which SQLite allows any text, as it may be declared again."""
    if not declared:
        return ""
    plain = _TYPE.fullmatch(declared)
    if plain and all(quote(word) == word for word in plain[1].split()):
        return declared
    return quote(declared)


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(map(quote, columns))


@lru_cache(maxsize=10_000)  # each order of a schema's columns is written anew
def _texts(column: Column, examples: str) -> list[str]:
    """Return the column's descriptions, and its example values in the given form."""
    texts = [
        one_line(text).strip()
        for text in (column.description, column.value_description)
    ]
    if column.examples:
        texts.append(examples.format(", ".join(map(literal, column.examples))))
    return [text for text in texts if text]


def context_data(
    context: Context, schema_text: Callable[[Schema], str] = create_table_text
) -> dict[str, str]:
    """Return the question, hint, schema, values and descriptions, by the names of their variables.

    Values and descriptions have a line for each column: `table.column: 'value', 'other value'`.
    Tables, columns and texts come in the order of their first match; pruned columns are left out.
    """
    values = [(m, literal(m.value, LONGEST)) for m in context.values]
    descriptions = [(m, one_line(m.text).strip()) for m in context.descriptions]
    return {
        "question": context.question.text,
        "hint": context.question.evidence,
        "schema": schema_text(context.schema),
        "values": _by_column(context.schema, values, ", "),
        "descriptions": _by_column(context.schema, descriptions, "; "),
    }


def _by_column(
    schema: Schema, texts: Iterable[tuple[Match, str]], separator: str
) -> str:
    # By table and column, each in the order of its first match; the innermost is a set with order.
    tables: dict[str, dict[str, dict[str, None]]] = {}
    for match, text in texts:
        if schema.column(match.table, match.column):
            tables.setdefault(match.table, {}).setdefault(match.column, {})[text] = None
    lines = []
    for table, columns in tables.items():
        for column, shown in columns.items():
            name = one_line(f"{quote(table)}.{quote(column)}")
            lines.append(f"{name}: {separator.join(shown)}")
    return "\n".join(lines)


def examples_text(examples: Iterable[Example]) -> str:
    """Write lines `Question:`, `Hint:` (if there is one) and `SQL:` for each example."""
    blocks = []
    for example in examples:
        # On one line, a comment would hide the rest of the query.
        sql = normal_form(example.sql) if "--" in example.sql else example.sql
        blocks.append(
            _lines({"Question": example.question, "Hint": example.hint, "SQL": sql})
        )
    return "\n\n".join(blocks)


def result_text(execution: Execution) -> str:
    """Write the error, or the number of rows, the columns and the first ten rows.

    Cells are SQL literals, so that '1' and 1, and '' and NULL, look different.
    """
    if not execution.is_complete:
        return f"{_FAILURES[execution.status]}: {one_line(execution.error)}"
    names = [one_line(quote(name), _CELL) for name in execution.columns[:_COLUMNS]]
    hidden = len(execution.columns) - len(names)
    if hidden:
        names.append(f"(and {hidden} more columns)")
    lines = [f"{_row_count(execution.row_count)}:", " | ".join(names)]
    for row in execution.rows[:_ROWS]:
        cells = [literal(cell, _CELL) for cell in row[:_COLUMNS]]
        lines.append(" | ".join(cells))
    return "\n".join(lines)


def _row_count(count: int) -> str:
    if count == 0:
        return "No rows"
    if count == 1:
        return "1 row"
    if count > _ROWS:
        return f"{count:,} rows, the first {_ROWS} of them"
    return f"{count} rows"


def plan_text(plan: Execution) -> str:
    """Write the result of EXPLAIN QUERY PLAN as the tree that SQLite's own shell prints."""
    if not plan.rows:
        return result_text(plan)

    def tree(above: Value, indent: str) -> Iterator[str]:
        steps = [row for row in plan.rows if row[1] == above]
        for step in steps:
            number, _, _, detail = step
            is_last = step == steps[-1]
            branch, below = ("`--", "   ") if is_last else ("|--", "|  ")
            yield f"{indent}{branch}{one_line(str(detail))}"
            yield from tree(number, indent + below)

    return "\n".join(["QUERY PLAN", *tree(0, "")])


def column_text(table: str, column: Column) -> str:
    """Write a line each for a column's name, type, description, meaning of values and examples."""
    return _lines(
        {
            "Column": f"{quote(table)}.{quote(column.name)}",
            "Type": one_line(column.type),
            "Description": one_line(column.description),
            "Values mean": one_line(column.value_description),
            "Examples": one_line(", ".join(map(literal, column.examples))),
        }
    )


def with_retrieved(
    schema: Schema,
    values: Iterable[ValueMatch],
    descriptions: Iterable[DescriptionMatch] | None = None,
) -> Schema:
    """Return the schema with the retrieved values as the first examples of their columns.

    So does CHESS (figure 15). With `descriptions`, a column shows those retrieved for it and no
    others, which would distract (CHESS, appendix A.2). Expanded column names always stay: they are
    short, and they explain abbreviated names.
    """
    values_of = _by_name((match, match.value) for match in values)
    texts_of = _by_name((match, match.text) for match in descriptions or ())

    def shown(table: str, column: Column) -> Column:
        name = (lower_name(table), lower_name(column.name))
        if name in values_of:
            known = {str(value): value for value in column.examples}
            distinct = dict.fromkeys([*values_of[name], *known])
            examples = tuple(known.get(text, text) for text in distinct)
            column = replace(column, examples=examples)
        if descriptions is None:
            return column
        text = "; ".join(texts_of.get(name, ())) or column.expanded
        return replace(column, description=text, value_description="")

    tables = []
    for table in schema.tables:
        columns = tuple(shown(table.name, column) for column in table.columns)
        tables.append(replace(table, columns=columns))
    return replace(schema, tables=tuple(tables))


def _by_name(
    texts: Iterable[tuple[Match, str]],
) -> dict[tuple[str, str], dict[str, None]]:
    """Return the distinct texts of each table and column, in their order."""
    by_name = defaultdict[tuple[str, str], dict[str, None]](dict)
    for match, text in texts:
        by_name[lower_name(match.table), lower_name(match.column)][text] = None
    return by_name


def _lines(texts: Mapping[str, str]) -> str:
    """Write a line with the title and the text for each text that is not empty."""
    lines = []
    for title, text in texts.items():
        shown = one_line(text, len(text)).strip()
        if shown:
            lines.append(f"{title}: {shown}")
    return "\n".join(lines)
