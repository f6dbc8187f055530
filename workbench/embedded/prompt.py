"""A prompt's task and data, read by the titles of its sections: the parser knows nothing else."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from workbench.types import (
    Column,
    Context,
    Example,
    ForeignKey,
    Message,
    Question,
    Schema,
    Table,
    Value,
    ValueMatch,
    lower_name,
)

_NAME = r"""(?:`(?:[^`]|``)*`|"(?:[^"]|"")*"|[^\W\d]\w*)"""
_TEXT = r"'(?:[^']|'')*'"
_LITERAL = rf"(?i:x?{_TEXT}|NULL|[-+]?(?:inf|nan|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?))"
_LISTED = rf"({_LITERAL}(?:, {_LITERAL})*)"
_EXAMPLES = re.compile(
    rf"(?:^|; )examples: {_LISTED}$|(?:^|(?<=\. ))Value examples: \[{_LISTED}\]\.$"
)
_FENCE = re.compile(r"^(`{3,})\w*\n(.*?)\n?^\1", re.DOTALL | re.MULTILINE)
_OF_COLUMN = re.compile(rf"^({_NAME})\.({_NAME}): (.*)$", re.MULTILINE)
_TABLE = re.compile(rf"^CREATE TABLE ({_NAME}) \((.*?)^\);?$", re.DOTALL | re.MULTILINE)
_DEFINED = re.compile(
    rf"^ *({_NAME})((?: (?!-- ){_NAME}| ?\([^)]*\))*?)( PRIMARY KEY)?,?(?: -- (.*))?$"
)
_KEY = re.compile(rf"^ *(PRIMARY|FOREIGN) KEY \((.*?)\)(?: REFERENCES ({_NAME})(?: \((.*)\))?)?,?$")
_EXAMPLE = re.compile(r"^SQL: (.*)$", re.MULTILINE)
_PAIR = re.compile(rf"^({_NAME})\.({_NAME}) = ({_NAME})\.({_NAME})$", re.MULTILINE)


class Asked(NamedTuple):
    """A prompt as the parser understands it."""

    context: Context
    answer: str  # the form of the answer, in the prompt's words
    candidates: tuple[tuple[str, str], ...]  # queries with their results
    attempt: tuple[str, str]  # a query to mend, and its result
    tests: tuple[str, ...]
    columns: tuple[str, ...]  # what a prompt says of each column that it asks about


def read(messages: Sequence[Message]) -> Asked:
    """The first message of the user; one after a reply only asks for the same again."""
    text = next((str(m["content"]) for m in messages if m.get("role") == "user"), "")
    titled = (part.partition("\n") for part in f"\n{text}".split("\n## ")[1:])
    sections = {title.strip(" "): body.strip("\n") for title, _, body in titled}
    sections.pop("Worked example", None)
    if "Question" not in sections:  # it is the last line outside of fences
        lines = [line for line in _FENCE.sub("", text).splitlines() if line.strip()]
        sections = {"Question": (lines or [""])[-1], "Database schema": text} | sections

    def get(title: str) -> str:
        return sections.get(title, "")

    question, hint = (
        "" if line.strip() == "None." else " ".join(line.split())
        for line in (get("Question"), get("Hint"))
    )
    listed = _OF_COLUMN.findall(f"{get('Values found')}\n{get('Missing entities')}")
    found = [(_plain(table), _plain(name), rest) for table, name, rest in listed]
    # A judge's prompt may show no values but those that the candidates compare columns with.
    shown = "\n".join(body for title, body in sections.items() if title.startswith("Candidate"))
    compared = sorted({*re.findall(rf"({_NAME}) = ({_TEXT})", shown)})
    found += [("", _plain(column), value) for column, value in compared]
    context = Context(
        Question("", "", question, hint),
        read_schema(get("Database schema")),
        tuple(
            ValueMatch(table, column, value[1:-1].replace("''", "'"), "", 0.0, 0.0)
            for table, column, texts in found
            for value in re.findall(_TEXT, texts)
        ),
        # As with the schema, their order means nothing: prompts that differ in it alone share their hypotheses.
        examples=tuple(Example("", sql) for sql in sorted(_EXAMPLE.findall(get("Examples")))),
    )
    query = _FENCE.search(get("Query"))
    return Asked(
        context,
        sections.get("Answer", text),
        tuple(r for t, body in sections.items() if t.startswith("Candidate") for r in _runs(body)),
        (query[2].strip() if query else "", get("Result") or get("SQLite error")),
        tuple(body for title, body in sections.items() if title.startswith("Unit Test")),
        tuple(re.split(r"\n\s*\n", get("Columns") or get("Column"))),
    )


