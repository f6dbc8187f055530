"""The tables that a reply names."""

import re
from collections.abc import Iterable
from typing import Any

from workbench.replies.json_values import is_cut_off, json_values
from workbench.replies.names.spelling import Names, Tables, plain
from workbench.replies.names.values import (
    cells,
    denied,
    is_bulleted,
    items,
    line_denies,
    named_values,
    parts,
)
from workbench.replies.text import answer_text

_LEFT_OUT = re.compile(
    r"(?:\b(?:not|none|no|irrelevant|unnecessary|excluded|omitted|without)|n['\u2019]t)\b",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:all|every|each)(?: of)?(?: the)?(?: \w+)? tables?\b[^.;:,]*\b(?:needed|required|relevant|necessary|used)\b"
    r"|\b(?:need|requires?|uses?|keep|select)(?: \w+)? (?:all|every)(?: of)?(?: the)?(?: \w+)? tables?\b",
    re.IGNORECASE,
)
_EXCEPT = re.compile(
    r"(?:\b(?:except|apart from|other than|besides)|(?<!,) but(?: not)?)\b"
    r"(?P<tables>.*?)(?:[:;.]|\b(?:is|are)\b|\Z)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?<=[;.!?])\s+|,\s+(?=(?:only|but|just|not)\b)|\s+(?=but\s+not\b)")


def read_tables(reply: str, tables: Tables) -> list[str]:
    """The tables that the reply names: of the last JSON value that names any, else of its lines or prose."""
    text, names = answer_text(reply), Names(tables)
    rows = [value for _, _, value in json_values(text)]
    cut_off = is_cut_off(text)
    each_names_one = all(isinstance(row, dict) and "table" in map(plain, row) for row in rows)
    if len(rows) > 1 and each_names_one and not cut_off:
        return _once(name for row in rows for name in _tables_in(row, names))
    for value in named_values(
        text, names, "tables", "selected tables", "table names", "tables needed", "table"
    ):
        if found := _tables_in(value, names):
            return _once(found)
    if cut_off:
        return []
    text = re.sub(r"\((?:not|without|except)\b[^()\n]*\)", "", text)
    lines = [line for line in text.splitlines() if not line_denies(line)]
    if found := _once(names.table(cell) for line in lines for cell in cells(line)[:1]):
        return found
    for line in lines:
        if _EXCEPT.search(line) and (found := _all_but(line, names, tables)):
            return found
    clauses = [one for line in lines for one in _CLAUSE.split(line)]
    kept = [one for one in clauses if is_bulleted(one) or not _LEFT_OUT.search(one)]
    bulleted_only = bool(rows)
    named = any(
        names.table(item) for one in kept for item in items(one, bulleted_only=bulleted_only)
    )
    listed = (
        table
        for one in (kept if named else lines)
        for table in _of_items(one, items(one, bulleted_only=bulleted_only), names)
    )
    if (found := _once(listed)) or rows:
        return found
    found = _once(_of_prose("\n".join(lines), names))
    return found or _once(table for line in lines for table in _all_but(line, names, tables))


def _all_but(line: str, names: Names, tables: Tables) -> list[str]:
    """All tables, if the line says that all are needed, but for those after a word like "except"."""
    if not (whole := _ALL.search(line)) or _LEFT_OUT.search(line[: whole.end()]):
        return []
    excepted = _EXCEPT.search(line)
    left_out = names.tables_in(excepted["tables"]) if excepted else []
    return [table for table in tables if table not in left_out]


def _of_items(line: str, listed: list[str], names: Names) -> list[str]:
    """The tables of a line's items; of "we need ferry and route", also those in an item of more words."""
    tables = [names.table(item) for item in listed]
    return tables if is_bulleted(line) or all(tables) else names.tables_in(line)


def _once(found: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, found)))


def _tables_in(value: Any, names: Names) -> list[str]:
    """The tables that a JSON value names; of an object its keys, where these are tables."""
    if isinstance(value, dict):
        if denied(value):
            return []
        keys = [names.table(key) for key, item in value.items() if not denied(item)]
        inner = (table for item in value.values() for table in _tables_in(item, names))
        return [key for key in keys if key] or list(inner)
    if isinstance(value, list):
        return [table for item in value for table in _tables_in(item, names)]
    if whole := names.table(value):
        return [whole]
    if named := [table for part in parts(value) if (table := names.table(part))]:
        return named
    if str(value).endswith(".*") and (table := names.table(str(value)[:-2])):
        return [table]
    column = names.column(value) if "." in str(value) else None
    return [column[0]] if column else []


def _of_prose(text: str, names: Names) -> list[str]:
    """The tables that the sentences of running text name, but for those that leave tables out."""
    sentences = [one for line in text.splitlines() for one in _CLAUSE.split(line)]
    return [
        table
        for sentence in sentences
        if not _LEFT_OUT.search(sentence)
        for table in names.tables_in(sentence)
    ]
