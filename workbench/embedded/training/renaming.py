"""A question's context with every table and column called something that means nothing.

A parser that is to know only what the prompt tells it must not lean on names that happen to be English.
So it is trained on both, and judged on both.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from workbench.db.text.quoting import quote
from workbench.types import Column, Context, ForeignKey, Schema, Table, ValueMatch, lower_name

_DEFINES = re.compile(r"(\s(?:refers? to|means?|=|is)\s)")
_RENAMED = re.compile(r"\b(?:tb|cl)\d+q\b")


def renamed(context: Context) -> tuple[Context, Callable[[str], str]]:
    """The context under other names, and what gives a query about it the true ones again.

    Names are replaced in the schema, the values, the descriptions and the hint; in prose only those that
    no English word could be. A name stays the same wherever it stands.
    """
    tables = {lower_name(t.name): (f"tb{i}q", t.name) for i, t in enumerate(context.schema.tables)}
    spelled = {lower_name(c): c for _, c in context.schema.columns()}
    columns = {name: (f"cl{i}q", true) for i, (name, true) in enumerate(sorted(spelled.items()))}
    true_names = {new: quote(true) for new, true in (*tables.values(), *columns.values())}
    new = {name: made for name, (made, _) in (*tables.items(), *columns.items())}

    def described(column: Column) -> Column:
        return replace(
            column,
            name=new[lower_name(column.name)],
            description=_replaced(column.description, new, prose=True),
            value_description=_replaced(column.value_description, new, prose=True),
        )

    def keyed(key: ForeignKey) -> ForeignKey:
        return ForeignKey(
            tuple(new[lower_name(c)] for c in key.columns),
            new[lower_name(key.ref_table)],
            tuple(new[lower_name(c)] for c in key.ref_columns),
        )

    def tabled(table: Table) -> Table:
        return replace(
            table,
            name=tables[lower_name(table.name)][0],
            columns=tuple(map(described, table.columns)),
            primary_key=tuple(new[lower_name(c)] for c in table.primary_key),
            foreign_keys=tuple(map(keyed, table.foreign_keys)),
        )

    def valued(match: ValueMatch) -> ValueMatch:
        return replace(
            match, table=tables[lower_name(match.table)][0], column=new[lower_name(match.column)]
        )

    schema = Schema(context.schema.db_id, tuple(map(tabled, context.schema.tables)))
    hint = "; ".join(_hint(clause, new) for clause in context.question.evidence.split("; "))
    question = replace(context.question, evidence=hint)
    values = tuple(map(valued, context.values))
    return (
        replace(context, question=question, schema=schema, values=values, descriptions=()),
        lambda sql: _RENAMED.sub(lambda m: true_names[m[0]], sql),
    )


def _hint(clause: str, new: dict[str, str]) -> str:
    """A clause of a hint: what it defines is English, what it is defined by may be any name."""
    defined, *rest = _DEFINES.split(clause, maxsplit=1)
    if not rest:
        return _replaced(clause, new, prose=False)
    return _replaced(defined, new, prose=True) + rest[0] + _replaced(rest[1], new, prose=False)


def _replaced(text: str, new: dict[str, str], *, prose: bool) -> str:
    names = [n for n in new if not prose or re.search(r"[_\d ]", n)]
    if not names:
        return text
    listed = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    pattern = rf"`(?:{listed})`|(?<![\w'])(?:{listed})(?![\w'])"
    return re.sub(pattern, lambda m: new[lower_name(m[0].strip("`"))], text, flags=re.IGNORECASE)
