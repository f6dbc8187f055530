"""Synthetic examples: questions with their queries, made from the schema that the prompt shows.

Each is one of a few forms, so that all the features of SQL appear that the papers' guidelines ask for:
conditions, joins, nested queries, aggregates, grouping and ordering. Tables, columns and values are
drawn at the request's seed; a column without example values has no condition on it.
"""

import json
import random
import re
from collections.abc import Callable, Iterator

from workbench.db.quoting import quote
from workbench.embedded.messages import Asked
from workbench.types import Column, Schema, Table, Value

_Form = Callable[["_Teller", Table], tuple[str, str, str] | None]


def write_examples(asked: Asked, temperature: float, seed: str) -> str:
    """One JSON object a line, as many as are asked for and the schema has room for, none twice."""
    del temperature  # what is drawn is drawn evenly
    numbers = [int(number) for number in re.findall(r"\b(\d+)\b", asked.answer)]
    teller = _Teller(asked.context.schema, random.Random(seed))  # noqa: S311  no secret
    found = dict.fromkeys(teller.examples(max(numbers, default=10)))
    return "\n".join(
        json.dumps({"question": question, "hint": hint, "sql": sql}, ensure_ascii=False)
        for question, hint, sql in found
    )


class _Teller:
    """Draws examples over one schema."""

    def __init__(self, schema: Schema, chance: random.Random) -> None:
        self.schema = schema
        self.chance = chance

    def examples(self, count: int) -> Iterator[tuple[str, str, str]]:
        """Examples form by form, over and over; the draws that give none are not made up for."""
        tables = [table for table in self.schema.tables if table.columns]
        seen = 0
        for turn in range(4 * count if tables else 0):
            if example := _FORMS[turn % len(_FORMS)](self, self.chance.choice(tables)):
                yield example
                seen += 1
            if seen == count:
                return

    def column(self, table: Table, *, number: bool = False) -> Column | None:
        """One of the table's columns that is no key; of numbers, if asked for."""
        keys = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}
        fit = [c for c in table.columns if c.name not in keys and (not number or _is_number(c))]
        return self.chance.choice(fit) if fit else None

    def condition(self, table: Table, alias: str = "") -> tuple[str, str] | None:
        """A condition on the table in words and in SQL."""
        fit = [column for column in table.columns if _shown(column)]
        if not fit:
            return None
        column = self.chance.choice(fit)
        value = self.chance.choice(_shown(column))
        sign, words = "=", "is"
        if _is_number(column) and not isinstance(value, str):
            sign, words = self.chance.choice([(">", "is above"), ("<", "is below"), ("=", "is")])
        return (
            f"{_told(column)} {words} {value}",
            f"{alias}{quote(column.name)} {sign} {_sql(value)}",
        )

    def joined(self, table: Table) -> tuple[Table, str] | None:
        """A table that this one points at, and the join of T1 with it as T2."""
        keys = [key for key in table.foreign_keys if self.schema.table(key.ref_table)]
        if not keys:
            return None
        key = self.chance.choice(keys)
        other = self.schema.table(key.ref_table)
        targets = key.ref_columns or (other.primary_key if other else ())
        if other is None or len(targets) != len(key.columns):
            return None
        on = " AND ".join(
            f"T1.{quote(here)} = T2.{quote(there)}"
            for here, there in zip(key.columns, targets, strict=True)
        )
        return other, f"{quote(table.name)} AS T1 INNER JOIN {quote(other.name)} AS T2 ON {on}"


def _lookup(teller: _Teller, table: Table) -> tuple[str, str, str] | None:
    column, condition = teller.column(table), teller.condition(table)
    if column is None or condition is None:
        return None
    words, sql = condition
    return (
        f"What is the {_told(column)} of every {_said(table.name)} whose {words}?",
        f"{words} refers to {sql}",
        f"SELECT {quote(column.name)} FROM {quote(table.name)} WHERE {sql}",
    )


def _count(teller: _Teller, table: Table) -> tuple[str, str, str] | None:
    if (condition := teller.condition(table)) is None:
        return None
    words, sql = condition
    question = f"How many {_said(table.name)} are there whose {words}?"
    return question, "", f"SELECT COUNT(*) FROM {quote(table.name)} WHERE {sql}"


def _aggregate(teller: _Teller, table: Table) -> tuple[str, str, str] | None:
    if (column := teller.column(table, number=True)) is None:
        return None
    name, words = teller.chance.choice(
        [("AVG", "average"), ("MAX", "highest"), ("MIN", "lowest"), ("SUM", "total")]
    )
    question = f"What is the {words} {_told(column)} of all {_said(table.name)}?"
    return question, "", f"SELECT {name}({quote(column.name)}) FROM {quote(table.name)}"


