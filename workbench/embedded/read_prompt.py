"""Read a prompt by the titles of its sections: what is asked, and about which schema.

The parser knows nothing else. The order in which a prompt shows tables, columns and examples means
nothing to it.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from workbench.types import (
    Column,
    Context,
    ForeignKey,
    Message,
    Question,
    Schema,
    Table,
    ValueMatch,
    lower_name,
)

_NAME = r"""(?:`(?:[^`]|``)*`|"(?:[^"]|"")*"|[^\W\d]\w*)"""
_TEXT = r"'(?:[^']|'')*'"
_LITERAL = rf"(?i:x?{_TEXT}|NULL|[-+]?(?:inf|nan|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?))"
_LISTED = rf"{_LITERAL}(?:, {_LITERAL})*"
_EXAMPLES = re.compile(
    rf"(?:^|; )examples: (?P<sql>{_LISTED})$"
    rf"|(?:^|(?<=\. ))Value examples: \[(?P<mac>{_LISTED})\]\.$"
)
_FENCE = re.compile(r"^(`{3,})\w*\n(?P<sql>.*?)\n?^\1", re.DOTALL | re.MULTILINE)
_OF_COLUMN = re.compile(rf"^({_NAME})\.({_NAME}): (.*)$", re.MULTILINE)
_TABLE = re.compile(rf"^CREATE TABLE ({_NAME}) \((.*?)^\);?$", re.DOTALL | re.MULTILINE)
_DEFINED = re.compile(
    rf"^ *(?P<name>{_NAME})(?P<type>(?: (?!-- ){_NAME}| ?\([^)]*\))*?)"
    r"(?P<key> PRIMARY KEY)?,?(?: -- (?P<note>.*))?$"
)
_PRIMARY = re.compile(r"^ *PRIMARY KEY \((.*?)\),?$", re.MULTILINE)
_FOREIGN = re.compile(
    rf"^ *FOREIGN KEY \((.*?)\) REFERENCES ({_NAME})(?: \((.*)\))?,?$", re.MULTILINE
)
_MAC_COLUMN = re.compile(r"^\s*\((.*?)(?:, (.*))?\),$", re.MULTILINE)
_MAC_KEY = re.compile(rf"^({_NAME})\.({_NAME}) = ({_NAME})\.({_NAME})$", re.MULTILINE)
_COMPARED = re.compile(rf"({_NAME}) = ({_TEXT})")


class Asked(NamedTuple):
    """A prompt as the parser understands it."""

    context: Context
    answer: str  # the form of the answer, in the prompt's words
    candidates: tuple[tuple[str, str], ...]  # queries with their results
    attempt: str  # a query to mend
    result: str  # of that query
    tests: tuple[str, ...]
    columns: tuple[str, ...]  # what a prompt says of each column that it asks about


def read(messages: Sequence[Message]) -> Asked:
    """Read the user's first message; one after a reply only asks for the same again."""
    texts = [
        str(message["content"]) for message in messages if message.get("role") == "user"
    ]
    text = texts[0] if texts else ""
    sections = _sections(text)
    candidates: list[tuple[str, str]] = []
    tests = []
    for title, body in sections.items():
        if title.startswith("Candidate"):
            candidates += _runs(body)
        if title.startswith("Unit Test"):
            tests.append(body)
    query = _FENCE.search(sections.get("Query", ""))
    columns = sections.get("Columns") or sections.get("Column", "")
    return Asked(
        context=_context(sections),
        answer=sections.get("Answer", text),
        candidates=tuple(candidates),
        attempt=query["sql"].strip() if query else "",
        result=sections.get("Result") or sections.get("SQLite error", ""),
        tests=tuple(tests),
        columns=tuple(re.split(r"\n\s*\n", columns)),
    )


def _sections(text: str) -> dict[str, str]:
    """Return the sections by their titles; of a text without any, its last line is the question."""
    sections = {}
    for part in f"\n{text}".split("\n## ")[1:]:
        title, _, body = part.partition("\n")
        sections[title.strip()] = body.strip("\n")
    if "Question" not in sections:
        outside = _FENCE.sub("", text).strip().splitlines()
        sections["Question"] = outside[-1] if outside else ""
        sections.setdefault("Database schema", text)
    return sections


def _context(sections: dict[str, str]) -> Context:
    """Return what the question is about."""
    values = []
    listed = (
        sections.get("Values found", "") + "\n" + sections.get("Missing entities", "")
    )
    for table, column, texts in _OF_COLUMN.findall(listed):
        values += [_match(table, column, text) for text in re.findall(_TEXT, texts)]
    # A judge's prompt may show no values but those that the candidates compare columns with.
    candidates = [
        body for title, body in sections.items() if title.startswith("Candidate")
    ]
    for column, text in sorted(set(_COMPARED.findall("\n".join(candidates)))):
        values.append(_match("", column, text))
    return Context(
        Question("", "", _line(sections["Question"]), _line(sections.get("Hint", ""))),
        read_schema(sections.get("Database schema", "")),
        values=tuple(values),
    )


