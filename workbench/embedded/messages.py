"""What a prompt asks and all that it tells: the model's only window on the world.

A prompt is read as a person would read it: its sections by their titles (`prompts/README.md`), the kind
of call by the form of answer that it asks for, never by a prompt's name. Text without sections is read for
CREATE TABLE statements and lines such as "Question:" and "Hint:", so that prompts by others are answered,
too.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workbench.embedded.schema_reading import read_create_tables, read_mac_schema
from workbench.types import (
    Context,
    DescriptionMatch,
    Example,
    Message,
    Question,
    Schema,
    ValueMatch,
)

Call = Literal[
    "keywords",
    "filter_column",
    "select_tables",
    "select_columns",
    "mac_selector",
    "generate",
    "examples",
    "mend",
    "pairwise",
    "ranker",
    "unit_tests",
    "evaluate_candidates",
    "evaluate_tests",
]

# The kind of a call by what its `## Answer` says and by its other titles; the first that fits counts.
_CALLS: tuple[tuple[Call, str, str], ...] = (
    ("evaluate_candidates", r"(?m)^Candidate 1:", ""),
    ("evaluate_tests", r"(?m)^Unit test 1:", ""),
    ("unit_tests", r"(?i)\blist of .*(?:strings|tests)|The query should", r"Candidate 1"),
    ("ranker", "", r"Candidate 1"),
    ("pairwise", "", r"Candidate B"),
    ("mend", "", r"Query"),
    ("filter_column", "", r"Column"),
    ("select_tables", r'"tables"', ""),
    ("select_columns", r'"columns"', ""),
    ("mac_selector", r"keep_all", ""),
    ("examples", r'"question"', ""),
    ("keywords", r"(?i)list of strings", ""),
    ("generate", "", ""),
)

_SECTION = re.compile(r"^## +(.+?) *$", re.MULTILINE)
_FENCE = re.compile(r"(`{3,})\w*\n(.*?)\n?\1", re.DOTALL)
_RUN = re.compile(
    r"Query:\n(`{3,})\w*\n(.*?)\n?\1\s*Result:\n(.*?)(?=\n+Query:\n```|\Z)", re.DOTALL
)
_NAME = r"[^\W\d]\w*|`(?:[^`]|``)*`|\"(?:[^\"]|\"\")*\""
_OF_COLUMN = re.compile(rf"^(?:- )?({_NAME})\.({_NAME}): (.*)$", re.MULTILINE)
_TEXT = re.compile(r"'((?:[^']|'')*)'")
_LABEL = r"^\W*{}\W*:[ \t*]*(.+)$"


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt as the model understands it. `candidates` and `attempts` are queries with their results."""

    call: Call
    context: Context
    answer: str  # the form of the answer, in the prompt's words
    candidates: tuple[tuple[str, str], ...] = ()
    attempts: tuple[tuple[str, str], ...] = ()  # what was tried, the last one last
    tests: tuple[str, ...] = ()
    column: str = ""


def read(messages: Sequence[Message]) -> Asked:
    """What the messages ask."""
    text = "\n".join(str(m["content"]) for m in messages if m.get("role") != "system")
    sections = _sections(text)
    titles = "\n".join(sections)
    answer = sections.get("Answer", "")
    schema = sections.get("Database schema", text)
    context = Context(
        Question("", "", _line(sections, text, "Question"), _line(sections, text, "Hint|Evidence")),
        _sorted(read_mac_schema(schema) if "[Schema]" in schema else read_create_tables(schema)),
        tuple(_values(sections.get("Values found", ""))),
        tuple(_descriptions(sections.get("Descriptions found", ""))),
        tuple(_examples(sections.get("Examples", ""))),
    )
    return Asked(
        next(
            call
            for call, form, title in _CALLS
            if re.search(form, answer) and re.search(f"(?m)^{title}", titles)
        ),
        context,
        answer,
        tuple(
            run
            for title, body in sections.items()
            if title.startswith("Candidate ")
            for run in _runs(body)
        ),
        _attempts(sections),
        tuple(body for title, body in sections.items() if title.startswith("Unit test ")),
        sections.get("Column", ""),
    )


def _sorted(schema: Schema) -> Schema:
    """The schema in an order of its own: that in which a prompt shows it means nothing."""
    tables = (
        replace(table, columns=tuple(sorted(table.columns, key=lambda c: c.name)))
        for table in schema.tables
    )
    return replace(schema, tables=tuple(sorted(tables, key=lambda t: t.name)))


def _sections(text: str) -> Mapping[str, str]:
    """Each section's text by its title; worked examples are about something else."""
    parts = _SECTION.split(text)
    return {
        title: body.strip("\n")
        for title, body in zip(parts[1::2], parts[2::2], strict=True)
        if title != "Worked example"
    }


def _line(sections: Mapping[str, str], text: str, title: str) -> str:
    """A section of one line, or a line of the text that bears its title."""
    first = title.split("|", maxsplit=1)[0]
    if (found := sections.get(first)) is None:
        labelled = re.findall(_LABEL.format(f"(?:{title})"), text, re.MULTILINE | re.IGNORECASE)
        found = labelled[-1] if labelled else ""
    found = " ".join(found.split())
    return "" if found in {"None", "None."} else found


def _values(text: str) -> list[ValueMatch]:
    return [
        ValueMatch(_name(table), _name(column), value.replace("''", "'"), "", 0.0, 0.0)
        for table, column, told in _OF_COLUMN.findall(text)
        for value in _TEXT.findall(told)
    ]


def _descriptions(text: str) -> list[DescriptionMatch]:
    return [
        DescriptionMatch(_name(table), _name(column), told, 0.0)
        for table, column, told in _OF_COLUMN.findall(text)
    ]


def _examples(text: str) -> list[Example]:
    found = []
    for block in re.split(r"\n\s*\n", text):
        told = {
            label.lower(): line
            for label, line in re.findall(r"^(Question|Hint|SQL): (.*)$", block, re.MULTILINE)
        }
        if "question" in told and "sql" in told:
            found.append(Example(told["question"], told["sql"], told.get("hint", "")))
    return found


def _name(written: str) -> str:
    mark = written[0]
    return written[1:-1].replace(mark * 2, mark) if mark in '`"' else written


def _runs(text: str) -> list[tuple[str, str]]:
    """Queries with what the database said to them."""
    return [(sql.strip(), told.strip()) for _, sql, told in _RUN.findall(text)]


def _attempts(sections: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Earlier attempts, then the query at hand."""
    if "Query" not in sections:
        return ()
    fence = _FENCE.search(sections["Query"])
    last = (fence[2] if fence else sections["Query"]).strip(), sections.get("Result", "").strip()
    return (*_runs(sections.get("Earlier attempts", "")), last)
