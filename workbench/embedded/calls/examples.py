"""Synthetic examples: questions with their queries, made from the schema that the prompt shows.

The forms together use the features of SQL that the papers' guidelines ask for: conditions, joins, nested
queries, aggregates, grouping and ordering. Tables, columns and values are drawn at the request's seed.
"""

import json
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from workbench.embedded.prompt.messages import Asked
from workbench.sql.schema_text import literal, quote
from workbench.types import Column, Schema, Table

# Question and SQL; a field that the schema has nothing for rules a form out.
_FORMS = (
    ("What is the {column} of every {table} whose {words}?", "SELECT {C} FROM {T} WHERE {test}"),
    ("How many {table} are there whose {words}?", "SELECT COUNT(*) FROM {T} WHERE {test}"),
    (
        "List the {column} of the {table} whose {other}'s {other_words}.",
        "SELECT T1.{C} FROM {T} AS T1 INNER JOIN {O} AS T2 ON T1.{key} = T2.{target} WHERE T2.{other_test}",
    ),
    ("What is the {function} {number} of all {table}?", "SELECT {F}({N}) FROM {T}"),
    (
        "What is the {column} of the {table} with the highest {number}?",
        "SELECT {C} FROM {T} ORDER BY {N} DESC LIMIT 1",
    ),
    (
        "For each {column} with more than {least} {table}, how many are there?",
        "SELECT {C}, COUNT(*) FROM {T} GROUP BY {C} HAVING COUNT(*) > {least}",
    ),
    (
        "Which {table} have a {number} above the average? Give the {column}.",
        "SELECT {C} FROM {T} WHERE {N} > (SELECT AVG({N}) FROM {T})",
    ),
    (
        "Which {column} have the {table} of a {other} whose {other_words}?",
        "SELECT DISTINCT {C} FROM {T} WHERE {key} IN (SELECT {target} FROM {O} WHERE {other_test})",
    ),
)
_FUNCTIONS = (("AVG", "average"), ("MAX", "highest"), ("MIN", "lowest"), ("SUM", "total"))
_NUMBER = re.compile(r"(?i)int|real|num|float|double|dec")


def write_examples(asked: Asked, _temperature: float, seed: str) -> str:
    """JSON objects, one a line: as many as are asked for and the schema has room for, all different."""
    numbers = [int(number) for number in re.findall(r"\b(\d+)\b", asked.answer)]
    chance = random.Random(seed)  # noqa: S311  no secret
    count = max(numbers, default=10)
    examples = islice(_examples(asked.context.schema, 4 * count, chance), count)
    return "\n".join(
        json.dumps({"input": question, "output": sql}, ensure_ascii=False)
        for question, sql in dict.fromkeys(examples)
    )


def _examples(schema: Schema, draws: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Examples form by form, over and over; a draw that the schema has no room for gives none."""
    for turn in range(draws if schema.tables else 0):
        question, sql = _FORMS[turn % len(_FORMS)]
        fields = _fields(schema, chance.choice(schema.tables), chance)
        with suppress(KeyError):
            yield question.format_map(fields), sql.format_map(fields)


def _fields(schema: Schema, table: Table, chance: random.Random) -> dict[str, str]:
    """Fields of an example about a table: in words by lower-case names, in SQL by the others."""
    fields = {"table": _spoken(table.name), "T": quote(table.name)}
    fields["least"] = str(chance.randint(1, 5))
    fields["F"], fields["function"] = chance.choice(_FUNCTIONS)
    keys = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}
    plain = [column for column in table.columns if column.name not in keys]
    if numbers := [column for column in plain if _NUMBER.search(column.type)]:
        number = chance.choice(numbers)
        plain.remove(number)
        fields |= {"number": _described(number), "N": quote(number.name)}
    if plain:
        column = chance.choice(plain)
        fields |= {"column": _described(column), "C": quote(column.name)}
    fields |= _condition(table, chance)
    links = [(key, other) for key in table.foreign_keys if (other := schema.table(key.ref_table))]
    if links:
        key, other = chance.choice(links)
        fields |= {f"other_{name}": text for name, text in _condition(other, chance).items()}
        fields |= {"other": _spoken(other.name), "O": quote(other.name)}
        fields |= {"key": quote(key.columns[0]), "target": quote(key.ref_columns[0])}
    return fields


def _condition(table: Table, chance: random.Random) -> dict[str, str]:
    """A condition on one of the table's example values, in words and in SQL."""
    shown = [(c, v) for c in table.columns for v in c.examples if isinstance(v, str | int | float)]
    if not shown:
        return {}
    column, value = chance.choice(shown)
    signs = (("=", "is"), (">", "is above"), ("<", "is below"))
    sign, words = signs[0] if isinstance(value, str) else chance.choice(signs)
    return {
        "words": f"{_described(column)} {words} {value}",
        "test": f"{quote(column.name)} {sign} {literal(value)}",
    }


def _spoken(name: str) -> str:
    """A name as people say it."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_+", " ", name).strip().lower()


def _described(column: Column) -> str:
    """A column as people say it: the first words of its description, or else its name."""
    first = re.split(r"[;:,.(]", column.description)[0].strip()
    return first.lower() if 0 < len(first) <= 40 else _spoken(column.name)