def _line(text: str) -> str:
    line = " ".join(text.split())
    return "" if line == "None." else line


def _match(table: str, column: str, text: str) -> ValueMatch:
    return ValueMatch(_plain(table), _plain(column), _unquoted(text), "", 0.0, 0.0)


def _runs(body: str) -> list[tuple[str, str]]:
    """Return the queries of a candidate, or of a cluster of them, each with their result."""
    result = body.rpartition("Result:")[2].strip()
    return [(fence["sql"].strip(), result) for fence in _FENCE.finditer(body)]


@lru_cache(maxsize=64)
def read_schema(text: str) -> Schema:
    """Return the schema that a text shows, in the order of the names."""
    tables = _mac_tables(text) if "[Schema]" in text else _created_tables(text)
    known = {lower_name(table.name): table for table in tables if table.columns}
    ordered = []
    for table in sorted(known.values(), key=lambda table: table.name):
        columns = tuple(sorted(table.columns, key=lambda column: column.name))
        keys = []
        for key in table.foreign_keys:
            target = known.get(lower_name(key.ref_table))
            if target:
                refs = key.ref_columns or target.primary_key
                if len(refs) == len(key.columns):
                    keys.append(ForeignKey(key.columns, target.name, refs))
        ordered.append(replace(table, columns=columns, foreign_keys=tuple(keys)))
    return Schema("", tuple(ordered))


def _created_tables(text: str) -> list[Table]:
    """Return the tables of CREATE TABLE statements with a definition a line."""
    tables = []
    for name, body in _TABLE.findall(text):
        columns = []
        primary: tuple[str, ...] = ()
        for line in body.splitlines():
            column, is_key = _defined(line)
            if column:
                columns.append(column)
                primary = (column.name,) if is_key else primary
        for names in _PRIMARY.findall(body):
            primary = _names(names)
        keys = []
        for names, table, refs in _FOREIGN.findall(body):
            keys.append(ForeignKey(_names(names), _plain(table), _names(refs)))
        tables.append(Table(_plain(name), tuple(columns), primary, tuple(keys)))
    return tables


@lru_cache(maxsize=8192)  # prompts show the same columns in many orders
def _defined(line: str) -> tuple[Column | None, bool]:
    """Return the column that a line of CREATE TABLE defines, and whether it is the primary key."""
    defined = _DEFINED.match(line)
    if not defined or line.lstrip().startswith(("PRIMARY KEY (", "FOREIGN KEY (")):
        return None, False
    declared = _plain(defined["type"].strip())
    return _column(defined["name"], declared, defined["note"] or ""), bool(
        defined["key"]
    )


def _mac_tables(text: str) -> list[Table]:
    """Return the tables of MAC-SQL's lists, which show no types and no primary keys."""
    listed, _, pairs = text.partition("[Foreign keys]")
    keys = [tuple(map(_plain, pair)) for pair in _MAC_KEY.findall(pairs)]
    tables = []
    for block in listed.split("# Table: ")[1:]:
        name, _, body = block.partition("\n")
        columns = [
            _column(column, "", note) for column, note in _MAC_COLUMN.findall(body)
        ]
        foreign = []
        for table, column, ref_table, ref in keys:
            if table == name:
                foreign.append(ForeignKey((column,), ref_table, (ref,)))
        tables.append(Table(name, tuple(columns), (), tuple(foreign)))
    return tables


def _column(name: str, declared: str, note: str) -> Column:
    """Return a column, with the example values that its comment ends in."""
    listed = _EXAMPLES.search(note)
    if not listed:
        return Column(_plain(name), declared, note.strip())
    literals = re.findall(_LITERAL, listed["sql"] or listed["mac"])
    description = note[: listed.start()].strip()
    return Column(
        _plain(name), declared, description, examples=tuple(map(_value, literals))
    )


def _value(literal: str) -> str | int | float | None:
    if literal.startswith("'"):
        return _unquoted(literal)
    if literal[0] in "xX" or literal.upper() == "NULL":
        return None
    return int(literal) if literal.lstrip("+-").isdigit() else float(literal)


def _names(text: str) -> tuple[str, ...]:
    return tuple(_plain(name) for name in re.findall(_NAME, text))


def _plain(name: str) -> str:
    """Return a name without the signs that quote it."""
    if name[:1] in ("`", '"') and len(name) > 1:
        return name[1:-1].replace(name[0] * 2, name[0])
    return name


def _unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'")
