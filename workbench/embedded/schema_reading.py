"""The schema as a prompt's text tells it: the inverse of `db.schema_text`, as far as the text goes.

CREATE TABLE text may be anybody's: comments may be missing, constraints may stand at a column, names may be
quoted in any of SQLite's ways. What cannot be read is passed over; text without a table is an empty schema.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from workbench.types import Column, ForeignKey, Schema, Table, Value, fold

_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]\n]*\]|[\w$.+-]+|[^\s]""",
    re.DOTALL,
)
_LITERAL = re.compile(
    r"\s*(x?'(?:[^']|'')*'|NULL|[-+]?(?:inf|nan|[\d.]+(?:e[-+]?\d+)?))\s*", re.IGNORECASE
)
_EXAMPLES = re.compile(r"(?:^|; |\. ?|(?<=\s))(?:value )?examples?:? ?", re.IGNORECASE)
_CONSTRAINTS = {"PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "CONSTRAINT", "KEY", "INDEX"}
_AFTER_TYPE = _CONSTRAINTS | {"NOT", "NULL", "DEFAULT", "REFERENCES", "COLLATE", "GENERATED", "AS"}
_AFTER_TYPE |= {"AUTOINCREMENT", "AUTO_INCREMENT", "COMMENT"}
_OPENING = re.compile(
    r"\bCREATE\s+(?:TEMP\w*\s+)?(?:TABLE|VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?", re.IGNORECASE
)


@lru_cache(maxsize=32)
def read_create_tables(text: str) -> Schema:
    """The tables of CREATE TABLE statements; a column's comment is its description and its examples."""
    tables = []
    place = 0
    while opening := _OPENING.search(text, place):
        tokens = _TOKEN.finditer(text, opening.end())
        table, place = _table(tokens, text)
        if table and table.columns:
            tables.append(table)
        place = max(place, opening.end())
    return Schema("", _resolved(tables))


@lru_cache(maxsize=32)
def read_mac_schema(text: str) -> Schema:
    """The tables of MAC-SQL's bracketed lists, which tell no types and no primary keys."""
    columns: dict[str, list[Column]] = {}
    keys: dict[str, list[ForeignKey]] = {}
    name = ""
    for line in text.splitlines():
        if line.lower().startswith("# table:"):
            name = line.partition(":")[2].strip()
            columns[name] = []
        elif name and (shown := re.fullmatch(r"\s*\((.*?)\),?\s*", line)):
            column, _, told = shown[1].partition(", ")
            columns[name].append(_described(Column(_unquoted(column.strip())), told))
        elif pair := re.fullmatch(r"(.+) = (.+)", line.strip()):
            (table, column), (ref_table, ref_column) = _dotted(pair[1]), _dotted(pair[2])
            keys.setdefault(fold(table), []).append(ForeignKey((column,), ref_table, (ref_column,)))
    return Schema(
        "",
        _resolved(
            [
                Table(_unquoted(name), tuple(found), (), tuple(keys.get(fold(name), ())))
                for name, found in columns.items()
                if found
            ]
        ),
    )


def _table(tokens: Iterator[re.Match[str]], text: str) -> tuple[Table | None, int]:
    """The table whose name comes next, and where its text ends."""
    name = ""
    depth, place, line_end = 0, 0, -1
    parts: list[list[str]] = [[]]
    notes: list[list[str]] = [[]]
    for match in tokens:
        word, place = match[0], match.end()
        if word.startswith(("--", "/*")):
            note = word.strip("-/* ").strip()
            own_line = text.find("\n", max(line_end, 0), match.start()) >= 0
            at = -2 if len(parts) > 1 and not parts[-1] and not own_line else -1
            if depth:
                notes[at].append(note)
        elif depth == 0 and word != "(":
            if word == ";" or _TOKEN.fullmatch(word) is None:
                break
            name = word if not name or name.endswith(".") else name
        elif word == "," and depth == 1:
            parts.append([])
            notes.append([])
        else:
            depth += (word == "(") - (word == ")")
            if depth == 0:
                break
            if depth > 1 or word != "(":
                parts[-1].append(word)
        line_end = place
    if not name:
        return None, place
    columns: list[Column] = []
    primary: tuple[str, ...] = ()
    keys: list[ForeignKey] = []
    for part, about in zip(parts, notes, strict=True):
        if not part:
            continue
        upper = [word.upper() for word in part]
        named = upper[0] in _CONSTRAINTS and len(part) > 1
        if not named:
            end = next((i for i, t in enumerate(upper) if i and t in _AFTER_TYPE), len(part))
            declared = re.sub(r" ?([(),]) ?", r"\1", " ".join(map(_unquoted, part[1:end])))
            column = Column(_unquoted(part[0]), declared.replace(",", ", "))
            columns.append(_described(column, " ".join(about)))
        if "PRIMARY" in upper:
            primary = _listed(part, upper.index("PRIMARY")) if named else (columns[-1].name,)
        if "REFERENCES" in upper and upper.index("REFERENCES") + 1 < len(part):
            at = upper.index("REFERENCES") + 1
            own = _listed(part[: at - 1], 0) if named else (columns[-1].name,)
            keys.append(ForeignKey(own, _unquoted(part[at]), _listed(part, at)))
    return Table(_unquoted(name), tuple(columns), primary, tuple(keys)), place


def _listed(part: list[str], start: int) -> tuple[str, ...]:
    """The names in the first parentheses after that place."""
    if "(" not in part[start:]:
        return ()
    opening = part.index("(", start)
    closing = part.index(")", opening) if ")" in part[opening:] else len(part)
    return tuple(_unquoted(word) for word in part[opening + 1 : closing] if word != ",")


def _described(column: Column, told: str) -> Column:
    """The column with what is told of it, the examples apart."""
    told = told.strip()
    for match in _EXAMPLES.finditer(told):
        listed = told[match.end() :].rstrip(". ")
        if listed.startswith("["):
            listed = listed.strip("[]")
        values: list[Value] = []
        place = 0
        while literal := _LITERAL.match(listed, place):
            values.append(_value(literal[1]))
            place = literal.end()
            if listed[place : place + 1] != ",":
                break
            place += 1
        if values and place == len(listed):
            return replace(
                column, description=told[: match.start()].strip(), examples=tuple(values)
            )
    return replace(column, description=told)


def _value(literal: str) -> Value:
    if literal.startswith("'"):
        return literal[1:-1].replace("''", "'")
    if literal[0] in "xX" or literal.upper() == "NULL":
        return None
    try:
        return int(literal)
    except ValueError:
        try:
            return float(literal)
        except ValueError:
            return literal


def _unquoted(name: str) -> str:
    if len(name) > 1 and name[0] in "\"`'[":
        return name[1:-1] if name[0] == "[" else name[1:-1].replace(name[0] * 2, name[0])
    return name


def _dotted(name: str) -> tuple[str, str]:
    found = re.findall(r"""`(?:[^`]|``)*`|"(?:[^"]|"")*"|[^.]+""", name)
    return _unquoted(found[0].strip()), _unquoted(found[-1].strip())


def _resolved(tables: list[Table]) -> tuple[Table, ...]:
    """The tables with every foreign key spelled out where its target is known, and dropped where not."""
    known = {fold(table.name): table for table in tables}

    def resolve(key: ForeignKey) -> ForeignKey | None:
        target = known.get(fold(key.ref_table))
        columns = key.ref_columns or (target.primary_key if target else ())
        if target is None or len(columns) != len(key.columns):
            return None
        return ForeignKey(key.columns, target.name, columns)

    return tuple(
        replace(table, foreign_keys=tuple(filter(None, map(resolve, table.foreign_keys))))
        for table in tables
    )
