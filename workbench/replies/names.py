"""The tables and columns of a schema that a reply names, in the schema's spelling; invented ones are left out."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.replies.json_values import json_values
from workbench.replies.text import answer_text

Tables = Mapping[str, Sequence[str]]  # the columns of each table
Decision = str | list[str]  # "keep_all", "drop_all", or the columns that stay

_EVERY = {"all", "keep all", "all columns", "every column", "*"}
_WORDS = {"keep all": "keep_all", "keep": "keep_all", "keepall": "keep_all", "drop all": "drop_all", "drop": "drop_all", "dropall": "drop_all"}  # fmt: skip
_REASONS = {
    "reasoning",
    "reason",
    "explanation",
    "analysis",
    "thought",
    "note",
    "why",
    "chain of thought reasoning",
    "chain of thought",
}


_TABLES_MEMBER, _COLUMNS_MEMBER = (
    re.compile(rf"""["'](?:selected[ _])?{name}["']\s{{0,9}}:\s{{0,9}}(?=[{{\[])""", re.IGNORECASE)
    for name in ("tables", "columns")
)


class Names:
    """The names of a schema, found by what a reply calls them: in any case and quotes."""

    def __init__(self, tables: Tables) -> None:
        self._tables = {plain(table): table for table in reversed([*tables])}
        self._columns = {
            table: {plain(column): column for column in reversed(columns)}
            for table, columns in tables.items()
        }

    def table(self, text: object) -> str:
        """The table that the text names; "" where there is none."""
        name = plain(text)
        return self._tables.get(name) or self._tables.get(name.rpartition(".")[2].strip()) or ""

    def column(self, text: object, table: str = "") -> tuple[str, str] | None:
        """The table and column that `table.column`, or a column of the given or of a single table, names."""
        left, _, right = str(text).rpartition(".")
        owner = self.table(left) if left.strip("`\"'[] ") else table
        if owner:
            column = self._columns[owner].get(plain(right)) or self._columns[owner].get(plain(text))
            return (owner, column) if column else None
        owners = [name for name, columns in self._columns.items() if plain(text) in columns]
        return (owners[0], self._columns[owners[0]][plain(text)]) if len(owners) == 1 else None

    def columns_of(self, table: str) -> list[str]:
        return [*self._columns[table].values()][::-1]


def plain(text: object) -> str:
    """A name without the marks that models put around one, in small letters, with spaces for underscores."""
    tidy = str(text).strip("`\"'[]()*-\u2022\u201c\u201d,;: \t")
    return " ".join(tidy.replace("_", " ").split()).casefold()


def read_tables(reply: str, tables: Tables) -> list[str]:
    """The tables that the reply names: of the last JSON value that names any, else of its lines."""
    text, names = answer_text(reply), Names(tables)
    if _is_cut_off(text):
        listed = _complete_member(text, _TABLES_MEMBER)
        return list(dict.fromkeys(_tables_in(listed, names))) if listed else []
    rows = [value for _, _, value in json_values(text)]
    if len(rows) > 1 and all(isinstance(row, dict) and "table" in map(plain, row) for row in rows):
        return list(dict.fromkeys(name for row in rows for name in _tables_in(row, names)))
    for value in _values(text, names, "tables", "selected tables", "table names", "table"):
        if found := _tables_in(value, names):
            return list(dict.fromkeys(found))
    lines = [
        names.table(item)
        for line in text.splitlines()
        for item in _items(line, whole=bool(json_values(text)))
    ]
    named = [*filter(None, lines)] or ([] if json_values(text) else _tables_of_prose(text, names))
    return list(dict.fromkeys(named))


def read_columns(reply: str, tables: Tables) -> dict[str, list[str]]:
    """The columns that the reply names, by table, without the tables of which it names none."""
    named = read_named_columns(reply, tables)
    return {table: columns for table, columns in named.items() if columns}


def read_named_columns(reply: str, tables: Tables) -> dict[str, list[str] | None]:
    """The columns that the reply names, by table: [] where it lists none, None where it lists unknown ones alone.

    Of several JSON values the last one counts, together with those before it that speak of other tables.
    """
    text, names = answer_text(reply), Names(tables)
    values = _values(text, names, "columns", "selected columns", "column names")
    if _is_cut_off(text):
        if not (listed := _complete_member(text, _COLUMNS_MEMBER)):
            return {}
        values = [listed, *values[1:]]
    found: dict[str, list[str] | None] = {}
    for value in values:
        named: dict[str, list[str] | None] = {**_by_table(_columns_in(value, names))}
        if isinstance(value, dict):
            keys = {names.table(key): item for key, item in value.items() if item is not False}
            named |= {
                table: None if item else []
                for table, item in keys.items()
                if table and not named.get(table)
            }
        if not set(named) & set(found):
            found = named | found
    return found or {**_by_table(_columns_of_lines(text, names))}


