"""Read a prompt by the titles of its sections: what is asked, and about which schema.

The parser knows nothing else. The order in which a prompt shows tables, columns and examples means
nothing to it.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property, lru_cache

from workbench.types import (
    Column,
    Context,
    ForeignKey,
    Message,
    Question,
    Schema,
    Table,
    ValueMatch,
)

_NAME = r"""(?:`(?:[^`]|``)*`|"(?:[^"]|"")*"|[^\W\d]\w*)"""
_TEXT = r"'(?:[^']|'')*'"
_LITERAL = rf"(?i:x?{_TEXT}|NULL|[-+]?(?:inf|nan|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?))"
_FENCE = re.compile(r"^(`{3,})\w*\n(?P<sql>.*?)\n?^\1", re.DOTALL | re.MULTILINE)

# A schema: tables as in CREATE TABLE, or as MAC-SQL lists them, with a column or a key a line.
_TABLE = re.compile(
    rf"^(?:CREATE TABLE (?P<name>{_NAME}) \(.*|# Table: (?P<listed>.*))"
    r"(?P<lines>(?:\n(?![)\]]).*)*)",
    re.MULTILINE,
)
_COLUMN = re.compile(
    rf"^ *(?P<name>{_NAME})(?P<type>(?: (?!-- ){_NAME}| ?\([^)]*\))*?)"
    r"(?P<key> PRIMARY KEY)?(?: -- (?P<note>.*))?$"
)
_KEY = re.compile(
    r"^ *(?:PRIMARY|FOREIGN) KEY \((?P<columns>.*?)\)"
    rf"(?: REFERENCES (?P<target>{_NAME})(?: \((?P<refs>.*)\))?)?$"
)
_EXAMPLES = re.compile(
    rf"(?:^|[;.] )(?:Value )?examples: \[?(?P<values>{_LITERAL}(?:, {_LITERAL})*)\]?\.?$"
)
_LISTED_COLUMN = re.compile(r"^ *\((.*?)(?:, (.*))?\),$", re.MULTILINE)
_LISTED_KEY = re.compile(
    rf"^({_NAME})\.({_NAME}) = ({_NAME})\.({_NAME})$", re.MULTILINE
)

# Values: those that were found, a line a column, and those that a query compares columns with.
_VALUES = re.compile(rf"^({_NAME})\.({_NAME}): (.*)$", re.MULTILINE)
_COMPARED = re.compile(rf"({_NAME}) = ({_TEXT})")


class Prompt:
    """A prompt as the parser understands it; what a reply does not need is not read."""

    def __init__(
        self, messages: Sequence[Message], temperature: float = 0.0, seed: str = ""
    ) -> None:
        """Read the user's first message; one after a reply only asks for the same again."""
        self.temperature = temperature
        self.seed = seed
        text = ""
        for message in reversed(messages):
            if message["role"] == "user":
                text = str(message["content"])
        self.sections = _sections(text)
        self.form = self.sections.get("Answer", text)  # of the answer

    @cached_property
    def question(self) -> Question:
        """The question with its hint."""
        hint = self.line("Hint")
        return Question(
            id="",
            db_id="",
            text=self.line("Question"),
            evidence="" if hint == "None." else hint,
        )

    @cached_property
    def context(self) -> Context:
        """What the question is about."""
        shown = self.text("Values found") + "\n" + self.text("Missing entities")
        values = []
        for table, column, texts in _VALUES.findall(shown):
            listed = re.findall(_TEXT, texts)
            values += [_match(table, column, text) for text in listed]
        # A judge's prompt shows no other values.
        compared = _COMPARED.findall("\n".join(self.titled("Candidate")))
        for column, text in sorted(set(compared)):
            values.append(_match("", column, text))
        return Context(
            question=self.question,
            schema=read_schema(self.text("Database schema")),
            values=tuple(values),
        )

    @cached_property
    def candidates(self) -> list[tuple[str, str]]:
        """Queries with their results, of which those of a cluster have the same."""
        runs = []
        for body in self.titled("Candidate"):
            result = body.rpartition("Result:")[2].strip()
            runs += [(query, result) for query in _queries(body)]
        return runs

    @property
    def attempt(self) -> str:
        """A query to mend."""
        return "".join(_queries(self.text("Query")))

    @property
    def result(self) -> str:
        """What the database said of the query to mend."""
        return self.text("Result") or self.text("SQLite error")

    def text(self, title: str) -> str:
        """Return a section; "" if there is none."""
        return self.sections.get(title, "")

    def line(self, title: str) -> str:
        """Return a section on one line."""
        return " ".join(self.text(title).split())

    def titled(self, beginning: str) -> list[str]:
        """Return the sections whose titles begin so."""
        titles = [title for title in self.sections if title.startswith(beginning)]
        return [self.sections[title] for title in titles]


