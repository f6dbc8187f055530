"""Marks that come into a query on the way, and are no SQL: of Markdown, of typography, of HTML and of XML."""

import html
import re
from collections.abc import Callable

_LITERALS = re.compile(r"""('(?:[^']|'')*'|"[^"]*"|`[^`]*`)""")
_BACKSLASHED = re.compile(r"\\([*_<>()\[\]#|~-])")
_WRITTEN_BREAK = re.compile(r"\\[nrt]")
_ENTITY = re.compile(r"&(?:[lg]t|amp|quot|apos|nbsp|#0?39|#x27);")
_TYPOGRAPHIC = re.compile("[\u2018\u2019\u201c\u201d]")
_STRAIGHT = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})
_LABEL = re.compile(
    r"(?:\s|\*\*|(?:final\s+|the\s+)?(?:sqlite3?|sql|query|answer)(?:\s+query)?"
    r"(?:\*\*)?(?:\s*[:\uff1a]|\s*\n|(?=\s+(?:SELECT|WITH)\b)))*+",
    re.IGNORECASE,
)
_CDATA = re.compile(r"\s*<!\[CDATA\[(.*?)(?:\]\]>\s*|\Z)", re.DOTALL)


def bare(text: str) -> str:
    """The text without a label in front, and without quotes, backticks, stars or CDATA around the whole."""
    if wrapped := _CDATA.fullmatch(text):
        text = wrapped[1].strip()
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


def tidied(sql: str) -> str:
    """The query without Markdown's backslashes and typographic quotes outside its literals."""
    if "\\" in sql:
        sql = _outside_literals(
            sql, lambda part: _WRITTEN_BREAK.sub("\n", _BACKSLASHED.sub(r"\1", part))
        )
    if any(map(_TYPOGRAPHIC.search, _LITERALS.split(sql)[::2])):
        sql = _outside_literals(sql, lambda part: part.translate(_STRAIGHT))
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