def read_decisions(reply: str, tables: Tables) -> dict[str, Decision]:
    """For each table that the reply decides on: "keep_all", "drop_all", or the columns that stay."""
    text, names = answer_text(reply), Names(tables)
    for _, _, value in reversed(json_values(text)):
        if found := _decisions_in(value, names):
            return found
    found = {}
    if "{" not in text and text.startswith('"'):  # an object without its braces, perhaps as a list
        members = re.sub(r",?[ \t]*\n[ \t]*(?:[-*\u2022][ \t]+)?", ", ", text)
        for _, _, value in json_values(f"{{{members}}}"):
            if found := _decisions_in(value, names):
                return found
    for line in text.splitlines():
        head, colon, rest = re.sub(r"^\s*(?:[-*\u2022]|\d{1,3}[.)])\s+", "", line).partition(":")
        if not colon:
            head, colon, rest = line.partition("->")
        table = names.table(head)
        if table and colon and (decision := _decision(table, rest.strip(), names)):
            found[table] = decision
    return found


def _complete_member(text: str, member: re.Pattern[str]) -> Any:
    """The value of the last member of that name, where it is complete in an object that is cut off; else None."""
    found = [*member.finditer(text)]
    whole = json_values(text[found[-1].end() :], whole=True) if found else []
    return whole[0][2] if whole and not whole[0][0] else None


def _is_cut_off(text: str) -> bool:
    """Whether the last JSON value of the text has no end: what it names is a part of what was meant."""
    values = json_values(text)
    return bool(values) and text[values[-1][1] - 1] not in "]}"


def _tables_of_prose(text: str, names: Names) -> list[str]:
    """The tables that the sentences of running text name, but for those that leave tables out."""
    found = []
    for sentence in re.split(r"(?<=[.!?])\s+|\n", text):
        if not re.search(
            r"\b(?:not|n['\u2019]t|none|no|irrelevant|unnecessary|without)\b",
            sentence,
            re.IGNORECASE,
        ):
            found += [
                names.table(word) for word in re.findall(r"`[^`]+`|\"[^\"]+\"|[\w.]+", sentence)
            ]
    return [*filter(None, found)]


def _values(text: str, names: Names, *members: str) -> list[Any]:
    """The values that may name something, the last first: of each JSON value its member of that name, or itself."""
    found = []
    for _, _, value in reversed(json_values(text)):
        rows = {plain(key): item for key, item in value.items()} if isinstance(value, dict) else {}
        named = [rows[member] for member in members if member in rows]
        found.append(named[0] if named else _without_reasons(value, names))
    return found


def _without_reasons(value: Any, names: Names) -> Any:
    return (
        {k: v for k, v in value.items() if names.table(k) or plain(k) not in _REASONS}
        if isinstance(value, dict)
        else value
    )


def _tables_in(value: Any, names: Names) -> list[str]:
    if isinstance(value, dict):
        keys = [names.table(key) for key, item in value.items() if item is not False]
        return [key for key in keys if key] or [
            t for item in value.values() for t in _tables_in(item, names)
        ]
    if isinstance(value, list):
        return [table for item in value for table in _tables_in(item, names)]
    whole = names.table(value)
    parts = (
        [whole] if whole else [names.table(part) for part in re.split(r",|\n|\band\b", str(value))]
    )
    named = [part for part in parts if part]
    if not named and str(value).endswith(".*") and (table := names.table(str(value)[:-2])):
        return [table]
    column = names.column(value) if not named and "." in str(value) else None
    return named or ([column[0]] if column else [])


def _columns_in(value: Any, names: Names, table: str = "") -> list[tuple[str, str]]:
    if isinstance(value, dict):
        found = []
        row_table = next(
            (
                t
                for k, v in value.items()
                if plain(k) in {"table", "table name"} and (t := names.table(v))
            ),
            "",
        )
        if row_table:
            return _columns_of_row(value, names, row_table)
        for key, item in value.items():
            if item is False or plain(key) in _REASONS:
                continue
            owner = names.table(key)
            if (
                not owner
                and (pair := names.column(key, row_table or table))
                and not isinstance(item, list | dict)
            ):
                found.append(pair)
            elif plain(key) not in {"table", "table name"}:
                found += _columns_in(item, names, owner or row_table or table)
        return found
    if isinstance(value, list):
        return [pair for item in value for pair in _columns_in(item, names, table)]
    if table and (plain(value) in _EVERY or str(value).strip() == "*"):
        return [(table, column) for column in names.columns_of(table)]
    if pair := names.column(value, table):
        return [pair]
    parts = [part for part in re.split(r",|\n|\band\b", str(value)) if plain(part)]
    found_parts = [names.column(part, table) for part in parts] if len(parts) > 1 else []
    return [pair for pair in found_parts if pair]


