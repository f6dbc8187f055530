"""Write schemas, contexts, results of queries and SQLite's plans as text for prompts.

Names and values are written as in SQL, so that a model can copy them. They may contain anything, so each is quoted or
kept to one line: data must not end a quotation.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
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
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_TYPE = re.compile(r"([A-Za-z0-9_ ]+)(\( *[+-]?\d+ *(, *[+-]?\d+ *)?\))?", re.ASCII)


def one_line(text: str, length: int = LONGEST) -> str:
    """The text without control characters, cut to `length`."""
    text = text if text.isprintable() else _CONTROL.sub(" ", text)
    return text if len(text) <= length else text[: length - 1] + "…"


def literal(value: Value, length: int = 100) -> str:
    """The value as an SQL literal on one line; a text or a blob is cut to `length`.

    A real number has 15 digits, as SQLite's own shell prints it: further ones differ between versions of SQLite.
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
    """CREATE TABLE statements with comments, as in CHESS (figure 15) and CHASE-SQL.

    SQLite can run the text, and reading the new database gives the same tables, columns and keys. A view or a virtual
    table is written as a table with a comment, since queries use it like one.

    >>> schema = wb.read_schema(wb.open_benchmark("bundled-dev").database("harbour"))
    >>> print(wb.create_table_text(schema.only([("tug", "tname")])))
    CREATE TABLE tug (
        tug_id INTEGER PRIMARY KEY,
        tname TEXT
    );
    """
    return "\n\n".join(map(_create_table, schema.tables))


def bare_create_table_text(schema: Schema) -> str:
    """CREATE TABLE statements without comments, as BIRD's zero-shot prompt shows them."""
    tables = [
        replace(t, columns=tuple(Column(c.name, c.type) for c in t.columns)) for t in schema.tables
    ]
    return "\n\n".join(map(_create_table, tables))


@lru_cache(maxsize=256)  # several of MAC-SQL's agents show the same schema
def mac_sql_text(schema: Schema) -> str:
    """MAC-SQL's style: a bracketed list of columns for each table, then the foreign keys."""
    lines = ["[Schema]"]
    for table in schema.tables:
        lines += [f"# Table: {one_line(table.name)}", "["]
        for column in table.columns:
            texts = _texts(column, "Value examples: [{}]")
            described = " ".join(text.rstrip(".") + "." for text in texts)
            lines.append(f"  ({', '.join(filter(None, [one_line(column.name), described]))}),")
        lines.append("]")
    keys = [
        one_line(f"{quote(table.name)}.{quote(own)} = {quote(key.ref_table)}.{quote(other)}")
        for table in schema.tables
        for key in table.foreign_keys
        for own, other in zip(key.columns, key.ref_columns, strict=False)
    ]
    return "\n".join([*lines, *["[Foreign keys]"] * bool(keys), *keys])


def _create_table(table: Table) -> str:
    key = table.primary_key
    definitions = []
    for column in table.columns:
        plain = _TYPE.fullmatch(column.type)  # SQLite allows any text
        written = plain and all(quote(word) == word for word in plain[1].split())
        declared = column.type if written or not column.type else quote(column.type)
        definition = f"{quote(column.name)} {declared}".rstrip()
        definition += " PRIMARY KEY" * (key == (column.name,))
        definitions.append((definition, "; ".join(_texts(column, "examples: {}"))))
    if len(key) > 1:
        definitions.append((f"PRIMARY KEY ({_names(key)})", ""))
    for foreign in table.foreign_keys:
        names = f" ({_names(foreign.ref_columns)})" if foreign.ref_columns else ""
        target = quote(foreign.ref_table) + names
        definitions.append((f"FOREIGN KEY ({_names(foreign.columns)}) REFERENCES {target}", ""))
    kind = {"table": "", "view": " -- a view", "virtual": " -- a virtual table"}[table.kind]
    lines = [
        f"    {definition}{',' * (n < len(definitions))}{comment and f' -- {comment}'}"
        for n, (definition, comment) in enumerate(definitions, 1)
    ]
    return "\n".join([f"CREATE TABLE {quote(table.name)} ({kind}", *lines, ");"])


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(map(quote, columns))


def _texts(column: Column, examples: str) -> list[str]:
    """The column's descriptions, and its example values in the given form."""
    texts = [one_line(text).strip() for text in (column.description, column.value_description)]
    if column.examples:
        texts.append(examples.format(", ".join(map(literal, column.examples))))
    return [*filter(None, texts)]


Match = ValueMatch | DescriptionMatch
_ROWS, _COLUMNS = 10, 20  # shown of a result
_CELL = 60  # characters shown of a cell or a column's name
_FAILURES = {"error": "Error", "denied": "Refused", "timeout": "Stopped", "too_large": "Too large"}