def _sections(text: str) -> dict[str, str]:
    """Return the sections by their titles; of a text without any, its last line is the question."""
    sections = {}
    _, *parts = f"\n{text}".split("\n## ")
    for part in parts:
        title, _, body = part.partition("\n")
        sections[title.strip()] = body.strip("\n")
    if "Question" not in sections:
        outside = _FENCE.sub("", text).strip()
        sections["Question"] = outside.rpartition("\n")[2]
        sections.setdefault("Database schema", text)
    return sections


def _queries(body: str) -> list[str]:
    return [fence["sql"].strip() for fence in _FENCE.finditer(body)]


def _match(table: str, column: str, text: str) -> ValueMatch:
    return ValueMatch(
        table=_plain(table),
        column=_plain(column),
        value=_unquoted(text),
        keyword="",
        edit=0.0,
        semantic=0.0,
    )


def read_schema(text: str) -> Schema:
    """Return the schema that a text shows, in the order of the names."""
    is_listed = "# Table: " in text
    if is_listed:
        text = _LISTED_COLUMN.sub(r"`\1` -- \2", text)
    text = text.replace(", -- ", " -- ").replace(",\n", "\n")
    lines: dict[str, list[str]] = defaultdict(list)  # of each table
    for table in _TABLE.finditer(text):
        name = _plain(table["name"] or table["listed"])
        lines[name] += table["lines"].splitlines()
    if is_listed:
        for child, column, parent, ref in _LISTED_KEY.findall(text):
            key = f"FOREIGN KEY ({column}) REFERENCES {parent} ({ref})"
            lines[_plain(child)].append(key)
    definitions = [(name, *sorted(lines[name])) for name in sorted(lines)]
    return _schema(tuple(definitions))


@lru_cache(maxsize=64)  # prompts about a question show the same lines in many orders
def _schema(definitions: tuple[tuple[str, ...], ...]) -> Schema:
    tables = [_table(name, lines) for name, *lines in definitions]
    return Schema("", tuple(table for table in tables if table.columns))


def _table(name: str, lines: Sequence[str]) -> Table:
    """Return a table from the lines that define its columns and keys."""
    columns = []
    primary: tuple[str, ...] = ()
    foreign = []
    for line in lines:
        key = _KEY.match(line)
        defined = _COLUMN.match(line)
        if key and key["target"]:
            foreign_key = ForeignKey(
                columns=_names(key["columns"]),
                ref_table=_plain(key["target"]),
                ref_columns=_names(key["refs"] or ""),
            )
            foreign.append(foreign_key)
        elif key:
            primary = _names(key["columns"])
        elif defined:
            column = _column(defined)
            columns.append(column)
            if defined["key"]:
                primary = (column.name,)
    columns.sort(key=lambda column: column.name)
    return Table(
        name=name,
        columns=tuple(columns),
        primary_key=primary,
        foreign_keys=tuple(foreign),
    )


def _column(defined: re.Match[str]) -> Column:
    """Return a column, with the example values that its comment ends in."""
    description = (defined["note"] or "").strip()
    literals: list[str] = []
    listed = _EXAMPLES.search(description)
    if listed:
        literals = re.findall(_LITERAL, listed["values"])
        description = description[: listed.start()]
    return Column(
        name=_plain(defined["name"]),
        type=_plain(defined["type"].strip()),
        description=description,
        examples=tuple(map(_value, literals)),
    )


def _value(literal: str) -> str | int | float | None:
    if literal[0] == "'":
        return _unquoted(literal)
    if literal[0] in "xXnN":  # a blob or NULL
        return None
    is_whole = literal.lstrip("+-").isdigit()
    return int(literal) if is_whole else float(literal)


def _names(text: str) -> tuple[str, ...]:
    return tuple(map(_plain, re.findall(_NAME, text)))


def _plain(name: str) -> str:
    """Return a name without the signs that quote it."""
    if name[:1] in ("`", '"') and len(name) > 1:
        return name[1:-1].replace(name[0] * 2, name[0])
    return name


def _unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'")
