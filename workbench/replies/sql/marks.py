"""Marks that come into a query on the way, and are no SQL: of Markdown, of typography, of HTML and of XML."""

import html
import re
from collections.abc import Callable

from workbench.sql.reading import parse

_LITERALS = re.compile(r"""('(?:[^']|'')*'|"[^"]*"|`[^`]*`)""")
_BACKSLASHED = re.compile(r"\\(?:([*_<>()\[\]#|~-])|(?=[ \t]*\r?(?:\n|\Z)))")
_WRITTEN_BREAK = re.compile(r"\\[nrt]")
_ENTITY = re.compile(
    r"&(?:[lg]t|amp|quot|apos|nbsp|#0?(?:34|38|39|60|62)|#160|#x(?:2[267]|3[ce]|a0));",
    re.IGNORECASE,
)
_INVISIBLE = re.compile("[\u200b-\u200d\u2060\ufeff]")
# The prompts of a shell before a query and its further lines.
_PROMPT = re.compile(r"^[ \t]*(?:sqlite|mysql|mariadb|\w{1,20}=[#>]?)>[ \t]?", re.MULTILINE)
_FURTHER = re.compile(r"^[ \t]*(?:\.{3}|-)>[ \t]?", re.MULTILINE)
_LINE_NUMBER = re.compile(r"[ \t]*(\d{1,4})(?:[ \t]*[|:.)]|[ \t])[ \t]?")
_TYPOGRAPHIC = re.compile("[\u2018\u2019\u201c\u201d]")
_STRAIGHT = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})
_LABEL = re.compile(
    r"(?:\s|\*\*|(?:final\s+|the\s+)?(?:sqlite3?|sql|query|answer)(?:\s+query)?"
    r"(?:\*\*)?(?:\s*[:\uff1a]|\s*\n|(?=\s+(?:SELECT|WITH)\b)))*+",
    re.IGNORECASE,
)
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_WIDE = str.maketrans(
    "\uff1c\uff1d\uff1e\uff08\uff09\uff0c\uff0a\uff0b\uff0d\uff0f\uff0e\uff01", "<=>(),*+-/.!"
)
_CDATA = re.compile(r"\s*<!\[CDATA\[(.*?)(?:\]\]>\s*|\Z)", re.DOTALL)


def bare(text: str) -> str:
    """The text without a label in front, and without quotes, backticks, stars or CDATA around the whole."""
    if wrapped := _CDATA.fullmatch(text):
        text = wrapped[1].strip()
    if _PROMPT.search(text):
        text = _FURTHER.sub("", _PROMPT.sub("", text))
    text = without_line_numbers(text)
    text = _LABEL.sub("", text, count=1).strip()
    if text.endswith("**") and text.count("**") % 2:
        text = text[:-2].rstrip()
    for _ in range(3):
        if text[:1] not in {"`", '"', "'"} or text[:1] != text[-1:] or text.startswith("```"):
            break
        if len(text) < 2 or text.count(text[0]) % 2:
            break
        text = text[1:-1].strip()
    return text


def without_line_numbers(text: str) -> str:
    """The text without a number before each of its lines; with fewer than two lines, the text."""
    lines = [line for line in text.splitlines() if line.strip()]
    numbers = [found for line in lines[:1000] if (found := _LINE_NUMBER.match(line))]
    if len(lines) < 2 or len(numbers) < len(lines):
        return text
    first = int(numbers[0][1])
    if [int(found[1]) for found in numbers] != [*range(first, first + len(lines))]:
        return text
    rest = "\n".join(line[found.end() :] for line, found in zip(lines, numbers, strict=True))
    # A list of queries has a query in each line.
    return text if re.search(r"(?i)\n\s*(?:SELECT|WITH)\b", rest.strip()) else rest


def tidied(sql: str) -> str:
    """The query without invisible signs, marks of Markdown and HTML, and typographic signs outside its literals."""
    if "<br" in sql.lower():
        sql = _outside_literals(sql, lambda part: _LINE_BREAK.sub("\n", part))
    if _INVISIBLE.search(sql):
        sql = _outside_literals(sql, lambda part: _INVISIBLE.sub("", part))
    if "\\" in sql:
        sql = _outside_literals(
            sql, lambda part: _WRITTEN_BREAK.sub("\n", _BACKSLASHED.sub(r"\1", part))
        )
    if any(map(_TYPOGRAPHIC.search, _LITERALS.split(sql)[::2])):
        sql = _outside_literals(sql, lambda part: part.translate(_STRAIGHT))
    # SQLite takes wide signs for letters, so a query that can be read may mean them.
    if not sql.isascii() and isinstance(parse(sql), str):
        plain = _outside_literals(sql, lambda part: part.translate(_WIDE))
        sql = sql if isinstance(parse(plain), str) else plain
    return sql.strip()


def has_entities(sql: str) -> bool:
    """Whether the query has HTML's entities outside its literals and names, where they cannot be data."""
    # The semicolon of an entity looks like the end of a query.
    return bool(_ENTITY.search("".join(_LITERALS.split(sql)[::2]) + ";"))


def without_entities(text: str) -> str:
    """The text with the signs that HTML's entities mean."""
    return html.unescape(text).replace("\xa0", " ")


def _outside_literals(sql: str, change: Callable[[str], str]) -> str:
    return "".join(
        part if index % 2 else change(part) for index, part in enumerate(_LITERALS.split(sql))
    )
