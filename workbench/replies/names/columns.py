"""The columns that a reply names, by table."""

import re
from collections.abc import Mapping
from typing import Any

from workbench.replies.json_values import is_cut_off
from workbench.replies.names.spelling import Names, Tables, plain
from workbench.replies.names.values import (
    REASONS,
    cells,
    denied,
    items,
    line_denies,
    named_values,
    parts,
    without_bullet,
)
from workbench.replies.text import answer_text

_DECLARED = re.compile(
    r"\s+(?:TEXT|INTEGER|INT|REAL|NUMERIC|DATE|DATETIME|VARCHAR|BLOB|FLOAT|BOOLEAN)\b.*\Z"
)
_EVERY = {"all", "keep all", "all columns", "every column", ""}  # "" is a star without its marks
_TABLE = {"table", "table name"}
_TABLE_WITH_COLUMNS = re.compile(r"\W*([\w .]*[^\W_])[\W_]*\(([^()]+)\)\W*")
_SEVERAL = re.compile(r"(?<=\)),[ \t]+(?=[\w`\"]+ ?\()")  # tables with columns on one line
_REMARK = re.compile(r"\([^()]*\)")
BRACKETS = re.compile(r"[\[\](){}]")


def read_columns(reply: str, tables: Tables) -> dict[str, list[str]]:
    """The columns that the reply names, by table, without the tables of which it names none."""
    named = read_named_columns(reply, tables)
    return {table: columns for table, columns in named.items() if columns}


def read_named_columns(reply: str, tables: Tables) -> dict[str, list[str] | None]:
    """The columns that the reply names, by table.

    A table has [] where the reply lists none of its columns, and None where all that it lists are unknown.
    Of several JSON values the last one counts, together with those before it that speak of other tables.
    """
    text, names = answer_text(reply), Names(tables)
    found: dict[str, list[str] | None] = {}
    for value in named_values(text, names, "columns", "selected columns", "column names"):
        named: dict[str, list[str] | None] = {**_by_table(columns_in(value, names))}
        if isinstance(value, dict):
            keys = {names.table(key): item for key, item in value.items() if item is not False}
            named |= {
                table: None if item else []
                for table, item in keys.items()
                if table and not named.get(table)
            }
        if not set(named) & set(found):
            found = named | found
    if found or is_cut_off(text):
        return found
    return {**_by_table(_of_lines(text, names))}


def columns_in(value: Any, names: Names, table: str = "") -> list[tuple[str, str]]:
    """The pairs of table and column that a JSON value names, within a table where one is given."""
    if isinstance(value, dict):
        return _of_object(value, names, table)
    if isinstance(value, list):
        return [pair for item in value for pair in columns_in(item, names, table)]
    if table and plain(value) in _EVERY and str(value).strip():
        return [(table, column) for column in names.columns_of(table)]
    if pair := names.column(value, table) or _with_remark(value, names, table):
        return [pair]
    owned = _TABLE_WITH_COLUMNS.fullmatch(str(value))
    if owned and (owner := names.table(owned[1])):
        return columns_in(owned[2], names, owner)
    listed = parts(value)
    named = [names.column(part, table) for part in listed] if len(listed) > 1 else []
    return [pair for pair in named if pair]


def _with_remark(value: object, names: Names, table: str) -> tuple[str, str] | None:
    """The column of a text such as "built: the year", "name (text)" or "name TEXT"."""
    name = _DECLARED.sub("", re.split(r":\s|\s\(", str(value))[0])
    return names.column(name, table) if name != str(value) else None


def _of_object(value: Mapping[str, Any], names: Names, table: str) -> list[tuple[str, str]]:
    """The columns of an object: a row that names its table, or members named like tables or columns."""
    if denied(value):
        return []
    named = [item for key, item in value.items() if plain(key) in _TABLE]
    if owner := next(filter(None, map(names.table, named)), ""):
        return _of_row(value, names, owner)
    found: list[tuple[str, str]] = []
    for key, item in value.items():
        if denied(item) or plain(key) in REASONS or plain(key) in _TABLE:
            continue
        owner = names.table(key)
        pair = None if owner or isinstance(item, list | dict) else names.column(key, table)
        found += [pair] if pair else columns_in(item, names, owner or table)
    return found


def _of_row(row: Mapping[str, Any], names: Names, table: str) -> list[tuple[str, str]]:
    """The columns of `{"table": "ferry", "column": "name"}`: of members called so, else of the others."""
    others = {plain(key): item for key, item in row.items() if plain(key) not in _TABLE}
    called = [item for key, item in others.items() if "column" in key]
    listed = called or [item for key, item in others.items() if key not in REASONS]
    return columns_in(listed, names, table)


def _of_lines(text: str, names: Names) -> list[tuple[str, str]]:
    """The columns of lines such as `table: a, b`, `- table.column: why` and `| table | column |`.

    Below a line that is a table's name alone, items of a list are its columns.
    """
    found: list[tuple[str, str]] = []
    heading = ""
    for line in _SEVERAL.sub("\n", text).splitlines():
        if line_denies(line):
            continue
        if len(row := cells(line)) > 1:
            if not names.table(row[0]) and names.table(row[1]):
                row[:2] = row[1::-1]  # the column stands before its table
            table = names.table(row[0])
            found += columns_in(row[1], names, table) if table else []
            continue
        if listed_in := _TABLE_WITH_COLUMNS.fullmatch(without_bullet(line)):
            line = f"{listed_in[1]}: {listed_in[2]}"  # noqa: PLW2901  in the other form
        head, _, rest = re.sub(r"^([^:=]*?) = ", r"\1: ", without_bullet(line)).partition(":")
        table = names.table(re.sub(r"\b[Tt]able\b", "", head))
        named = []
        if table and rest.strip():
            named = columns_in(BRACKETS.sub("", rest), names, table)
            named = named or columns_in(_REMARK.sub("", rest), names, table)
        if table and not named:
            heading = table
        elif not named:
            listed = items(line, bulleted_only=False)
            bulleted = without_bullet(line) is not line
            pairs = [names.column(part, heading) for part in listed if "." in part or bulleted]
            named = [pair for pair in pairs if pair and ("." in line or heading)]
        found += named
    return found


def _by_table(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for table, column in dict.fromkeys(pairs):
        found.setdefault(table, []).append(column)
    return found
