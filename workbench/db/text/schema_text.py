"""Write a `Schema` as text for a prompt, in the papers' styles.

Names, types and values may contain anything, so each is quoted or kept to one line.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from workbench.db.text.quoting import literal, one_line, quote
from workbench.parallel import cached_for_object
from workbench.types import Column, Schema, Table, Value

_TYPE = re.compile(r"([A-Za-z0-9_ ]+)(\( *[+-]?\d+ *(, *[+-]?\d+ *)?\))?", re.ASCII)


def create_table_text(schema: Schema) -> str:
    """CREATE TABLE statements with comments, as in CHESS (figure 15) and CHASE-SQL.

    A column's comment has its description, the meaning of its values, and examples, if they are
    known. SQLite can run the text, and reading the new database gives the same tables, columns and keys. A
    view or a virtual table is written as a table with a comment, since queries use it like a table.
    """
    return _create_tables(schema)


@cached_for_object(maxsize=1024)  # the fixer and both orders of a pair show the same schema
def _create_tables(schema: Schema) -> str:
    return "\n\n".join(map(_create_table, schema.tables))


def bare_create_table_text(schema: Schema) -> str:
    """CREATE TABLE statements without comments, as BIRD's zero-shot prompt shows them."""
    tables = (replace(t, columns=tuple(map(_bare, t.columns))) for t in schema.tables)
    return "\n\n".join(map(_create_table, tables))


def _bare(column: Column) -> Column:
    return replace(column, description="", value_description="", examples=())


def mac_sql_text(schema: Schema) -> str:
    """MAC-SQL's style: a bracketed list of columns for each table, then the foreign keys."""
    return _mac_sql_text(schema)


@cached_for_object(maxsize=256)  # several of MAC-SQL's agents show the same schema
def _mac_sql_text(schema: Schema) -> str:
    lines = ["[Schema]"]
    for table in schema.tables:
        lines += [f"# Table: {one_line(table.name)}", "["]
        lines += [_mac_sql_line(column, repr(column.examples)) for column in table.columns]
        lines.append("]")
    keys = [
        one_line(f"{quote(t.name)}.{quote(column)} = {quote(key.ref_table)}.{quote(ref_column)}")
        for t in schema.tables
        for key in t.foreign_keys
        for column, ref_column in zip(key.columns, key.ref_columns, strict=False)
    ]
    return "\n".join([*lines, "[Foreign keys]", *keys] if keys else lines)


@lru_cache(maxsize=16384)  # all calls about a database show the same columns
def _mac_sql_line(column: Column, examples: str) -> str:
    """A column's line. `examples` only enters the cache's key: columns with examples 1 and 1.0 are equal."""
    del examples
    texts = [*_descriptions(column)]
    if column.examples:
        texts.append(f"Value examples: [{_literals(column.examples)}]")
    description = " ".join(text.rstrip(".") + "." for text in texts)
    return f"  ({', '.join(filter(None, [one_line(column.name), description]))}),"


def _create_table(table: Table) -> str:
    key = table.primary_key
    definitions = [
        _definition(column, repr(column.examples), is_key=key == (column.name,))
        for column in table.columns
    ]
    if len(key) > 1:
        definitions.append((f"PRIMARY KEY ({_names(key)})", ""))
    for foreign in table.foreign_keys:
        names = f" ({_names(foreign.ref_columns)})" if foreign.ref_columns else ""
        target = quote(foreign.ref_table) + names
        definitions.append((f"FOREIGN KEY ({_names(foreign.columns)}) REFERENCES {target}", ""))
    kind = {"table": "", "view": " -- a view", "virtual": " -- a virtual table"}[table.kind]
    lines = [
        f"    {definition}{'' if i == len(definitions) else ','}{comment and f' -- {comment}'}"
        for i, (definition, comment) in enumerate(definitions, 1)
    ]
    return "\n".join([f"CREATE TABLE {quote(table.name)} ({kind}", *lines, ");"])


@lru_cache(maxsize=16384)  # each sample of a generator shows the columns in another order
def _definition(column: Column, examples: str, *, is_key: bool) -> tuple[str, str]:
    """A column's definition and the comment behind it; `examples` only enters the cache's key."""
    del examples
    definition = f"{quote(column.name)} {_type(column.type)}".rstrip() + " PRIMARY KEY" * is_key
    texts = [*_descriptions(column)]
    if column.examples:
        texts.append(f"examples: {_literals(column.examples)}")
    return definition, "; ".join(texts)


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(map(quote, columns))


def _type(declared: str) -> str:
    """A declared type as SQL: quoted unless it is plain, as SQLite allows any text."""
    plain = _TYPE.fullmatch(declared)
    if plain and all(quote(word) == word for word in plain[1].split()):
        return declared
    return declared and quote(declared)


def _descriptions(column: Column) -> Iterator[str]:
    for text in (column.description, column.value_description):
        if shown := one_line(text).strip():
            yield shown


def _literals(values: tuple[Value, ...]) -> str:
    return ", ".join(map(literal, values))
