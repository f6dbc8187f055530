"""The schema that a prompt's text shows: the inverse of `db.schema_text`, as far as the text goes.

CREATE TABLE text may be anybody's: comments may be missing, constraints may stand at a column, names may be
quoted in any of SQLite's ways. Unreadable parts are skipped; text without a table is an empty schema.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from workbench.types import Column, ForeignKey, Schema, Table, Value, lower_name

_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]\n]*\]|[\w$.+-]+|\n|[^\s]""",
    re.DOTALL,
)
_LITERAL = re.compile(
    r"\s*(x?'(?:[^']|'')*'|NULL|[-+]?(?:inf|nan|[\d.]+(?:e[-+]?\d+)?))\s*(?:,|$)", re.IGNORECASE
)
_EXAMPLES = re.compile(r"(?:^|; |\. ?|(?<=\s))(?:value )?examples?:? ?", re.IGNORECASE)
_CONSTRAINTS = {"PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "CONSTRAINT", "KEY", "INDEX"}
_AFTER_TYPE = _CONSTRAINTS | {"NOT", "NULL", "DEFAULT", "REFERENCES", "COLLATE", "GENERATED", "AS"}
_AFTER_TYPE |= {"AUTOINCREMENT", "AUTO_INCREMENT", "COMMENT"}
_OPENING = re.compile(
    r"\bCREATE\s+(?:TEMP\w*\s+)?(?:TABLE|VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?([^(;]*)\(", re.IGNORECASE
)


@lru_cache(maxsize=32)
def read_create_tables(text: str) -> Schema:
    """The tables of CREATE TABLE statements; a column's comment is its description and its examples."""
    tables = []
    place = 0
    while opening := _OPENING.search(text, place):
        parts, place = _parts(text, opening.end())
        names = re.findall(_TOKEN, opening[1])
        table = _table(_unquoted(names[-1]) if names else "", parts)
        if table.name and table.columns:
            tables.append(table)
    return Schema("", _resolved(tables))


def _parts(text: str, start: int) -> tuple[list[tuple[list[str], str]], int]:
    """The definitions between a statement's parentheses with their comments, and where they end.

    A comment after a comma, on the same line, is about the definition before the comma.
    """
    parts: list[tuple[list[str], list[str]]] = [([], [])]
    depth, place, same_line = 1, start, False
    for match in _TOKEN.finditer(text, start):
        word, place = match[0], match.end()
        if word == "\n":
            same_line = False
        elif word.startswith(("--", "/*")):
            before = same_line and len(parts) > 1 and not parts[-1][0]
            parts[-2 if before else -1][1].append(word.strip("-/* ").strip())
        elif word == "," and depth == 1:
            parts.append(([], []))
            same_line = True
        else:
            depth += (word == "(") - (word == ")")
            if depth == 0:
                break
            parts[-1][0].append(word)
            same_line = True
    return [(words, " ".join(notes)) for words, notes in parts if words], place


def _table(name: str, parts: Iterable[tuple[list[str], str]]) -> Table:
    columns: list[Column] = []
    primary: tuple[str, ...] = ()
    keys: list[ForeignKey] = []
    for words, note in parts:
        upper = [word.upper() for word in words]
        constraint = upper[0] in _CONSTRAINTS and len(words) > 1
        if not constraint:
            end = next((i for i, t in enumerate(upper) if i and t in _AFTER_TYPE), len(words))
            declared = re.sub(r" ?([(),]) ?", r"\1", " ".join(map(_unquoted, words[1:end])))
            column = Column(_unquoted(words[0]), declared.replace(",", ", "))
            columns.append(_described(column, note))
        if "PRIMARY" in upper:
            primary = (
                _listed(words[upper.index("PRIMARY") :]) if constraint else (columns[-1].name,)
            )
        if "REFERENCES" in upper[:-1]:
            at = upper.index("REFERENCES") + 1
            own = _listed(words[: at - 1]) if constraint else (columns[-1].name,)
            keys.append(ForeignKey(own, _unquoted(words[at]), _listed(words[at:])))
    return Table(name, tuple(columns), primary, tuple(keys))


def _listed(words: Sequence[str]) -> tuple[str, ...]:
    """The names in the first parentheses."""
    if "(" not in words:
        return ()
    inside = words[words.index("(") + 1 :]
    end = inside.index(")") if ")" in inside else len(inside)
    return tuple(_unquoted(word) for word in inside[:end] if word != ",")


@lru_cache(maxsize=32)
def read_mac_schema(text: str) -> Schema:
    """The tables of MAC-SQL's bracketed lists, which show no types and no primary keys."""
    columns: dict[str, list[Column]] = {}
    keys: dict[str, list[ForeignKey]] = {}
    name = ""
    for line in text.splitlines():
        if line.lower().startswith("# table:"):
            name = _unquoted(line.partition(":")[2].strip())
            columns[name] = []
        elif name and (shown := re.fullmatch(r"\s*\((.*?)\),?\s*", line)):
            column, _, note = shown[1].partition(", ")
            columns[name].append(_described(Column(_unquoted(column.strip())), note))
        elif pair := re.fullmatch(r"(.+) = (.+)", line.strip()):
            (table, column), (ref_table, ref_column) = _dotted(pair[1]), _dotted(pair[2])
            key = ForeignKey((column,), ref_table, (ref_column,))
            keys.setdefault(lower_name(table), []).append(key)
    return Schema(
        "",
        _resolved(
            Table(name, tuple(found), (), tuple(keys.get(lower_name(name), ())))
            for name, found in columns.items()
            if found
        ),
    )


def _described(column: Column, note: str) -> Column:
    """The column with its comment, from which the list of example values is taken."""
    note = note.strip()
    for match in _EXAMPLES.finditer(note):
        listed = note[match.end() :].rstrip(". ")
        listed = listed.strip("[]") if listed.startswith("[") else listed
        values: list[Value] = []
        place = 0
        while literal := _LITERAL.match(listed, place):
            values.append(_value(literal[1]))
            place = literal.end()
        if values and place == len(listed):
            description = note[: match.start()].strip()
            return replace(column, description=description, examples=tuple(values))
    return replace(column, description=note)


def _value(literal: str) -> Value:
    if literal.startswith("'"):
        return literal[1:-1].replace("''", "'")
    if literal[0] in "xX" or literal.upper() == "NULL":
        return None
    for number in (int, float):
        try:
            return number(literal)
        except ValueError:
            continue
    return literal


def _unquoted(name: str) -> str:
    if len(name) > 1 and name[0] in "\"`'[":
        return name[1:-1] if name[0] == "[" else name[1:-1].replace(name[0] * 2, name[0])
    return name


def _dotted(name: str) -> tuple[str, str]:
    found = re.findall(r"""`(?:[^`]|``)*`|"(?:[^"]|"")*"|[^.]+""", name)
    return _unquoted(found[0].strip()), _unquoted(found[-1].strip())


def _resolved(tables: Iterable[Table]) -> tuple[Table, ...]:
    """The tables; foreign keys name their target's columns, and those without a target are left out."""
    tables = list(tables)
    known = {lower_name(table.name): table for table in tables}

    def resolved(keys: Iterable[ForeignKey]) -> Iterable[ForeignKey]:
        for key in keys:
            if target := known.get(lower_name(key.ref_table)):
                columns = key.ref_columns or target.primary_key
                if len(columns) == len(key.columns):
                    yield ForeignKey(key.columns, target.name, columns)

    return tuple(replace(t, foreign_keys=tuple(resolved(t.foreign_keys))) for t in tables)