def context_data(
    context: Context, schema_text: Callable[[Schema], str] = create_table_text
) -> dict[str, str]:
    """The question, hint, schema, values and descriptions, by the names of most prompts' variables.

    Values and descriptions have a line for each column: `table.column: 'value', 'other value'`. Tables, columns and
    texts come in the order of their first match; pruned columns are left out.
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


def _by_column(schema: Schema, texts: Iterable[tuple[Match, str]], separator: str) -> str:
    tables: dict[str, dict[str, dict[str, None]]] = {}
    for match, text in texts:
        if schema.column(match.table, match.column):
            tables.setdefault(match.table, {}).setdefault(match.column, {})[text] = None
    return "\n".join(
        f"{one_line(f'{quote(table)}.{quote(column)}')}: {separator.join(shown)}"
        for table, columns in tables.items()
        for column, shown in columns.items()
    )


def examples_text(examples: Iterable[Example]) -> str:
    """A block for each example with the lines `Question:`, `Hint:` (if it has one) and `SQL:`."""
    blocks = []
    for example in examples:
        # On one line, a comment would hide the rest of the query.
        sql = normal_form(example.sql) if "--" in example.sql else example.sql
        blocks.append(_lines({"Question": example.question, "Hint": example.hint, "SQL": sql}))
    return "\n\n".join(blocks)


def result_text(execution: Execution) -> str:
    """A result as text: the error, or the number of rows, the columns and the first ten rows.

    Cells are SQL literals, so that '1' and 1, and '' and NULL, look different.
    """
    if not execution.is_complete:
        return f"{_FAILURES[execution.status]}: {one_line(execution.error)}"
    count = execution.row_count
    head = "No rows" if count == 0 else "1 row" if count == 1 else f"{count:,} rows"
    head += f", the first {_ROWS} of them" * (count > _ROWS)
    names = [one_line(quote(name), _CELL) for name in execution.columns[:_COLUMNS]]
    if (hidden := len(execution.columns) - _COLUMNS) > 0:
        names.append(f"(and {hidden} more columns)")
    cells = ([literal(cell, _CELL) for cell in row[:_COLUMNS]] for row in execution.rows[:_ROWS])
    return "\n".join([f"{head}:", *map(" | ".join, [names, *cells])])


def plan_text(plan: Execution) -> str:
    """The result of EXPLAIN QUERY PLAN as the tree that SQLite's own shell prints."""

    def tree(parent: object, indent: str) -> Iterable[str]:
        own = [(id_, str(detail)) for id_, of, _, detail in plan.rows if of == parent]
        for number, (id_, detail) in enumerate(own, 1):
            last = number == len(own)
            yield f"{indent}{'`' if last else '|'}--{one_line(detail)}"
            yield from tree(id_, indent + ("   " if last else "|  "))

    return "\n".join(["QUERY PLAN", *tree(0, "")]) if plan.rows else result_text(plan)


def column_text(table: str, column: Column) -> str:
    """A column as text: a line each for its name, type, description, meaning of values, and examples."""
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
    """The schema with the retrieved values as the first examples of their columns, as in CHESS (figure 15).

    With `descriptions`, a column shows those retrieved for it and no others, which would distract (CHESS, appendix
    A.2). Expanded column names always stay: they are short, and they explain abbreviated names.
    """
    texts = defaultdict[tuple[type, str, str], dict[str, None]](dict)
    matches: tuple[Match, ...] = (*values, *(descriptions or ()))
    for match in matches:
        text = match.value if isinstance(match, ValueMatch) else match.text
        texts[type(match), lower_name(match.table), lower_name(match.column)][text] = None

    def shown(table: str, column: Column) -> Column:
        name = lower_name(table), lower_name(column.name)
        if first := texts.get((ValueMatch, *name)):
            known = {str(value): value for value in column.examples}
            examples = tuple(known.get(text, text) for text in first | known)
            column = replace(column, examples=examples)
        if descriptions is None:
            return column
        text = "; ".join(texts.get((DescriptionMatch, *name), ())) or column.expanded
        return replace(column, description=text, value_description="")

    tables = (replace(t, columns=tuple(shown(t.name, c) for c in t.columns)) for t in schema.tables)
    return replace(schema, tables=tuple(tables))


def _lines(texts: Mapping[str, str]) -> str:
    """A line with the title and the text for each text that is not empty."""
    whole = {title: one_line(text, len(text)).strip() for title, text in texts.items()}
    return "\n".join(f"{title}: {text}" for title, text in whole.items() if text)
