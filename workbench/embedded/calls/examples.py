"""Synthetic examples: questions with their queries, made from the schema that the prompt shows.

The forms together use the features of SQL that the papers' guidelines ask for: conditions, joins, nested
queries, aggregates, grouping and ordering. Tables, columns and values are drawn at the request's seed.
"""

import json
import random
import re
from collections.abc import Iterator
from contextlib import suppress

from workbench.db.text.quoting import quote
from workbench.embedded.prompt.messages import Asked
from workbench.types import Column, Schema, Table, Value

_JOINED = "{T} AS T1 INNER JOIN {O} AS T2 ON {on} WHERE T2.{other_test}"
_FORMS = (  # question, hint, SQL; a field that the schema has nothing for rules a form out
    (
        "What is the {column} of every {table} whose {words}?",
        "{words} refers to {test}",
        "SELECT {C} FROM {T} WHERE {test}",
    ),
    ("How many {table} are there whose {words}?", "", "SELECT COUNT(*) FROM {T} WHERE {test}"),
    (
        "List the {column} of the {table} whose {other}'s {other_words}.",
        "{other_words} refers to {other_test}",
        f"SELECT T1.{{C}} FROM {_JOINED}",
    ),
    ("What is the {function} {number} of all {table}?", "", "SELECT {F}({N}) FROM {T}"),
    (
        "What is the {column} of the {table} with the {extreme} {number}?",
        "{extreme} {number} refers to {E}({N})",
        "SELECT {C} FROM {T} ORDER BY {N} {order} LIMIT 1",
    ),
    (
        "For each {column} with more than {least} {table}, how many are there?",
        "",
        "SELECT {C}, COUNT(*) FROM {T} GROUP BY {C} HAVING COUNT(*) > {least}",
    ),
    (
        "How many {table} have a {other} whose {other_words}?",
        "",
        f"SELECT COUNT(*) FROM {_JOINED}",
    ),
    (
        "Which {table} have a {number} above the average? Give the {column}.",
        "",
        "SELECT {C} FROM {T} WHERE {N} > (SELECT AVG({N}) FROM {T})",
    ),
    (
        "Which {column} have the {table} of a {other} whose {other_words}?",
        "",
        "SELECT DISTINCT {C} FROM {T} WHERE {key} IN (SELECT {target} FROM {O} WHERE {other_test})",
    ),
)
_FUNCTIONS = (("AVG", "average"), ("MAX", "highest"), ("MIN", "lowest"), ("SUM", "total"))
_EXTREMES = (("MAX", "highest", "DESC"), ("MIN", "lowest", "ASC"))


def write_examples(asked: Asked, temperature: float, seed: str) -> str:
    """One JSON object a line: as many as are asked for and the schema has room for, all different."""
    del temperature  # every choice is equally likely
    numbers = [int(number) for number in re.findall(r"\b(\d+)\b", asked.answer)]
    chance = random.Random(seed)  # noqa: S311  no secret
    examples = _examples(asked.context.schema, max(numbers, default=10), chance)
    return "\n".join(
        json.dumps({"question": question, "hint": hint, "sql": sql}, ensure_ascii=False)
        for question, hint, sql in dict.fromkeys(examples)
    )


def _examples(schema: Schema, count: int, chance: random.Random) -> Iterator[tuple[str, str, str]]:
    """Examples form by form, over and over, until there are enough or too many draws fail."""
    tables = [table for table in schema.tables if table.columns]
    made = 0
    for turn in range(4 * count if tables else 0):
        question, hint, sql = _FORMS[turn % len(_FORMS)]
        fields = _fields(schema, chance.choice(tables), chance)
        with suppress(KeyError):
            yield question.format_map(fields), hint.format_map(fields), sql.format_map(fields)
            made += 1
        if made == count:
            return


def _fields(schema: Schema, table: Table, chance: random.Random) -> dict[str, str]:
    """What an example about a table may say: in words by lower-case names, in SQL by the others."""
    fields = {"table": _spoken(table.name), "T": quote(table.name)}
    fields["least"] = str(chance.randint(1, 5))
    fields["F"], fields["function"] = chance.choice(_FUNCTIONS)
    fields["E"], fields["extreme"], fields["order"] = chance.choice(_EXTREMES)
    keys = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}
    plain = [column for column in table.columns if column.name not in keys]
    numbers = [column for column in plain if _is_number(column)]
    if numbers:
        number = chance.choice(numbers)
        plain.remove(number)
        fields |= {"number": _described(number), "N": quote(number.name)}
    if plain:
        column = chance.choice(plain)
        fields |= {"column": _described(column), "C": quote(column.name)}
    if condition := _condition(table, chance):
        fields["words"], fields["test"] = condition
    links = [(key, other) for key in table.foreign_keys if (other := schema.table(key.ref_table))]
    if links:
        key, other = chance.choice(links)
        targets = [*map(quote, key.ref_columns or other.primary_key)]
        pairs = list(zip(map(quote, key.columns), targets, strict=False))
        if pairs and (condition := _condition(other, chance)):
            fields |= {"other": _spoken(other.name), "O": quote(other.name)}
            fields |= {"other_words": condition[0], "other_test": condition[1]}
            fields["on"] = " AND ".join(f"T1.{here} = T2.{there}" for here, there in pairs)
            fields["key"], fields["target"] = pairs[0]
    return fields


def _condition(table: Table, chance: random.Random) -> tuple[str, str] | None:
    """A condition on one of the table's example values, in words and in SQL."""
    shown = [(c, v) for c in table.columns for v in c.examples if isinstance(v, str | int | float)]
    if not shown:
        return None
    column, value = chance.choice(shown)
    sign, words = "=", "is"
    if _is_number(column) and not isinstance(value, str):
        sign, words = chance.choice([(">", "is above"), ("<", "is below"), ("=", "is")])
    return f"{_described(column)} {words} {value}", f"{quote(column.name)} {sign} {_literal(value)}"


def _is_number(column: Column) -> bool:
    return bool(re.search(r"(?i)int|real|num|float|double|dec", column.type))


def _spoken(name: str) -> str:
    """A name as people say it."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_+", " ", name).strip().lower()


def _described(column: Column) -> str:
    """A column as people say it: the first words of its description, or else its name."""
    first = re.split(r"[;:,.(]", column.description)[0].strip()
    return first.lower() if 0 < len(first) <= 40 else _spoken(column.name)


def _literal(value: Value) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
