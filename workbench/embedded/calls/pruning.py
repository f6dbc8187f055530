"""Which tables and columns a question needs: those of likely hypotheses, and those it speaks of.

Nothing is drawn, so the answers are the same at any temperature.
"""

import json
import re
from dataclasses import replace
from functools import lru_cache

from workbench.embedded.calls.chance import shares
from workbench.embedded.linking.index import index, names_people
from workbench.embedded.parser import hypotheses, spoken
from workbench.embedded.prompt.messages import Asked
from workbench.embedded.prompt.schema_reading import read_create_tables
from workbench.english.words import tokens
from workbench.types import Context, Schema

_SPOKEN = 0.5  # from which a column alone is relevant
_WHO = frozenset({"who", "whose", "whom", "name", "names", "surname", "surnames"})
_LIKELY = 0.04  # the share of probability from which a column or table is needed
_LINKED = 0.15  # the share that the column counts as that is most surely spoken of
_TOP = 6  # columns of a large table that MAC-SQL's selector keeps
_WHOLE = 10  # columns up to which it keeps a table whole
_LEAST = 3  # tables that it keeps


def filter_column(asked: Asked, _temperature: float, _seed: str) -> str:
    """Whether question or hint speak of this one column."""
    return json.dumps(_verdict(asked.context, asked.columns[0]))


def filter_columns(asked: Asked, _temperature: float, _seed: str) -> str:
    """Whether question or hint speak of each column, by itself: a line for each."""
    rows = (
        {"column": _fields(column).get("Column", ""), **_verdict(asked.context, column)}
        for column in asked.columns
    )
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def _verdict(context: Context, column_section: str) -> dict[str, str]:
    """Whether question or hint speak of this one column, and why.

    The hint is searched for the column's name only: to parse its formulas against one column says no more.
    """
    question = context.question
    alone = replace(
        context, question=replace(question, evidence=""), schema=_one_column(column_section)
    )
    column = index(alone.schema).fields[0]
    words = tokens(question.text)
    said = {token.stem for token in words if token.content}
    hint = re.sub(r"'[^']*'", "''", question.evidence)
    if max(spoken(alone).values(), default=0.0) >= _SPOKEN:
        reason = "the question speaks of it"
    elif re.search(rf"(?<!\w){re.escape(column.name)}(?!\w)", hint, re.IGNORECASE):
        reason = "the hint names it"
    elif column.kind == "text" and names_people(column) and any(t.low in _WHO for t in words):
        reason = "the question asks who"
    elif any(len(told & said) >= len(told) / 2 for _, told in column.codes):
        reason = "the question says what one of its values means"
    else:
        return _relevance("nothing speaks of it", "No")
    return _relevance(reason, "Yes")


def _relevance(reason: str, verdict: str) -> dict[str, str]:
    return {"chain_of_thought_reasoning": reason, "is_column_information_relevant": verdict}


def _fields(section: str) -> dict[str, str]:
    """The lines of one column of a section `## Column` or `## Columns`, by their titles."""
    return dict(re.findall(r"^([\w ]+): (.*)$", section, re.MULTILINE))


@lru_cache(maxsize=8192)  # every question about a database is asked of the same columns
def _one_column(section: str) -> Schema:
    """The schema of a `## Column` section: one table with one column."""
    lines = _fields(section)
    table, _, column = lines.get("Column", "t.c").partition(".")
    about = [lines.get("Description", ""), lines.get("Values mean", "")]
    if "Examples" in lines:
        about.append(f"examples: {lines['Examples']}")
    comment = "; ".join(filter(None, about))
    return read_create_tables(
        f"CREATE TABLE {table} (\n    {column} {lines.get('Type', '')} -- {comment}\n);"
    )


def select_tables(asked: Asked, _temperature: float, _seed: str) -> str:
    """The tables that likely hypotheses read."""
    worth, _ = _worth(asked.context)
    kept = [table for table, share in worth.items() if share >= _LIKELY]
    kept = kept or sorted(worth, key=lambda table: -worth[table])[:1]
    reply = {"chain_of_thought_reasoning": "Likely queries read these.", "table_names": kept}
    return json.dumps(reply, ensure_ascii=False)


def select_columns(asked: Asked, _temperature: float, _seed: str) -> str:
    """The columns that likely hypotheses use or the question speaks of."""
    columns: dict[str, list[str]] = {}
    for (table, column), share in _worth(asked.context)[1].items():
        if share >= _LIKELY:
            columns.setdefault(table, []).append(column)
    reasoning = "Likely queries use these, or the question speaks of them."
    return json.dumps({"chain_of_thought_reasoning": reasoning, **columns}, ensure_ascii=False)


def mac_selector(asked: Asked, _temperature: float, _seed: str) -> str:
    """For each table keep_all, drop_all, or its most useful columns."""
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
    """The part of the probability that reads each table and uses each column, spoken of or not."""
    tables = {table.name: 0.0 for table in context.schema.tables}
    columns = dict.fromkeys(context.schema.columns(), 0.0)
    found = hypotheses(context)
    for hypothesis, share in zip(found, shares([h.score for h in found]), strict=True):
        for table in hypothesis.tables:
            tables[table] += share
        for pair in hypothesis.columns:
            columns[pair] += share
    said = {pair: sure for pair, sure in spoken(context).items() if pair in columns}
    best = max(said.values(), default=1.0)
    for pair, sure in said.items():
        columns[pair] = max(columns[pair], _LINKED * sure / best)
    return tables, columns
