"""Which tables and columns a question needs: those of likely hypotheses, and those it speaks of.

A single column is judged by what the question and the hint say of it alone. Nothing is drawn, so the
answers are the same at any temperature.
"""

import json
import re
from dataclasses import replace

from workbench.embedded.calls.chance import shares
from workbench.embedded.linking.index import index, names_people
from workbench.embedded.parser import hypotheses, links
from workbench.embedded.prompt.messages import Asked
from workbench.embedded.prompt.schema_reading import read_create_tables
from workbench.english.words import tokens
from workbench.types import Context, Schema

_SPOKEN = 0.5  # the score of a link from which a column alone is relevant
_WHO = frozenset({"who", "whose", "whom", "name", "names", "surname", "surnames"})
_LIKELY = 0.04  # the share of probability from which a column or table is needed
_LINKED = 0.15  # the share that the strongest link counts as
_TOP = 6  # columns of a large table that MAC-SQL's selector keeps
_WHOLE = 10  # columns up to which it keeps a table whole
_LEAST = 3  # tables that it keeps


def filter_column(asked: Asked, temperature: float, seed: str) -> str:
    """Whether question or hint speak of this one column."""
    del temperature, seed
    reasoning = _spoken(replace(asked.context, schema=_one_column(asked.column)))
    relevant = "yes" if reasoning else "no"
    return json.dumps(
        {"reasoning": reasoning or "nothing speaks of it", "relevant": relevant}, ensure_ascii=False
    )


def _spoken(context: Context) -> str:
    """What speaks of the only column of a schema, or ""."""
    best = next(iter(links(context)), None)
    if best and best.score >= _SPOKEN:
        return f"'{best.words}' speaks of it"
    column = index(context.schema).fields[0]
    hint = re.sub(r"'[^']*'", "''", context.question.evidence)
    if re.search(rf"(?<!\w){re.escape(column.name)}(?!\w)", hint, re.IGNORECASE):
        return "the hint names it"
    words = tokens(context.question.text)
    if column.kind == "text" and names_people(column) and any(t.low in _WHO for t in words):
        return "the question asks who"
    said = {token.stem for token in words if token.content}
    meant = (value for value, told in column.codes if len(told & said) >= len(told) / 2)
    return next((f"the question says what '{value}' means" for value in meant), "")


def _one_column(section: str) -> Schema:
    """The schema of a `## Column` section: one table with one column."""
    lines = dict(re.findall(r"^([\w ]+): (.*)$", section, re.MULTILINE))
    table, _, column = lines.get("Column", "t.c").partition(".")
    about = [lines.get("Description", ""), lines.get("Values mean", "")]
    if "Examples" in lines:
        about.append(f"examples: {lines['Examples']}")
    comment = "; ".join(filter(None, about))
    return read_create_tables(
        f"CREATE TABLE {table} (\n    {column} {lines.get('Type', '')} -- {comment}\n);"
    )


def select_tables(asked: Asked, temperature: float, seed: str) -> str:
    """The tables that likely hypotheses read."""
    del temperature, seed
    worth, _ = _worth(asked.context)
    kept = [table for table, share in worth.items() if share >= _LIKELY]
    kept = kept or sorted(worth, key=lambda table: -worth[table])[:1]
    return json.dumps(
        {"reasoning": "Likely queries read these.", "tables": kept}, ensure_ascii=False
    )


def select_columns(asked: Asked, temperature: float, seed: str) -> str:
    """The columns that likely hypotheses use or the question speaks of."""
    del temperature, seed
    columns: dict[str, list[str]] = {}
    for (table, column), share in _worth(asked.context)[1].items():
        if share >= _LIKELY:
            columns.setdefault(table, []).append(column)
    reasoning = "Likely queries use these, or the question speaks of them."
    return json.dumps({"reasoning": reasoning, "columns": columns}, ensure_ascii=False)


def mac_selector(asked: Asked, temperature: float, seed: str) -> str:
    """For each table keep_all, drop_all, or its most useful columns."""
    del temperature, seed
    tables, columns = _worth(asked.context)
    order = sorted(tables, key=lambda table: -tables[table])
    decisions: dict[str, str | list[str]] = {}
    for table in asked.context.schema.tables:
        if tables[table.name] < _LIKELY and table.name not in order[:_LEAST]:
            decisions[table.name] = "drop_all"
        elif len(table.columns) <= _WHOLE:
            decisions[table.name] = "keep_all"
        else:
            keys = {*table.primary_key, *(c for key in table.foreign_keys for c in key.columns)}
            names = [column.name for column in table.columns]
            names.sort(key=lambda c: -columns[table.name, c] - _LIKELY / 2 * (c in keys))
            decisions[table.name] = names[:_TOP]
    return json.dumps(decisions, ensure_ascii=False)


def _worth(context: Context) -> tuple[dict[str, float], dict[tuple[str, str], float]]:
    """The part of the probability that reads each table and uses each column; links count, too."""
    tables = {table.name: 0.0 for table in context.schema.tables}
    columns = dict.fromkeys(context.schema.columns(), 0.0)
    found = hypotheses(context)
    for hypothesis, share in zip(found, shares([h.score for h in found]), strict=True):
        for table in hypothesis.tables:
            tables[table] += share
        for pair in hypothesis.columns:
            columns[pair] += share
    linked = [link for link in links(context) if link.column]
    best = max((link.score for link in linked), default=1.0)
    for link in linked:
        pair = (link.table, link.column)
        columns[pair] = max(columns[pair], _LINKED * link.score / best)
    return tables, columns