def _runs(body: str) -> list[tuple[str, str]]:
    """The queries of a candidate, or of a cluster of them, with the result that they have."""
    fences = list(_FENCE.finditer(body))
    result = body[fences[-1].end() :].partition("Result:")[2].strip() if fences else ""
    return [(fence[2].strip(), result) for fence in fences]


@lru_cache(maxsize=32)
def read_schema(text: str) -> Schema:
    """The schema that CREATE TABLE statements or MAC-SQL's lists show, in an order of its own.

    The order in which a prompt shows it means nothing.
    """
    tables = _mac_tables(text) if "[Schema]" in text else _created_tables(text)
    known = {lower_name(table.name): table for table in tables if table.columns}
    ordered = []
    for table in sorted(known.values(), key=lambda t: t.name):
        keys = []
        for key in table.foreign_keys:
            target = known.get(lower_name(key.ref_table))
            columns = key.ref_columns or (target.primary_key if target else ())
            if target and len(columns) == len(key.columns):
                keys.append(ForeignKey(key.columns, target.name, columns))
        own = tuple(sorted(table.columns, key=lambda c: c.name))
        ordered.append(replace(table, columns=own, foreign_keys=tuple(keys)))
    return Schema("", tuple(ordered))


def _created_tables(text: str) -> Iterator[Table]:
    """The tables of CREATE TABLE statements, a definition a line, as `create_table_text` writes them."""
    for name, body in _TABLE.findall(text):
        columns: list[Column] = []
        primary: tuple[str, ...] = ()
        keys: list[ForeignKey] = []
        for column, own, key in filter(None, map(_defined, body.splitlines())):
            columns += [column] if column else []
            primary = own or primary
            keys += [key] if key else []
        yield Table(_plain(name), tuple(columns), primary, tuple(keys))


@lru_cache(maxsize=8192)  # prompts show the same columns in many orders
def _defined(line: str) -> tuple[Column | None, tuple[str, ...], ForeignKey | None] | None:
    """The column, the primary key and the foreign key that a line of CREATE TABLE defines."""
    if key := _KEY.match(line):
        own, others = (tuple(map(_plain, re.findall(_NAME, key[i] or ""))) for i in (2, 4))
        foreign = ForeignKey(own, _plain(key[3]), others) if key[3] else None
        return None, own if key[1] == "PRIMARY" else (), foreign
    if defined := _DEFINED.match(line):
        column = _column(defined[1], _plain(defined[2].strip()), defined[4] or "")
        return column, (column.name,) if defined[3] else (), None
    return None


def _mac_tables(text: str) -> Iterator[Table]:
    """The tables of MAC-SQL's bracketed lists, which show no types and no primary keys."""
    listed, _, keys = text.partition("[Foreign keys]")
    pairs = [tuple(map(_plain, pair)) for pair in _PAIR.findall(keys)]
    for block in listed.split("# Table: ")[1:]:
        name, _, body = block.partition("\n")
        shown = re.findall(r"^\s*\((.*?)(?:, (.*))?\),$", body, re.MULTILINE)
        columns = tuple(_column(column, "", note) for column, note in shown)
        own = (pair for pair in pairs if pair[0] == name)
        foreign = tuple(ForeignKey((column,), table, (other,)) for _, column, table, other in own)
        yield Table(name, columns, (), foreign)


def _column(name: str, declared: str, note: str) -> Column:
    """The column with its comment, from which the list of example values is taken."""
    listed = _EXAMPLES.search(note)
    values = re.findall(_LITERAL, listed[1] or listed[2]) if listed else ()
    description = note[: listed.start() if listed else None].strip()
    return Column(_plain(name), declared, description, examples=tuple(map(_value, values)))


@lru_cache(maxsize=8192)  # all questions about a database ask about the same columns
def one_column(section: str) -> Schema:
    """The schema of a section `## Column`: one table with one column."""
    lines = dict(re.findall(r"^([\w ]+): (.*)$", section, re.MULTILINE))
    ((table, name, _),) = _OF_COLUMN.findall(f"{lines.get('Column', 't.c')}: ") or [("t", "c", "")]
    examples = [f"examples: {lines['Examples']}"] if "Examples" in lines else []
    about = [lines.get("Description", ""), lines.get("Values mean", ""), *examples]
    column = _column(name, lines.get("Type", ""), "; ".join(filter(None, about)))
    return Schema("", (Table(_plain(table), (column,)),))


def _value(literal: str) -> Value:
    if literal.startswith("'"):
        return literal[1:-1].replace("''", "'")
    if literal[0] in "xX" or literal.upper() == "NULL":
        return None
    return int(literal) if re.fullmatch(r"[-+]?\d+", literal) else float(literal)


def _plain(name: str) -> str:
    """The name without the signs that quote it."""
    quoted = len(name) > 1 and name[0] in '"`'
    return name[1:-1].replace(name[0] * 2, name[0]) if quoted else name
