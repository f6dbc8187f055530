"""The schema that a prompt's text shows: the inverse of `db.schema_text`, as far as the text goes.

CREATE TABLE text may be anybody's: comments may be missing, constraints may stand at a column, names may be
quoted in any of SQLite's ways. Unreadable parts are skipped; text without a table is an empty schema.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from workbench.types import Column, ForeignKey, Schema, Table, Value, lower_name

_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]\n]*\]|[\w$.+-]+|\n|[^\s]""",
    re.DOTALL,
)
_LITERAL = r"(?i:x?'(?:[^']|'')*'|NULL|[-+]?(?:inf|nan|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?))"
_EXAMPLES = re.compile(
    rf"(?:^|; |\. ?|(?<=\s))(?i:value )?(?i:examples?):? \[?({_LITERAL}(?:,\s*{_LITERAL})*)\]?[. ]*$"
)
_CONSTRAINTS = {"PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "CONSTRAINT", "KEY", "INDEX"}
_AFTER_TYPE = _CONSTRAINTS | {"NOT", "NULL", "DEFAULT", "REFERENCES", "COLLATE", "GENERATED", "AS"}
_AFTER_TYPE |= {"AUTOINCREMENT", "AUTO_INCREMENT", "COMMENT"}
_OPENING = re.compile(
    r"\bCREATE\s+(?:TEMP\w*\s+)?(?:TABLE|VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?([^(;]*)\(", re.IGNORECASE
)


def read_create_tables(text: str) -> Schema:
    """The tables of CREATE TABLE statements; a column's comment is its description and its examples."""
    tables = []
    place = 0
    while opening := _OPENING.search(text, place):
        parts, place = _parts(text, opening.end())
        if names := _TOKEN.findall(opening[1]):
            tables.append(_table(unquoted(names[-1]), parts))
    return _schema(tables)


def _parts(text: str, start: int) -> tuple[list[tuple[tuple[str, ...], str]], int]:
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
    return [(tuple(words), " ".join(notes)) for words, notes in parts if words], place


def _table(name: str, parts: Iterable[tuple[tuple[str, ...], str]]) -> Table:
    read = [_definition(words, note) for words, note in parts]
    columns = tuple(column for part in read for column in part.columns)
    primary = [part.primary_key for part in read if part.primary_key]
    keys = tuple(key for part in read for key in part.foreign_keys)
    return Table(name, columns, primary[-1] if primary else (), keys)


@lru_cache(maxsize=8192)  # prompts show the same columns in many orders
def _definition(words: tuple[str, ...], note: str) -> Table:
    """The part of a table that one definition declares: a column, a primary key, a foreign key."""
    upper = [word.upper() for word in words]
    columns: tuple[Column, ...] = ()
    if upper[0] not in _CONSTRAINTS or len(words) == 1:
        end = next((i for i, t in enumerate(upper) if i and t in _AFTER_TYPE), len(words))
        declared = re.sub(r" ?([(),]) ?", r"\1", " ".join(map(unquoted, words[1:end])))
        columns = (_column(unquoted(words[0]), declared.replace(",", ", "), note),)
    names = tuple(column.name for column in columns)
    primary = (names or _listed(words)) if "PRIMARY" in upper else ()
    keys: tuple[ForeignKey, ...] = ()
    if "REFERENCES" in upper[:-1]:
        at = upper.index("REFERENCES") + 1
        pointing = names or _listed(words[:at])
        keys = (ForeignKey(pointing, unquoted(words[at]), _listed(words[at:])),)
    return Table("", columns, primary, keys)


def _listed(words: Sequence[str]) -> tuple[str, ...]:
    """The names in the first parentheses."""
    inside = [*words[words.index("(") + 1 :], ")"] if "(" in words else [")"]
    return tuple(unquoted(word) for word in inside[: inside.index(")")] if word != ",")


def read_mac_schema(text: str) -> Schema:
    """The tables of MAC-SQL's bracketed lists, which show no types and no primary keys."""
    tables: dict[str, tuple[list[Column], list[ForeignKey]]] = {}
    name = ""
    for line in text.splitlines():
        if line.lower().startswith("# table:"):
            name = unquoted(line.partition(":")[2].strip())
            tables[name] = ([], [])
        elif name and (shown := re.fullmatch(r"\s*\((.*?)\),?\s*", line)):
            column, _, note = shown[1].partition(", ")
            tables[name][0].append(_column(unquoted(column.strip()), "", note))
        elif pair := re.fullmatch(r"(.+) = (.+)", line.strip()):
            (table, column), (ref_table, ref_column) = _dotted(pair[1]), _dotted(pair[2])
            if table in tables:
                tables[table][1].append(ForeignKey((column,), ref_table, (ref_column,)))
    return _schema(
        Table(name, tuple(columns), (), tuple(keys)) for name, (columns, keys) in tables.items()
    )


def _column(name: str, declared: str, note: str) -> Column:
    """The column with its comment, from which the list of example values is taken."""
    listed = _EXAMPLES.search(note.strip())
    values = tuple(map(_value, re.findall(_LITERAL, listed[1]))) if listed else ()
    description = note.strip()[: listed.start() if listed else None].strip()
    return Column(name, declared, description, examples=values)


def _value(literal: str) -> Value:
    if literal.startswith("'"):
        return literal[1:-1].replace("''", "'")
    if literal[0] in "xX" or literal.upper() == "NULL":
        return None
    return int(literal) if re.fullmatch(r"[-+]?\d+", literal) else float(literal)


def unquoted(name: str) -> str:
    """The name without the signs that quote it."""
    if len(name) > 1 and name[0] in "\"`'[":
        return name[1:-1] if name[0] == "[" else name[1:-1].replace(name[0] * 2, name[0])
    return name


def _dotted(name: str) -> tuple[str, str]:
    found = re.findall(r"""`(?:[^`]|``)*`|"(?:[^"]|"")*"|[^.]+""", name)
    return unquoted(found[0].strip()), unquoted(found[-1].strip())


def _schema(tables: Iterable[Table]) -> Schema:
    """The tables with columns; foreign keys name their target's columns, and some table of the text."""
    known = {lower_name(table.name): table for table in tables if table.columns}

    def resolved(table: Table) -> Iterator[ForeignKey]:
        for key in table.foreign_keys:
            target = known.get(lower_name(key.ref_table))
            columns = key.ref_columns or (target.primary_key if target else ())
            if target and len(columns) == len(key.columns):
                yield ForeignKey(key.columns, target.name, columns)

    return Schema("", tuple(replace(t, foreign_keys=tuple(resolved(t))) for t in known.values()))
