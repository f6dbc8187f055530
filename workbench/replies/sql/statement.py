"""Where a query in a text begins and ends."""

import re
from collections.abc import Iterator

from workbench.replies.sql.marks import tidied
from workbench.replies.sql.standing import is_called_final
from workbench.sql.reading import parse

MOST = 16  # queries of each form, and ends tried of one query: parsing takes time

_COMMENT = r"--[^\n]*+(?:\n|\Z)|/\*.*?(?:\*/|\Z)"
START = re.compile(
    rf"(?:[\s(]|{_COMMENT})*+(?:SELECT\b(?!\s*[:.;)\u2026])|VALUES\s*\("
    r"|WITH\s+(?:RECURSIVE\s+)?(?:\w+|\"[^\"]*\"|`[^`]*`|\[[^\]]*\])\s*(?:\([^()]*\)\s*)?AS\b)",
    re.IGNORECASE | re.DOTALL,
)
# The signs that end a statement, after what may hide them. Quotes and comments that are never closed run to
# the end of the text, which keeps the scan linear.
_QUOTED_OR_END = re.compile(
    rf"'[^']*(?:'|\Z)|\"[^\"]*(?:\"|\Z)|(`{{3,}})|`[^`]*(?:`|\Z)|\[[^\]]*(?:\]|\Z)|{_COMMENT}"
    r"|([;\uff1b]|<[/|])",
    re.DOTALL,
)
# An empty line, or a line that begins with a label, such as "Explanation:".
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*|\n(?=[ \t*_]*[A-Za-z][\w ]{0,30}[*_]*:(?:\s|\Z))")
_BREAK = re.compile(r"\n|\"(?=\s*\)?\s*(?:\n|\Z))|[.!?:](?=\s|\Z)|`|[ \t]\|[ \t]*(?=\n|\Z)")
_GOES_ON = re.compile(
    r"(?:FROM|WHERE|GROUP|HAVING|ORDER|LIMIT|OFFSET|UNION|INTERSECT|EXCEPT|AND|OR|ON|AS|WINDOW|SELECT"
    r"|(?:NATURAL|LEFT|RIGHT|FULL|INNER|OUTER|CROSS|JOIN))\b|[-+*/=<>|,()]",
    re.IGNORECASE,
)
_ENGLISH = re.compile(r"\bFROM\s+(?:the|an|our|this|these|those|each|all)\b", re.IGNORECASE)
_IN_PROSE = re.compile(
    r"(?:SELECT|WITH)\b|(?i:(?:^|(?<=[:\uff1a`(\"])|(?<=: )|(?<= is )|(?<=\*\* ))(?:SELECT|WITH)\b)",
    re.MULTILINE,
)


def statement(text: str) -> str:
    """The statement of a text that answers: one that its comment calls the answer, else the last query."""
    found: list[str] = []
    start = 0
    while start < len(text):
        end = end_of(text, start)
        if START.match(text, start, end) and not text[start:end].strip().isalpha():
            found.append(text[start:end].strip())
        start = end + 1
    called = [
        one for one in found if re.match(r"\s*--[^\n]*\b(?:answer|final)\b", one, re.IGNORECASE)
    ]
    if not called and len(found) > 1 and found[0].startswith(found[-1]):
        return found[0]  # the same query again and again, the last time cut off
    return (called or found or [""])[-1]


def end_of(text: str, start: int) -> int:
    """Where the statement that starts here ends: at a semicolon, fence or tag, or with the text."""
    return next(
        (found.start() for found in _QUOTED_OR_END.finditer(text, start) if found[1] or found[2]),
        len(text),
    )


def readable(text: str, start: int) -> str:
    """The query that starts here, without the prose behind it; "" where none can be read."""
    sql = text[start : end_of(text, start)].strip()
    if is_english(sql) or (sql.startswith("Select") and " from " not in sql.lower()):
        return ""
    if (bare := _without_full_stop(sql)) != sql:
        return bare
    ends = [gap.start() for gap in _PARAGRAPH.finditer(sql) if not _GOES_ON.match(sql, gap.end())]
    ends = [*ends[:MOST], len(sql)]
    breaks = [gap.start() for gap in _BREAK.finditer(sql)][:MOST]
    for end in (*ends, *reversed(breaks)):
        if sql.count("`", 0, end) % 2 == 0 and not isinstance(parse(tidied(sql[:end])), str):
            return _without_full_stop(sql[:end].rstrip())
    return ""


def _without_full_stop(sql: str) -> str:
    """The query without the full stop of the sentence that it ends, which SQLite takes for part of a number."""
    return sql[:-1] if sql.endswith(".") and not isinstance(parse(tidied(sql[:-1])), str) else sql


def _cut_off(text: str, start: int) -> str:
    """The query that runs from here to the end of the reply, which stops in it; "" where prose follows."""
    sql = text[start:].strip()
    cut = re.search(r"(?i)\bFROM\s+\S", sql) and end_of(text, start) == len(text)
    return sql if cut and "\n\n" not in sql and sql[-1] not in ".`" and not is_english(sql) else ""


def is_english(text: str) -> bool:
    """Whether a text that begins like a query reads on like English, comments aside."""
    return bool(_ENGLISH.search(re.sub(_COMMENT, "", text, flags=re.DOTALL)))


def in_prose(text: str, *, labelled: bool) -> Iterator[tuple[int, str]]:
    """The queries in running text. Each must be readable, and have a FROM where it starts mid-line.

    With `labelled`, only those that are called final: beside a fence, other queries in prose explain it.
    """
    end = 0
    for word in list(_IN_PROSE.finditer(text))[-4 * MOST :]:
        start = word.start()
        if start < end or not START.match(text, start):
            continue
        called_final = is_called_final(text[max(0, start - 120) : start])
        if labelled and not called_final:
            continue
        sql = readable(text, start) or (_cut_off(text, start) if called_final else "")
        starts_line = not text[:start].rpartition("\n")[2].strip()
        if sql and (starts_line or re.search(r"\sFROM\b", sql, re.IGNORECASE)):
            yield start, sql
            end = start + len(sql)
