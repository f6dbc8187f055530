"""A prompt's task and all that it shows: the model knows nothing else.

A prompt is read as a person would read it, its sections by their titles (`prompts/README.md`). Text without
sections is read for CREATE TABLE statements and lines such as "Question:" and "Hint:", so that prompts by
others are answered, too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from workbench.embedded.prompt.schema_reading import (
    read_create_tables,
    read_mac_schema,
    unquoted,
)
from workbench.types import (
    Context,
    DescriptionMatch,
    Example,
    Message,
    Question,
    Schema,
    ValueMatch,
)

_SECTION = re.compile(r"^## +(.+?) *$", re.MULTILINE)
_FENCE = re.compile(r"(`{3,})\w*\n(.*?)\n?\1", re.DOTALL)
_RUN = re.compile(
    r"Query:\n(`{3,})\w*\n((?:(?!\n\1).)*)\n?\1\s*Result:\n(.*?)(?=\n+Query:\n```|\Z)", re.DOTALL
)
_NAME = r"[^\W\d]\w*|`(?:[^`]|``)*`|\"(?:[^\"]|\"\")*\""
_OF_COLUMN = re.compile(rf"^(?:- )?({_NAME})\.({_NAME}): (.*)$", re.MULTILINE)
_TEXT = re.compile(r"'((?:[^']|'')*)'")
_LABEL = r"^\W*(?:{})\W*:[ \t*]*(.+)$"


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt as the model understands it. `candidates` and `attempts` are queries with their results."""

    titles: str  # of its sections, one a line
    context: Context
    answer: str  # the form of the answer, in the prompt's words
    candidates: tuple[tuple[str, str], ...] = ()
    attempts: tuple[tuple[str, str], ...] = ()  # earlier ones first
    tests: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()  # what a prompt says of each column that it asks about


def read(messages: Sequence[Message]) -> Asked:
    """The messages as the model understands them."""
    text = "\n".join(str(m["content"]) for m in messages if m.get("role") != "system")
    parts = _SECTION.split(text)
    sections = {
        title: body.strip("\n")
        for title, body in zip(parts[1::2], parts[2::2], strict=True)
        if title != "Worked example"  # it is about another schema
    }
    answer = sections.get("Answer", "")
    context = Context(
        Question("", "", _line(sections, text, "Question"), _line(sections, text, "Hint|Evidence")),
        _schema(sections.get("Database schema", "" if "Question" in sections else text)),
        tuple(
            ValueMatch(table, column, value.replace("''", "'"), "", 0.0, 0.0)
            for table, column, shown in _of_columns(sections.get("Values found", ""))
            for value in _TEXT.findall(shown)
        ),
        tuple(
            DescriptionMatch(table, column, text, 0.0)
            for table, column, text in _of_columns(sections.get("Descriptions found", ""))
        ),
        # As with the schema, their order means nothing: prompts that differ in it alone share their hypotheses.
        tuple(sorted(_examples(sections.get("Examples", "")), key=lambda e: (e.sql, e.question))),
    )
    return Asked(
        "\n".join(sections),
        context,
        answer,
        tuple(r for t, body in sections.items() if t.startswith("Candidate ") for r in _runs(body)),
        _attempts(sections),
        tuple(body for title, body in sections.items() if title.startswith("Unit Test")),
        tuple(re.split(r"\n\s*\n", sections.get("Columns") or sections.get("Column", ""))),
    )


@lru_cache(maxsize=32)
def _schema(text: str) -> Schema:
    """The schema in an order of its own: the order in which a prompt shows it means nothing."""
    schema = read_mac_schema(text) if "[Schema]" in text else read_create_tables(text)
    tables = (
        replace(table, columns=tuple(sorted(table.columns, key=lambda c: c.name)))
        for table in schema.tables
    )
    return replace(schema, tables=tuple(sorted(tables, key=lambda t: t.name)))


def _line(sections: Mapping[str, str], text: str, title: str) -> str:
    """A section of one line, or a line of the text that bears its title."""
    line = sections.get(title.split("|", maxsplit=1)[0])
    if line is None:
        labelled = re.findall(_LABEL.format(title), text, re.MULTILINE | re.IGNORECASE)
        line = labelled[-1] if labelled else ""
    line = " ".join(line.split())
    return "" if line in {"None", "None."} else line


@lru_cache(maxsize=64)  # all samples of a question show the same matches
def _of_columns(text: str) -> list[tuple[str, ...]]:
    """Lines like "table.column: text", as table, column and text."""
    return [(*map(unquoted, names), rest) for *names, rest in _OF_COLUMN.findall(text)]


def _examples(text: str) -> Iterator[Example]:
    for block in re.split(r"\n\s*\n", text):
        lines = dict(re.findall(r"^(Question|Hint|SQL): (.*)$", block, re.MULTILINE))
        if "Question" in lines and "SQL" in lines:
            yield Example(lines["Question"], lines["SQL"], lines.get("Hint", ""))


def _runs(text: str) -> list[tuple[str, str]]:
    """Queries with what the database answered."""
    return [(sql.strip(), result.strip()) for _, sql, result in _RUN.findall(text)]


def _attempts(sections: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Earlier attempts, then the query at hand."""
    if "Query" not in sections:
        return ()
    fence = _FENCE.search(sections["Query"])
    query = fence[2] if fence else sections["Query"]
    result = sections.get("Result", sections.get("SQLite error", "")).strip()
    if "Exception class" in sections:
        result = f"Error: {result}"
    last = (query.strip(), result)
    return (*_runs(sections.get("Earlier attempts", "")), last)