def _columns_of_row(row: Mapping[str, Any], names: Names, table: str) -> list[tuple[str, str]]:
    """The columns of `{"table": "ferry", "column": "name"}`: of members called columns, else of the others."""
    others = {plain(k): v for k, v in row.items() if plain(k) not in {"table", "table name"}}
    called = [item for key, item in others.items() if "column" in key]
    listed = called or [item for key, item in others.items() if key not in _REASONS]
    return _columns_in(listed, names, table)


def _columns_of_lines(text: str, names: Names) -> list[tuple[str, str]]:
    """The columns of lines such as `table: a, b` and `- table.column: why`."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        item = re.sub(r"^\s*(?:[-*\u2022]|\d{1,3}[.)])\s+", "", line)
        head, _, rest = item.partition(":")
        table = names.table(head)
        if table and (named := _columns_in(re.sub(r"[\[\](){}]", "", rest), names, table)):
            found += named
            continue
        found += [
            pair
            for part in _items(line, whole=False)
            if "." in part and (pair := names.column(part))
        ]
    return found


def _items(line: str, *, whole: bool) -> list[str]:
    """The names that a line may give: the head of an item of a list, what stands in backticks, or all its parts."""
    bulleted = re.match(r"\s*(?:[-*\u2022]|\(?\d{1,3}[.)])\s+(.*)", line)
    if bulleted:
        head = re.split(r":|\(|\s[-\u2013\u2014]\s", bulleted[1])[0]
        return [head, *re.findall(r"`([^`]+)`", head)]
    if whole:
        return []
    bare = re.sub(r"^[^:]*:\s*", "", line) if ":" in line else line
    parts = [part for part in re.split(r",|\band\b", bare) if part.strip()]
    quoted = re.findall(r"`([^`]+)`", line)
    few_words = all(len(part.split()) <= 3 for part in parts)
    return [*quoted, *(parts if few_words else [])]


def _by_table(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for table, column in dict.fromkeys(pairs):
        found.setdefault(table, []).append(column)
    return found


def _decisions_in(value: Any, names: Names) -> dict[str, Decision]:
    if isinstance(value, list):
        rows = [row for row in value if isinstance(row, dict)]
        found: dict[str, Decision] = {}
        for row in rows:
            table = next(
                (t for v in row.values() if isinstance(v, str) and (t := names.table(v))), ""
            )
            others = {
                k: v
                for k, v in row.items()
                if not (isinstance(v, str) and names.table(v)) and plain(k) not in _REASONS
            }
            if table and others and (decision := _decision(table, others, names)) is not None:
                found[table] = decision
            else:
                found |= _decisions_in(row, names)
        return found
    if not isinstance(value, dict):
        return {}
    found = {}
    for key, item in value.items():
        table = names.table(key)
        if table and (decision := _decision(table, item, names)) is not None:
            found[table] = decision
    if found:
        return found
    inner = [_decisions_in(item, names) for item in value.values() if isinstance(item, dict | list)]
    return next((one for one in reversed(inner) if one), {})


def _decision(table: str, value: Any, names: Names) -> Decision | None:
    if not value:
        return [] if isinstance(value, list | None) else None
    if isinstance(value, dict):
        members = {plain(key): item for key, item in value.items()}
        columns = members.get("columns") or members.get("keep") or members.get("keep columns")
        said = members.get("decision", members.get("action"))
        if isinstance(columns, list) or not said:
            value = columns or (members.get("keep all") and "keep_all") or [*value.values()]
        else:
            value = said
    if isinstance(value, str):
        word = _WORDS.get(plain(value)) or _WORDS.get(
            re.sub(r"[\W_]+", " ", value).strip().casefold()
        )
        if word:
            return word
        if found := re.match(r"\W*(keep|drop)[ _]?all\b", value, re.IGNORECASE):
            return f"{found[1].lower()}_all"
    if (
        isinstance(value, list)
        and len(value) == 1
        and isinstance(value[0], str)
        and plain(value[0]) in _WORDS
    ):
        return _WORDS[plain(value[0])]
    if isinstance(value, str):
        value = re.sub(r"[\[\](){}]", "", value)
    pairs = _columns_in(value, names, table)
    return [column for owner, column in dict.fromkeys(pairs) if owner == table] or None