def _join(teller: _Teller, table: Table) -> tuple[str, str, str] | None:
    found, column = teller.joined(table), teller.column(table)
    if found is None or column is None or (condition := teller.condition(found[0], "T2.")) is None:
        return None
    words, sql = condition
    return (
        f"List the {_told(column)} of the {_said(table.name)} whose {_said(found[0].name)}'s {words}.",
        f"{words} refers to {sql.removeprefix('T2.')}",
        f"SELECT T1.{quote(column.name)} FROM {found[1]} WHERE {sql}",
    )


def _join_count(teller: _Teller, table: Table) -> tuple[str, str, str] | None:
    found = teller.joined(table)
    if found is None or (condition := teller.condition(found[0], "T2.")) is None:
        return None
    words, sql = condition
    question = f"How many {_said(table.name)} have a {_said(found[0].name)} whose {words}?"
    return question, "", f"SELECT COUNT(*) FROM {found[1]} WHERE {sql}"


def _group(teller: _Teller, table: Table) -> tuple[str, str, str] | None:
    if (column := teller.column(table)) is None:
        return None
    least = teller.chance.randint(1, 5)
    return (
        f"For each {_told(column)} with more than {least} {_said(table.name)}, how many are there?",
        "",
        (
            f"SELECT {quote(column.name)}, COUNT(*) FROM {quote(table.name)} GROUP BY "
            f"{quote(column.name)} HAVING COUNT(*) > {least}"
        ),
    )


def _top(teller: _Teller, table: Table) -> tuple[str, str, str] | None:
    column, by = teller.column(table), teller.column(table, number=True)
    if column is None or by is None or column == by:
        return None
    order, words = teller.chance.choice([("DESC", "highest"), ("ASC", "lowest")])
    return (
        f"What is the {_told(column)} of the {_said(table.name)} with the {words} {_told(by)}?",
        f"{words} {_told(by)} refers to {'MAX' if order == 'DESC' else 'MIN'}({quote(by.name)})",
        (
            f"SELECT {quote(column.name)} FROM {quote(table.name)} ORDER BY {quote(by.name)} {order} "
            "LIMIT 1"
        ),
    )


def _above_average(teller: _Teller, table: Table) -> tuple[str, str, str] | None:
    column, by = teller.column(table), teller.column(table, number=True)
    if column is None or by is None or column == by:
        return None
    name, source = quote(by.name), quote(table.name)
    question = (
        f"Which {_said(table.name)} have a {_told(by)} above the average? Give the {_told(column)}."
    )
    inner = f"SELECT AVG({name}) FROM {source}"
    return question, "", f"SELECT {quote(column.name)} FROM {source} WHERE {name} > ({inner})"


def _nested(teller: _Teller, table: Table) -> tuple[str, str, str] | None:
    found, column = teller.joined(table), teller.column(table)
    if found is None or column is None or (condition := teller.condition(found[0])) is None:
        return None
    key = next(k for k in table.foreign_keys if k.ref_table == found[0].name)
    target = (key.ref_columns or found[0].primary_key)[0]
    words, sql = condition
    inner = f"SELECT {quote(target)} FROM {quote(found[0].name)} WHERE {sql}"
    return (
        (
            f"Which {_told(column)} have the {_said(table.name)} of a {_said(found[0].name)} whose "
            f"{words}?"
        ),
        "",
        (
            f"SELECT DISTINCT {quote(column.name)} FROM {quote(table.name)} WHERE "
            f"{quote(key.columns[0])} IN ({inner})"
        ),
    )


_FORMS: tuple[_Form, ...] = (
    _lookup, _count, _join, _aggregate, _top, _group, _join_count, _above_average, _nested,
)  # fmt: skip


def _is_number(column: Column) -> bool:
    return bool(re.search(r"(?i)int|real|num|float|double|dec", column.type))


def _said(name: str) -> str:
    """A name as people say it."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_+", " ", name).strip().lower()


def _told(column: Column) -> str:
    """A column as people say it: by the first words of its description, else by its name."""
    first = re.split(r"[;:,.(]", column.description)[0].strip()
    return first.lower() if 0 < len(first) <= 40 else _said(column.name)


def _shown(column: Column) -> list[str | int | float]:
    """The example values that a condition can name."""
    return [value for value in column.examples if isinstance(value, str | int | float)]


def _sql(value: Value) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
